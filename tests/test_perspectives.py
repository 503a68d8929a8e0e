"""Perspectives: whole debates on disk, cut anywhere and recovered; who is cast, who is muted, what a person steers."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from council.checks import cost
from council.checks.lint import Known, lint
from council.config import overlays, personas
from council.engine.conditions import judge
from council.engine.orders import order
from council.engine.scene import Scene
from council.errors import UsageError
from council.prompts import templates
from council.protocols import casting
from council.protocols import perspectives as sides
from council.record import session
from council.speakers.human import HOW
from council.workflow.loader import load
from council.workflow.model import VIEWPOINT, Ref, Seat, Workflow
from tests.debates import (
    CUT,
    EVALUATED,
    brief,
    evaluation,
    everything,
    facts,
    held,
    hold,
    people,
    record,
    recover_from_cuts,
    text,
    to_its_end,
)
from tests.fakeapi import FakeApi
from tests.glutton import MOST, TIERS, Glutton
from tests.helpers import Table, User, derived_of, script
from tests.scenes import absent, scene, turn
from tests.scripted import Played, played
from tests.terminal import Running

BUILT_IN = (
    "performance-advocate", "simplicity-advocate", "security-advocate", "future-flexibility", "user-experience",
    "operational-simplicity",
)  # fmt: skip
CHECKPOINT = "02-debate-r01-5-checkpoint/human"


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


# ---- whole debates ----


@pytest.mark.parametrize("name", [name for name in CUT if name.startswith("perspectives/")])
def test_from_every_cut_it_recovers_to_the_same_files(name, user):
    """One debate of the protocol is cut everywhere, and another once; in `scripts/prove trust`, all of them everywhere.
    How they end is in test_golden_sessions.py.
    """
    assert not [*recover_from_cuts(user, held(user, name), name, everywhere=CUT[name])]


@pytest.mark.parametrize("name", ["perspectives/guided", "perspectives/vague"])
def test_by_hand_it_is_the_same_debate(name, user, tmp_path):
    """`next` says what is due, `record` stores it, until nothing is; a person's turns are told as such."""
    debate = played(name)
    assert user.council("start", "--workflow", "perspectives", "Shall we?").code == 0
    while due := user.council("next", "--json").json["due"]:
        assert {one["turn"] for one in due if one["person"]} == {one["turn"] for one in due} & people(debate)
        for one in due:
            record(user, one["turn"], everything(debate)[one["turn"]])
    twin = held(User(tmp_path / "twin"), name)
    assert text(user.session, "synthesis.md") == text(twin, "synthesis.md")
    assert facts(user.session)["phases"] == facts(twin)["phases"]
    assert list(derived_of(user.session)) == list(derived_of(twin))


def test_where_a_person_is_gone_the_debate_goes_on_without(user):
    """Silence at a checkpoint is no word to end it, and silence at the end is no yes."""
    debate = played("perspectives/ended")
    gone = dict.fromkeys(people(debate), "absent: nobody answered in time")
    said = {**everything(debate), **next_round(debate)}
    script(user, {turn: body for turn, body in said.items() if "/human" not in turn})
    session = to_its_end(user, {**everything(debate), **gone}, "run", "-w", "perspectives", "Shall we?")
    assert facts(session)["phases"]["debate"] == "settled"
    assert "**Debate ended (settled):**" in text(session, "transcript.md")
    assert not (session / "issue.md").exists()


def next_round(debate: Played) -> dict[str, str]:
    """The first round's words again, but that now all agree."""
    again = {turn.replace("-r01-", "-r02-"): body for turn, body in everything(debate).items() if "02-debate" in turn}
    evaluated = "02-debate-r02-4-evaluate/moderator"
    return again | {evaluated: again[evaluated].replace("new ground", "agreement")}


# ---- a person steers ----


def test_over_the_api_it_waits_at_the_checkpoint_and_pays_nothing_twice(user):
    debate = played("perspectives/guided")
    table = Table(user, everything(debate))
    user = replace(user, env={"ANTHROPIC_API_KEY": "k"})
    with FakeApi(table) as api:
        user.configure(f"endpoints: {{anthropic: {{base_url: {api.url}}}}}")
        waiting = user.council("run", "--workflow", "perspectives", "--speaker", "anthropic", "Shall we?")
        assert (waiting.code, CHECKPOINT in waiting.err) == (8, True), waiting.err
        assert user.council("recover").code == 8
        assert user.council("list", "--json").json[0]["state"] == "waiting"
        record(user, CHECKPOINT, everything(debate)[CHECKPOINT])
        assert user.council("recover").code == 8, "and once more, whether an issue should be written"
        record(user, "04-follow-up/human", everything(debate)["04-follow-up/human"])
        ended = user.council("recover")
    assert ended.code == 0, ended.err
    assert sorted(table.asked) == sorted(set(debate.said) - people(debate))


def test_on_a_terminal_a_person_clarifies_guides_and_takes_the_issue(user):
    debate = played("perspectives/vague")
    words = {turn: body for turn, body in everything(debate).items() if turn not in people(debate)}
    user = replace(user, env={"ANTHROPIC_API_KEY": "k"})
    with FakeApi(Table(user, words)) as api:
        user.configure(f"endpoints:\n  anthropic: {{base_url: {api.url}}}\nretry: {{budget: 0}}")
        with Running(user, "run", "-w", "perspectives", "Shall we?", columns=100) as console:
            for typed in ("The search results.\n.\n", "I cannot say.\n.\n"):
                assert "═══ Analysis" in console.until(HOW)
                console.type(typed)
            asked = console.until(r"\[C\]ontinue  \[G\]uide  \[E\]nd\r\n> ")
            assert "═══ Round 1 complete ═══" in asked
            for step in ("Speed (Argue)", "Speed (Rebut)"):
                assert step in asked, "who speaks twice in a round says which it is"
            console.type("g\n")
            console.until("Your guidance")
            console.type("Mind the night shift.\n\n")
            assert "Create a workflow from this decision?" in console.until(r"\[Y\]es  \[N\]o\r\n> ")
            console.type("y\n")
            assert "settled" in console.end()[1]
    assert "- after round 1: Mind the night shift." in text(user.session, "decision.md")
    assert (user.session / "issue.md").exists()


@pytest.mark.parametrize(
    ("given", "due", "outcome"),
    [
        (["decision=guide", "guidance=Mind the night shift."], "02-debate-r02-1-frame/moderator", None),
        (["decision=continue"], "02-debate-r02-1-frame/moderator", None),
        (["decision=end"], "03-synthesis/moderator", "ended"),
    ],
)
def test_a_checkpoint_is_answered_by_name(given, due, outcome, user):
    assert user.council("start", "--workflow", "perspectives", "Shall we?").code == 0
    said = everything(played("perspectives/guided"))
    while CHECKPOINT not in (turns := [one["turn"] for one in user.council("next", "--json").json["due"]]):
        for one in turns:
            record(user, one, said[one])
    recorded = user.council("record", "last", CHECKPOINT, *(f"--answer={one}" for one in given))
    assert recorded.code == 0, recorded.err
    (next_one,) = user.council("next", "--json").json["due"]
    assert next_one["turn"] == due
    found = session.open_(user.session)
    found.read_turns()
    assert found.plan().scene.outcomes.get("debate") == outcome
    if "guide" in given[0]:
        assert "Mind the night shift." in brief(user.session, due)


def test_guidance_reaches_everybody_in_the_next_round(user):
    session = held(user, "perspectives/guided")
    for step in ("1-frame/moderator", "2-argue/cost", "3-rebut/speed", "4-evaluate/moderator"):
        assert "Think of the team's PostgreSQL experience." in brief(session, f"02-debate-r02-{step}"), step
    assert "Think of the team's" in brief(session, "03-synthesis/moderator")


def test_at_a_checkpoint_a_person_reads_the_round_and_not_all_of_the_debate(user):
    session = held(user, "perspectives/guided")
    shown = brief(session, CHECKPOINT)
    assert "It begins." in shown
    assert "## Decision\n[exactly one word of these: continue, guide or end]" in shown
    assert "twice is once" not in shown, "the analysis"


def test_a_vague_prompt_is_asked_about_and_what_nobody_knows_is_assumed(user):
    session = held(user, "perspectives/vague")
    assert "Cache what?" in brief(session, "01-analysis-r01-2-clarify/human")
    assert "The search results." in brief(session, "01-analysis-r02-1-analyze/moderator")
    first, last = (brief(session, f"01-analysis-r0{round}-1-analyze/moderator") for round in (1, 3))
    assert "they answer it" in first
    assert "they answer it" not in last
    assert "Nobody can be asked now." in last
    decision = text(session, "decision.md")
    assert (
        "*(The question stayed unclear; what follows was assumed.)*\n\n**Assumed:**\n\n- Guests are meant." in decision
    )


def test_without_checkpoints_nobody_is_asked_and_what_was_assumed_stands_in_the_decision(user):
    session = held(user, "perspectives/unattended")
    assert "Nobody can be asked now." in brief(session, "01-analysis-r01-1-analyze/moderator")
    assert not list(session.glob("turns/*/human.md"))
    assert "- The law on waste is meant." in text(session, "decision.md")


# ---- who is cast ----


def test_the_catalog_stands_in_the_moderators_brief_alone_and_takes_ones_own(user):
    user.write(
        ".council/AgentPersonalities.md",
        "## compliance-first\n\n- **Title:** Compliance First\n- **Focus:** audit trails\n- **Accepts:** delay\n"
        "- **Opposes:** simplicity-advocate\n\nYou ask for proof.\n\n"
        "## user-experience\n\n- **Title:** User Experience\n- **Focus:** joy\n- **Accepts:** cost\n\nYou smile.\n",
    )
    said = {
        "01-analysis-r01-1-analyze/moderator": analysis("Compliance First: papers.", "Simplicity Advocate"),
        **{f"02-debate-r01-2-argue/{seat}": "My case." for seat in ("compliance-first", "simplicity-advocate")},
        **{f"02-debate-r01-3-rebut/{seat}": "My answer." for seat in ("compliance-first", "simplicity-advocate")},
    }
    session = hold(user, "perspectives/settled", **said)
    prepared = brief(session, "01-analysis-r01-1-analyze/moderator")
    assert "- Compliance First: audit trails. Accepts delay. Opposes Simplicity Advocate.\n" in prepared
    assert "- User Experience: joy. Accepts cost. Opposes none.\n" in prepared
    assert prepared.count("\n- Performance Advocate: ") == 1
    argued = brief(session, "02-debate-r01-2-argue/compliance-first")
    for words in (
        "You are Compliance First.",
        "What you would accept in exchange: delay.",
        "You ask for proof.",
        "papers.",
    ):
        assert words in argued
    assert "The catalog:" not in argued
    assert "against Simplicity Advocate" in text(session, "transcript.md")


def analysis(*cast: str, opposed: str = "none", clear: str = "yes") -> str:
    listed = "\n".join(f"- {one}" for one in cast) or "none"
    return (
        f"I prepare.\n\n## Question\nShall we?\n\n## Clear\n{clear}\n\n## Ask\nnone\n\n## Assumed\nnone\n\n"
        f"## Perspectives\n{listed}\n\n## Opposed\n{opposed}\n"
    )


def test_whoever_casts_nobody_opposed_is_asked_again_and_told_why(user):
    aligned = analysis("Simplicity Advocate", "Operational Simplicity", opposed="Simplicity against Operations")
    mended = analysis("Simplicity Advocate", "Performance Advocate", "Operational Simplicity")
    seats = ("simplicity-advocate", "performance-advocate", "operational-simplicity")
    said = {
        "01-analysis-r01-1-analyze/moderator": aligned,
        "01-analysis-r02-1-analyze/moderator": mended,
        **{f"02-debate-r01-{step}/{seat}": "Mine." for seat in seats for step in ("2-argue", "3-rebut")},
    }
    session = hold(user, "perspectives/settled", **said)
    again = brief(session, "01-analysis-r02-1-analyze/moderator")
    told = "no two of Simplicity Advocate and Operational Simplicity are opposed, by the catalog or"
    assert f"so it is asked for again:\n\n- {told}" in again
    assert "asked for again" not in brief(session, "01-analysis-r01-1-analyze/moderator")
    assert facts(session)["phases"]["analysis"] == "ready"


def test_who_still_casts_nobody_opposed_gets_the_opposite_from_the_catalog(user):
    aligned = analysis("Simplicity Advocate", "Operational Simplicity", clear="no")
    seats = ("simplicity-advocate", "operational-simplicity", "performance-advocate")
    said = {
        **{f"01-analysis-r0{round}-1-analyze/moderator": aligned for round in (1, 2, 3)},
        **{f"01-analysis-r0{round}-2-clarify/human": "I cannot say." for round in (1, 2)},
        **{f"02-debate-r01-{step}/{seat}": "Mine." for seat in seats for step in ("2-argue", "3-rebut")},
    }
    session = hold(user, "perspectives/settled", **said)
    assert sorted(path.stem for path in session.glob("turns/02-debate-r01-2-argue/*.md")) == sorted(seats)
    assert "Performance Advocate" in brief(session, "02-debate-r01-2-argue/performance-advocate")
    told = "council seated Performance Advocate, which the catalog opposes to Simplicity Advocate"
    assert f"*(no two are opposed: {told})*" in text(session, "transcript.md")
    decision = text(session, "decision.md")
    assert f"*({told[0].upper()}{told[1:]}.)*" in decision
    assert "*(The question stayed unclear; nothing was said to be assumed.)*" in decision


@pytest.mark.parametrize("name", ["perspectives/nobody-cast", "perspectives/too-many"])
def test_without_a_cast_there_is_no_debate_and_no_decision(name, user):
    session = held(user, name)
    assert facts(session)["phases"] == {"analysis": "cap"}
    assert "**Analysis ended (cap):** " in text(session, "transcript.md")
    assert not [file for file in ("decision.md", "issue.md", "synthesis.md") if (session / file).exists()]
    assert not (user.work / "docs").exists()


KNOWN = {name: persona for name, persona in personas.load().items() if persona.get(VIEWPOINT)}
PERSONS = tuple(name for name in personas.load() if name not in KNOWN)


def cast_by(*cast: str, opposed: str = "none", catalog: Any = KNOWN, **options: str) -> Scene:
    told = {"catalog": catalog, "persons": PERSONS} if catalog else {}
    moderator = Seat("moderator", "moderator", told)
    said = turn(moderator, "analysis/analyze", perspectives=cast, opposed=opposed)
    return replace(scene(said, options={"perspectives": "auto", **options}), groups={"moderator": (moderator,)})


RULE = Ref("cast", {"of": "analyze.perspectives", "opposed": "analyze.opposed", "number": "perspectives"})
FAST, PLAIN, LEAN = "Performance Advocate: fast.", "Simplicity Advocate: plain.", "Operational Simplicity: lean."


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (cast_by(FAST, PLAIN), ""),
        (cast_by("**Performance Advocate:** fast.", "_Simplicity Advocate_"), ""),
        (cast_by(PLAIN, LEAN, FAST), ""),
        (cast_by(PLAIN, LEAN), "no two of Simplicity Advocate and Operational Simplicity are opposed"),
        (cast_by(PLAIN, LEAN, opposed="Simplicity Advocate against Operational Simplicity"), "no two of"),
        (cast_by(PLAIN, "Beauty: looks."), "no two of Simplicity Advocate and Beauty are opposed"),
        (cast_by(PLAIN, "Beauty: looks.", opposed="beauty against the simplicity advocate, over time"), ""),
        (cast_by(PLAIN, LEAN, "Beauty", opposed="Simplicity Advocate, Operational Simplicity"), "no two of"),
        (cast_by("Beauty", "Beauty of Code", opposed="Beauty of Code against itself"), "no two of"),
        (cast_by("Beauty", "Beauty of Code", opposed="Beauty of Code against Beauty"), ""),
        (cast_by(FAST, PLAIN, catalog=None), "no two of Performance Advocate and Simplicity Advocate are opposed"),
        (cast_by(FAST), r"1 perspective named (Performance Advocate), 2 to 4 needed"),
        (cast_by(FAST, "performance advocate: twice."), "1 perspective named"),
        (cast_by("Human", "The Human", catalog=None), "1 perspective named (Human)"),
        (cast_by(), "0 perspectives named, 2 to 4 needed"),
        (cast_by(FAST, PLAIN, LEAN, "Beauty", "Truth"), "5 perspectives named"),
        (cast_by(FAST, PLAIN, LEAN, "Beauty"), ""),
        (cast_by(FAST, PLAIN, perspectives="3"), "2 perspectives named (Performance Advocate and Simplicity"),
        (cast_by(FAST, PLAIN, LEAN, perspectives="3"), ""),
        (cast_by(FAST, PLAIN, "24/7: always."), "“24/7” is not a valid name: it must begin with a letter"),
        (cast_by(FAST, PLAIN, "日本"), "“日本” is not a valid name"),
        (cast_by(FAST, PLAIN, "What somebody wrote without any colon that parts it"), "is not a valid name"),
        (cast_by(FAST, PLAIN, "Security: locks."), "“Security” is a person of this council, not a perspective"),
    ],
)  # fmt: skip
def test_who_may_be_cast(said, told):
    verdict = judge(RULE, said)
    assert verdict.holds is (told == ""), verdict.reason
    assert told in verdict.reason
    assert bool(verdict.tally.get("unmet")) is not verdict.holds


def test_a_cast_is_told_with_whom_it_opposes():
    assert judge(RULE, cast_by(LEAN, FAST)).reason == (
        "cast: Operational Simplicity and Performance Advocate, Operational Simplicity against Performance Advocate"
    )
    assert judge(Ref("cast", "analyze.perspectives"), cast_by(PLAIN, LEAN)).holds, "asked for the number alone"


FLEXIBLE = "Future Flexibility"


@pytest.mark.parametrize(
    ("said", "seated"),
    [
        (cast_by(FAST, FLEXIBLE), ("simplicity-advocate", "Performance Advocate")),
        (cast_by("Glory", FLEXIBLE), ("simplicity-advocate", FLEXIBLE)),
        (cast_by(FAST, PLAIN), None),  # they are opposed
        (cast_by("Glory", "Honour", opposed="Glory against Honour"), None),  # so they say
        (cast_by("Glory", "Honour"), None),  # the catalog has no opposite
        (cast_by(FAST, FLEXIBLE, "Glory", "Honour"), None),  # there is no room
        (cast_by(FAST, FLEXIBLE, perspectives="2"), None),  # two were asked for
        (cast_by(FAST, FLEXIBLE, catalog=None), None),
    ],
)
def test_who_is_seated_opposite(said, seated):
    found = casting.find_opposite(said, "analyze.perspectives", "analyze.opposed", said.options["perspectives"])
    assert (found and (found[0].name, found[1])) == seated
    assert found is None or found[0].attributes["focus"]


def test_a_moderator_that_is_absent_once_changes_no_cast():
    before = cast_by(FAST, PLAIN)
    gone = absent("moderator", "analysis/analyze", 2, asked="perspectives opposed")
    assert judge(RULE, replace(before, turns=(*before.turns, gone))).holds
    assert not judge(RULE, replace(before, turns=(gone,))).holds


def test_each_of_the_six_is_opposed_by_another_and_not_by_all():
    assert set(BUILT_IN) == set(KNOWN)
    for name in BUILT_IN:
        against = [
            other for other in BUILT_IN if other != name and casting.find_opposed_pair(cast_by(name, other), *SOURCES)
        ]
        assert 0 < len(against) < 5, name
        assert set(casting.list_opponents(KNOWN[name])) <= set(BUILT_IN)


SOURCES = ("analyze.perspectives", "analyze.opposed")


@pytest.mark.parametrize("number", ["1", "5", "two", "0", "-2", "2.5", ""])
def test_a_number_that_cannot_be_cast_is_refused(number):
    with pytest.raises(UsageError, match="the number of perspectives must be auto, or 2 to 4"):
        judge(RULE, cast_by(FAST, PLAIN, perspectives=number))


@pytest.mark.parametrize(
    ("args", "why"),
    [
        ({"of": "analyze.people"}, 'no step "analyze" asks for "people"'),
        ({"of": "analyze.perspectives", "opposed": "frame.opposed"}, 'no step "frame" asks for "opposed"'),
        ({"of": "perspectives"}, "must be a step and one of its answers"),
        ({"of": "analyze.perspectives", "number": "size"}, 'the option "size", which the workflow does not have'),
        ({"of": "analyze.perspectives", "nobody": "x"}, 'the rule "cast"'),
    ],
)
def test_lint_reads_the_rule(args, why):
    program = perspectives()
    debate = replace(program.phases[1], when=Ref("cast", args))
    assert why in "\n".join(lint(replace(program, phases=(program.phases[0], debate, *program.phases[2:])), Known()))


def test_a_name_in_bold_is_shown_without_its_marks(user):
    bold = analysis("**Latency:** answers soon.", "__Fewer Parts__: less.", opposed="Latency against Fewer Parts")
    session = hold(user, "perspectives/settled", **{"01-analysis-r01-1-analyze/moderator": bold})
    assert "**Council Members:** Moderator, Latency, Fewer Parts\n" in text(session, "transcript.md")
    assert "You are Latency.\nYou argue for this: answers soon.\n" in brief(session, "02-debate-r01-2-argue/latency")


def test_how_it_ended_is_told_by_the_rule_and_not_by_stances_that_nobody_gave(user):
    session = held(user, "perspectives/settled")
    told = json.loads(text(session, "convergence.json"))
    assert (told["outcome"], told["proceed_to_round3"]) == ("settled", False)
    assert told["reason"] == "1 of 1 say reading agreement"
    assert "Convergence check" not in text(session, "transcript.md")


# ---- who is muted ----

SEATS = tuple(Seat(name, "analyze", {"title": name.title()}) for name in ("habit", "speed", "taste", "price"))


def muting(*answers: Any) -> Scene:
    """Evaluations one after the other; None is one that was not heard."""
    moderator = Seat("moderator", "moderator")
    turns = [
        absent("moderator", "debate/evaluate", round, asked="muted")
        if muted is None
        else turn(moderator, "debate/evaluate", round, muted=muted)
        for round, muted in enumerate(answers, 1)
    ]
    return replace(scene(*turns), groups={"moderator": (moderator,)})


@pytest.mark.parametrize(
    ("said", "left"),
    [
        (muting(), ["habit", "speed", "taste", "price"]),
        (muting(()), ["habit", "speed", "taste", "price"]),
        (muting(("Taste",)), ["habit", "speed", "price"]),
        (muting(("**Taste:** off the topic",)), ["habit", "speed", "price"]),
        (muting(("taste (again)",), (), None), ["habit", "speed", "price"]),
        (muting(("Taste - off the topic",), ("Taste",)), ["habit", "speed", "price"]),
        (muting(("Taste",), ("Price — off",)), ["habit", "speed"]),
        (muting(("Taste", "Price", "Habit")), ["habit", "speed"]),
        (muting(("Taste",), ("Price",), ("Habit", "Speed")), ["habit", "speed"]),
        (muting(("Tastes", "nobody", "")), ["habit", "speed", "taste", "price"]),
    ],
)
def test_a_mute_lasts_and_two_stay(said, left):
    assert [seat.name for seat in sides.still_heard(SEATS, said, "evaluate.muted")] == left
    assert order.call(Ref("unmuted", {"by": "evaluate.muted"}), (), said) == []
    for then, wanted in (("parallel", [left]), ("sequential", [[name] for name in left])):
        batches = order.call(Ref("unmuted", {"by": "evaluate.muted", "then": then}), SEATS, said)
        assert [[seat.name for seat in batch] for batch in batches] == wanted


@pytest.mark.parametrize("args", [{}, {"by": "evaluate.muted", "until": "3"}])
def test_the_order_takes_what_it_needs(args):
    with pytest.raises(UsageError, match='the order "unmuted"'):
        order.check(Ref("unmuted", args))


@pytest.mark.parametrize(
    ("args", "why"),
    [
        ({"by": "muted"}, "must be a step and one of its answers"),
        ({"by": "evaluate.muted", "then": "backwards"}, 'there is no order "backwards"'),
        ({"by": "evaluate.muted", "then": "unmuted"}, "'by'"),
    ],
)
def test_the_order_says_what_it_cannot_do(args, why):
    with pytest.raises(UsageError, match=why):
        order.call(Ref("unmuted", args), SEATS, muting(("Taste",)))


def test_lint_reads_the_order():
    program = perspectives()
    step = replace(program.phases[1].steps[1], order=Ref("unmuted", {"by": "evaluate.silenced"}))
    debate = replace(program.phases[1], steps=(program.phases[1].steps[0], step, *program.phases[1].steps[2:]))
    told = lint(replace(program, phases=(program.phases[0], debate, *program.phases[2:])), Known())
    assert told == [
        'perspectives: phase debate, step argue: order: unmuted: by: no step "evaluate" asks for "silenced"'
    ]


def test_who_was_muted_and_who_was_not_stands_beside_the_turn_and_in_the_briefs(user):
    session = held(user, "perspectives/muted")
    transcript = text(session, "transcript.md")
    assert transcript.count("*(muted from here on: Taste)*") == 1
    assert "*(Speed is not muted: at least two must remain)*" in transcript
    assert "The perspectives: Habit, Speed, Taste.\n" in brief(session, "02-debate-r01-4-evaluate/moderator")
    assert "The perspectives: Habit, Speed, Taste (muted).\n" in brief(session, "02-debate-r02-1-frame/moderator")
    assert not list(session.glob("turns/02-debate-r0[2-9]*/taste.md"))


def test_a_mute_of_nobody_is_told(user):
    told = text(
        hold(user, "perspectives/guided", **{EVALUATED: evaluation("new ground", "The Cat: it")}), "transcript.md"
    )
    assert "*(there is no seat “The Cat: it” to mute)*" in told


# ---- who repeats ----


def test_a_repetition_is_measured_told_to_the_moderator_and_shown_beside_the_turn(user):
    """Seven of ten words of the one, four of ten of the other stood in their own turns a round before."""
    said = {
        "02-debate-r01-2-argue/cost": "licences servers upgrades backups training contracts audits",
        "02-debate-r02-2-argue/cost": "licences servers upgrades backups training contracts audits night crews travel",
        "02-debate-r01-2-argue/speed": "caches indexes queues",
        "02-debate-r02-2-argue/speed": "caches indexes queues sharding batching pooling",
        "02-debate-r02-3-rebut/cost": "Something else entirely.",
        "02-debate-r02-3-rebut/speed": "Nothing of the kind.",
    }
    session = hold(user, "perspectives/guided", **said)
    shown = brief(session, "02-debate-r02-4-evaluate/moderator")
    assert re.findall(r"^- (.+) %", shown, re.M) == ["Cost (argue): 70"]
    beside = re.findall(r"\*\((.+ repeats its own previous turn)\)\*", text(session, "transcript.md"))
    assert beside == ["70 % of it repeats its own previous turn"]
    assert "has measured" not in brief(session, EVALUATED)


# ---- the options ----


@pytest.mark.parametrize(
    ("asked", "options"),
    [
        (("--perspectives", "3"), {"perspectives": "3"}),
        (("--no-checkpoints",), {"checkpoints": False}),
        (("--max-rounds", "2", "--no-checkpoints"), {"max_rounds": "2", "checkpoints": False}),
        (("-o", "token_budget=unlimited"), {"token_budget": "unlimited"}),
        ((), {}),
    ],
)  # fmt: skip
def test_options_of_the_command_are_those_of_the_workflow(asked, options, user):
    begun = user.council("start", "--workflow", "perspectives", *asked, "Shall we?")
    assert begun.code == 0, begun.err
    assert json.loads(text(user.session, "metadata.json"))["options"] == options


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (("-w", "debate", "--perspectives", "3"), 'debate has no option "perspectives"'),
        (("-w", "board", "--no-checkpoints"), 'board has no option "checkpoints"'),
        (("-w", "perspectives", "--with", "security"), "casts its members while it runs"),
        (("-w", "perspectives", "--only", "engineer"), "casts its members while it runs"),
        (("-w", "perspectives", "--perspectives", "5"), "5 is not in the range"),
        (("-w", "perspectives", "-o", "perspectives=5"), "must be auto, or 2 to 4"),
        (("-w", "perspectives", "-o", "checkpoints=maybe"), "takes true or false"),
        (("-w", "perspectives", "-o", "round_timeout=soon"), "round_timeout must be a number of seconds"),
    ],
)
def test_options_that_mean_nothing_are_refused_before_anything_is_written(asked, told, user):
    ended = user.council("start", *asked, "Shall we?")
    assert (ended.code, told in ended.err) == (2, True), ended.err
    assert not user.sessions


def test_a_number_that_was_asked_for_is_what_is_cast(user):
    """With two where three were asked for, the moderator is asked again; in the brief it is told the number."""
    assert user.council("start", "-w", "perspectives", "--perspectives", "3", "Shall we?").code == 0
    record(user, "01-analysis-r01-1-analyze/moderator", analysis("A: a.", "B: b.", opposed="A against B"))
    (due,) = user.council("next", "--json").json["due"]
    assert due["turn"] == "01-analysis-r02-1-analyze/moderator"
    again = brief(user.session, due["turn"])
    assert "the sides to argue for, exactly 3." in again
    assert "- 2 perspectives named (A and B), 3 needed\n" in again


# ---- the workflow, its cost and its page ----


def perspectives() -> Workflow:
    return load(*overlays.workflow_text("perspectives"))


class Prolix(Glutton):
    """Casts four, in their own words, and finds new ground in every round; each reply takes all that it may."""

    def answers(self, turn: str) -> str:
        if "analyze" in turn:
            sides = [f"Side {name}: as long as it may be {'and on ' * 20}" for name in "ABCD"]
            return analysis(*sides, opposed="Side A against Side B", clear="no")
        if "evaluate" in turn:
            return evaluation("new ground")
        return "\n".join(f"## {name}\nnone\n" for name in TOLD) + "## Recommendation\nGo.\n\n## Confidence\nhigh\n"


TOLD = ("Arguments", "Trade offs", "Agreement", "Tensions", "Caveats", "Dissent", "Acceptance")


def test_no_debate_passes_its_bound(tmp_path):
    user = User(tmp_path, {"ANTHROPIC_API_KEY": "k"})
    with FakeApi(Prolix(user)) as api:
        user.configure(f"endpoints: {{anthropic: {{base_url: {api.url}}}}}\ntiers: {{{TIERS}}}")
        words = ("-w", "perspectives", "--no-checkpoints", "--max-rounds", "2", "-o", f"token_budget={2 * MOST}")
        ended = user.council("run", *words, "--speaker", "anthropic", "--json", "Shall we?")
    assert ended.code == 0, ended.err
    found = ended.json
    assert found["totals"]["calls"] == 2 + 2 * (1 + 4 + 4 + 2) + 2, "one for each that is asked for answers, and again"
    for name, most in found["bound"].items():
        assert 0.25 * most < found["totals"][name] <= most, name


def test_no_more_are_cast_than_the_cost_is_reckoned_with():
    assert cost.MOST_CAST == casting.MOST_CAST == 4


PAGE = perspectives().body


def test_the_page_tells_what_a_debate_takes():
    """For three perspectives; the bound is for four."""
    told = re.search(r"in calls: (\d+) if it is settled in the first round.+?and (\d+) more", PAGE, re.S)
    rates = dict.fromkeys(("sonnet",), cost.Rates("one", 1.0, 1.0, 1000))
    most = {
        row.step: row.most / perspectives().phases[1].max_rounds for row in cost.bound_steps(perspectives(), "", rates)
    }
    a_round = most["frame"] + (most["argue"] + most["rebut"]) * 3 / 4 + most["evaluate"]
    assert told
    assert [int(number) for number in told.groups()] == [a_round + 2, a_round]


def test_the_page_has_the_catalog_and_the_options_as_they_are():
    for name in BUILT_IN:
        (against,) = re.findall(rf"^\| {name} \|[^|]+\| ([^|]+) \|$", PAGE, re.M)
        assert against == KNOWN[name]["opposes"]
    told = dict(re.findall(r"^\| `-o (\w+)=\S*` \|[^|]+\| (\w+) \|$", PAGE, re.M))
    assert told == {name: str(perspectives().options[name]) for name in told}
    assert set(told) == set(perspectives().options) - {"checkpoints", "perspectives", "max_rounds"}


def test_the_pages_own_perspective_is_one(user):
    (shown,) = re.findall(r"^ {4}## compliance-first\n(?: {4}.*\n|\n)+", PAGE, re.M)
    user.write(".council/AgentPersonalities.md", re.sub(r"^ {4}", "", shown, flags=re.M))
    assert user.council("start", "-w", "perspectives", "Shall we?").code == 0
    user.council("next")
    assert "- Compliance First: audit trails" in brief(user.session, "01-analysis-r01-1-analyze/moderator")


@pytest.mark.parametrize(
    "prompt",
    sorted(
        path.name.removesuffix(".md.j2") for path in (overlays.kit_folder() / "templates/perspectives").glob("[a-z]*")
    ),
)
def test_every_template_is_a_prompt_of_the_workflow(prompt):
    assert prompt in {step.prompt for _, step in perspectives().steps()}
    assert prompt in templates.prompts("perspectives")
