"""Rules: named pure functions over a scene. Each gives a verdict with its reason, and with what it counted.

Whoever is silent, absent or unreadable agrees to nothing and stays in every denominator. Importing this package
registers all of them.
"""

from council.rules import answers, casting, course, dissent, reviews, splits
from council.rules.base import fraction, judge, matches, number, rule
from council.rules.dissent import DISAGREES, disagreement, lost_dissent

__all__ = [
    "DISAGREES", "answers", "casting", "course", "disagreement", "dissent", "fraction", "judge", "lost_dissent",
    "matches", "number", "reviews", "rule", "splits",
]  # fmt: skip
