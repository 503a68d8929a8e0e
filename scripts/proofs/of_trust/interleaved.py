"""Whatever call one debate dies or fails at, another in the same home notices nothing, and both end whole."""

from __future__ import annotations

from prove import Outcome

from tests import interleaved, kills
from tests.faults import Nursery

PROMISE = "two debates in one home"
EVERY = 3  # calls


def parts() -> list[str]:
    return list(interleaved.KINDS)


def prove(part: str) -> Outcome:
    with kills.in_memory() as ground, Nursery() as nursery:
        calls = interleaved.count_calls(ground, nursery)
        crowd = interleaved.sweep(ground, nursery, part, range(calls, 0, -EVERY))
    tried = f"{part} at every {EVERY}rd call of one, while the other goes on"
    return Outcome([(PROMISE, tried, crowd.tried, crowd.held)], crowd.wrong)
