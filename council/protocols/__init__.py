"""Rules: named pure functions over a scene. Each gives a verdict with its reason, and with what it counted.

Whoever is silent, absent or unreadable agrees to nothing and stays in every denominator. Importing this package
registers all of them.
"""

from council.engine import rules_answers as answers
from council.engine import rules_course as course
from council.engine.conditions import (
    fraction,
    judge,
    matches,
    number,
    rule,
)
from council.protocols import dissent
from council.protocols import mind_changes_rules as splits
from council.protocols import perspectives_rules as casting
from council.protocols import review_rules as reviews
from council.protocols.dissent import DISAGREES, disagreement, lost_dissent

__all__ = [
    "DISAGREES", "answers", "casting", "course", "disagreement", "dissent", "fraction", "judge", "lost_dissent",
    "matches", "number", "reviews", "rule", "splits",
]  # fmt: skip
