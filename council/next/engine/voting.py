"""Counts votes: ballots in, a result out. Exact and blind: it sees no names, and breaks no ties.

It does not know seats, replies or workflows: the rule `vote` makes the ballots.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from council.next.errors import UsageError
from council.next.text import did_you_mean, fold, join_words, one_line

FULL = 100
MOST_OPTIONS, LONGEST_OPTION = 50, 200  # no honest ballot is longer, and a rambling one must not slow every count
SCORE = re.compile(r"(.+?)\s*[:=]\s*([0-9]{1,3}(?:[.,][0-9]{1,6})?)(?:\s*%|\s*/\s*100)?")


@dataclass(frozen=True)
class Ballot:
    """One voter's places, 0 for the best, and its scores from 0 to 100. Equal places are a tie.

    A ballot without places votes for nothing, and its weight stays in every denominator.
    """

    places: Mapping[str, int] = field(default_factory=dict)
    scores: Mapping[str, Fraction] = field(default_factory=dict)
    weight: Fraction = Fraction(1)
    unknown: tuple[str, ...] = ()  # what it names and is no option

    @property
    def first(self) -> str:
        """The option in the first place. Empty if several share it, or none has it."""
        best = [option for option, place in self.places.items() if place == 0]
        return best[0] if len(best) == 1 else ""

    def place(self, option: str) -> int:
        """Options that the ballot leaves out share its last place."""
        return self.places.get(option, len(self.places))


def read(answer: Any, options: Iterable[str] = (), scored: bool = False, sure: Any = FULL, weight: Any = 1) -> Ballot:
    """An answer as a ballot: a choice, a list with the best first, or a list of `option: 80`.

    With options, nothing else counts. `sure`, from 0 to 100, is said of the first of a ranking.
    """
    known = {normalize(option) for option in options}
    given = answer if isinstance(answer, tuple) else () if answer is None else (answer,)
    scores: dict[str, Fraction] = {}
    unknown: list[str] = []
    for item in map(str, given):
        match = SCORE.fullmatch(item.strip()) if scored else None
        option = normalize(match[1] if match else item)
        score = Fraction(match[2].replace(",", ".")) if match else Fraction(0)
        fits = 0 < len(option) <= LONGEST_OPTION and len(scores) < MOST_OPTIONS and score <= FULL
        if fits and (match or not scored) and (not known or option in known):
            scores.setdefault(option, score)
        else:
            unknown.append(one_line(item))
    if scored:
        levels = sorted({score for score in scores.values() if score}, reverse=True)
        places = {option: levels.index(score) for option, score in scores.items() if score}
    else:
        places = {option: place for place, option in enumerate(scores)}
        certain = Fraction(str(sure)) if isinstance(sure, int | float) and 0 <= sure <= FULL else Fraction(0)
        scores = dict.fromkeys([*scores][:1], certain)
    return Ballot(places, scores, Fraction(str(weight)), tuple(unknown))


def normalize(option: object) -> str:
    """An option without case, emphasis and the full stop behind it, so that ballots compare."""
    return fold(str(option)).strip("*_`\"'“” ").rstrip(".,; ")


@dataclass(frozen=True)
class Result:
    """`leading` has the highest count. It is a choice if it is `enough` by this method, and one option alone."""

    method: str
    counts: Mapping[str, Fraction] = field(default_factory=dict)
    of: Fraction = Fraction(0)
    leading: tuple[str, ...] = ()
    enough: bool = False
    cycle: bool = False  # each option lost to another, so that another method decided

    @property
    def winner(self) -> str:
        return self.leading[0] if self.enough and len(self.leading) == 1 else ""

    @property
    def is_tie(self) -> bool:
        return self.enough and len(self.leading) > 1

    @property
    def summary(self) -> str:
        if not self.leading:
            return "nobody voted"
        how = "no choice: " if not self.enough else "a tie: " if self.is_tie else ""
        names = join_words(one_line(option, 60) for option in self.leading)
        cycle = " after a Condorcet cycle" if self.cycle else ""
        return f"{how}{names} with {float(self.counts[self.leading[0]]):g} by {self.method}{cycle}"


Ballots = Sequence[Ballot]


def firsts(option: str, options: Sequence[str], ballots: Ballots) -> Fraction:
    return sum((one.weight for one in ballots if one.first == option), Fraction(0))


def points(option: str, options: Sequence[str], ballots: Ballots) -> Fraction:
    return sum((one.weight * one.scores.get(option, 0) / FULL for one in ballots), Fraction(0))


def borda(option: str, options: Sequence[str], ballots: Ballots) -> Fraction:
    """A point for each option ranked lower, and half a point for each in the same place."""
    ranked = sum((one.weight for one in ballots if one.places), Fraction(0))
    return sum(((ranked + margin(option, other, ballots)) / 2 for other in options if other != option), Fraction(0))


def pairs_won(option: str, options: Sequence[str], ballots: Ballots) -> Fraction:
    return Fraction(sum(margin(option, other, ballots) > 0 for other in options if other != option))


def margin(option: str, other: str, ballots: Ballots) -> Fraction:
    """The weight of the ballots that place one option above the other, minus that of those that place it below."""
    gaps = [(one.place(other) - one.place(option), one.weight) for one in ballots]
    return sum((weight if gap > 0 else -weight for gap, weight in gaps if gap), Fraction(0))


Counted = Callable[[str, Sequence[str], Ballots], Fraction]
# How each method counts an option, which share of all weight the leading one needs, and what wins by it in words.
METHODS: dict[str, tuple[Counted, Callable[[Fraction], bool], str]] = {
    "plurality": (firsts, lambda part: part > 0, "the most first choices"),
    "majority": (firsts, lambda part: part > Fraction(1, 2), "the first choice of more than half of those asked"),
    "2/3": (firsts, lambda part: part >= Fraction(2, 3), "the first choice of at least two thirds"),
    "unanimous": (firsts, lambda part: part == 1, "the first choice of all who were asked"),
    "weighted": (points, lambda part: part > 0, "the most points: what `sure` says of a first choice, or each score"),
    "borda": (borda, lambda part: True, "the most points: one for each option that a ballot ranks lower"),
    "condorcet": (pairs_won, lambda part: True, "the option that beats each other one; without one, as `borda`"),
}
AUTO = "auto"  # `unanimous` for fewer than 3 voters, `weighted` for fewer than 6, otherwise `borda`


def count(ballots: Ballots, method: str = "plurality") -> Result:
    """Count the ballots. Silent voters count among those who were asked, and change no method."""
    if method != AUTO and method not in METHODS:
        raise UsageError(f'there is no voting method "{method}"; {did_you_mean(method, (*METHODS, AUTO))}')
    ballots = [ballot for ballot in ballots if ballot.weight > 0]
    if method == AUTO:
        method = "unanimous" if len(ballots) < 3 else "weighted" if len(ballots) < 6 else "borda"
    counted, enough, _ = METHODS[method]
    options = sorted({option for ballot in ballots for option in ballot.places})
    counts = {option: counted(option, options, ballots) for option in options}
    weight = sum((ballot.weight for ballot in ballots), Fraction(0))
    if not options:
        return Result(method, of=weight)
    best = max(counts.values())
    if method == "condorcet" and best < len(options) - 1:
        cycle = all(any(margin(option, other, ballots) < 0 for other in options) for option in options)
        return replace(count(ballots, "borda"), cycle=cycle)
    leading = tuple(option for option in options if counts[option] == best)
    return Result(method, counts, weight, leading, enough(best / weight))
