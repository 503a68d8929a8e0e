"""The planner: what it plans for every scripted debate, and that no cut, loss or repetition changes that."""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from council.checks.lint import lint
from council.config import overlays
from council.engine.planner import Due, Plan, plan
from council.engine.scene import RecordedTurn
from council.replies.parse import describe
from council.workflow.loader import load
from council.workflow.model import Ref, Workflow
from tests.scripted import PLANS, SCRIPTS, WORKFLOWS, Played, golden_plan, names, played, printed, workflow

UPDATE = "COUNCIL_UPDATE_GOLDEN"
EVERY = pytest.mark.parametrize("name", names())
BLIND = (Ref("nothing"),)


def by_id(dues: tuple[Due, ...]) -> dict[str, Due]:
    return {due.id: due for due in dues}


# The scripts themselves


@pytest.mark.parametrize(
    "name",
    sorted({path.stem for folder in WORKFLOWS for path in folder.glob("*.md")} - set(map(str.title, overlays.GUIDES))),
)
def test_workflows_load_and_lint_clean(name: str) -> None:
    assert lint(workflow(name)) == []


@EVERY
def test_every_line_of_a_script_is_spoken(name: str) -> None:
    debate = played(name)
    assert set(debate.script.turns) == debate.used


@EVERY
def test_plan_is_the_golden_one(name: str) -> None:
    text = printed(played(name))
    if os.environ.get(UPDATE):
        golden_plan(name).write_text(text, encoding="utf-8")
    assert text == golden_plan(name).read_text(encoding="utf-8"), "if that is meant, run scripts/update-golden"


def test_every_golden_plan_has_its_script() -> None:
    wanted = {golden_plan(name) for name in names()}
    if os.environ.get(UPDATE):
        for path in set(PLANS.glob("*.txt")) - wanted:
            path.unlink()
    assert set(PLANS.glob("*.txt")) == wanted
    assert {path.parent.parent for path in SCRIPTS.rglob("*.yaml")} == {SCRIPTS}


# Cuts and losses


@EVERY
def test_every_cut_plans_what_was_due_there(name: str) -> None:
    debate = played(name)
    for number, batch in enumerate(debate.batches):
        before = debate.before(number)
        later = by_id(debate.batches[number + 1]) if number + 1 < len(debate.batches) else {}
        for done in cuts(batch):
            now = debate.plan(before | {due.id: debate.said[due.id] for due in done})
            again = {f"{due.id}.2" for due in done} & set(later)
            wanted = {due.id: due for due in batch if due not in done} | {id: later[id] for id in again}
            assert by_id(now.due) == wanted, f"batch {number + 1}, with {[due.id for due in done]} recorded"


def cuts(batch: tuple[Due, ...]) -> Iterator[tuple[Due, ...]]:
    """Every part of a small batch, but not all of it; of a large one, what is there as it completes in some orders."""
    if len(batch) <= 3:
        for size in range(len(batch)):
            yield from itertools.combinations(batch, size)
        return
    for seed in range(2):
        shuffled = random.Random(seed).sample(batch, len(batch))
        for size in range(len(batch)):
            yield tuple(shuffled[:size])


@EVERY
def test_every_lost_turn_is_due_again_and_nothing_else(name: str) -> None:
    debate = played(name)
    for number, batch in enumerate(debate.batches):
        mates = {due.id for due in batch}
        for lost in batch:
            now = debate.plan({id: said for id, said in debate.said.items() if id != lost.id})
            assert now.due == (lost,), f"batch {number + 1} without {lost.id}"
            assert not {seen.turn.id for seen in now.due[0].sees} & mates, "it sees who speaks at the same time"


@EVERY
def test_words_put_back_give_the_whole_plan(name: str) -> None:
    debate = played(name)
    lost = list(debate.said)[len(debate.said) // 2]
    mended = {id: said for id, said in debate.said.items() if id != lost} | {lost: debate.said[lost]}
    assert debate.plan(mended) == debate.end
    assert debate.plan(dict(reversed(mended.items()))) == debate.end
    assert debate.end.done
    assert set(debate.end.expected) == set(debate.said)


# Purity


@EVERY
def test_nobody_sees_what_is_said_later_or_at_the_same_time(name: str) -> None:
    debate = played(name)
    heard: set[str] = set()
    for number, batch in enumerate(debate.batches):
        for due in batch:
            assert {turn.id for turn in due.scene.turns} <= heard
            assert {seen.turn.id for seen in due.sees} <= {turn.id for turn in due.scene.turns}
            assert due.step.sees != BLIND or due.sees == ()
        heard |= {due.id.removesuffix(".2") for due in debate.batches[number]}


@EVERY
def test_what_was_decided_stays_decided(name: str) -> None:
    debate = played(name)
    plans = [debate.plan(debate.before(number)) for number in range(len(debate.batches) + 1)]
    for now, later in itertools.pairwise(plans):
        assert later.notes[: len(now.notes)] == now.notes
        assert later.scene.turns[: len(now.scene.turns)] == now.scene.turns
        assert now.expected.items() <= later.expected.items()


@pytest.mark.slow
@pytest.mark.parametrize("hash_seed", ["0", "4711"])
def test_another_process_plans_the_same(hash_seed: str) -> None:
    wanted = ["debate/asked-again", "board/agreed", "consensus/complex", "perspectives/guided", "sketch/clean"]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    command = [sys.executable, "-m", "tests.scripted", *wanted]
    shown = subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", check=True, env=environment, cwd=PLANS.parent.parent
    )
    assert shown.stdout == "".join(f"{golden_plan(name).read_text(encoding='utf-8')}\n" for name in wanted)


def test_another_session_shuffles_otherwise() -> None:
    debate = played("consensus/cap")
    assert {first_speakers(debate, seed) for seed in map(str, range(40))} == set(
        itertools.permutations(["global-controller", "meeting-controller", "protocol"])
    )


def first_speakers(debate: Played, seed: str) -> tuple[str, ...]:
    said: dict[str, RecordedTurn] = {}
    speakers = []
    for _ in range(3):
        (due,) = plan(debate.script.workflow, said, seed).due
        said[due.id] = debate.said[due.id]
        speakers.append(due.seat.name)
    return tuple(speakers)


# What the seeds say in so many words


def test_domain_is_shuffled_in_rounds_1_4_7_and_10_and_security_is_always_last() -> None:
    order: dict[int, list[str]] = {}
    for (due,) in played("consensus/cap").batches:
        if due.step.name == "propose":
            order.setdefault(due.round, []).append(due.seat.name)
    assert list(order) == list(range(1, 11))
    assert {tuple(seats[3:]) for seats in order.values()} == {("observability", "operations", "test", "security")}
    domain = {round: seats[:3] for round, seats in order.items()}
    assert domain[1] == domain[2] == domain[3] == ["global-controller", "protocol", "meeting-controller"]
    assert domain[4] == domain[5] == domain[6] == ["meeting-controller", "global-controller", "protocol"]
    assert domain[7] == domain[8] == domain[9] != domain[4]
    assert domain[10] != domain[7]


def test_costs_of_a_board_are_those_of_its_document() -> None:
    """25 calls or so at least, 78 or so at most, beside the gate reviewer's and the polls."""
    assert spoken(played("board/agreed"), "positions", "respond", "synthesize", "check") == 6 + 12 + 1 + 6
    assert spoken(played("board/synthesis-corrected"), "synthesize", "check") == 2 * (1 + 4)
    assert spoken(played("board/ten-rounds"), "respond") == 10 * 3


def spoken(debate: Played, *steps: str) -> int:
    return sum(due.step.name in steps for batch in debate.batches for due in batch)


@pytest.mark.parametrize(
    ("name", "outcomes"),
    [
        ("consensus/simple", {"debate": "consensus", "synthesis": "complete"}),
        ("consensus/complex", {"debate": "consensus", "synthesis": "complete"}),
        ("consensus/cap", {"debate": "max-iterations", "synthesis": "complete"}),
        ("consensus/escalation-off", {"debate": "stalemate", "synthesis": "cap"}),
        ("board/fundamental", {"challenge": "fundamental", "guidance": "done"}),
        ("sketch/over-budget", {"dehallucination": "clear", "self-evolvement": "over-budget"}),
        ("sketch/rejected", {"approval": "rejected"}),
        ("debate/dissent-left-out", {"synthesis": "cap"}),
    ],
)
def test_outcomes(name: str, outcomes: dict[str, str]) -> None:
    assert played(name).end.scene.outcomes.items() >= outcomes.items()


def test_a_second_reply_adds_to_the_first() -> None:
    """What could be read of the first reply need not be said again, and is no problem when it is not."""
    program = load(TWO_ANSWERS, "two.md")
    said = {"01-ask/one": RecordedTurn("## Stance\nagree"), "01-ask/one.2": RecordedTurn("## Blocking\n- the price")}
    (turn,) = plan(program, said).scene.turns
    assert turn.answers == {"stance": "agree", "blocking": ("the price",)}
    assert turn.problems == ()
    assert turn.first == said["01-ask/one"]
    (turn,) = plan(program, {**said, "01-ask/one.2": RecordedTurn("## Stance\nmixed")}).scene.turns
    assert turn.answers == {"stance": "mixed"}
    assert turn.problems == ('there is no "## Blocking"',)
    (turn,) = plan(program, {**said, "01-ask/one.2": RecordedTurn("", absent="timeout")}).scene.turns
    assert (turn.answers, turn.absent) == ({"stance": "agree"}, None)


def test_a_round_granted_on_top_of_a_single_one_is_a_round_of_its_own() -> None:
    program = load("---\nname: g\nseats: {all: human}\nphases: [{name: ask, reply: {grant: 0-3}}]\n---", "g.md")
    said = {"01-ask/human": RecordedTurn("## Grant\n1")}
    (due,) = plan(program, said).due
    assert due.id == "01-ask-r02/human"
    assert plan(program, said | {due.id: RecordedTurn("## Grant\n0")}).done


def test_the_round_in_which_a_person_grants_another_is_not_the_last() -> None:
    asked = "{name: ask, reply: {grant: 0-3}, until: {over: last_round}}"
    program = load(f"---\nname: g\nseats: {{all: human}}\nphases: [{asked}]\n---", "g.md")
    said = {"01-ask/human": RecordedTurn("## Grant\n1")}
    assert [due.id for due in plan(program, said).due] == ["01-ask-r02/human"]


def test_who_is_cast_is_whom_the_newest_answer_names() -> None:
    program = load(
        """---
name: tiny
seats: {lead: lead}
phases:
  - {name: ask, rounds: 2, reply: {who: list}}
  - {name: talk, seats: {from: ask.who}}
---
""",
        "tiny.md",
    )
    said = {
        "01-ask-r01/lead": RecordedTurn("## Who\n- Cost: less\n- Speed: more"),
        "01-ask-r02/lead": RecordedTurn("## Who\n- Safety: first"),
    }
    assert [due.id for due in plan(program, said).due] == ["02-talk/safety"]
    said["01-ask-r02/lead"] = RecordedTurn("", absent="timeout")
    assert [due.id for due in plan(program, said).due] == ["02-talk/cost", "02-talk/speed"]


def test_who_is_named_to_be_left_out_is_not_cast() -> None:
    program = load(
        """---
name: tiny
seats: {lead: lead}
phases:
  - {name: ask, reply: {who: list, out: list}}
  - {name: talk, seats: {from: ask.who, without: ask.out}}
---
""",
        "tiny.md",
    )
    asked = "## Who\n- Cost: less\n- Top Speed: more\n- Safety: first\n\n## Out\n"
    for out, cast in (("- top speed: too loud\n- Cost", ["safety"]), ("none", ["cost", "top-speed", "safety"])):
        said = {"01-ask/lead": RecordedTurn(asked + out)}
        assert [due.seat.name for due in plan(program, said).due] == cast


@pytest.mark.parametrize("seat", ["human", "member"])
def test_only_a_person_can_grant_rounds(seat: str) -> None:
    program = load(f"---\nname: g\nseats: {{all: {seat}}}\nphases: [{{name: ask, reply: {{grant: 0-3}}}}]\n---", "g.md")
    assert plan(program, {f"01-ask/{seat}": RecordedTurn("## Grant\n1")}).done == (seat == "member")


TWO_ANSWERS = """---
name: two
seats: {all: one}
phases: [{name: ask, reply: {stance: agree | mixed, blocking: list}}]
---"""


# Any workflow, any answers

KINDS = {
    "stance": "agree | mixed | disagree",
    "blocking": "list",
    "score": "0-100",
    "grant": "0-3",
    "note": "text",
    "cast": "list",
}
RULES = [
    {"every": {"stance": "agree"}},
    {"some": {"blocking": "any"}},
    {"share": {"stance": "disagree", "over": "1/2"}},
    {"not": {"every": {"score": ">= 50"}}},
    {"stuck": {"field": "score", "gain": "5"}},
    {"stuck": {"field": "stance", "over": "2"}},
    {"vote": {"field": "stance"}},
    {"all": ["last_round", {"repeats": {"over": "0.5"}}]},
    ["disagreement", {"spent": {"calls": "7"}}],
    "dissent_kept",
]
ORDERS = ["parallel", "sequential", "by_group", {"shuffle": {"group": "others", "every": "2"}}]
VIEWS = ["so_far", "nothing", "own", "gists", {"recent": {"rounds": "1"}}, {"anonymous": ["own", "gists"]}]
BODIES = ["", "I disagree.", "Error: 429 rate limit", "## Stance\nagree", "> ## Stance\n> agree", "## Cast\n- New: x"]
SEED = "seed"


@st.composite
def programs(draw: st.DrawFn) -> Workflow:
    phases = []
    for number in range(draw(st.integers(1, 3))):
        steps = [draw(steps_of(f"p{number}-s{place}")) for place in range(draw(st.integers(1, 2)))]
        least = draw(st.integers(1, 2))
        rounds = [str(least), str(draw(st.integers(least, 3)))]
        phase: dict[str, object] = {"name": f"p{number}", "rounds": rounds, "steps": steps}
        phase |= draw(st.fixed_dictionaries({}, optional={"when": st.sampled_from(RULES)}))
        phase |= draw(
            st.fixed_dictionaries({}, optional={"until": st.sampled_from([{"over": rule} for rule in RULES])})
        )
        phases.append(phase)
    halt = draw(st.sampled_from([{}, {"enough": {"spent": {"calls": "9"}}}]))
    keys = {"name": "any", "seats": {"all": ["a", "b", "c"], "others": ["d", "e"]}, "halt": halt, "phases": phases}
    return load(f"---\n{as_yaml(keys)}\n---\n", "any.md")


def steps_of(name: str) -> st.SearchStrategy[dict[str, object]]:
    reply: st.SearchStrategy[object] = st.sets(st.sampled_from(sorted(KINDS))).map(
        lambda fields: {field: KINDS[field] for field in sorted(fields)}
    )
    cast = {"from": f"{name}.cast", "without": f"{name}.blocking"}
    seats: list[object] = [["all"], ["others", "a"], ["human"], cast]
    required: dict[str, st.SearchStrategy[object]] = {
        "name": st.just(name),
        "reply": reply,
        "order": st.sampled_from(ORDERS),
        "sees": st.lists(st.sampled_from(VIEWS), min_size=1, max_size=2),
        "seats": st.sampled_from(seats),
    }
    optional: dict[str, st.SearchStrategy[object]] = {"when": st.sampled_from(RULES)}
    return st.fixed_dictionaries(required, optional=optional)


def as_yaml(value: object) -> str:
    """Flow style, by hand, so that the strict loader sees just these words."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {as_yaml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(as_yaml, value)) + "]"
    return f'"{value}"'


@st.composite
def replies(draw: st.DrawFn, due: Due, most_grant: int) -> RecordedTurn:
    """An absent seat, noise, the format echoed, or answers of which some are missing or wrong."""
    kind = draw(st.sampled_from(["absent", "noise", "echo", "answers", "answers", "answers"]))
    if kind == "absent":
        return RecordedTurn("", absent="timeout")
    if kind == "noise":
        return RecordedTurn(draw(st.sampled_from(BODIES)), usd=None)
    if kind == "echo":
        return RecordedTurn(describe(due.step.reply), brief=describe(due.step.reply))
    words = {
        "stance": st.sampled_from(["agree", "mixed", "disagree", "agree, but not yet"]),
        "blocking": st.sampled_from(["none", "- the price", "- a\n- b"]),
        "score": st.integers(-10, 110).map(str),
        "grant": st.integers(0, most_grant).map(str),
        "note": st.sampled_from(["As before.", "I object to that."]),
        "cast": st.sampled_from(["- Cost: less\n- a\n- human", "none"]),
    }
    return RecordedTurn("\n\n".join(f"## {name}\n{draw(words[name])}" for name, _ in due.step.reply), tokens=5, usd=0.1)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(program=programs(), data=st.data())
def test_any_debate_ends_and_asks_for_nothing_twice(program: Workflow, data: st.DataObject) -> None:
    said: dict[str, RecordedTurn] = {}
    now = plan(program, said, SEED)
    while not now.done:
        assert len(said) < 1000, "it does not end"
        ids = [due.id for due in now.due]
        assert len(set(ids)) == len(ids)
        assert not set(ids) & set(said)
        chosen = data.draw(st.sampled_from(now.due))
        said[chosen.id] = data.draw(replies(chosen, most_grant=3 if len(said) < 20 else 0))
        before, now = now, plan(program, said, SEED)
        assert {due.id for due in before.due} - {chosen.id} <= {due.id for due in now.due}
    assert now.done
    assert set(now.expected) == set(said)
    assert now == plan(program, said, SEED)
    assert_rounds(program, now)


def assert_rounds(program: Workflow, end: Plan) -> None:
    """No phase has more rounds than its cap and what a person granted, nor fewer than its least."""
    phases = {phase.name: phase for phase in program.phases}
    halted = any(note.kind == "halted" for note in end.notes)
    for note in end.notes:
        if note.kind in ("round", "ended"):
            people = [turn for turn in end.scene.named(note.phase) if turn.seat.name == "human"]
            grants = sum(turn.answers.get("grant", 0) for turn in people)
            assert note.round <= phases[note.phase].max_rounds + grants
        if note.kind == "ended":
            assert note.round >= phases[note.phase].min_rounds
    if not halted:
        over = [note.phase for note in end.notes if note.kind == "ended"]
        skipped = [note.phase for note in end.notes if note.kind == "skipped" and not note.step]
        assert sorted(over + skipped) == sorted(phases)


def test_the_words_outside_of_the_answers_are_a_turns_prose() -> None:
    """What is quoted of a member's dissent is what it argued, not the headings below it."""
    debate = load(*overlays.workflow_text("debate"))
    positions = {f"01-positions/{seat.name}": RecordedTurn("I am against it.") for seat in debate.members}
    body = "It will page us at night.\n\n## Stance\ndisagree\n\n## Blocking\nnone\n"
    challenges = {f"02-challenges/{seat.name}": RecordedTurn(body) for seat in debate.members}
    turns = plan(debate, positions | challenges).scene.turns
    assert {turn.prose for turn in turns} == {"I am against it.", "It will page us at night."}
    again = {"02-challenges/engineer": RecordedTurn("Hm."), "02-challenges/engineer.2": RecordedTurn(body)}
    (engineer,) = [turn for turn in plan(debate, positions | challenges | again).scene.turns if turn.first]
    assert engineer.prose == "It will page us at night."
