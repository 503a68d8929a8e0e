"""A trial starts quickly, and its runner stays small whatever the trial prints."""

from __future__ import annotations

from prove import Outcome

from council.sandbox.model import MEGABYTE
from tests import starts

STARTS, ENDLESS, MOST_MEMORY = 300, 5.0, 150 * MEGABYTE
LEVELS = {"control group": True, "watchdog": False}
MOST = {50: 30.0, 95: 80.0}  # milliseconds over bubblewrap alone, by percentile


def parts() -> list[str]:
    return [*LEVELS, "endless output"]


def prove(part: str) -> Outcome:
    if part not in LEVELS:
        memory, printed = starts.measure_endless_output(ENDLESS)
        seen = f"{memory / MEGABYTE:.0f} MB, with {printed / 1000 / MEGABYTE:.1f} GB printed"
        row = ("a runner stays small", "a job with endless output", f"at most {MOST_MEMORY // MEGABYTE} MB", seen)
        return Outcome([(*row, 1, int(memory <= MOST_MEMORY))])
    found = starts.measure_starts(STARTS, LEVELS[part])
    rows = [
        (
            "a trial starts quickly", f"{STARTS} starts with a {part}, {percent} % of them",
            f"at most {most:g} ms over bubblewrap alone",
            f"{found.over(percent):.1f} ms over its {starts.at(found.bare, percent):.1f} ms",
            1, int(found.over(percent) <= most),
        )
        for percent, most in MOST.items()
    ]  # fmt: skip
    return Outcome(rows)
