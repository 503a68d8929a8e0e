"""A review is read as a careful reader reads it: nothing missed, invented or lost, and no inferred severity gates."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from prove import Outcome

from tests import kills
from tests.review_shapes import SHAPES, Written, replies, try_shape

SHAPE, GENERATED = "shapes", "generated"
MANY = 5000
HEALTHY = list(HealthCheck)
NOTE = (
    "Reviews: the shapes are those in which real reviewers wrote who had not been given council's format. What is "
    "under a heading such as Strengths, Summary or Resolved is outside of the list."
)


def parts() -> list[str]:
    return [SHAPE, GENERATED]


def prove(part: str) -> Outcome:
    return shapes() if part == SHAPE else generated()


def shapes() -> Outcome:
    wrong: list[str] = []
    held = 0
    with kills.in_memory() as root:
        for number, shape in enumerate(SHAPES):
            found = list(try_shape(root / str(number), shape))
            wrong += found
            held += not found
    row = (
        "findings, severities, unparsed and exit code as a careful reader says",
        "shapes of reviews",
        len(SHAPES),
        held,
    )
    return Outcome([row], wrong, [NOTE])


def generated() -> Outcome:
    tried: list[Written] = []

    @settings(
        max_examples=MANY, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    @given(reply=replies())
    def collect(reply: Written) -> None:
        tried.append(reply)

    collect()
    wrong = [f"lost: {item}" for reply in tried for item in reply.lost()]
    held = sum(not reply.lost() for reply in tried)
    return Outcome(
        [("every item is listed, unparsed or outside by a rule", "generated replies", len(tried), held)], wrong
    )
