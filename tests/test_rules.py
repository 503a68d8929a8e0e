"""Every rule, in tables: what holds, why, and what was counted."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from council.engine.conditions import fraction, judge, matches, number, rule
from council.engine.scene import RecordedTurn, Scene, Turn, Verdict
from council.errors import UsageError
from council.protocols.dissent import find_missing_dissent
from council.workflow.model import (
    AllOf,
    AnyOf,
    Condition,
    Not,
    Ref,
    Seat,
)
from tests.scenes import absent, scene, turn


def holds(condition: Condition, said: Scene) -> bool:
    return judge(condition, said).holds


def said(name: str, *values: Any, **more: Any) -> Scene:
    """A round in which these seats gave this answer in turn; None is a seat that was asked and gave none."""
    seats = ("architect", "designer", "engineer", "researcher", "writer", "security")
    return scene(
        *(
            turn(seat, asked=name) if value is None else turn(seat, **{name: value})
            for seat, value in zip(seats, values, strict=False)
        ),
        **more,
    )


@pytest.mark.parametrize(
    ("value", "wanted", "result"),
    [
        ("agree", "agree", True),
        ("Agree ", "agree", True),
        ("agreed", "agree", False),
        (None, "agree", False),
        (None, "any", False),
        ("agree", ["mixed", "agree"], True),
        ("agree", ["mixed", "disagree"], False),
        ("agree", [], False),
        ("x", "any", True),
        ("", "any", False),
        ((), "any", False),
        (("cost",), "any", True),
        (0, "any", True),
        (("cost", "risk"), "Risk", True),
        (("cost",), "risk", False),
        (90, ">= 90", True),
        (89.9, ">= 90", False),
        (90, "> 90", False),
        (90, "<= 90", True),
        (90, "<90", False),
        (-1, "< 0", True),
        (0.95, "> 0.9", True),
        (0, "0", True),
        (0, "0.0", True),
        (3, "three", False),
        (3, ">= many", False),
        ("95", ">= 90", False),
        (3, ["1", "> 2"], True),
        ("true", True, True),
        ("yes", True, False),
    ],
)
def test_matches(value: Any, wanted: Any, result: bool) -> None:
    assert matches(value, wanted) is result


@pytest.mark.parametrize(
    ("written", "part"),
    [("2/3", Fraction(2, 3)), ("0.6", Fraction(3, 5)), ("1", Fraction(1)), ("1 / 2", Fraction(1, 2))],
)
def test_fraction(written: str, part: Fraction) -> None:
    assert fraction(written) == part


@pytest.mark.parametrize("written", ["most", "3/2", "1/0", "-1/2", "1e9", "nan", "", "2", ["1/2"]])
def test_no_fraction(written: Any) -> None:
    with pytest.raises(UsageError, match="is not a share"):
        fraction(written)


@pytest.mark.parametrize("written", ["many", "inf", "nan", "1e400", "", [5]])
def test_no_number(written: Any) -> None:
    with pytest.raises(UsageError, match="is not a number"):
        number(written)


@pytest.mark.parametrize(
    ("values", "some", "every", "majority", "two_thirds"),
    [
        ((), False, False, False, False),
        (("yes",), True, True, True, True),
        (("yes", "no"), True, False, False, False),
        (("yes", "yes", "no"), True, False, True, True),
        (("yes", "yes", None), True, False, True, True),
        (("yes", None, None), True, False, False, False),
        (("yes", "yes", "no", "no"), True, False, False, False),
        (("yes", "yes", "yes", None), True, False, True, True),
        ((None, None), False, False, False, False),
        (("no", "no"), False, False, False, False),
    ],
)
def test_shares(values: tuple[Any, ...], some: bool, every: bool, majority: bool, two_thirds: bool) -> None:
    polled = said("move_on", *values)
    assert holds(Ref("some", {"move_on": "yes"}), polled) is some
    assert holds(Ref("every", {"move_on": "yes"}), polled) is every
    assert holds(Ref("share", {"move_on": "yes", "over": "1/2"}), polled) is majority
    assert holds(Ref("share", {"move_on": "yes", "at": "2/3"}), polled) is two_thirds


def test_absent_stays_in_the_denominator() -> None:
    polled = scene(
        turn("a", move_on="yes"), turn("b", move_on="yes"), absent("c", asked="move_on"), turn("d", move_on="no")
    )
    verdict = judge(Ref("share", {"move_on": "yes", "at": "2/3"}), polled)
    assert not verdict
    assert verdict.reason == "only 2 of 4 say move_on yes (c not heard)"
    assert verdict.tally == {"move_on": {"for": ["a", "b"], "of": 4, "not_heard": ["c"]}}


def test_several_answers_are_asked_of_one_turn() -> None:
    both = scene(turn("a", ready="yes", move_on="no"), turn("b", ready="no", move_on="yes"))
    assert not holds(Ref("some", {"ready": "yes", "move_on": "yes"}), both)
    assert holds(Ref("some", {"ready": "no", "move_on": "yes"}), both)
    assert judge(Ref("some", {"ready": "yes", "score": "any"}), both).reason == "nobody was asked for ready and score"


def test_an_until_does_not_count_a_poll_of_an_earlier_round() -> None:
    first = [turn("a", "challenge/poll", 1, move_on="yes"), turn("b", "challenge/poll", 1, move_on="yes")]
    second = [turn("a", "challenge/respond", 2, ready="no"), turn("b", "challenge/respond", 2, ready="no")]
    rule = Ref("every", {"move_on": "yes"})
    assert holds(rule, scene(*first, *second)), "a `when` asks who said so last"
    assert not holds(rule, scene(*first, *second, since=2)), "an `until` asks about its round"


def test_the_newest_round_abandons_the_one_before() -> None:
    moved = scene(turn("a", round=1, stance="disagree"), turn("a", round=2, stance="agree"))
    assert not holds(Ref("some", {"stance": "disagree"}), moved)


@pytest.mark.parametrize(
    ("args", "why"),
    [
        ({}, "need the name of an answer"),
        ({"move_on": "yes"}, "either at"),
        ({"move_on": "yes", "at": "1", "over": "1"}, "either at"),
    ],
)
def test_share_says_what_it_needs(args: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        judge(Ref("share", args), said("move_on", "yes"))


# Combinators

YES, NO = Ref("some", {"stance": "agree"}), Ref("some", {"stance": "disagree"})


@pytest.mark.parametrize(
    ("condition", "result", "fired"),
    [
        (YES, True, ("some",)),
        (NO, False, ()),
        (Not(NO), True, ("not some",)),
        (Not(YES), False, ()),
        (Not(Not(YES)), True, ("not not some",)),
        (AnyOf((NO, YES)), True, ("some",)),
        (AnyOf((NO, NO)), False, ()),
        (AllOf((YES, Not(NO))), True, ("some", "not some")),
        (AllOf((YES, NO)), False, ()),
        (Not(AllOf((YES, NO))), True, ("not (some and some)",)),
        (Not(AnyOf((NO, Ref("disagreement")))), True, ("not (some or disagreement)",)),
        (AllOf((AnyOf((NO, YES)), Ref("last_round"))), False, ()),
    ],
)
def test_combinators(condition: Condition, result: bool, fired: tuple[str, ...]) -> None:
    verdict = judge(condition, said("stance", "agree"))
    assert (verdict.holds, verdict.fired) == (result, fired)


def test_reasons_are_those_that_decided() -> None:
    one = said("stance", "agree", "mixed")
    assert judge(AnyOf((NO, YES)), one).reason == "1 of 2 say stance agree"
    assert judge(AnyOf((NO, NO)), one).reason == "0 of 2 say stance disagree"
    assert judge(AllOf((YES, NO)), one).reason == "0 of 2 say stance disagree"
    assert judge(AllOf((YES, Not(NO))), one).reason == "1 of 2 say stance agree; 0 of 2 say stance disagree"


def test_an_unknown_rule_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match='no rule "evry"; did you mean "every"'):
        judge(Ref("evry", {"stance": "agree"}), scene())


# Stuck


def rounds(*rows: dict[str, Any], at: str = "debate/propose") -> Scene:
    turns = [
        turn(seat, at, number, asked="score") if value is None else turn(seat, at, number, score=value)
        for number, row in enumerate(rows, 1)
        for seat, value in row.items()
    ]
    return scene(*turns)


@pytest.mark.parametrize(
    ("rows", "result"),
    [
        ([{"a": 60}] * 3, False),  # round 3 is too early
        ([{"a": 60}] * 4, True),
        ([{"a": 0}, {"a": 60}, {"a": 62}, {"a": 64}], True),  # only the last three count
        ([{"a": 0}, {"a": 60}, {"a": 62}, {"a": 65}], False),
        ([{"a": 9}, {"a": 90}, {"a": 80}, {"a": 70}], True),  # falling is no progress
        ([{"a": 9, "b": 9}, {"a": 60, "b": 60}, {"a": 60, "b": 60}, {"a": 70, "b": 60}], False),  # 5 in the mean
        ([{"a": 9, "b": 9}, {"a": 60, "b": 60}, {"a": 60, "b": 60}, {"a": 90, "b": None}], False),  # silence is no loss
        ([{"a": 9, "b": 9}, {"a": 60, "b": 60}, {"a": 60, "b": 60}, {"a": 64, "b": None}], True),  # and no gain
        ([dict.fromkeys("abcd", score) for score in (70, 78, 82)] + [dict.fromkeys("abc", 86) | {"d": None}], False),
        ([{"a": 80, "b": 80}, {"a": 80, "b": None}, {"a": 80, "b": 80}, {"a": 80, "b": 80}], True),
        ([{"a": 80, "b": 80}, {"a": 80, "b": 80}, {"a": 80, "b": None}, {"a": 80, "b": 80}], True),
        ([{"a": 50}, {"a": 50, "b": None}, {"a": 50, "b": 50}, {"a": None, "b": 50}], False),  # nobody can tell
        ([dict.fromkeys("abc", 5)] * 2 + [{"a": 14, "b": 0, "c": 0}] * 2, True),
        ([dict.fromkeys("abc", 5), {"a": 14, "b": 0, "c": 0}] + [{"a": 29, "b": 0, "c": 0}] * 2, False),  # just 5
        ([{"a": 50.1}, {"a": 50.1}, {"a": 50.1}, {"a": 55.1}], False),  # just 5
        ([{"a": None}] * 4, True),
        ([{"a": "agree"}] * 4, True),
        ([{"a": "agree"}, {"a": "mixed"}, {"a": "mixed"}, {"a": "agree"}], False),
        ([{"a": "agree", "b": None}] * 4, True),
        (
            [{"a": "agree", "b": None}, {"a": "agree", "b": None}, {"a": "agree", "b": None}, {"a": "agree", "b": "x"}],
            False,
        ),
    ],
)
def test_stuck(rows: list[dict[str, Any]], result: bool) -> None:
    assert holds(Ref("stuck", {"field": "score", "gain": "5"}), rounds(*rows)) is result


def test_stuck_looks_at_its_phase_alone() -> None:
    before = [turn("a", "warmup", number, score=60) for number in range(1, 6)]
    assert not holds(Ref("stuck", {"field": "score"}), scene(*before, turn("a", "debate", 1, score=60)))


def test_stuck_over_fewer_rounds() -> None:
    assert holds(Ref("stuck", {"field": "score", "over": "2"}), rounds({"a": 60}, {"a": 60}, {"a": 60}))
    with pytest.raises(UsageError, match="2 or more"):
        judge(Ref("stuck", {"field": "score", "over": "1"}), rounds({"a": 60}))


# Options, outcomes, rounds, money


@pytest.mark.parametrize(
    ("args", "result"),
    [
        ("normative", True),
        ("three_rounds", False),
        ({"normative": True}, True),
        ({"normative": False}, False),
        ({"three_rounds": False}, True),
        ({"mode": "strict"}, True),
        ({"mode": ["strict", "loose"]}, True),
        ({"mode": "loose"}, False),
        ({"mode": "strict", "normative": False}, False),
        ("mode", False),
    ],
)
def test_option(args: Any, result: bool) -> None:
    options = {"normative": True, "three_rounds": False, "mode": "strict"}
    assert holds(Ref("option", args), scene(options=options)) is result


def test_option_that_is_not_there() -> None:
    with pytest.raises(UsageError, match='asks for "normal"'):
        judge(Ref("option", "normal"), scene(options={"normative": True}))


def test_outcome() -> None:
    over = scene(outcomes={"challenge": "circular"})
    assert holds(Ref("outcome", {"challenge": "circular"}), over)
    assert holds(Ref("outcome", {"challenge": ["agreed", "circular"]}), over)
    assert not holds(Ref("outcome", {"challenge": "agreed"}), over)
    assert not holds(Ref("outcome", {"closing": "any"}), over)
    assert judge(Ref("outcome", {"closing": "any"}), over).reason == "closing ended not at all"


@pytest.mark.parametrize(("round", "result"), [(1, False), (2, False), (3, True), (4, True)])
def test_last_round(round: int, result: bool) -> None:
    assert holds(Ref("last_round"), scene(round=round, cap=3)) is result


@pytest.mark.parametrize(
    ("limit", "result"),
    [
        ({"usd": "1.5"}, True),
        ({"usd": "1.51"}, False),
        ({"tokens": "40"}, True),
        ({"tokens": "41"}, False),
        ({"calls": "4"}, True),
        ({"calls": "5"}, False),
        ({"calls": "5", "tokens": "40"}, True),
        ({}, False),
    ],
)
def test_spent(limit: dict[str, str], result: bool) -> None:
    """A first reply that was asked for again was paid for too; an unknown price is counted as a call and told."""
    unpriced = Turn(
        "x",
        "p",
        "p",
        1,
        Seat("c", ""),
        RecordedTurn("", tokens=10, usd=None),
        first=RecordedTurn("", tokens=10, usd=0.5),
    )
    receipts = scene(turn("a"), turn("b"), unpriced)
    assert holds(Ref("spent", limit), receipts) is result
    assert judge(Ref("spent", {"usd": "9"}), receipts).reason == "1.5 usd spent (1 of 4 calls have no known price)"
    assert judge(Ref("spent", {"calls": "9"}), receipts).reason == "4 calls spent", (
        "a price matters to a limit on money"
    )


# Words


@pytest.mark.parametrize(
    ("body", "result"),
    [
        ("I disagree with Marcus.", True),
        ("i DISAGREE", True),
        ("I'd challenge that.", True),
        ("I’d object.", True),
        ("I strongly disagree.", True),
        ("I still oppose it.", True),
        ("I must dispute the number.", True),
        ("I would also reject it.", True),
        ("We agree.", False),
        ("I do not disagree.", False),
        ("I don't object.", False),
        ("They say I was wrong.", False),
        ("> I disagree", False),
        ("  > I disagree", False),
        ('He said "I disagree" and left.', False),
        ("He said “I disagree” and left.", False),
        ('A 6" nail. I disagree.', True),
        ("Nobody: I disagreed once.", False),
        ("My objection is small.", False),
        ("Where I still push back: the dates.", True),
        ("Where I still differ is the order.", True),
        ("My actual objection is the cost.", True),
        ("My remaining objection has not moved.", True),
        ("I take issue with that.", True),
        ("I part ways with Ava here.", True),
        ("I cannot accept the dates.", True),
        ("I don't agree with that.", True),
        ("I’m not convinced.", True),
        ("I remain unconvinced.", True),
        ("My main objection was the cost.", False),
        ("My main objection is settled.", False),
        ("My core objection, the cost, is now answered by Ava.", False),
        ("I no longer push back.", False),
        ("I see where they differ.", False),
        ("We cannot agree on nothing.", False),
    ],
)
def test_disagreement(body: str, result: bool) -> None:
    verdict = judge(Ref("disagreement"), scene(turn("architect"), turn("engineer", body=body)))
    assert verdict.holds is result
    assert verdict.tally == {"disagreed": ["engineer"] if result else []}


def test_disagreement_looks_at_what_was_spoken_last() -> None:
    assert not holds(Ref("disagreement"), scene(turn("a", "positions", body="I disagree."), turn("a", "challenges")))
    assert not holds(Ref("disagreement"), scene())


@pytest.mark.parametrize(
    ("first", "second", "over", "some", "every"),
    [
        (["tests cost money", "users come first"], ["tests cost money", "users come first"], "0.6", True, True),
        (["tests cost money", "users come first"], ["Tests cost MONEY!", "latency matters"], "0.6", True, False),
        (["tests cost money", "users come first"], ["tests cost nothing", "latency matters"], "0.9", False, False),
        (["tests cost money", None], ["tests cost money", None], "0.6", True, False),
        ([None, None], ["tests cost money", "users come first"], "0.6", False, False),
    ],
)
def test_repeats(first: list[Any], second: list[Any], over: str, some: bool, every: bool) -> None:
    turns = [
        turn(seat, "debate", round, body=body) if body else absent(seat, "debate", round)
        for round, bodies in ((1, first), (2, second))
        for seat, body in zip("ab", bodies, strict=True)
    ]
    assert holds(Ref("repeats", {"over": over}), scene(*turns)) is some
    assert holds(Ref("repeats", {"over": over, "seats": "every"}), scene(*turns)) is every


def test_repeats_compares_the_same_step_of_the_round_before() -> None:
    words = "tests cost money"
    earlier = [turn("a", "warmup", 1, body=words), turn("a", "debate/other", 1, body=words)]
    assert not holds(Ref("repeats"), scene(*earlier, turn("a", "debate/argue", 2, body=words)))
    assert not holds(Ref("repeats"), scene())
    with pytest.raises(UsageError, match="seats must be some or every"):
        judge(Ref("repeats", {"seats": "many"}), scene())


# Votes


@pytest.mark.parametrize(
    ("ballots", "plurality", "unanimous"),
    [
        (["a", "a", "b"], "a", None),
        (["a", "b"], None, None),
        (["a", "A "], "a", "a"),
        (["a", "a", None], "a", None),
        ([None, None], None, None),
        ([], None, None),
        ([("a", "b"), ("a", "c"), ("c", "a")], "a", None),
        ([(), ("b",)], "b", None),
        (["a", "a", "b", "b", "c"], None, None),
        ([0, 0], "0", "0"),
    ],
)
def test_vote(ballots: list[Any], plurality: str | None, unanimous: str | None) -> None:
    polled = said("choice", *ballots)
    for method, winner in (("plurality", plurality), ("unanimous", unanimous)):
        verdict = judge(Ref("vote", {"field": "choice", "method": method}), polled)
        assert (verdict.holds, verdict.tally["winner"]) == (winner is not None, winner)


def test_a_tie_is_broken_by_the_seed_if_an_option_says_so_and_the_verdict_tells() -> None:
    ref, winners = Ref("vote", {"field": "choice", "ties": "break_ties"}), set[str]()
    assert not judge(ref, said("choice", "a", "b", options={"break_ties": False})).holds
    for seed in "12345678":
        first, again = (
            judge(ref, said("choice", *named, options={"break_ties": True}, seed=seed)) for named in ("ab", "ba")
        )
        assert first.holds
        assert first.tally["broken"] is True
        assert first.reason.endswith(f"the session's seed decided for {first.tally['winner']}")
        assert again.tally["winner"] == first.tally["winner"]
        winners.add(first.tally["winner"])
    assert winners == {"a", "b"}
    clear = judge(ref, said("choice", "a", "a", "b", options={"break_ties": True}))
    assert (clear.tally["winner"], "broken" in clear.tally) == ("a", False)


def test_a_vote_tells_what_it_counted() -> None:
    verdict = judge(Ref("vote", {"field": "choice"}), said("choice", "redis", "redis", None))
    assert verdict.reason == "redis with 2 of 3"
    assert verdict.tally == {
        "outcome": "winner",
        "winner": "redis",
        "tied": [],
        "method": "plurality",
        "cycle": False,
        "votes": {"redis": 2},
        "of": 3,
        "not_heard": ["engineer"],
        "unknown": {},
    }


RANKED = [("a", "b", "c"), ("b", "c", "a"), ("c", "a", "b"), ("a", "b", "c")]


@pytest.mark.parametrize(
    ("args", "ballots", "winner", "reason"),
    [
        ({"method": "borda"}, RANKED, "a", "a with a score of 5"),
        (
            {"method": "condorcet"},
            RANKED[:3],
            None,
            "a Condorcet cycle, a tie by borda: a, b and c with a score of 3 each",
        ),
        ({"method": "majority"}, ["a", "a", None, None], None, "no choice by majority: a with 2 of 4"),
        ({"method": "2/3"}, ["a", "a", None], "a", "a with 2 of 3"),
        ({"method": "auto"}, ["a", None], None, "no choice by unanimous: a with 1 of 2"),
        ({"method": "auto"}, ["a", "a", "b"], "a", "a with 2 of 3"),
        ({"method": "auto"}, [*RANKED, None, None], "a", "a with a score of 5"),
        ({"among": ["A", "b"]}, ["a: cheap", "**B**", "B.", "b or a", "c"], "b", "b with 2 of 5"),
        ({"among": "a"}, ["a", "b"], "a", "a with 1 of 2"),
        ({"scored": True, "method": "weighted"}, [("a: 40", "b: 90"), ("a: 100", "b: 55")], "b", "b with 1.45 of 2"),
        ({"scored": True, "method": "borda"}, [("a: 40", "b: 90"), ("a: none",)], "b", "b with a score of 1"),
        ({}, [None, None], None, "nobody voted"),
    ],
)
def test_vote_by_each_way(args: dict[str, Any], ballots: list[Any], winner: str | None, reason: str) -> None:
    verdict = judge(Ref("vote", {"field": "choice", **args}), said("choice", *ballots))
    assert (verdict.holds, verdict.tally["winner"]) == (winner is not None, winner)
    assert verdict.reason.startswith(reason)


def test_a_vote_names_what_did_not_count() -> None:
    polled = said("choice", ("a", "x"), ("x",), (), None)
    tally = judge(Ref("vote", {"field": "choice", "among": ["a", "b"]}), polled).tally
    assert (tally["votes"], tally["of"]) == ({"a": 1, "b": 0}, 4)
    assert tally["not_heard"] == ["designer", "engineer", "researcher"]
    assert tally["unknown"] == {"architect": ["x"], "designer": ["x"]}


def test_a_choice_weighs_as_much_as_its_seat_is_sure() -> None:
    """A seat that does not say how sure it is adds nothing, and a moment that did not ask for it is none."""
    rule = Ref("vote", {"field": "choice", "sure": "sure", "method": "weighted"})
    polled = scene(
        turn("architect", choice="a", sure=90),
        turn("designer", choice="b", sure=40),
        turn("engineer", choice="b", sure=41),
        turn("researcher", asked="sure", choice="b"),
    )
    assert judge(rule, polled).reason == "a with 0.9 of 4"
    assert judge(rule, polled).tally["votes"] == {"a": 0.9, "b": 0.81}
    assert judge(rule, said("choice", "a")).reason == "nobody voted"
    assert (
        judge(rule, scene(turn("architect", choice="a", sure="very"))).reason == "no choice by weighted: a with 0 of 1"
    )


@pytest.mark.parametrize("method", ["plurality", "majority", "borda", "condorcet", "weighted"])
def test_a_seats_weight_counts_in_every_method(method: str) -> None:
    chief, mute = Seat("chief", "members", {"weight": "2.5"}), Seat("guest", "members", {"weight": "0"})
    polled = scene(turn(chief, choice="a"), turn("b", choice="b"), turn("c", choice="b"), turn(mute, asked="choice"))
    tally = judge(Ref("vote", {"field": "choice", "method": method}), polled).tally
    assert (tally["winner"], tally["of"], tally["not_heard"]) == ("a", 4.5, [])


def test_a_vote_refuses_what_it_does_not_know() -> None:
    for args, weight, why in (
        ({"method": "bodra"}, "1", 'no voting method "bodra"; did you mean "borda"?'),
        ({"scored": "no"}, "1", "scored: true or false"),
        ({"among": ["a", " "]}, "1", "among: a list of options"),
        ({}, "heavy", 'the seat chief: its weight "heavy" is not a number'),
        ({}, "-1", 'its weight "-1" is not a number'),
    ):
        table = Scene("", {}, {"members": (Seat("chief", "members", {"weight": weight}),)})
        with pytest.raises(UsageError, match=re.escape(why)):
            judge(Ref("vote", {"field": "choice", **args}), table)


# Dissent

MARCUS = Seat("engineer", "members", {"title": "Engineer", "name": "Marcus Webb"})
CHAIR = Seat("chair", "chair")
BLOCK = "There is no rollback plan for the migration."


@pytest.mark.parametrize(
    ("synthesis", "kept"),
    [
        ("## Remaining disagreements\n- Engineer: there is no rollback plan for the migration.", True),
        ("- **Marcus**: no rollback plan for the migration exists.", True),
        ("- Webb insists on a rollback plan for the migration.", True),
        ("- ENGINEER (blocking): THERE IS NO ROLLBACK PLAN FOR THE MIGRATION", True),
        ("| Engineer | no rollback plan for the migration |", True),
        ("### Engineer\n\n- There is no rollback plan for the migration.", True),
        ("- Engineer:\n  - blocking: there is no rollback plan for the migration", True),
        ("- Engineer:\n  - likes it\n- There is no rollback plan for the migration.", False),
        ("- There is no rollback plan for the migration.", False),
        ("- Designer: there is no rollback plan for the migration.", False),
        ("- Engineer: likes it.\n- Designer: there is no rollback plan for the migration.", False),
        ("Engineer agrees.\n\nThere is no rollback plan for the migration.", False),
        ("- Engineer: there is a plan.", False),
        ("- Engineering: there is no rollback plan for the migration.", False),
        ("", False),
    ],
)
def test_blocking_is_kept_under_its_owners_name(synthesis: str, kept: bool) -> None:
    debate = scene(turn(MARCUS, blocking=(BLOCK,)), turn(CHAIR, "synthesis", body=synthesis or " "))
    verdict = judge(Ref("dissent_kept"), debate)
    assert verdict.holds is kept
    assert verdict.tally == {"left_out": [] if kept else [f"Engineer (Marcus): {BLOCK}"]}


@pytest.mark.parametrize(
    ("synthesis", "kept"),
    [
        ("- The Engineer disagrees.", True),
        ("- Marcus remains unconvinced.", True),
        ("- Dissent: Engineer, on the costs.", True),
        ("- The Engineer is against it.", True),
        ("Marcus is the outlier on this. He asks who restores it at night, and he isn't convinced.", True),
        ("Marcus holds out.", True),
        ("Marcus is the lone holdout.", True),
        ("The Engineer would not sign this: it is not reversible.", True),
        ("The Engineer cannot sign this: it is not reversible.", True),
        ("Marcus pushes back on the dates.", True),
        ("Marcus stays sceptical about the dates.", True),
        ("Here Marcus parts ways with the others.", True),
        ("Marcus takes issue with the dates.", True),
        ("Marcus differs: first the restore, then the cutover.", True),
        ("Marcus doesn't accept the dates.", True),
        ("## Dissents\n\n- Engineer: the restore was never rehearsed.", True),
        ("## Remaining disagreements\n\n### Marcus\n\nThe restore was never rehearsed, he disagrees.", True),
        ("**Minority view**\n\nMarcus: the restore was never rehearsed.", True),
        ("Who disagrees:\n- Marcus, because nobody rehearsed the restore\n- nobody else", True),
        ("- Marcus:\n  - he is not convinced", True),
        ("- Marcus:\n  - he likes it\n- Ava is not convinced", False),
        ("## Dissents\n\n- Engineer.", False),
        ("## Dissents\n\nNone.\n\n## Members\n\n- Engineer: spoke about the restore.", False),
        ("## Dissents\n\n- Engineer agrees with the restore plan.", False),
        ("The Engineer no longer objects.", False),
        ("The Engineer withdrew his objection.", False),
        ("- The Engineer agrees.", False),
        ("- Somebody disagrees.\n- The Engineer spoke.", False),
    ],
)
def test_who_disagrees_is_named(synthesis: str, kept: bool) -> None:
    debate = scene(turn(MARCUS, stance="disagree"), turn(CHAIR, "synthesis", body=synthesis))
    assert holds(Ref("dissent_kept"), debate) is kept


def test_dissent_that_was_given_up_need_not_be_kept() -> None:
    given_up = [
        turn(MARCUS, round=1, stance="disagree", blocking=(BLOCK,)),
        turn(MARCUS, round=2, stance="agree", blocking=()),
    ]
    assert find_missing_dissent(scene(*given_up), "All agree.") == []
    lost_voice = [given_up[0], absent("engineer", round=2, asked="stance blocking")]
    assert [words for _, words in find_missing_dissent(scene(*lost_voice), "All agree.")] == ["disagrees", BLOCK]


@pytest.mark.parametrize("turns", [[], [absent("chair", "synthesis")]])
def test_no_synthesis_keeps_nothing(turns: list[Turn]) -> None:
    assert judge(Ref("dissent_kept"), scene(*turns)) == Verdict(False, "there is no synthesis")


@pytest.mark.parametrize(
    ("synthesis", "kept"),
    [
        ("The Engineer says yes.", True),
        ("The Engineer stays with yes.", True),
        ("The Engineer says no.", False),
        ("The Engineer spoke of yes and no.", False),
    ],
)
def test_an_answer_of_its_own_is_kept_by_naming_it(synthesis: str, kept: bool) -> None:
    most = [turn(seat, stance="no") for seat in "abc"]
    debate = scene(*most, turn(MARCUS, stance="yes"), turn(CHAIR, "synthesis", body=synthesis))
    assert holds(Ref("dissent_kept"), debate) is kept


def test_of_answers_to_the_question_the_fewer_are_the_dissent() -> None:
    turns = [turn(seat, stance="no") for seat in "abc"] + [turn("designer", stance="yes")]
    assert [one.seat.name for one, _ in find_missing_dissent(scene(*turns), "All say no.")] == ["designer"]
    assert find_missing_dissent(scene(*turns), "- Designer disagrees: people wait.") == []
    assert len(find_missing_dissent(scene(*turns[:2], *turns[3:], turn("e", stance="yes")), "Nobody agrees.")) == 4


# Splits, moves and citations


@pytest.mark.parametrize(
    ("synthesis", "kept"),
    [
        ("- Designer: “People wait for the list to load.”", True),
        ('- Designer: "people wait for the list to load"', True),
        ("- Designer: “People wait.”", False),  # too little of it
        ("- Designer: “People would wait for a list to load.”", False),  # not their words
        ("- Designer: people wait for the list to load", False),  # not marked as theirs
        ("- “People wait for the list to load.”", False),  # not theirs by name
    ],
)
def test_whoever_is_quoted_by_name_is_not_left_out(synthesis, kept):
    turns = (turn("designer", stance="disagree", body="People wait for the list to load. And they leave."),)
    assert (find_missing_dissent(scene(*turns), synthesis) == []) is kept


@pytest.mark.parametrize(
    ("stances", "result", "reason"),
    [
        (("yes", "yes"), False, "stance: 2 yes"),
        (("yes", "no", "no"), True, "stance: 2 no and 1 yes"),
        (("yes", "mixed"), True, "stance: 1 yes and 1 mixed"),
        (("mixed", "mixed"), False, "stance: 2 mixed"),
        (("yes", None), False, "stance: 1 yes (designer spoke, stance unreadable)"),
        (("yes", "no", None), True, "stance: 1 yes and 1 no (engineer spoke, stance unreadable)"),
        ((None, None), False, "stance: nothing (architect and designer spoke, stance unreadable)"),
        ((), False, "stance: nothing"),
        (("Yes", "yes"), False, "stance: 2 yes"),
    ],
)
def test_split(stances: tuple[Any, ...], result: bool, reason: str) -> None:
    verdict = judge(Ref("split"), said("stance", *stances))
    assert (verdict.holds, verdict.reason) == (result, reason)


def test_silence_ends_no_split() -> None:
    before = [turn("a", round=1, stance="yes"), turn("b", round=1, stance="no")]
    now = [turn("a", round=2, stance="yes"), absent("b", round=2, asked="stance")]
    assert holds(Ref("split"), scene(*before, *now))
    assert holds(Ref("split"), scene(*before, *now, since=2))
    assert not holds(Ref("split"), scene(*before, now[0], turn("b", round=2, stance="yes"), since=2))
    assert not holds(Ref("split", {"field": "vote"}), scene(*before))


def test_moved() -> None:
    before = [turn("a", round=1, stance="yes"), turn("b", round=1, stance="no")]
    stayed = [turn("a", round=2, stance="yes"), turn("b", round=2, stance="no")]
    swayed = [turn("a", round=2, stance="yes"), turn("b", round=2, stance="mixed")]
    silent = [turn("a", round=2, stance="yes"), absent("b", round=2, asked="stance")]
    for now, result in ((stayed, False), (swayed, True), (silent, False)):
        verdict = judge(Ref("moved"), scene(*before, *now, since=2))
        assert verdict.holds is result
        assert verdict.tally["moved"] == (["b"] if result else [])
    again = [turn("a", round=3, stance="yes"), turn("b", round=3, stance="mixed")]
    assert not holds(Ref("moved"), scene(*before, *swayed, *again, since=4)), "that was a round ago"
    assert not holds(Ref("moved"), scene(*before))
    assert not holds(Ref("moved"), scene())


@pytest.mark.parametrize(("before", "now", "result"), [(70, 79, False), (70, 80, True), (80, 70, True)])
def test_a_score_has_moved_by_ten_points(before: int, now: int, result: bool) -> None:
    rounds = [turn("a", round=1, score=before), turn("a", round=2, score=now)]
    assert holds(Ref("moved", {"field": "score"}), scene(*rounds, since=1)) is result


TURNS = [turn("engineer", "positions", stance="no"), absent("designer", "positions", asked="stance")]


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ("It rests on [01-positions/engineer].", []),
        ("It rests on `01-positions/engineer`, and on 01-positions/engineer.2.", []),
        ("It rests on reasons.", ["it cites no turn by its id"]),
        ("It rests on [01-positions/writer].", ["there is no turn 01-positions/writer"]),
        (
            "[01-positions/engineer], [02-challenge-r01/engineer]",
            ["there is no turn 02-challenge-r01/engineer"],
        ),
        ("[01-positions/designer]", ["there is no turn 01-positions/designer"]),  # she was absent
        ("[03-synthesis-r01/pen]", ["there is no turn 03-synthesis-r01/pen"]),  # it cannot rest on itself
        ("see docs/01-positions/engineer and 2024-01-positions/engineer", ["it cites no turn by its id"]),
        ("on 01-02/03 there was [01-positions/engineer]", []),
    ],
)
def test_cites(body: str, wrong: list[str]) -> None:
    turns = [replace(one, id=f"01-positions/{one.seat.name}") for one in TURNS]
    pen = replace(turn("pen", "synthesis", body=body), id="03-synthesis-r01/pen")
    verdict = judge(Ref("cites"), scene(*turns, pen))
    assert (verdict.holds, verdict.tally["not_cited"]) == (not wrong, wrong)


@pytest.mark.parametrize("turns", [[], [turn("a", stance="agree")], [absent("pen", "synthesis")]])
def test_no_synthesis_cites_nothing(turns: list[Turn]) -> None:
    assert not holds(Ref("cites"), scene(*turns))


def test_every_rule_has_its_sentence() -> None:
    assert all((function.__doc__ or "").endswith(".") for function in rule.known.values())
