"""How far a download is, in one line: redrawn in place on a terminal, elsewhere printed at each quarter."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from council import text_width
from council.terminal.remaining import format_about
from council.terminal.screen import Screen

MEASURED = 2.0  # seconds: a rate of less says little


@dataclass
class FetchLine:
    """Called with the bytes that are here, of how many. The rate is that of this run: what is kept from an earlier one
    was here from the start.
    """

    screen: Screen
    began: float = field(default_factory=time.monotonic)
    kept: int = -1
    quarter: int = 0

    def __call__(self, done: int, total: int) -> None:
        quarter = 4 * done // total
        if self.kept < 0:
            self.kept, self.quarter = done, quarter
        if self.screen.live:
            self.screen.draw([text_width.cut(self.describe(done, total), self.screen.room()[0])])
        elif self.quarter < quarter < 4:
            self.screen.say(self.describe(done, total))
        self.quarter = quarter

    def describe(self, done: int, total: int) -> str:
        facts = [format_bytes(done, total)]
        passed, new = time.monotonic() - self.began, done - self.kept
        if passed >= MEASURED and new > 0:
            facts.append(f"about {format_about((total - done) * passed / new)} left")
            facts.append(f"{new / passed / 1e6:.1f} MB/s")
        return " · ".join(facts)


def format_bytes(done: int, total: int) -> str:
    """`0.41 of 1.12 GB`, or `12 of 30 MB`."""
    return f"{done / 1e9:.2f} of {total / 1e9:.2f} GB" if total >= 1e9 else f"{done / 1e6:.0f} of {total / 1e6:.0f} MB"
