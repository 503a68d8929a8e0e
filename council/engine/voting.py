"""Counts votes: ballots in, a result out. Exact and blind: it sees no names and breaks no ties at random.

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
# Real ballots are shorter than this; the limits keep a rambling reply from making every count slow.
MOST_OPTIONS = 50
LONGEST_OPTION = 200
LONGEST_NAMED = 60  # characters of an option in a sentence
REMARK = r"(?=\s*[.:;,(]|\s[–—-]\s|—)"
# A minus sign is not a dash, and 8/10 is not 8: anything that is not clearly a score is ignored.
SCORE = re.compile(rf"(.+?)(?:\s*[:=]\s*|\s[–—-]\s)(\d{{1,3}}(?:[.,]\d{{1,6}})?)(?:\s*(?:%|/\s*100))?(?:$|{REMARK})")


@dataclass(frozen=True)
class Ballot:
    """One voter's ballot. Places count from 0, the best. Equal places are a tie; options without a place come last.

    A ballot without places votes for nothing, but its weight stays in every denominator. `unknown` items do not count.
    """

    places: Mapping[str, int] = field(default_factory=dict)
    scores: Mapping[str, Fraction] = field(default_factory=dict)
    weight: Fraction = Fraction(1)
    unknown: tuple[str, ...] = ()

    @property
    def first(self) -> str | None:
        """The option in first place; None if several share it."""
        best = [option for option, place in self.places.items() if place == min(self.places.values())]
        return best[0] if len(best) == 1 else None

    @property
    def heard(self) -> bool:
        return bool(self.places or self.scores)

    def place(self, option: str) -> int:
        return self.places.get(option, len(self.places))

    def points(self, options: Sequence[str]) -> dict[str, Fraction]:
        """Borda points: one for each option ranked lower, and half for each that shares the place.

        Options that a ballot leaves out share the remaining points, so naming fewer gives no advantage.
        """
        sharing = Counter(map(self.place, options))
        worth, behind = {}, len(options)
        for place in sorted(sharing):
            behind -= sharing[place]
            worth[place] = self.weight * (behind + Fraction(sharing[place] - 1, 2))
        return {option: worth[self.place(option)] for option in options}


def rank_options(options: Iterable[str], sure: Any = FULL) -> Ballot:
    """A ballot from a ranking, best first. Repeated options count once. `sure`, 0 to 100, is about the first."""
    named = list(dict.fromkeys(options))
    score = Fraction(str(sure)) if isinstance(sure, (int, float)) and 0 <= sure <= FULL else Fraction(0)
    return Ballot({option: place for place, option in enumerate(named)}, dict.fromkeys(named[:1], score))


def score_options(scores: Iterable[tuple[str, Fraction]]) -> Ballot:
    """A ballot from scores of 0 to 100. The first score of an option counts; a score of 0 gives it no place."""
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

    If the options are given, nothing else counts, and a comment may follow an option. Otherwise each item is an option,
    word for word, if it is short enough for one. Of a text, the first line is the choice; what follows is a comment.
    """
    given = answer if isinstance(answer, (list, tuple)) else [next(iter(str(answer).strip().splitlines()), "")]
    texts = [" ".join(str(one).split()) for one in given if answer is not None and one is not None]
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
        return whole if 0 < len(whole) <= LONGEST_OPTION else None
    before = {normalize_option(text[: mark.start()]) for mark in re.finditer(REMARK, text[:LONGEST_OPTION])}
    return max(before.intersection(options), key=len, default=None)


def normalize_option(text: str) -> str:
    """An option without case, extra spaces, emphasis and a final full stop, to compare options across ballots."""
    return fold(text).lstrip("*_`\"'“ ").rstrip("*_`\"'”.,; ")


@dataclass(frozen=True)
class Result:
    """`outcome` is winner, tie or none (no votes, or too few for one option). `method` is the one that was used.

    `counts` has what that method counts: votes, points, or how many others an option beats. `of` is the weight of all
    voters. `cycle` means that every option lost to another.
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
        """The result in one line."""
        if not self.leading:
            return "nobody voted"
        best = to_number(self.counts[self.leading[0]])
        counted = {"borda": f"a score of {best}", "condorcet": f"{best} of {len(self.counts) - 1} pairs won"}
        each = " each" if len(self.leading) > 1 else ""
        named = join_words(one_line(option, LONGEST_NAMED) for option in self.leading)
        said = f"{named} with {counted.get(self.method, f'{best} of {to_number(self.of)}')}{each}"
        return ": ".join([*([self._way] if self._way else []), said])

    @property
    def _way(self) -> str:
        """Why nobody won, or why another method than the requested one was used."""
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
    """Count the ballots. Other options that they name count too; ballots without weight do not."""
    if method not in (*METHODS, AUTO):
        raise UsageError(f'there is no voting method "{method}"; {did_you_mean(method, (*METHODS, AUTO))}')
    ballots = [ballot for ballot in ballots if ballot.weight > 0]
    used = choose_method(len(ballots)) if method == AUTO else method
    named = sorted({*options, *(option for ballot in ballots for option in (*ballot.places, *ballot.scores))})
    if not any(ballot.places for ballot in ballots):
        result = Result("none", used, dict.fromkeys(named, Fraction(0)), _total_weight(ballots))
    else:
        result = METHODS[used].count(ballots, named)
    return replace(result, asked=used)


def choose_method(voters: int) -> str:
    """The method for this many voters, including silent ones, so that silence does not change the method."""
    return "unanimous" if voters < 3 else "weighted" if voters < 6 else "borda"


def _total_weight(ballots: Sequence[Ballot]) -> Fraction:
    return sum((ballot.weight for ballot in ballots), Fraction(0))


def _pick_leader(method: str, counts: Mapping[str, Fraction], ballots: Sequence[Ballot], enough: bool) -> Result:
    """The result if the option with the highest count wins, as long as that is enough."""
    leading = tuple(option for option in sorted(counts) if counts[option] == max(counts.values()))
    outcome = "none" if not enough else "winner" if len(leading) == 1 else "tie"
    return Result(outcome, method, counts, _total_weight(ballots), leading)


def _need_share(method: str, enough: Callable[[Fraction], bool]) -> Method:
    """A method that only counts first choices: the leader needs a large enough share of all voters."""

    def counted(ballots: Sequence[Ballot], options: Sequence[str]) -> Result:
        counts = {option: _total_weight([ballot for ballot in ballots if ballot.first == option]) for option in options}
        return _pick_leader(method, counts, ballots, enough(max(counts.values()) / _total_weight(ballots)))

    return counted


def _weighted(ballots: Sequence[Ballot], options: Sequence[str]) -> Result:
    """Each ballot adds its weight times its score to each option."""
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
    """The option that beats every other one. If none does, because of a cycle or a tied pair, Borda decides."""
    margins = [(one, other, _margin(ballots, one, other)) for one, other in combinations(options, 2)]
    beats = [(one, other) if margin > 0 else (other, one) for one, other, margin in margins if margin]
    won = Counter(better for better, _ in beats)
    wins = {option: Fraction(won[option]) for option in options}
    if max(wins.values()) == len(options) - 1:
        return _pick_leader("condorcet", wins, ballots, enough=True)
    # If every option loses to another, there is a cycle. An option that never loses failed only because of ties.
    return replace(_borda(ballots, options), cycle={worse for _, worse in beats} == set(options))


def _margin(ballots: Sequence[Ballot], one: str, other: str) -> Fraction:
    """The weight of the ballots that rank `one` above `other`, minus that of those that rank it below."""
    gaps = [(ballot.place(other) - ballot.place(one), ballot.weight) for ballot in ballots]
    return sum((weight if gap > 0 else -weight for gap, weight in gaps if gap), Fraction(0))


@dataclass(frozen=True)
class VoteMethod:
    """A way to count, and what wins by it: a clause for the docs, which list what is in METHODS."""

    count: Method
    about: str


METHODS: Mapping[str, VoteMethod] = {
    "plurality": VoteMethod(_need_share("plurality", lambda part: part > 0), "most first choices"),
    "majority": VoteMethod(
        _need_share("majority", lambda part: part > Fraction(1, 2)),
        "the first choice of more than half of all who were asked",
    ),
    "2/3": VoteMethod(
        _need_share("2/3", lambda part: part >= Fraction(2, 3)),
        "the first choice of at least two thirds of all who were asked",
    ),
    "unanimous": VoteMethod(_need_share("unanimous", lambda part: part == 1), "the first choice of all who were asked"),
    "weighted": VoteMethod(
        _weighted, "most points: each choice counts for as much as the answer `sure` says, or each score for itself"
    ),
    "borda": VoteMethod(_borda, "most points: an option gets one for each that a ballot ranks below it"),
    "condorcet": VoteMethod(_condorcet, "the option that beats each other one in pairs; if there is none, as `borda`"),
}
AUTO = "auto"  # in place of a method: one for that number of voters
AUTO_ABOUT = "`unanimous` for fewer than 3 seats, `weighted` for fewer than 6, otherwise `borda`"
