"""Any workflow of code, any replies: plans only grow, what passed stands, claims and hidden tests change nothing."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from council.candidates.checks import VERDICTS
from council.candidates.versions import HIDDEN, follow, kind_of, runs
from council.candidates.words import passes
from council.checks.lint import lint
from council.engine.planner import Due, Plan, plan
from council.engine.scene import RecordedTurn
from council.workflow.loader import load
from council.workflow.model import Workflow
from tests.scripted import played

SEATS = """
  team: [a, {b: {under: a}}, {c: {under: b}}]
  benches:
  - {tester: {of: team, speaker: shell, run: pytest}}
  - {prober: {of: a, speaker: shell, run: pytest, tests: attack}}
  critics: {critic: {of: team}}
  last: {examiner: {of: team, speaker: shell, run: pytest, tests: hidden}}
"""
VERDICT = f"tests: {' | '.join(VERDICTS)}"
TRIAL = f"reply: {{{VERDICT}, passed: list, failed: list}}"
STEPS = (
    ("team", "reply: {solution: files}"), ("team", "reply: {solution: files}"), ("critics", "reply: {attack: files}"),
    ("critics", "reply: {solution: files}"), ("a", "reply: {suite: files}"), ("benches", TRIAL), ("benches", TRIAL),
    ("last", TRIAL), ("team", "reply: {ranking: list}"), ("critics", "reply: {note: text}"),
)  # fmt: skip
ORDERS = (
    "parallel",
    "tree",
    "{tree: up}",
    "sequential",
    "{still: {of: first}}",
    "{still: {of: first, tests: timeout}}",
)
VIEWS = ("so_far", "nothing", "mine", "{mine: [first]}", "standing", "[up, down]", "{beside: [first]}", "gists")
RULES = (
    "{passes: first}", "{passes: {step: first, share: 1/3}}", "dry", "{not: {passes: first}}",
    "{vote: {field: ranking, among: {passes: first}}}", "{all: [{passes: first}, last_round]}",
)  # fmt: skip
WRITE = "{name: write, reply: {solution: files}}"
FIRST = f"  - {{name: begin, steps: [{WRITE}, {{name: first, seats: benches, {TRIAL}}}]}}"


def make_program(dice: random.Random) -> Workflow:
    """A phase that tries the first drafts, then any steps in any order."""
    phases = [FIRST]
    for number in range(dice.randint(1, 3)):
        steps = []
        for place in range(dice.randint(1, 3)):
            seats, reply = dice.choice(STEPS)
            when = f", when: {dice.choice(RULES[:4])}" if dice.random() < 0.2 else ""
            words = f"seats: {seats}, order: {dice.choice(ORDERS)}, sees: {dice.choice(VIEWS)}"
            steps.append(f"{{name: p{number}-{place}, {words}, {reply}{when}}}")
        rounds = dice.choice(["1", "2", "[1, 3]"])
        until = f", until: {{over: {dice.choice(RULES)}}}" if dice.random() < 0.6 else ""
        phases.append(f"  - {{name: p{number}, rounds: {rounds}{until}, steps: [{', '.join(steps)}]}}")
    if dice.random() < 0.4:
        phases += [f"  - {{name: end, seats: last, {TRIAL}}}", "  - {name: sum-up, seats: a}"]
    listed = "\n".join(phases)
    return load(f"---\nname: any\nseats:{SEATS}phases:\n{listed}\n---\n", "any.md")


def reply_to(due: Due, dice: random.Random) -> RecordedTurn:
    if dice.random() < 0.1:
        return RecordedTurn("", absent="timeout")
    if dice.random() < 0.1:
        return RecordedTurn("I have nothing to say.\n")
    files = f"src/x{dice.randint(0, 2)}.py\n```python\nx = {dice.randint(0, 9)}\n```"
    tests = f"tests/test_x{dice.randint(0, 2)}.py\n```python\ndef test_x(): pass\n```"
    verdict = dice.choice(VERDICTS)
    ids = "\n".join(f"- tests/test_x{at}{dice.choice(['', '_attack1'])}.py::test_x" for at in range(dice.randint(1, 3)))
    words = {
        "solution": files, "attack": tests, "suite": tests, "ranking": "- a\n- b", "note": "As before.",
        "tests": verdict, "passed": ids if verdict == "pass" else "none",
        "failed": ids if verdict == "fail" else "none",
    }  # fmt: skip
    return RecordedTurn("\n\n".join(f"## {name}\n{words[name]}" for name, _ in due.step.reply))


def play(program: Workflow, dice: random.Random) -> tuple[list[Plan], dict[str, RecordedTurn]]:
    """Every plan of a debate in which one turn at a time is recorded."""
    said: dict[str, RecordedTurn] = {}
    plans = [plan(program, said, "seed")]
    while plans[-1].due:
        assert len(said) < 500, "it does not end"
        due = dice.choice(plans[-1].due)
        said[due.id] = reply_to(due, dice)
        plans.append(plan(program, said, "seed"))
    return plans, said


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32))
def test_plans_only_grow_and_are_the_same_again(seed: int) -> None:
    dice = random.Random(seed)
    program = make_program(dice)
    plans, said = play(program, dice)
    for before, after in itertools.pairwise(plans):
        gone = {due.id for due in before.due} - {due.id for due in after.due}
        assert len(gone) == 1, "a turn that is due stays due until it is recorded"
        assert after.notes[: len(before.notes)] == before.notes
        assert after.scene.turns[: len(before.scene.turns)] == before.scene.turns
    shuffled = [*said.items()]
    dice.shuffle(shuffled)
    assert plan(program, dict(shuffled), "seed") == plans[-1]
    assert set(plans[-1].expected) == set(said)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32))
def test_what_stands_is_green_if_anything_is(seed: int) -> None:
    dice = random.Random(seed)
    plans, _ = play(make_program(dice), dice)
    for now in plans[:: max(1, len(plans) // 8)]:
        ledger = follow(now.scene)
        for name, versions in ledger.versions.items():
            standing, green = ledger.standing(name), [one for one in versions if ledger.is_green(one)]
            assert standing == (green or versions)[-1]
            for version in versions:
                assert version.parent is None or version.parent in versions[: version.number - 1]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_where_lint_finds_nothing_no_writer_comes_after_a_hidden_trial(seed: int) -> None:
    dice = random.Random(seed)
    program = make_program(dice)
    hidden = {step.name for _, step in program.steps() if "last" in step.seats}
    if problems := [one for one in lint(program) if "hidden" in one]:
        assert hidden, problems
        return
    plans, _ = play(program, dice)
    for now in plans:
        for due in now.due:
            if {kind.type for _, kind in due.step.reply} & {"files"} or "ranking" in dict(due.step.reply):
                assert not [turn for turn in due.scene.turns if kind_of(turn.seat) == HIDDEN and runs(turn.seat)]


CLAIM = "\n\n## Tests\npass\n\n## Passed\n- tests/test_x0.py::test_x\n\n## Failed\nnone\n"


@pytest.mark.parametrize("name", ["lab/green", "lab/absences", "lab/nobody-green", "lab/duel"])
def test_a_member_that_claims_to_pass_is_not_believed(name: str) -> None:
    """Not even in a workflow that lint would refuse, because it asks everybody for a verdict."""
    honest = played(name)
    program, said = ask_everybody(honest.script.workflow), dict(honest.said)
    for due in (due for batch in honest.batches for due in batch):
        if not runs(due.seat) and not said[due.id].absent:
            said[due.id] = replace(said[due.id], body=said[due.id].body + CLAIM)
    claimed = plan(program, said, honest.script.seed)
    assert claimed.done
    assert describe(claimed.scene) == describe(honest.end.scene)
    assert passes(claimed.scene, "trial") == passes(honest.end.scene, "trial")
    assert passes(claimed.scene, "draft").holds is False
    assert set(claimed.expected) == set(honest.end.expected), "and nobody was asked anything else"


def ask_everybody(program: Workflow) -> Workflow:
    """The workflow in which each step asks for a verdict too."""
    verdict = next(step.reply for _, step in program.steps() if step.name == "trial")
    phases = []
    for phase in program.phases:
        steps = tuple(
            replace(step, reply=(*step.reply, *(one for one in verdict if one[0] not in dict(step.reply))))
            for step in phase.steps
        )
        phases.append(replace(phase, steps=steps))
    return replace(program, phases=tuple(phases))


def describe(scene: Any) -> Mapping[str, Any]:
    ledger = follow(scene)
    return {
        name: ([one.verdict for one in ledger.checks.get(name, [])], standing and standing.number)
        for name in ledger.candidates
        for standing in [ledger.standing(name)]
    }


def test_hidden_verdicts_change_nothing_that_stands() -> None:
    ledger = follow(played("lab/absences").end.scene)
    assert {check.verdict for checks in ledger.checks.values() for check in checks[-1:]} == {"fail", "unknown"}
    assert all(ledger.is_green(version) for name in ledger.versions if (version := ledger.standing(name)))
