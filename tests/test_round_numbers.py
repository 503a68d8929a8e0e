"""A round has one number everywhere, and what is outside the count has none."""

from __future__ import annotations

import pytest

from council.engine.planner import Plan
from council.errors import UsageError
from council.protocols import outcome
from council.workflow.loader import load
from tests import scripted

PLAIN = "name: plain\nseats: {members: [a, b]}\nphases:\n  - {name: talk, numbered: %s}\n"


def headings(plan: Plan, script: scripted.Script) -> list[str]:
    phases = {phase.name: phase for phase in script.workflow.phases}
    numbers = outcome.number_rounds(plan)
    return [
        outcome.round_heading(numbers.get((name, round), 0), phases[name], round)
        for name, round in outcome.passages(plan)
    ]


def play(name: str) -> list[str]:
    script = scripted.script(name)
    return headings(scripted.plan(script.workflow, scripted.played(name).said, script.seed), script)


def test_the_rounds_of_a_debate_count_and_what_is_beside_it_does_not() -> None:
    assert play("perspectives/vague") == [
        "Analysis", "Analysis, again", "Analysis, again", "Round 1: Debate", "Round 2: Debate", "Follow Up",
    ]  # fmt: skip
    assert play("board/fundamental") == ["Positions", "Round 1: Challenge", "Round 2: Challenge", "Guidance"]
    assert play("consensus/simple") == ["Round 1: Debate", "Round 2: Debate"]
    assert play("debate/three-rounds") == [
        "Round 1: Initial Positions", "Round 2: Responses & Challenges", "Round 3: Synthesis",
    ]  # fmt: skip


def test_a_round_that_is_not_over_has_the_number_that_it_will_keep() -> None:
    """At every cut of the record, the next round's number is the one in the names of the files."""
    script, whole = scripted.script("board/ten-rounds"), scripted.played("board/ten-rounds").said
    kept: dict[tuple[str, int], int] = {}
    for cut in range(0, len(whole), 7):
        plan = scripted.plan(script.workflow, dict(list(whole.items())[:cut]), script.seed)
        for due in plan.due[:1]:
            number = outcome.number_of(plan, due.phase, due.round)
            assert kept.setdefault((due.phase.name, due.round), number) == number
            assert number == (due.round if due.phase.name == "challenge" else 0) or due.phase.role
    assert kept["challenge", 9] == 9


@pytest.mark.parametrize("value", ["no", "0", "[]"])
def test_numbered_is_true_or_false(value: str) -> None:
    with pytest.raises(UsageError, match="phase talk: numbered"):
        load(f"---\n{PLAIN % value}---\n", "plain.md")
    assert not load(f"---\n{PLAIN % 'false'}---\n", "plain.md").phases[0].numbered


def test_an_analysis_of_who_sits_is_outside_the_count_by_itself() -> None:
    analysis = (
        "---\nname: one\nseats: {members: [a, b], clerk: clerk}\nphases:\n  - {name: who, role: impact, seats: clerk}\n"
    )
    assert [phase.numbered for phase in load(f"{analysis}  - name: talk\n---\n", "one.md").phases] == [False, True]
