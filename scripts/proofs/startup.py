"""How long a person waits: for the help, for a list, for the first call of a debate.

Figures of `scripts/bench start commands`: medians with the least and the most of nine, over a floor of the same run.
"""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

import bench
from prove import Outcome

COLUMNS = ("what, and its floor", "median", "least", "most", "at most", "verdict")
REPEATS = 9


def parts() -> list[str]:
    return ["start", "commands"]


def prove(part: str) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="council-bench-") as place:
        figures = [*bench.ALL[part](Path(place), REPEATS)]
    return Outcome([row(figure) for figure in figures], [str(figure) for figure in figures if not figure.holds])


def row(figure: bench.Figure) -> tuple[str, ...]:
    name = figure.name.removeprefix("b ").removeprefix("c ").strip()
    numbers = (f"{value:.3f} {figure.unit}" for value in (statistics.median(figure.values), *ends(figure.values)))
    most = "" if figure.target is None else f"{figure.target:g} {figure.unit}"
    return name, *numbers, most, "" if figure.target is None else "holds" if figure.holds else "missed"


def ends(values: list[float]) -> tuple[float, float]:
    return min(values), max(values)
