"""The board and its presets: whole debates on disk, cut anywhere and recovered, with what its document must keep."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from council.checks import cost
from council.config import overlays, personas
from council.engine.conditions import judge
from council.engine.contributions import Addition, Record
from council.engine.planner import plan
from council.engine.scene import RecordedTurn, Turn
from council.errors import UsageError
from council.protocols import board as boardroom
from council.runner import start
from council.runner.start import Request
from council.workflow.loader import load
from council.workflow.model import Phase, Ref, Seat, Step, Workflow
from tests.debates import CUT, everything, facts, held, hold, recover_from_cuts, text, words
from tests.fakeapi import FakeApi
from tests.helpers import Table, User, derived_of, unpriced
from tests.scenes import absent, scene, turn
from tests.scripted import played

PRESETS = ("board", "planning-1", "planning-2", "planning-3")
RATES = dict.fromkeys(("sonnet", "haiku", "opus"), cost.Rates("one", 1.0, 1.0, 1000))
PERSON = "03-guidance/human"


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


# ---- whole debates ----


@pytest.mark.parametrize("name", [name for name in CUT if name.startswith("board/")])
def test_from_every_cut_it_recovers_to_the_same_files(name, user):
    """One debate of the protocol is cut everywhere, and another once; in `scripts/prove trust`, all of them everywhere.
    How they end is in test_golden_sessions.py.
    """
    assert not [*recover_from_cuts(user, held(user, name), name, everywhere=CUT[name])]


@pytest.mark.parametrize("name", ["board/fundamental", "board/rubber-stamp"])
def test_by_hand_it_is_the_same_debate(name, user, tmp_path):
    """`next` says what is due, `record` stores it, until nothing is; a person's turn is told as one."""
    debate = played(name)
    only = [f"--only={seat.name}" for seat in debate.script.workflow.members]
    assert user.council("start", "--workflow", "board", *only, "Shall we?").code == 0
    while due := user.council("next", "--json").json["due"]:
        assert {one["turn"] for one in due if one["person"]} <= {PERSON}
        for one in due:
            assert user.council("record", "last", one["turn"], stdin=debate.said[one["turn"]].body).code == 0
    twin = held(User(tmp_path / "twin"), name)
    for derived in ("convergence.json", "synthesis.md"):
        ours, theirs = ((session / derived).read_bytes() for session in (user.session, twin))
        assert unpriced(ours) == unpriced(theirs)
    assert list(derived_of(user.session)) == list(derived_of(twin))


# ---- dissents, checks and rubber stamps ----

LEFT_OUT = """In round {}, we enter.

## Chosen
Enter the market.

## Rejected
none

## Dissents
none

## Risks
none

## Confidence
high
"""
PENS = [f"04-synthesis-r0{number}-1-synthesize/pen" for number in (1, 2)]
FORGETFUL = {turn: LEFT_OUT.format(number) for number, turn in enumerate(PENS, 1)}
FINDS = {
    f"04-synthesis-r02-2-check/{seat}": "I looked.\n\n## Accurate\nyes\n\n## Correction\nnone\n"
    for seat in ("ceo", "cto", "cfo", "coo", "moonshot", "contrarian")
}


def test_what_the_document_leaves_out_twice_stands_there_in_its_owners_words(user):
    session = hold(user, "board/agreed", **FORGETFUL, **FINDS)
    document = text(session, "synthesis.md")
    assert facts(session)["phases"]["synthesis"] == "cap"
    assert document.startswith("### Council Synthesis\n\n" + FORGETFUL[PENS[1]].replace("## ", "#### "))
    assert "**Dissent on record** *(added by council: not found in the synthesis)*" in document
    assert "- Contrarian: blocking: “Nobody has asked one customer.”\n" in document
    assert "- Contrarian: disagrees. In their own words: “Contrarian on respond, round 2.”\n" in document
    assert document.endswith("**Checked by the members:** 6 of 6 find it accurate after a correction.\n")
    assert document in text(session, "transcript.md")
    again = (session / "briefs" / f"{PENS[1]}.md").read_text("utf-8")
    assert "This is the correction." in again
    assert "- Contrarian: Nobody has asked one customer.\n" in again


def test_a_document_with_all_dissents_is_left_alone(user):
    session = held(user, "board/agreed")
    assert "Dissent on record" not in text(session, "synthesis.md")
    assert facts(session)["blocking"] == {"contrarian": ["Nobody has asked one customer."]}
    assert not list(session.glob("turns/04-synthesis-r02*"))


def test_whoever_still_finds_it_inaccurate_is_named_with_the_correction(user):
    assert text(held(user, "board/nobody-accurate"), "synthesis.md").endswith(
        "**Checked by the members:** 0 of 4 find it accurate after a correction (CFO not heard).\n\n"
        "- CEO does not: “I said for two years.”\n- Contrarian does not: “I said for two years.”\n"
        "- Moonshot does not: “I said for two years.”\n"
    )


def test_a_page_shows_the_document_and_its_check(user):
    held(user, "board/synthesis-corrected")
    page = user.council("show", "--html").out
    ending = page.partition("<h2>Council Synthesis</h2>")[2]
    assert "Hire five." in ending
    assert "I said five." not in ending
    assert "4 of 4 find it accurate after a correction." in ending


def test_a_rubber_stamp_is_sent_back_once_and_then_recorded(user):
    session = held(user, "board/rubber-stamp")
    again = (session / "briefs/02-challenge-r01-1-respond/cto.2.md").read_text("utf-8")
    assert "there must be at least one" in again.partition("# Once more")[2]
    stamp = "*(rubber stamp: it challenges nobody, even when asked again)*"
    assert text(session, "round-1.md").count(stamp) == text(session, "transcript.md").count(stamp) == 1
    assert text(session, "round-1.md").partition("**🔧 CTO:**")[2].lstrip().partition("\n")[2].startswith(stamp)
    assert stamp not in text(session, "round-2.md")
    assert not (session / "turns/02-challenge-r01-1-respond/cto.3.md").exists()


OTHERS = (Seat("cfo", "board", {"title": "CFO"}), Seat("data-specialist", "board", {"name": "Tomas Ribeiro"}))


def response(*challenges: str, prose: str = "Fine.", **more: object) -> Turn:
    return replace(turn("ceo", asked="challenges", challenges=challenges, **more), prose=prose)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (response(), ["rubber stamp: it challenges nobody, even when asked again"]),
        (response(prose="The CFO forgets the rent."), []),
        (response("CFO: the rent."), []),
        (response("the rent, of the cfo’s plan"), []),
        (response("Ribeiro stores it twice."), []),
        (response("The Data Specialist stores it twice."), []),
        (response("The rent.", "The CFO's estimate."), []),
        (response("The rent."), ["none of its challenges says whose point it is"]),
        (response("As the ceo I know better."), ["none of its challenges says whose point it is"]),
        (response("The cfoo is wrong."), ["none of its challenges says whose point it is"]),
        (absent("ceo", asked="challenges"), []),
        (turn("ceo", stance="agree"), []),
        (turn("ceo", body="Aim lower."), []),
        (turn("moonshot", body="**The moonshot:** Mars. **The stepping stone:** the Moon."), []),
        (turn("moonshot", body="The moonshot is Mars."), ["it does not give a stepping stone; both are required"]),
        (turn("moonshot", body="Go."), ["it does not give a moonshot or a stepping stone; both are required"]),
        (absent("moonshot"), []),
    ],
)
def test_what_is_remarked_of_a_turn(said, told):
    groups = {"board": (Seat("ceo", "board"), *OTHERS), "crosscutting": (Seat("moonshot", "crosscutting"),)}
    board = replace(program("board"), groups=groups)
    record = Record(board, plan(board, {}))
    assert [*boardroom.both_versions(said, record), *boardroom.rubber_stamp(said, record)] == told


@pytest.mark.parametrize(
    ("name", "silent"), [("board/rubber-stamp", "-respond/cto"), ("board/fundamental", "01-positions/moonshot")]
)
def test_nothing_is_remarked_of_a_turn_that_nobody_spoke(name, silent, user):
    silenced = [turn for turn in everything(played(name)) if turn.partition(".")[0].endswith(silent)]
    transcript = text(hold(user, name, **dict.fromkeys(silenced, "absent: overloaded")), "transcript.md")
    assert "absent: overloaded" in transcript
    assert not re.search("rubber stamp|names no moonshot", transcript)


@pytest.mark.parametrize("name", ["board", "planning-1", "planning-2", "planning-3"])
def test_a_moonshot_of_one_version_is_sent_back_once_and_then_recorded(name):
    board, one = program(name), "01-positions/moonshot"
    others = {due.id: RecordedTurn("So.", "") for due in plan(board, {}).due if due.id != one}
    half, both = RecordedTurn("The moonshot is Mars.", ""), RecordedTurn("The moonshot: Mars. Stepping stone: go.", "")
    assert plan(board, {**others, one: both}).due[0].id.startswith("02-")
    (again,) = plan(board, {**others, one: half}).due
    assert (again.id, again.problems) == (f"{one}.2", ("it gives no stepping stone; name it",))
    ended = plan(board, {**others, one: half, f"{one}.2": half})
    assert ended.due[0].id.startswith("02-")
    (said,) = (turn for turn in ended.scene.turns if turn.id == one)
    assert said.problems == ("it gives no stepping stone; name it",)
    assert not plan(board, {**others, one: half, f"{one}.2": both}).scene.named("positions")[-1].problems


def test_how_a_check_is_told():
    ended = plan(program("board"), {})

    def checked(*turns: Turn) -> Addition | None:
        return boardroom.checked(Record(program("board"), replace(ended, scene=scene(*turns))))

    assert checked(turn("ceo", stance="agree")) is None
    assert checked(
        turn("ceo", "synthesis/check", accurate="yes", correction=()),
        turn("cfo", "synthesis/check", accurate="no", correction=("I said five.", "Not in May.")),
        turn("coo", "synthesis/check", accurate="no", asked="correction"),
        absent("cto", "synthesis/check", asked="accurate correction"),
    ) == Addition(
        "Checked by the members",
        "1 of 4 find it accurate (Cto not heard).",
        points=("Cfo does not: “I said five.”; “Not in May.”", "Coo does not: (no correction given)"),
    )


# ---- the challenge ----


@pytest.mark.parametrize(("round", "result"), [(1, False), (2, True), (10, True)])
def test_from_round(round, result):
    assert judge(Ref("from_round", "2"), scene(round=round)).holds is result


@pytest.mark.parametrize("number", ["0", "two", "-1", "1.5", "100", [2], None])
def test_from_round_refuses_what_is_no_round(number):
    with pytest.raises(UsageError, match="is not a round"):
        judge(Ref("from_round", {"number": number}), scene(round=1))


def test_the_gate_reviewer_reads_a_line_a_turn(user):
    session = held(user, "board/agreed")
    brief = (session / "briefs/02-challenge-r02-3-review/gate-reviewer.md").read_text("utf-8")
    assert "Nobody has asked a customer.\n</said" in brief
    assert "everybody agrees too soon" not in brief
    assert not (session / "briefs/02-challenge-r01-3-review").exists()


def test_the_person_is_shown_what_the_reviewer_asks_and_is_heard(user):
    session = held(user, "board/fundamental")
    assert "Is the company there for its users or for its owners?" in (session / f"briefs/{PERSON}.md").read_text(
        "utf-8"
    )
    pen = (session / f"briefs/{PENS[0]}.md").read_text("utf-8")
    assert '<said by="Human" ' in pen
    assert "The company is paid for support." in pen


def test_a_debate_over_the_api_waits_for_the_person_and_pays_nothing_twice(user):
    debate = played("board/fundamental")
    table = Table(user, words(debate))
    user = replace(user, env={"ANTHROPIC_API_KEY": "k"})
    with FakeApi(table) as api:
        user.configure(f"endpoints: {{anthropic: {{base_url: {api.url}}}}}")
        only = [f"--only={seat.name}" for seat in debate.script.workflow.members]
        waiting = user.council("run", "--workflow", "board", *only, "--speaker", "anthropic", "Shall we?")
        assert waiting.code == 8, waiting.err
        assert PERSON in waiting.err
        assert user.council("recover").code == 8
        assert user.council("record", "last", PERSON, stdin="The company is paid for support.").code == 0
        ended = user.council("recover")
    assert ended.code == 0, ended.err
    assert sorted(table.asked) == sorted(words(debate))
    assert facts(user.session)["phases"] == debate.end.scene.outcomes
    assert "**Challenge ended (fundamental):**" in text(user.session, "transcript.md")


# ---- what it takes, and the other tables ----


def program(name: str) -> Workflow:
    return load(*overlays.workflow_text(name))


def without(workflow: Workflow, *steps: str) -> Workflow:
    def rest(phase: Phase) -> Phase:
        return replace(phase, steps=tuple(step for step in phase.steps if step.name not in steps))

    return replace(workflow, phases=tuple(map(rest, workflow.phases)))


@pytest.mark.parametrize("name", PRESETS)
def test_the_calls_are_those_that_the_page_tells(name):
    calls: dict[str, tuple[int, int]] = {}
    for row in cost.bound_steps(without(program(name), "poll", "review"), "", RATES):
        least, most = calls.get(row.phase, (0, 0))
        calls[row.phase] = (least + row.least, most + row.most)
    assert calls == {"positions": (6, 6), "challenge": (12, 60), "guidance": (0, 0), "synthesis": (7, 14)}
    page = program("board").body
    told = dict(re.findall(r"^\| \**([\w ]+?)\** +\| +\**(\d+\** +\| +\**\d+)\** +\|$", page, re.M))
    figures = {what: tuple(map(int, re.findall(r"\d+", numbers))) for what, numbers in told.items()}
    assert figures["the members and the pen"] == (25, 80) == tuple(map(sum, zip(*calls.values(), strict=True)))
    of_phases = ("positions", "responses", "synthesis and check")
    assert [figures[what] for what in of_phases] == [calls[phase] for phase in ("positions", "challenge", "synthesis")]


def test_reviews_and_polls_come_on_top():
    """As the page tells: nobody is polled in the first round, and nothing is reviewed."""
    rows = cost.bound_steps(without(program("board"), "respond"), "", RATES)
    assert sum(row.most for row in rows if row.phase == "challenge") == 9 * 6 + 9
    spoken = [due for batch in played("board/ten-rounds").batches for due in batch if due.step.name == "review"]
    assert len(spoken) == 9


@pytest.mark.parametrize("name", PRESETS[1:])
def test_a_preset_is_the_boards_program_with_another_table(name):
    board, preset = program("board"), program(name)
    assert list(preset.groups) == [next(iter(preset.groups)), "crosscutting", "gate", "pen"]
    first = next(iter(board.groups))
    own = next(iter(preset.groups))
    assert own != first
    assert phases_of(preset, own) == phases_of(board, first)
    assert preset.halt == board.halt
    asked = dict(preset.phases[-1].steps[0].reply)
    assert {"chosen", "rejected", "dissents", "risks", "confidence"} <= asked.keys()


def phases_of(workflow: Workflow, members: str) -> tuple[Phase, ...]:
    """The phases with one name for the members' group, whatever the workflow calls it, and without what is written."""

    def like(step: Step) -> Step:
        seats = tuple("all" if seat == members else seat for seat in step.seats)
        return replace(step, seats=seats, **({"prompt": "", "reply": ()} if step.name == "synthesize" else {}))

    return tuple(replace(phase, steps=tuple(map(like, phase.steps))) for phase in workflow.phases)


@pytest.mark.parametrize("name", PRESETS)
def test_contrarian_and_moonshot_sit_in_every_debate(name):
    """Whatever seats are chosen. It is an error to leave them out, and none to name them."""
    workflow, known, both = program(name), personas.load(), ["contrarian", "moonshot"]
    one = workflow.members[0].name

    def seated(**asked: tuple[str, ...]) -> list[str]:
        members = start.seat_members(workflow, Request("Q?", name, **asked), known)
        table = workflow.with_members(members)
        speaking = [step.seats for _, step in table.steps() if step.name in ("positions", "respond", "poll", "check")]
        assert [[seat.name for seat in table.seats(seats)] for seats in speaking] == [
            [seat.name for seat in table.table]
        ] * 4
        return [seat.name for seat in table.table]

    assert seated(only=(one,)) == seated(only=(one, "moonshot")) == [one, *both]
    assert seated(only=(one,), with_=("contrarian", "writer")) == [one, "writer", *both]
    with pytest.raises(UsageError, match=f"moonshot sits in every {name}, so it cannot be left out"):
        seated(without=("moonshot",))
    with pytest.raises(UsageError, match=f"contrarian and moonshot: these sit in every {name}; name another member"):
        seated(only=("crosscutting",))


@pytest.mark.parametrize("name", PRESETS[1:])
def test_a_member_of_a_preset_writes_its_document(name, user):
    ended = user.council("start", "--workflow", name, "What do we build?", "--json")
    assert ended.code == 0, ended.err
    due = user.council("next", "--json").json["due"]
    assert [one["seat"] for one in due] == [seat.name for seat in program(name).table]
    assert program(name).seats(["pen"])[0].name in {one["seat"] for one in due}
