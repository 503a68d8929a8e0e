"""How many calls a workflow takes: the least, the most, and what its document says of them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.next.protocols.held import Held, kit, signs

UNDECIDED = signs("undecided", "all of it", challenges=("R1: why",), ready="yes")
AGREEING = signs("R1", challenges=("R1: why",), ready="yes")
QUICKLY: dict[str, Any] = {
    "challenges": {"all": signs("R1")},
    "respond": {"all": AGREEING},
    "poll": {"all": {"move_on": "yes"}},
    "positions": {"all": {"says": "yes"}},
    "check": {"all": {"accurate": "yes"}},
    "propose": {"all": {"satisfaction_score": 95}},
    "analyze": {"all": {"perspectives": ("Cost: less", "Safety: more", "Speed: now"), "opposed": ("Cost, Safety",)}},
    "evaluate": {"all": {"reading": "agreement"}},
    "impact": {"all": {"specialists": ("Protocol", "Database")}},
}
SLOWLY: dict[str, Any] = {
    **QUICKLY,
    "challenges": {"all": signs("undecided", "all of it")},
    "respond": {"all": UNDECIDED},
    "poll": {"all": {"move_on": "no"}},
    "positions": {"A": {"says": "yes"}, "all": {"says": "no"}},
    "challenge": [{"A": {"says": "no"}, "all": {"says": "yes"}}, {"A": {"says": "yes"}, "all": {"says": "no"}}],
    "review": {"all": {"ruling": "continue"}},
    "check": {"all": {"accurate": "no"}},
    "propose": [{"all": {"satisfaction_score": 5 * round, "fundamental": "no"}} for round in range(1, 11)],
    "appeal": {"all": {"decision": "continue", "grant": 0, "option": "A"}},
    "evaluate": {"all": {"reading": "new-ground"}},
    "checkpoint": {"all": {"decision": "continue"}},
}


def calls(name: str, votes: dict[str, Any], **options: Any) -> Counter[str]:
    """How often each step was spoken by a model. Every reply can be read, so nothing is asked twice."""
    plan = Held(kit(name, **options), **votes).until().plan
    assert plan.done
    assert not any(turn.first for turn in plan.scene.turns)
    return Counter(turn.step for turn in plan.scene.turns if not turn.seat.is_person)


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("Debate", 9, 13),
        ("Quick", 5, 5),
        ("Delphi", 6, 16),
        ("Confirm", 2, 2),
        ("Perspectives", 10, 42),
    ],
)
def test_calls_of_a_whole_debate(name: str, least: int, most: int) -> None:
    assert calls(name, QUICKLY).total() == least
    assert calls(name, SLOWLY).total() == most


def test_delphis_control_is_one_call_more() -> None:
    assert calls("Delphi", SLOWLY, control=True).total() == 17


@pytest.mark.parametrize(("name", "checks"), [("Board", 6), ("Planning-1", 5), ("Planning-2", 5)])
def test_calls_of_a_board(name: str, checks: int) -> None:
    """Six members: about 25 calls at least and 78 at most, beside the gate reviewer and the polls."""
    apart = ("poll", "review")
    least, most = calls(name, QUICKLY), calls(name, SLOWLY)
    assert [least[step] for step in ("respond", "synthesize", "check")] == [12, 1, checks]
    assert [most[step] for step in ("respond", "synthesize", "check")] == [60, 2, 2 * checks]
    assert sum(many for step, many in least.items() if step not in apart) == 19 + checks
    assert sum(many for step, many in most.items() if step not in apart) == 68 + 2 * checks
    assert (least["poll"], most["poll"]) == (6, 54)
    assert (least["review"], most["review"]) == (1, 9)


@pytest.mark.parametrize("rounds", [1, 3, 10])
def test_calls_of_a_consensus_are_rounds_times_specialists(rounds: int) -> None:
    """Two specialists of the domain and the four who always sit; the clerk analyses, asks and writes."""
    options = {"min_progress": "0", "max_rounds": str(rounds)}
    assert calls("Consensus", QUICKLY, **options) == {"impact": 1, "propose": 6, "synthesis": 1}
    slow = {"impact": 1, "propose": 6 * rounds, "escalate": 1, "synthesis": 1}
    assert calls("Consensus", SLOWLY, **options) == slow
    every_round = {**SLOWLY, "propose": {"all": {"satisfaction_score": 50, "fundamental": "yes"}}}
    assert calls("Consensus", every_round, **options) == {**slow, "escalate": max(1, rounds - 1)}


def test_a_consensus_without_an_analysis_seats_everybody_of_its_first_group() -> None:
    assert calls("Consensus", QUICKLY, analysis=False) == {"propose": 10, "synthesis": 1}


@pytest.mark.parametrize(
    ("named", "seated", "reason"),
    [
        (("Database: it stores",), 5, "database named"),
        (("Database: it stores", "Quantum *Desk*: x"), 5, "database named; not on the list: quantum-desk"),
        (("Quantum Desk: x", "quantum desk"), 10, "nobody on the list named; not on the list: quantum-desk"),
        (("Security: it sits in any case",), 10, "nobody on the list named"),
    ],
)
def test_an_analysis_that_names_nobody_on_the_list_seats_everybody(
    named: tuple[str, ...], seated: int, reason: str
) -> None:
    held = Held(kit("Consensus"), **{**QUICKLY, "impact": {"all": {"specialists": named}}}).until()
    assert len([turn for turn in held.plan.scene.turns if turn.step == "propose"]) == seated
    assert next(note.verdict.reason for note in held.plan.notes if note.kind == "ended") == reason
