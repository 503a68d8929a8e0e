"""The time that the calls of a run have taken, for the limits that its workflow sets."""

from __future__ import annotations

import time
from dataclasses import dataclass

from council.errors import CallFailed


class Late(CallFailed):
    """A call that had not ended when its round ran out of time."""


@dataclass
class Clock:
    """The seconds that models have taken in this run and in its current round. The time that people take is not
    counted.
    """

    run: float = 0.0
    round: float = 0.0
    key: tuple[str, int] = ("", 0)
    began: float = 0.0
    ended: float = 0.0

    def begin(self, phase: str, round: int) -> None:
        """A batch begins: add the time of the one before it."""
        taken = max(0.0, self.ended - self.began)
        self.run, self.round = self.run + taken, self.round + taken if self.key == (phase, round) else 0.0
        self.key, self.began, self.ended = (phase, round), time.monotonic(), 0.0

    def end(self) -> None:
        """A call of the batch has ended."""
        self.ended = time.monotonic()
