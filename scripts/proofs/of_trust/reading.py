"""Replies are read as a careful reader reads them, and no document states a lead or a confidence above the count."""

from __future__ import annotations

from prove import Outcome

from tests import kills, shapes, tallies
from tests.tallies import SEATS

SHAPES = "shapes"
NOTE = (
    "Reading: that a synthesis contradicts the count is seen in its first two sentences, by a number, a word such as "
    "“unanimously” or another answer at their beginning. What it says in other words is only marked as its author's."
)


def parts() -> list[str]:
    return [SHAPES, *SEATS]


def prove(part: str) -> Outcome:
    if part == SHAPES:
        wrong = [f"{shape.why}: read as {shape.read()}" for shape in shapes.SHAPES if shape.read() != shape.answers]
        tried = len(shapes.SHAPES)
        row = ("read as a careful reader reads it", "shapes of replies", tried, tried - len(wrong))
        return Outcome([row], wrong, [NOTE])
    wrong, held = [], 0
    cases = list(tallies.cases(part))
    with kills.in_memory() as root, tallies.at_home(root):
        for case in cases:
            found = tallies.judge(case, tallies.hold(case, root))
            wrong += found
            held += not found
    return Outcome([("nothing above the count", f"{part}: every count of up to five", len(cases), held)], wrong)
