"""How much a turn may have to read, reckoned before anything is said: never less than what it has to read then."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from council.checks import cost
from council.checks.sizes import GIST, MOST_GIST, History, Size
from council.engine.planner import Due
from council.workflow.loader import load
from council.workflow.model import Phase, Seat, Step, Workflow
from tests.scripted import names, played

WHOLE = 10_000
DEBATES = [name for name in names() if name.partition("/")[0] in ("board", "consensus", "debate", "quick")]
RATES = {"sonnet": cost.Rates("one", 1.0, 1.0, 1000)}
STEPS = """---
name: any
seats: {{members: [a, b], others: c}}
phases:
  - name: talk
    rounds: [1, 9]
    steps:
      - {{name: say, sees: {sees}}}
      - {{name: count, seats: c, sees: nothing}}
---
"""


def walk(workflow: Workflow) -> Iterator[tuple[Phase, Step, int]]:
    """Every step in every round, as often as it may come."""
    for phase in workflow.phases:
        for round in range(1, phase.max_rounds + 20):
            yield from ((phase, step, round) for step in phase.steps)


def at(history: History, due: Due) -> History:
    """The history up to the step of the due turn."""
    for phase, step, round in walk(history.workflow):
        if (phase.name, step.name, round) == (due.phase.name, due.step.name, due.round):
            return history
        if round <= due.round or phase.name != due.phase.name:
            seats = history.workflow.seats(name for name in step.seats if isinstance(name, str))
            history.spoke(phase, step, round, [(seat, Size(WHOLE, WHOLE)) for seat in seats])
    raise AssertionError(f"{due.id} is no turn of {history.workflow.name}")


@pytest.mark.parametrize("name", DEBATES)
def test_no_turn_has_more_to_read_than_was_reckoned(name: str) -> None:
    debate = played(name)
    for due in (due for batch in debate.batches for due in batch):
        earlier = [one for one in due.sees if one.turn.moment != (due.phase.name, due.round, due.step.name)]
        read = sum(MOST_GIST if one.gist else WHOLE for one in earlier)
        history = at(History(debate.script.workflow), due)
        assert read <= history.heard(due.phase, due.step, due.round, due.seat).max_, due.id


def heard(sees: str, rounds: int = 8) -> Size:
    """What `a` may read before its turn in the round after these."""
    workflow = load(STEPS.format(sees=sees), "any.md")
    history, (phase,) = History(workflow), workflow.phases
    for round in range(1, rounds + 1):
        history.spoke(phase, phase.steps[0], round, [(seat, Size(10, 100)) for seat in workflow.members])
        history.spoke(phase, phase.steps[1], round, [(Seat("c", "c"), Size(1, 1000))])
    return history.heard(phase, phase.steps[0], rounds + 1, workflow.members[0])


@pytest.mark.parametrize(
    ("sees", "size"),
    [
        ("nothing", Size()),
        ("so_far", Size(8 * 21, 8 * 1200)),
        ("own", Size(8 * 10, 8 * 100)),
        ("say", Size(8 * 20, 8 * 200)),
        ("[count, own]", Size(8 * 11, 8 * 1100)),
        ("gists", Size(24 * GIST, 24 * MOST_GIST)),
        ("{recent: {rounds: 2}}", Size(2 * 21, 2 * 1200)),
        ("{fading: {keep: {9: 1}}}", Size(21 + 21 * GIST, 1200 + 21 * MOST_GIST)),
        ("{fading: {keep: {9: 1}, digest: 8}}", Size(21, 1200)),
        ("{anonymous: nothing}", Size(8 * 21, 8 * 1200)),  # whoever takes names off may do more: all is reckoned with
    ],
)
def test_what_a_view_lets_through(sees: str, size: Size) -> None:
    assert heard(sees) == size


def test_scores_are_told_in_briefs() -> None:
    text = STEPS.format(sees="nothing").replace("name: say,", "name: say, reply: {score: 0-100},")
    workflow = load(text, "any.md")
    history, (phase,) = History(workflow), workflow.phases
    for round in (1, 2):
        history.spoke(phase, phase.steps[0], round, [(seat, Size()) for seat in workflow.members])
        history.spoke(phase, phase.steps[1], round, [(Seat("c", "c"), Size())])
    assert history.scores(phase) == 4
    assert History(load(STEPS.format(sees="nothing"), "any.md")).scores(phase) == 0


def last_round(sees: str, rounds: int) -> int:
    """What the last of so many rounds adds to the bound."""

    def most(rounds: int) -> int:
        text = STEPS.format(sees=sees).replace("[1, 9]", f"[1, {rounds}]")
        return cost.bound_steps(load(text, "any.md"), "", RATES)[0].most_input

    return most(rounds) - most(rounds - 1)


def test_a_round_costs_what_it_shows() -> None:
    """Where all is shown each round costs more than the one before, and where one round is, no more."""
    assert last_round("so_far", 30) > last_round("so_far", 20)
    fading = "{fading: {keep: {3: all, 8: 1}, digest: 3}}"
    assert last_round(fading, 30) == last_round(fading, 20) < last_round("so_far", 20)
