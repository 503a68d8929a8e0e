"""Votes: each method against its definition, ballots as they are read, and what no method may do."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from council.next.engine.voting import AUTO, METHODS, Ballot, count, read
from council.next.errors import UsageError

OPTIONS = ("a", "b", "c")


def ranked(*ballots: str) -> list[Ballot]:
    return [read(tuple(ballot)) if ballot else read(None) for ballot in ballots]


def sure(*ballots: tuple[str, float]) -> list[Ballot]:
    return [read(option, sure=one) for option, one in ballots]


@pytest.mark.parametrize(
    ("method", "ballots", "winner"),
    [
        ("plurality", ranked("a", "b", "b", "c"), "b"),
        ("plurality", ranked("a", "b"), ""),
        ("plurality", ranked("a", "", "", ""), "a"),
        ("majority", ranked("a", "a", "b"), "a"),
        ("majority", ranked("a", "a", "b", ""), ""),
        ("2/3", ranked("a", "a", "b"), "a"),
        ("2/3", ranked("a", "a", "b", "b"), ""),
        ("2/3", ranked("a", "a", ""), "a"),
        ("unanimous", ranked("a", "a"), "a"),
        ("unanimous", ranked("a", ""), ""),
        ("weighted", sure(("a", 90), ("b", 40), ("b", 40)), "a"),
        ("weighted", sure(("a", 0), ("b", 0)), ""),
        ("borda", ranked("abc", "abc", "cab"), "a"),
        ("borda", ranked("ab", "ba"), ""),
        ("condorcet", ranked("abc", "bac", "cab"), "a"),
        (AUTO, ranked("a", "b"), ""),
        (AUTO, ranked("a", "a"), "a"),
        (AUTO, sure(("a", 90), ("b", 40), ("b", 40)), "a"),
        (AUTO, ranked("abc", "abc", "abc", "bca", "bca", "bca", "bac"), "b"),
        ("majority", [], ""),
        ("borda", ranked("", ""), ""),
    ],
)
def test_who_wins(method: str, ballots: list[Ballot], winner: str) -> None:
    assert count(ballots, method).winner == winner


def test_a_cycle_is_told_and_counted_in_points() -> None:
    result = count(ranked("abc", "bca", "cab"), "condorcet")
    assert (result.method, result.cycle, result.winner) == ("borda", True, "")
    assert result.summary == "a tie: a, b and c with 3 by borda after a Condorcet cycle"
    tied = count(ranked("abc", "acb", "bac", "bca"), "condorcet")
    assert (tied.method, tied.cycle) == ("borda", False)


@pytest.mark.parametrize(
    ("answer", "options", "scored", "places", "unknown"),
    [
        ("A.", (), False, {"a": 0}, 0),
        (("**A**", "b", "a"), (), False, {"a": 0, "b": 1}, 0),
        (("a", "d"), OPTIONS, False, {"a": 0}, 1),
        (("a because", "b"), OPTIONS, False, {"b": 0}, 1),
        (("a: 80", "b: 80", "c: 20/100"), (), True, {"a": 0, "b": 0, "c": 1}, 0),
        (("a: 101", "b: 8/10", "c"), (), True, {}, 3),
        (("a: 80", "a: 10", "b: 0"), (), True, {"a": 0}, 0),
        (None, (), False, {}, 0),
        ("x" * 201, (), False, {}, 1),
        (tuple(f"o{number}" for number in range(60)), (), False, {f"o{number}": number for number in range(50)}, 10),
    ],
)
def test_ballots_are_read_strictly(answer: Any, options: Any, scored: bool, places: Any, unknown: int) -> None:
    ballot = read(answer, options, scored)
    assert (dict(ballot.places), len(ballot.unknown)) == (places, unknown)


def test_a_weight_is_so_many_voters() -> None:
    for method in METHODS:
        heavy = count([read(("a", "b"), weight=3), read(("b", "a"), weight=1)], method)
        same = count(ranked("ab", "ab", "ab", "ba"), method)
        assert (heavy.winner, heavy.counts) == (same.winner, same.counts)
    assert count([read("a", weight=0), read("b")], "unanimous").winner == "b"


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(UsageError, match='did you mean "borda"'):
        count([], "brda")


POLLS = st.lists(st.lists(st.sampled_from(OPTIONS), max_size=3, unique=True), min_size=1, max_size=7)


@settings(deadline=None)
@given(poll=POLLS, method=st.sampled_from([*METHODS, AUTO]), order=st.randoms(use_true_random=False))
def test_what_no_method_may_do(poll: list[list[str]], method: str, order: Any) -> None:
    """Depend on the order of the voters, on the options' names, or choose what nobody named."""
    ballots = [read(tuple(one)) for one in poll]
    result = count(ballots, method)
    mixed = [*ballots]
    order.shuffle(mixed)
    assert count(mixed, method) == result
    named = {option for one in poll for option in one}
    assert {*result.leading} <= named
    for names in permutations(OPTIONS):
        renamed = dict(zip(OPTIONS, names, strict=True))
        other = count([read(tuple(renamed[option] for option in one)) for one in poll], method)
        assert other.winner == (renamed[result.winner] if result.winner else "")


@settings(deadline=None)
@given(poll=POLLS)
def test_the_methods_against_their_definitions(poll: list[list[str]]) -> None:
    ballots = [read(tuple(one)) for one in poll]
    options = sorted({option for one in poll for option in one})
    heads = [one[0] for one in poll if one]
    for option in options:
        first = heads.count(option)
        assert (count(ballots, "majority").winner == option) == (2 * first > len(poll))
        assert (count(ballots, "unanimous").winner == option) == (first == len(poll))
        beats = [
            other
            for other in options
            if other != option
            and sum(place(one, option) < place(one, other) for one in poll)
            > sum(place(one, option) > place(one, other) for one in poll)
        ]
        wins = count(ballots, "condorcet")
        assert (len(beats) == len(options) - 1) == (wins.method == "condorcet" and wins.winner == option)
        borda = sum(
            Fraction(place(one, option) < place(one, other)) + Fraction(place(one, option) == place(one, other), 2)
            for one in poll
            if one
            for other in options
            if other != option
        )
        assert count(ballots, "borda").counts[option] == borda


def place(ballot: list[str], option: str) -> int:
    return ballot.index(option) if option in ballot else len(ballot)
