"""How sure one can be of a share, and of a difference between two arms on the same tasks. Exact, and pure."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

Z95 = 1.959963984540054  # standard deviations of a 95 % interval


@dataclass(frozen=True)
class Interval:
    low: float
    high: float


def wilson(successes: int, of: int, z: float = Z95) -> Interval:
    """Wilson's interval for a share: it stays within 0 and 1, and is honest for few tasks."""
    if not of:
        return Interval(0.0, 1.0)
    share, weight = successes / of, z * z / of
    middle = (share + weight / 2) / (1 + weight)
    half = z / (1 + weight) * math.sqrt(share * (1 - share) / of + weight / (4 * of))
    return Interval(max(0.0, middle - half) if successes else 0.0, min(1.0, middle + half) if successes < of else 1.0)


def cover(of: int, share: float) -> float:
    """How often Wilson's interval has the true share in it, summed over every outcome of the binomial."""
    odds = math.log(share), math.log1p(-share)
    found = 0.0
    for successes in range(of + 1):
        interval = wilson(successes, of)
        if interval.low <= share <= interval.high:
            ways = math.lgamma(of + 1) - math.lgamma(successes + 1) - math.lgamma(of - successes + 1)
            found += math.exp(ways + successes * odds[0] + (of - successes) * odds[1])
    return found


@dataclass(frozen=True)
class Pairs:
    """Tasks that both arms tried: solved by both, by the first alone, by the second alone, by neither."""

    both: int
    first: int
    second: int
    neither: int

    @property
    def p(self) -> float:
        """McNemar's exact test, two-sided: how probable a difference this large is if the arms are equally good."""
        differ = self.first + self.second
        ways = sum(math.comb(differ, less) for less in range(min(self.first, self.second) + 1))
        return min(1.0, 2 * ways / (1 << differ))


def pair(outcomes: Iterable[tuple[bool, bool]]) -> Pairs:
    counted = {(True, True): 0, (True, False): 0, (False, True): 0, (False, False): 0}
    for outcome in outcomes:
        counted[outcome] += 1
    return Pairs(*counted.values())
