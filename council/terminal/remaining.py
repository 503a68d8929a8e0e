"""How long the rest of a debate takes, guessed from how long the calls of this run took. Pure, but for the clock.

Some rounds are held only if the members disagree, so the guess is a range: from the calls that are sure to come to the
calls of every round. What is over within `LEAST` seconds needs no guess.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from council.checks.cost import Row
from council.engine.orders import order
from council.engine.planner import Due
from council.record.turn_file import Receipt
from council.speakers.registry import describe
from council.workflow.model import Cast, Step, Workflow

LEAST = 20
QUICK = 1.0  # a shorter call says nothing about others


@dataclass
class Remaining:
    """`count` gives the calls of each step, at least and at most, or None if that is not known; `slots` is how many run
    at once.
    """

    workflow: Workflow
    count: Callable[[], list[Row] | None]
    slots: int
    took: list[float] = field(default_factory=list)
    left: tuple[float, float] = (0.0, 0.0)
    at: float = 0.0

    def answered(self, due: Due, receipt: Receipt, recorded: Iterable[Receipt], unanswered: int) -> None:
        """A call of this phase has ended. `unanswered` are the calls of its batch that have not."""
        if receipt.absent or receipt.seconds < QUICK or not describe(receipt.speaker).is_called:
            return
        self.took.append(receipt.seconds)
        least, most = self.count_waves(due, list(recorded), unanswered)
        mean = sum(self.took) / len(self.took)
        self.left, self.at = (least * mean, most * mean), time.monotonic()

    def count_waves(self, due: Due, recorded: list[Receipt], unanswered: int) -> tuple[int, int]:
        """How often somebody must be waited for: calls of a step that run at once count as one."""
        made = [(one.phase, one.step) for one in recorded if not one.turn.endswith(".2")]
        least = most = 0
        for step, row in self.steps_from(due.phase.name):
            now = unanswered if (row.phase, row.step) == (due.phase.name, due.step.name) else 0
            done, at_once = made.count((row.phase, row.step)), self.at_once(step)
            least += math.ceil(max(row.least - done, now) / at_once)
            most += math.ceil(max(row.most - done, now) / at_once)
        return least, most

    @cached_property
    def rows(self) -> list[Row]:
        """Counted when the first answer is here: it takes a while, and nobody should wait for it."""
        return self.count() or []

    def steps_from(self, phase: str) -> Iterator[tuple[Step, Row]]:
        """The steps of this phase and of those after it."""
        rows = {(row.phase, row.step): row for row in self.rows}
        names = [one.name for one in self.workflow.phases]
        for one in self.workflow.phases[names.index(phase) :]:
            yield from ((step, rows[one.name, step.name]) for step in one.steps if (one.name, step.name) in rows)

    def at_once(self, step: Step) -> int:
        if not order.traits(step.order.name).parallel:
            return 1
        if any(isinstance(one, Cast) for one in step.seats):
            return self.slots
        seats = self.workflow.seats(name for name in step.seats if isinstance(name, str))
        return max(min(self.slots, len(list(seats))), 1)

    def __str__(self) -> str:
        """`about 2 to 3 min left`; empty if nothing is known, or if it is soon over."""
        passed = time.monotonic() - self.at
        least, most = (max(seconds - passed, 0.0) for seconds in self.left)
        if most < LEAST:
            return ""
        low, high = format_about(least), format_about(most)
        if low == high:
            return f"about {high} left"
        if least < LEAST:
            return f"up to about {high} left"
        same_unit = low.split()[1] == high.split()[1]
        return f"about {low.split()[0] if same_unit else low} to {high} left"


def format_about(seconds: float) -> str:
    """`40 s` or `3 min`."""
    tens = math.ceil(seconds / 10) * 10
    return f"{tens} s" if tens < 60 else f"{max(round(seconds / 60), 1)} min"
