"""Voting: the textbook's examples by hand, what each method promises, and the same results as two other counts.

`pref_voting` is one of them, where it is installed (it brings numba, matplotlib and more, so it is no dependency); the
other, below, is slow, plain and complete, and counts what `pref_voting` does not: shares, weights, silence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import islice, permutations
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from council.engine.voting import (
    METHODS,
    MOST_OPTIONS,
    Ballot,
    Result,
    choose_method,
    count,
    normalize_option,
    rank_options,
    read,
    score_options,
)
from council.errors import UsageError
from tests import votes
from tests.votes import NOBODY, PROFILES, VOTES, profiles, recorded, scored_polls

SHARES = ("majority", "2/3", "unanimous")


def poll(*rows: str) -> list[Ballot]:
    """`3: a > b = c` is three ballots that put a first, then b and c; `2:` is two voters who say nothing."""
    ballots: list[Ballot] = []
    for row in rows:
        voters, _, order = row.partition(":")
        tiers = [re.findall(r"\w+", tier) for tier in order.split(">")]
        places = {option: place for place, tier in enumerate(tiers) for option in tier}
        first = dict.fromkeys(tiers[0][:1], Fraction(100))
        ballots += [Ballot(places, first)] * int(voters)
    return ballots


def test_of_a_text_the_first_line_is_the_choice() -> None:
    aside = "\n\n★ Insight\n" + "It depends on the load. " * 100
    ballots = [read(f"Redis{aside}"), read("**redis**"), read(f"  \nredis.{aside}")]
    assert [one.first for one in ballots] == ["redis"] * 3
    assert read(f"Redis{aside}", ["redis", "postgres"]).first == "redis"


def test_a_whole_reply_is_no_choice() -> None:
    essay = "It depends on the load. " * 20
    assert read(essay) == Ballot(unknown=(read(essay).unknown))
    assert len(read(essay).unknown[0]) <= 80
    long = "a rather long name of an option that still counts, " * 3
    assert len(count([read(f"{long}{number}") for number in range(3)], "plurality").summary) < 300


def told(result: Result) -> str:
    return f"{result.outcome} {' '.join(result.leading)}".strip()


PARADOX = ("1: a > b > c", "1: b > c > a", "1: c > a > b")
CONDORCETS_OWN = ("23: a > b > c", "17: b > c > a", "2: b > a > c", "10: c > a > b", "8: c > b > a")
BORDAS_FAILURE = ("3: a > b > c", "2: b > c > a")
CAPITAL = ("42: m > n > c > k", "26: n > c > k > m", "15: c > k > n > m", "17: k > c > n > m")
SPOILT = ("4: a > b > c", "3: b > c > a", "2: c > b > a")


@pytest.mark.parametrize(
    ("rows", "method", "result", "counts"),
    [
        # Nobody beats all others, and Borda cannot part them either.
        (PARADOX, "condorcet", "tie a b c", {"a": 3, "b": 3, "c": 3}),
        (PARADOX, "plurality", "tie a b c", {"a": 1, "b": 1, "c": 1}),
        (CONDORCETS_OWN, "condorcet", "winner b", {"a": 58, "b": 69, "c": 53}),
        (CONDORCETS_OWN, "plurality", "winner a", {"a": 23, "b": 19, "c": 18}),
        # Borda passes over the one whom most put first, and who beats each other option.
        (BORDAS_FAILURE, "borda", "winner b", {"a": 6, "b": 7, "c": 2}),
        (BORDAS_FAILURE, "majority", "winner a", {"a": 3, "b": 2, "c": 0}),
        (BORDAS_FAILURE, "condorcet", "winner a", {"a": 2, "b": 1, "c": 0}),
        (CAPITAL, "plurality", "winner m", {"m": 42, "n": 26, "c": 15, "k": 17}),
        (CAPITAL, "majority", "none m", {"m": 42, "n": 26, "c": 15, "k": 17}),
        (CAPITAL, "condorcet", "winner n", {"m": 0, "n": 3, "c": 2, "k": 1}),
        (CAPITAL, "borda", "winner n", {"m": 126, "n": 194, "c": 173, "k": 107}),
        # Most first choices go to the one who loses to each other option.
        (SPOILT, "plurality", "winner a", {"a": 4, "b": 3, "c": 2}),
        (SPOILT, "condorcet", "winner b", {"a": 0, "b": 2, "c": 1}),
        # Half is no majority, and silence stays in the denominator.
        (("2: a", "2: b"), "majority", "none a b", {"a": 2, "b": 2}),
        (("2: a", "2: b"), "plurality", "tie a b", {"a": 2, "b": 2}),
        (("2: a", "1: b", "1:"), "majority", "none a", {"a": 2, "b": 1}),
        (("2: a", "1: b", "1:"), "plurality", "winner a", {"a": 2, "b": 1}),
        (("3: a", "2:"), "majority", "winner a", {"a": 3}),
        (("2: a", "1: b"), "2/3", "winner a", {"a": 2, "b": 1}),
        (("4: a", "1: b", "1:"), "2/3", "winner a", {"a": 4, "b": 1}),
        (("4: a", "3: b"), "2/3", "none a", {"a": 4, "b": 3}),
        (("3: a", "2:"), "2/3", "none a", {"a": 3}),
        (("4: a",), "unanimous", "winner a", {"a": 4}),
        (("3: a", "1:"), "unanimous", "none a", {"a": 3}),
        (("3: a > b", "1: b > a"), "unanimous", "none a", {"a": 3, "b": 1}),
        # What a ballot leaves out shares what is left of its points.
        (("2: a", "1: b > c"), "borda", "winner a", {"a": 4, "b": 3, "c": 2}),
        (("1: a > b = c > d",), "borda", "winner a", {"a": 3, "b": 1.5, "c": 1.5, "d": 0}),
        (("2: a > b > c", "3:"), "borda", "winner a", {"a": 4, "b": 2, "c": 0}),
        # Two first places in one ballot are no first choice.
        (("1: a = b", "1: b"), "plurality", "winner b", {"a": 0, "b": 1}),
        (("2: a = b",), "plurality", "none a b", {"a": 0, "b": 0}),
        (("1: a = b", "1: b"), "unanimous", "none b", {"a": 0, "b": 1}),
        # Tied pairs, without a cycle.
        (("1: a > b", "1: b > a"), "condorcet", "tie a b", {"a": 1, "b": 1}),
        (("1: a > b > c", "1: b > a > c", "1: a = b > c"), "condorcet", "tie a b", {"a": 4.5, "b": 4.5, "c": 0}),
    ],
)
def test_the_textbooks_examples(rows: tuple[str, ...], method: str, result: str, counts: dict[str, float]) -> None:
    found = count(poll(*rows), method)
    assert told(found) == result
    assert found.counts == counts
    assert found.winner == (found.leading[0] if found.outcome == "winner" else None)


@pytest.mark.parametrize(
    ("rows", "method", "cycle", "line"),
    [
        (PARADOX, "borda", True, "a Condorcet cycle, a tie by borda: a, b and c with a score of 3 each"),
        (CONDORCETS_OWN, "borda", True, "a Condorcet cycle, by borda: b with a score of 69"),
        (CAPITAL, "condorcet", False, "n with 3 of 3 pairs won"),
        (
            ("1: a > b > c", "1: b > c > a", "1:"),
            "borda",
            False,
            "no option beats all others, by borda: b with a score of 3",
        ),
        # The others go round in a circle, but u never loses: nothing but ties stands in its way.
        (
            ("1: u > a > b > c", "1: u > b > c > a", "1: u > c > a > b", *(f"{row} > u" for row in PARADOX)),
            "borda",
            False,
            "no option beats all others, a tie by borda: a, b, c and u with a score of 9 each",
        ),
        (
            ("1: a > b", "1: b > a"),
            "borda",
            False,
            "no option beats all others, a tie by borda: a and b with a score of 1 each",
        ),
        # A cycle below the winner is in nobody's way.
        (("1: w > a > b > c", "1: w > b > c > a", "1: w > c > a > b"), "condorcet", False, "w with 3 of 3 pairs won"),
        (("3:",), "condorcet", False, "nobody voted"),
    ],
)
def test_a_cycle_is_flagged_and_goes_to_borda(rows: tuple[str, ...], method: str, cycle: bool, line: str) -> None:
    found = count(poll(*rows), "condorcet")
    assert (found.method, found.cycle) == (method, cycle)
    assert found.summary == line


@pytest.mark.parametrize("method", [*METHODS, "auto"])
def test_silence_is_never_a_vote(method: str) -> None:
    assert told(count([], method)) == "none"
    assert told(count(poll("5:"), method)) == "none"
    assert count(poll("5:"), method, ["a", "b"]) == replace(count(poll("5:"), method), counts={"a": 0, "b": 0})
    assert told(count(poll("2:"), method, ["a"])) == "none"
    assert told(count([replace(ballot, weight=Fraction(0)) for ballot in poll("2: a")], method)) == "none"


@pytest.mark.parametrize("method", [*METHODS, "auto"])
def test_the_only_option_wins_where_all_want_it(method: str) -> None:
    assert told(count(poll("7: a"), method)) == "winner a"
    assert told(count(poll("7: a"), method, ["a", "b"])) == "winner a"


@pytest.mark.parametrize(
    ("voters", "method"),
    [(1, "unanimous"), (2, "unanimous"), (3, "weighted"), (5, "weighted"), (6, "borda"), (40, "borda")],
)
def test_the_number_of_voters_chooses_the_method(voters: int, method: str) -> None:
    """Of all who could vote: who stays silent does not change how the others' votes are counted."""
    assert choose_method(voters) == method
    assert count(poll("1: a > b", f"{voters - 1}:")).method == method


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(UsageError, match='no voting method "majorty"; did you mean "majority"'):
        count(poll("1: a"), "majorty")


# Weights and scores


def test_scores_are_summed_by_weight() -> None:
    ballots = [
        score_options([("a", Fraction(90)), ("b", Fraction(40))]),
        score_options([("a", Fraction(10)), ("b", Fraction(70))]),
        replace(score_options([("b", Fraction(100)), ("c", Fraction(100))]), weight=Fraction(1, 2)),
        Ballot(),
    ]
    found = count(ballots, "weighted")
    assert found.counts == {"a": 1, "b": Fraction(8, 5), "c": Fraction(1, 2)}
    assert (told(found), found.of) == ("winner b", Fraction(7, 2))
    assert found.tally["votes"] == {"b": 1.6, "a": 1, "c": 0.5}


@pytest.mark.parametrize(
    ("ballots", "result"),
    [
        ([rank_options("a", 60), rank_options("b", 40), rank_options("b", 30)], "winner b"),
        ([rank_options("a", 60), rank_options("b", 30), rank_options("b", 30)], "tie a b"),
        ([rank_options("a", 0.3), rank_options("b", 0.1), rank_options("b", 0.2)], "tie a b"),
        ([rank_options("a", 0), rank_options("b", None), rank_options("b", 101), rank_options("b", -1)], "none a b"),
        ([score_options([("a", Fraction(0)), ("b", Fraction(0))])], "none"),
    ],
)
def test_sureness_is_exact(ballots: list[Ballot], result: str) -> None:
    assert told(count(ballots, "weighted")) == result


# What an answer says


@pytest.mark.parametrize(
    ("answer", "options", "places", "unknown"),
    [
        ("Redis", (), {"redis": 0}, ()),
        (0, (), {"0": 0}, ()),
        (None, (), {}, ()),
        ("  ", (), {}, ()),
        ((), (), {}, ()),
        (("b", "a"), (), {"b": 0, "a": 1}, ()),
        (("b", "a", "B ", "c"), (), {"b": 0, "a": 1, "c": 2}, ()),
        (("b", "x", "a"), ("a", "b"), {"b": 0, "a": 1}, ("x",)),
        (("**b**", "`a`.", "“c”"), (), {"b": 0, "a": 1, "c": 2}, ()),
        (("b: simple", "a - fast", "c (old)"), ("a", "b", "c"), {"b": 0, "a": 1, "c": 2}, ()),
        (("big table: yes", "big: no"), ("big", "big table"), {"big table": 0, "big": 1}, ()),
        (("plan: 2", "plan: 1 — why not"), ("plan: 1", "plan: 2", "plan"), {"plan: 2": 0, "plan: 1": 1}, ()),
        ("a or b", ("a", "b"), {}, ("a or b",)),
        ("ab", ("a", "b"), {}, ("ab",)),
        ("***", (), {}, ("***",)),
    ],
)
def test_a_choice_and_a_ranking_are_read(
    answer: Any, options: tuple[str, ...], places: dict[str, int], unknown: tuple[str, ...]
) -> None:
    ballot = read(answer, options)
    assert (ballot.places, ballot.unknown) == (places, unknown)
    assert ballot.heard is bool(places)


@pytest.mark.parametrize(
    ("item", "score"),
    [
        ("a: 80", 80),
        ("a = 80 %", 80),
        ("a - 80/100", 80),
        ("**a**: 80 — it is simple", 80),
        ("a: 80.", 80),
        ("a: 7,5", 7.5),
        ("a: 100", 100),
        ("a: 0", 0),
        ("a: 101", None),
        ("a: 1000", None),
        ("a: -5", None),
        ("a: 8/10", None),
        ("a: eighty", None),
        ("a", None),
        ("b: 80", None),
    ],
)
def test_a_score_is_read_or_does_not_count(item: str, score: float | None) -> None:
    ballot = read([item], ["a"], scores=True)
    assert ballot.scores == ({} if score is None else {"a": score})
    assert ballot.unknown == ((item,) if score is None else ())
    assert ballot.places == ({"a": 0} if score else {})


def test_the_first_score_of_an_option_counts() -> None:
    ballot = read(["a: 10", "b: 60", "a: 90", "c: 60", "d: 0"], scores=True)
    assert ballot.scores == {"a": 10, "b": 60, "c": 60, "d": 0}
    assert ballot.places == {"b": 0, "c": 0, "a": 1}


def test_a_rambling_reply_is_cut() -> None:
    ballot = read([f"option {number}" for number in range(3000)])
    assert len(ballot.places) == MOST_OPTIONS
    assert len(ballot.unknown) == 3000 - MOST_OPTIONS
    assert read(["x: " * 50_000, "— " * 50_000], ["x"]).places == {"x": 0}
    assert read(["a" * 199 + ": 80"], scores=True).scores == {}


@given(st.text(max_size=40))
def test_a_name_stays_the_same_when_it_is_read_again(text: str) -> None:
    assert normalize_option(normalize_option(text)) == normalize_option(text)


# What the methods promise


OPTIONS = "abcd"


@st.composite
def ballots_of(draw: st.DrawFn) -> Ballot:
    """Any ranking: whole, cut short, with ties, or none; with a weight, and scores that agree with it."""
    places = draw(st.dictionaries(st.sampled_from(OPTIONS), st.integers(0, 3)))
    ranks = sorted(set(places.values()))
    scores = {option: Fraction(100, 1 + ranks.index(place)) for option, place in places.items()}
    weight = draw(st.sampled_from([Fraction(1), Fraction(1), Fraction(2), Fraction(1, 3)]))
    return Ballot({option: ranks.index(place) for option, place in places.items()}, scores, weight)


POLLS = st.lists(ballots_of(), min_size=1, max_size=7)
ANY_METHOD = st.sampled_from(sorted(METHODS))


@given(POLLS, ANY_METHOD, st.randoms())
def test_it_does_not_matter_who_votes(ballots: list[Ballot], method: str, dice: Random) -> None:
    shuffled = dice.sample(ballots, len(ballots))
    assert count(shuffled, method, OPTIONS) == count(ballots, method, OPTIONS)


@given(POLLS, ANY_METHOD, st.permutations(OPTIONS))
def test_it_does_not_matter_how_options_are_called(ballots: list[Ballot], method: str, order: list[str]) -> None:
    called = dict(zip(OPTIONS, order, strict=True))

    def renamed(given: Mapping[str, Any]) -> dict[str, Any]:
        return {called[option]: value for option, value in given.items()}

    other = [replace(one, places=renamed(one.places), scores=renamed(one.scores)) for one in ballots]
    before, after = count(ballots, method, OPTIONS), count(other, method, OPTIONS)
    assert after.counts == renamed(before.counts)
    assert set(after.leading) == {called[option] for option in before.leading}
    assert (after.outcome, after.method, after.cycle) == (before.outcome, before.method, before.cycle)


def raised(ballot: Ballot, option: str) -> Ballot:
    """The same ballot with this option alone on top."""
    others = {other: place for other, place in ballot.places.items() if other != option}
    ranks = sorted(set(others.values()))  # places have no gaps
    places = {option: 0, **{other: ranks.index(place) + 1 for other, place in others.items()}}
    return replace(ballot, places=places, scores={**ballot.scores, option: Fraction(100)})


@given(POLLS, ANY_METHOD, st.sampled_from(OPTIONS))
def test_whom_all_put_first_wins(ballots: list[Ballot], method: str, option: str) -> None:
    scored_below = [replace(one, scores={key: score / 2 for key, score in one.scores.items()}) for one in ballots]
    assert told(count([raised(one, option) for one in scored_below], method, OPTIONS)) == f"winner {option}"


@given(POLLS, ANY_METHOD, st.data())
def test_who_wins_still_wins_with_more_support(ballots: list[Ballot], method: str, data: st.DataObject) -> None:
    winner = count(ballots, method, OPTIONS).winner
    if winner is None:
        return
    changed = data.draw(st.integers(0, len(ballots) - 1))
    more = [raised(one, winner) if place == changed else one for place, one in enumerate(ballots)]
    assert count(more, method, OPTIONS).winner == winner


@given(POLLS, ANY_METHOD)
def test_who_stays_silent_makes_no_winner(ballots: list[Ballot], method: str) -> None:
    before, after = count(ballots, method, OPTIONS), count([*ballots, Ballot()], method, OPTIONS)
    assert (after.counts, after.leading, after.of) == (before.counts, before.leading, before.of + 1)
    assert after.winner in (before.winner, None)
    assert method in SHARES or after.winner == before.winner


@given(POLLS, ANY_METHOD)
def test_a_weight_is_so_many_voters(ballots: list[Ballot], method: str) -> None:
    split = [replace(one, weight=one.weight / 2) for one in ballots for _ in range(2)]
    assert count(split, method, OPTIONS) == count(ballots, method, OPTIONS)


# The same as others count


class Slowly:
    """The definitions as they stand in a book, option by option and pair by pair."""

    def __init__(self, options: Sequence[str], ballots: Sequence[Ballot]) -> None:
        self.options = options
        self.rows = [(ballot.places, ballot.weight) for ballot in ballots]
        self.of = sum(weight for _, weight in self.rows)
        self.beats = cache(self.does_beat)

    def prefers(self, row: Mapping[str, int], one: str, other: str) -> bool:
        return one in row and (other not in row or row[one] < row[other])

    def firsts(self) -> dict[str, Fraction]:
        def alone(row: Mapping[str, int], one: str) -> bool:
            return all(self.prefers(row, one, other) for other in self.options if other != one) and one in row

        return {one: Fraction(sum(weight for row, weight in self.rows if alone(row, one))) for one in self.options}

    def borda(self) -> dict[str, Fraction]:
        def points(row: Mapping[str, int], one: str, other: str) -> Fraction:
            return Fraction(1 + self.prefers(row, one, other) - self.prefers(row, other, one), 2)

        return {
            one: sum(
                (
                    weight * points(row, one, other)
                    for row, weight in self.rows
                    if row
                    for other in self.options
                    if other != one
                ),
                Fraction(0),
            )
            for one in self.options
        }

    def does_beat(self, one: str, other: str) -> bool:
        margin = sum(w * (self.prefers(r, one, other) - self.prefers(r, other, one)) for r, w in self.rows)
        return margin > 0

    def condorcet(self) -> str | None:
        winners = [one for one in self.options if all(self.beats(one, other) for other in self.options if other != one)]
        return winners[0] if winners else None

    def circles(self) -> list[tuple[str, ...]]:
        """Every way round: each option of it beats the next one, and the last one the first."""
        return [
            round
            for length in range(3, len(self.options) + 1)
            for round in permutations(self.options, length)
            if all(self.beats(one, round[place - 1]) for place, one in enumerate(round))
        ]

    def unbeaten(self) -> list[str]:
        return [one for one in self.options if not any(self.beats(other, one) for other in self.options)]


def best(counts: Mapping[str, Any]) -> list[str]:
    return sorted(option for option in counts if counts[option] == max(counts.values()))


@pytest.mark.slow
@pytest.mark.parametrize("linear", [True, False])
def test_the_slow_count_says_the_same(linear: bool) -> None:
    """With weights: every method, the counts, the cycle and each share of all who could vote. Half of the polls, for
    it is slow.
    """
    dice = Random(6)
    seen = {"cycle": 0, "tie": 0, "none": 0, "winner": 0}
    for options, plain in islice(profiles(linear, seed=1), PROFILES // 2):
        ballots = [replace(one, weight=Fraction(dice.choice((1, 1, 1, 2, 3)), 2)) for one in plain]
        slow = Slowly(options, ballots)
        if not any(one.places for one in ballots):
            assert {count(ballots, method, options).outcome for method in METHODS} == {"none"}
            continue
        firsts, points, winner = slow.firsts(), slow.borda(), slow.condorcet()
        parts = {"plurality": 0, "majority": Fraction(1, 2), "2/3": Fraction(2, 3), "unanimous": 1}
        for method, part in parts.items():
            most = max(firsts.values()) / slow.of
            enough = most >= part if method in ("2/3", "unanimous") else most > part
            found = count(ballots, method, options)
            assert (found.counts, list(found.leading), found.outcome != "none") == (firsts, best(firsts), enough)
        by_borda, by_condorcet = count(ballots, "borda", options), count(ballots, "condorcet", options)
        assert (by_borda.counts, list(by_borda.leading)) == (points, best(points))
        assert list(by_condorcet.leading) == ([winner] if winner else best(points))
        assert by_condorcet.method == ("condorcet" if winner else "borda")
        assert by_condorcet.cycle == (not slow.unbeaten())
        assert not by_condorcet.cycle or slow.circles()
        seen["cycle"] += by_condorcet.cycle
        seen[by_condorcet.outcome] += 1
    assert min(seen["cycle"], seen["tie"], seen["winner"]) > 20, seen


# ---- what another program says of them ----


def leading(ballots: Sequence[Ballot], method: str, options: list[str]) -> str:
    found = count(ballots, method, options)
    return "" if found.outcome == "none" else "".join(sorted(found.leading))


def pairs(found: Result) -> list[str]:
    winner = "".join(found.leading) if found.method == "condorcet" else ""
    return [winner, "cycle" if found.cycle else ""]


@pytest.mark.slow
def test_pref_voting_says_the_same_of_whole_rankings() -> None:
    told = recorded()["whole rankings"]
    for (options, ballots), theirs in zip(profiles(linear=True, seed=2), told, strict=True):
        methods = ("plurality", "majority", "borda", "condorcet")
        ours = [leading(ballots, method, options) for method in methods]
        assert "|".join([*ours, *pairs(count(ballots, "condorcet", options))]) == theirs


@pytest.mark.slow
def test_pref_voting_says_the_same_of_ties_and_of_rankings_cut_short() -> None:
    """Its majority is for whole rankings; here it is its firsts held against its half."""
    told = recorded()["ties and rankings cut short"]
    for (options, ballots), theirs in zip(profiles(linear=False, seed=3), told, strict=True):
        if theirs == NOBODY:
            assert {count(ballots, method, options).outcome for method in METHODS} == {"none"}
            continue
        firsts = count(ballots, "plurality", options).counts
        ours = [leading(ballots, method, options) for method in ("majority", "borda")]
        ours.insert(0, " ".join(str(firsts[option]) for option in options))
        assert "|".join([*ours, *pairs(count(ballots, "condorcet", options))]) == theirs


@pytest.mark.slow
def test_pref_voting_says_the_same_of_scores() -> None:
    told, polls = recorded()["scores"], scored_polls(profiles(linear=False, seed=4))
    for (options, rows), theirs in zip(polls, told, strict=True):
        ballots = [score_options([(option, Fraction(score)) for option, score in row.items()]) for row in rows]
        if theirs != NOBODY:
            assert leading(ballots, "weighted", options) == theirs


def test_what_it_said_is_of_thousands_of_polls_with_ties_cycles_and_cut_rankings() -> None:
    told = recorded()
    assert [len(lines) for lines in told.values()] == [PROFILES] * 3
    for kind in ("whole rankings", "ties and rankings cut short"):
        assert sum(line.endswith("|cycle") for line in told[kind]) > 20
        borda = [line.split("|")[2] for line in told[kind] if line != NOBODY]
        assert sum(len(tied) > 1 for tied in borda) > 100
    assert sum(line == NOBODY for line in told["scores"]) < PROFILES / 10


def test_it_says_so_still() -> None:
    pytest.importorskip("pref_voting", reason="what it says is in tests/fixtures/votes.txt")
    before = VOTES.read_bytes()
    votes.main()
    assert VOTES.read_bytes() == before
