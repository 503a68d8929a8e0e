"""Voting: ballots in, a result out. Exact and blind: no names of voters, no clock, no dice, so a tie stays a tie.

It does not know seats, replies or workflows: the rule `vote` makes the ballots.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations
from typing import Any

from council.errors import UsageError
from council.text import did_you_mean, fold, join_words, one_line

FULL = 100
# Nobody ranks more options, or calls one by more letters, and a reply that rambles must not make each look at it slow.
MOST_OPTIONS = 50
LONGEST_OPTION = 200
REMARK = r"(?=\s*[.:;,(]|\s[–—-]\s|—)"
# The minus of a negative number is no dash, and 8/10 is no eight: what is not plainly a score is none.
SCORE = re.compile(rf"(.+?)(?:\s*[:=]\s*|\s[–—-]\s)(\d{{1,3}}(?:[.,]\d{{1,6}})?)(?:\s*(?:%|/\s*100))?(?:$|{REMARK})")


@dataclass(frozen=True)
class Ballot:
    """What one voter said. Places count from 0, the best; equal places are a tie; what has no place stands last.

    Without places it votes for nothing, and its weight stays in every denominator. `unknown` did not count.
    """

    places: Mapping[str, int] = field(default_factory=dict)
    scores: Mapping[str, Fraction] = field(default_factory=dict)
    weight: Fraction = Fraction(1)
    unknown: tuple[str, ...] = ()

    @property
    def first(self) -> str | None:
        """The one option that it puts first; two that share the first place are no choice."""
        best = [option for option, place in self.places.items() if place == min(self.places.values())]
        return best[0] if len(best) == 1 else None

    @property
    def heard(self) -> bool:
        return bool(self.places or self.scores)

    def place(self, option: str) -> int:
        return self.places.get(option, len(self.places))

    def points(self, options: Sequence[str]) -> dict[str, Fraction]:
        """Borda's: one for each option behind it, and a half for each that shares its place.

        So options that a ballot leaves out share what is left, and to name fewer gains nothing.
        """
        sharing = Counter(map(self.place, options))
        worth, behind = {}, len(options)
        for place in sorted(sharing):
            behind -= sharing[place]
            worth[place] = self.weight * (behind + Fraction(sharing[place] - 1, 2))
        return {option: worth[self.place(option)] for option in options}


def rank_options(options: Iterable[str], sure: Any = FULL) -> Ballot:
    """The best first; an option that is named twice stands where it stood first. `sure` is of the first, 0 to 100."""
    named = list(dict.fromkeys(options))
    score = Fraction(str(sure)) if isinstance(sure, (int, float)) and 0 <= sure <= FULL else Fraction(0)
    return Ballot({option: place for place, option in enumerate(named)}, dict.fromkeys(named[:1], score))


def score_options(scores: Iterable[tuple[str, Fraction]]) -> Ballot:
    """A score of 0 to 100 for each; the first one counts. 0 is as good as not named: it gives no place."""
    given = dict(reversed(list(scores)))
    levels = sorted({score for score in given.values() if score}, reverse=True)
    return Ballot({option: levels.index(score) for option, score in given.items() if score}, given)


def read(
    answer: Any,
    options: Sequence[str] = (),
    *,
    scores: bool = False,
    sure: Any = FULL,
    weight: Fraction = Fraction(1),
) -> Ballot:
    """An answer as a ballot: a choice, a ranking (a list, the best first) or scores (a list of `option: 80`).

    Where the options are known nothing else counts, and an item may go on with a remark. Without them each item is an
    option, word for word, and so is every other one that somebody names.
    """
    given = answer if isinstance(answer, (list, tuple)) else [answer]
    texts = [" ".join(str(one).split()) for one in given if one is not None]
    known: list[tuple[str, Fraction]] = []
    unknown: list[str] = []
    for text in filter(None, texts):
        words, score = _score(text) if scores else (text, Fraction(0))
        option = _option(words, options)
        if option and score is not None and len(known) < MOST_OPTIONS:
            known.append((option, score))
        else:
            unknown.append(one_line(text))
    ballot = score_options(known) if scores else rank_options((option for option, _ in known), sure)
    return replace(ballot, weight=weight, unknown=tuple(unknown))


def _score(text: str) -> tuple[str, Fraction | None]:
    match = SCORE.match(one_line(text, LONGEST_OPTION))
    score = Fraction(match.group(2).replace(",", ".")) if match else None
    return (match.group(1), score) if match and score is not None and score <= FULL else (text, None)


def _option(text: str, options: Sequence[str]) -> str | None:
    whole = normalize_option(text)
    if not options or whole in options:
        return whole or None
    before = {normalize_option(text[: mark.start()]) for mark in re.finditer(REMARK, text[:LONGEST_OPTION])}
    return max(before.intersection(options), key=len, default=None)


def normalize_option(text: str) -> str:
    """What two ballots must share to mean the same option: case, spacing, emphasis and a full stop do not count."""
    return fold(text).lstrip("*_`\"'“ ").rstrip("*_`\"'”.,; ")


@dataclass(frozen=True)
class Result:
    """`outcome` is winner, tie or none (nobody voted, or too few for one option). `method` is the one really used.

    `counts` are what that method counts: votes, points, or how many others an option beats. `of` is the weight of
    all who could vote. `cycle`: each option lost to another, so that the votes went round in circles.
    """

    outcome: str
    method: str
    counts: Mapping[str, Fraction]
    of: Fraction
    leading: tuple[str, ...] = ()
    cycle: bool = False
    asked: str = ""

    @property
    def winner(self) -> str | None:
        return self.leading[0] if self.outcome == "winner" else None

    @property
    def summary(self) -> str:
        """The result in a line."""
        if not self.leading:
            return "nobody voted"
        best = to_number(self.counts[self.leading[0]])
        counted = {"borda": f"a score of {best}", "condorcet": f"{best} of {len(self.counts) - 1} pairs won"}
        each = " each" if len(self.leading) > 1 else ""
        said = f"{join_words(self.leading)} with {counted.get(self.method, f'{best} of {to_number(self.of)}')}{each}"
        return ": ".join([*([self._way] if self._way else []), said])

    @property
    def _way(self) -> str:
        """What the counts do not tell: what became of the method that was asked for, and that nobody won."""
        detour = "a Condorcet cycle" if self.cycle else "no option beats all others"
        ended = {"tie": f"a tie by {self.method}", "none": f"no choice by {self.method}", "winner": ""}[self.outcome]
        if self.method == self.asked:
            return ended
        return f"{detour}, {ended or f'by {self.method}'}"

    @property
    def tally(self) -> dict[str, Any]:
        votes = sorted(self.counts.items(), key=lambda pair: (-pair[1], pair[0]))
        return {
            "outcome": self.outcome,
            "winner": self.winner,
            "tied": list(self.leading) if self.outcome == "tie" else [],
            "method": self.method,
            "cycle": self.cycle,
            "votes": {option: to_number(count) for option, count in votes},
            "of": to_number(self.of),
        }


def to_number(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else round(float(value), 2)


Method = Callable[[Sequence[Ballot], Sequence[str]], Result]


def count(ballots: Sequence[Ballot], method: str = "auto", options: Iterable[str] = ()) -> Result:
    """The result among the options, and whatever else the ballots name. Who has no weight has no vote."""
    if method not in (*METHODS, "auto"):
        raise UsageError(f'there is no method of voting "{method}"; {did_you_mean(method, (*METHODS, "auto"))}')
    ballots = [ballot for ballot in ballots if ballot.weight > 0]
    used = choose_method(len(ballots)) if method == "auto" else method
    named = sorted({*options, *(option for ballot in ballots for option in (*ballot.places, *ballot.scores))})
    if not any(ballot.places for ballot in ballots):
        result = Result("none", used, dict.fromkeys(named, Fraction(0)), _total_weight(ballots))
    else:
        result = METHODS[used](ballots, named)
    return replace(result, asked=used)


def choose_method(voters: int) -> str:
    """Few must agree, some weigh what they say, many rank. Who could vote counts, so silence changes no method."""
    return "unanimous" if voters < 3 else "weighted" if voters < 6 else "borda"


def _total_weight(ballots: Sequence[Ballot]) -> Fraction:
    return sum((ballot.weight for ballot in ballots), Fraction(0))


def _pick_leader(method: str, counts: Mapping[str, Fraction], ballots: Sequence[Ballot], enough: bool) -> Result:
    """Whoever has most, if that is enough."""
    leading = tuple(option for option in sorted(counts) if counts[option] == max(counts.values()))
    outcome = "none" if not enough else "winner" if len(leading) == 1 else "tie"
    return Result(outcome, method, counts, _total_weight(ballots), leading)


def _count_first_choices(ballots: Sequence[Ballot], options: Sequence[str]) -> dict[str, Fraction]:
    return {option: _total_weight([ballot for ballot in ballots if ballot.first == option]) for option in options}


def _need_share(method: str, enough: Callable[[Fraction], bool]) -> Method:
    """A method that looks at first choices alone: whether the best has enough of all who could vote."""

    def counted(ballots: Sequence[Ballot], options: Sequence[str]) -> Result:
        counts = _count_first_choices(ballots, options)
        return _pick_leader(method, counts, ballots, enough(max(counts.values()) / _total_weight(ballots)))

    return counted


def _weighted(ballots: Sequence[Ballot], options: Sequence[str]) -> Result:
    """Each ballot gives an option its weight, for as much as it is sure of it. Two equal scores are two votes."""
    counts = {
        option: sum((ballot.weight * ballot.scores.get(option, 0) / FULL for ballot in ballots), Fraction(0))
        for option in options
    }
    return _pick_leader("weighted", counts, ballots, enough=any(counts.values()))


def _borda(ballots: Sequence[Ballot], options: Sequence[str]) -> Result:
    points = [ballot.points(options) for ballot in ballots if ballot.places]
    counts = {option: sum((given[option] for given in points), Fraction(0)) for option in options}
    return _pick_leader("borda", counts, ballots, enough=True)


def _condorcet(ballots: Sequence[Ballot], options: Sequence[str]) -> Result:
    """Whoever beats each other option; Borda where nobody does, because of a cycle or of a tied pair."""
    margins = [(one, other, _margin(ballots, one, other)) for one, other in combinations(options, 2)]
    beats = [(one, other) if margin > 0 else (other, one) for one, other, margin in margins if margin]
    won = Counter(better for better, _ in beats)
    wins = {option: Fraction(won[option]) for option in options}
    if max(wins.values()) == len(options) - 1:
        return _pick_leader("condorcet", wins, ballots, enough=True)
    # Where each option loses to another the losses lead round in a circle; where one never loses, only ties stand in
    # its way.
    return replace(_borda(ballots, options), cycle={worse for _, worse in beats} == set(options))


def _margin(ballots: Sequence[Ballot], one: str, other: str) -> Fraction:
    """The weight of those who put the one before the other, less the weight of those who put it behind."""
    gaps = [(ballot.place(other) - ballot.place(one), ballot.weight) for ballot in ballots]
    return sum((weight if gap > 0 else -weight for gap, weight in gaps if gap), Fraction(0))


METHODS: Mapping[str, Method] = {
    "plurality": _need_share("plurality", lambda part: part > 0),
    "majority": _need_share("majority", lambda part: part > Fraction(1, 2)),
    "2/3": _need_share("2/3", lambda part: part >= Fraction(2, 3)),
    "unanimous": _need_share("unanimous", lambda part: part == 1),
    "weighted": _weighted,
    "borda": _borda,
    "condorcet": _condorcet,
}
