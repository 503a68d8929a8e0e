"""Where the council stands. Each of these was once called an agreement by some program, or nearly so."""

from __future__ import annotations

from typing import Any

import pytest

from council.engine.planner import plan
from council.engine.scene import RecordedTurn, Scene
from council.protocols.stances import (
    AGREED,
    AGREED_WITH_DISSENT,
    ANSWERED,
    INSUFFICIENT,
    MOVING,
    OPPOSED,
    SPLIT,
    STABLE,
    UNDECIDED,
    Standing,
    assess_stances,
    find_opposed,
)
from council.replies.parse import describe
from council.workflow.loader import load
from council.workflow.model import Reply
from tests.scenes import absent, scene, turn

SEATS = "abcdef"
DEBATE = """---
name: three
seats: {members: [a, b, c]}
phases:
  - {name: challenges, reply: {stance: agree | mixed | disagree, blocking: list}}
  - {name: closing, reply: {stance: agree | mixed | disagree, blocking: list}}
---"""


def stand(*rounds: str, blocking: dict[str, tuple[str, ...]] | None = None) -> Standing:
    """Rounds of stances by letter, a seat each: `a`gree `m`ixed `d`isagree `?` unreadable `-` absent."""
    words = {"a": "agree", "m": "mixed", "d": "disagree"}
    turns = []
    for number, stances in enumerate(rounds, 1):
        for seat, letter in zip(SEATS, stances, strict=False):
            given: dict[str, Any] = {"stance": words[letter]} if letter in words else {}
            if number == len(rounds) and seat in (blocking or {}):
                given["blocking"] = (blocking or {})[seat]
            asked = "stance blocking"
            turns.append(
                absent(seat, round=number, asked=asked)
                if letter == "-"
                else turn(seat, round=number, asked=asked, **given)
            )
    return assess_stances(scene(*turns))


@pytest.mark.parametrize(
    ("rounds", "outcome", "converged"),
    [
        (["aaaa"], AGREED, True),
        (["aa"], AGREED, True),
        (["dddd", "aaaa"], AGREED, True),
        (["aaad"], AGREED_WITH_DISSENT, False),
        (["aaam"], AGREED_WITH_DISSENT, True),
        (["aaa-"], "agreed, one absent", False),
        (["aaa?"], "agreed, one unreadable", False),
        (["aaaa-?"], "agreed, one absent, one unreadable", False),
        (["aaaad-"], AGREED_WITH_DISSENT, False),
        (["aamm"], SPLIT, False),  # nobody was asked twice
        (["ad"], SPLIT, False),
        (["ddd"], OPPOSED, False),  # all say the same, and nobody is with the council
        (["mmm"], UNDECIDED, False),
        (["mmm-"], UNDECIDED, False),
        (["mmmm", "mmmm"], UNDECIDED, False),
        (["admm", "mmmm"], UNDECIDED, False),
        (["----", "aadd"], SPLIT, False),  # the first round asked nobody who was heard
        (["aadd", "aadd"], STABLE, False),
        (["ad", "ad"], STABLE, False),
        (["dd", "dd"], STABLE, False),
        (["ddmm", "dmmm"], MOVING, False),
        (["ddmm", "damm"], MOVING, False),
        (["dd--", "mm--"], INSUFFICIENT, False),
        (["aa--"], INSUFFICIENT, False),  # half is no majority
        (["a--"], INSUFFICIENT, False),
        (["a"], INSUFFICIENT, False),  # nobody can agree alone
        (["a-"], INSUFFICIENT, False),
        (["----"], INSUFFICIENT, False),
        (["????"], INSUFFICIENT, False),
        (["aaa--"], "agreed, two absent", False),
        (["aam--"], SPLIT, False),  # three of five heard, two of five agree
        (["aaaa", "----"], INSUFFICIENT, False),  # the stances of the round before are abandoned
        (["mm-", "mmd"], STABLE, False),  # to be heard for the first time is no movement
    ],
)
def test_outcome(rounds: list[str], outcome: str, converged: bool) -> None:
    found = stand(*rounds)
    assert (found.outcome, found.converged) == (outcome, converged), found.reason


def test_nobody_was_asked() -> None:
    found = assess_stances(scene(turn("a", "positions", blocking=()), turn("b", "positions", blocking=("cost",))))
    assert (found.outcome, found.stances, found.converged) == (ANSWERED, {}, False)
    assert found.blocking == {"b": ("cost",)}


@pytest.mark.parametrize("stances", ["aaaa", "aaam"])
def test_what_blocks_is_dissent(stances: str) -> None:
    found = stand(stances, blocking={"a": ("cost", "risk")})
    assert (found.outcome, found.converged) == (AGREED_WITH_DISSENT, False)
    assert "2 blocking items from a" in found.reason


def test_an_empty_list_blocks_nothing() -> None:
    assert stand("aaaa", blocking={"a": ()}).converged


def test_a_lost_member_stays_in_the_denominator() -> None:
    found = stand("aaa-")
    assert found.missing == ["d"]
    assert found.reason == "3/4 agree, d was not heard"
    assert stand("aad--").outcome == SPLIT, "two of five are no majority, though they are two of the three heard"


def test_who_spoke_unreadably_was_heard() -> None:
    found = stand("aaa?")
    assert (found.missing, found.unreadable) == (["d"], ("d",))
    assert found.reason == "3/4 agree, d spoke, stance unreadable"
    assert stand("a???").reason.startswith("only 1 of 4 stances could be read; ")


def test_two_members_frozen_in_opposite_positions_are_not_converged() -> None:
    """Nothing changes any more: that is stable, and the opposite of agreement."""
    found = stand("ad", "ad", "ad")
    assert (found.outcome, found.converged, found.moved) == (STABLE, False, ())
    assert found.reason == "1/2 agree, b disagrees; nobody moved in the last round"


def test_an_abandoned_stance_of_an_earlier_round_is_not_counted() -> None:
    found = stand("ddd", "aaa")
    assert (found.outcome, found.moved) == (AGREED, ("a", "b", "c"))
    assert stand("aaa", "add").stances == {"a": "agree", "b": "disagree", "c": "disagree"}


def test_what_a_lost_member_called_blocking_still_blocks() -> None:
    """Who falls silent has not taken anything back."""
    asked = "stance blocking"
    first = [turn("a", round=1, stance="agree", blocking=("cost",)), turn("b", round=1, stance="agree", blocking=())]
    second = [absent("a", round=2, asked=asked), turn("b", round=2, stance="agree", blocking=())]
    assert assess_stances(scene(*first, *second)).blocking == {"a": ("cost",)}


# Stances that answer the question itself: what most say is the answer, and whoever says something else dissents.


def answered(*rounds: str, blocking: tuple[str, ...] = ()) -> Scene:
    """Rounds of answers: `y`es `n`o `m`ixed `-` absent."""
    words = {"y": "yes", "n": "no", "m": "mixed"}
    return scene(
        *(
            absent(seat, round=number, asked="stance blocking")
            if letter == "-"
            else turn(seat, round=number, stance=words[letter], blocking=blocking if seat == "a" else ())
            for number, letters in enumerate(rounds, 1)
            for seat, letter in zip(SEATS, letters, strict=False)
        )
    )


@pytest.mark.parametrize(
    ("rounds", "outcome", "converged", "reason", "against"),
    [
        (["nnnnn"], AGREED, True, "5/5 say no", ""),
        (["yyyyy"], AGREED, True, "5/5 say yes", ""),
        (["nnnny"], AGREED_WITH_DISSENT, False, "4/5 say no, e says yes", "e"),
        (["yyynn"], AGREED_WITH_DISSENT, False, "3/5 say yes, d and e say no", "de"),
        (["yyynm"], AGREED_WITH_DISSENT, False, "3/5 say yes, d says no, e is undecided", "d"),
        (["yyymm"], AGREED_WITH_DISSENT, True, "3/5 say yes, d and e are undecided", ""),
        (["nnn--"], "agreed, two absent", False, "3/5 say no, d and e were not heard", ""),
        (["yynnm", "yynnm"], STABLE, False, "no answer leads, a and b say yes, c and d say no, e is undecided", "abcd"),
        (["yynm-", "yynm-"], STABLE, False, "2/5 say yes, c says no, d is undecided, e was not heard", "c"),
        (["ynmm", "ynmm"], STABLE, False, "no answer leads, a says yes, b says no", "ab"),
        (["yyynn", "nnnny"], AGREED_WITH_DISSENT, False, "4/5 say no, e says yes", "e"),
        (["mmmm", "mmmm"], UNDECIDED, False, "0/4 agree, a, b, c and d are undecided", ""),
        (["yyyyn", "yyyy-"], AGREED_WITH_DISSENT, False, "4/5 say yes, e was not heard", "e"),  # silence is no yes
        (["yyynn", "---nn"], INSUFFICIENT, False, "only 2 of 5 members were heard", "abc"),
    ],
)
def test_an_answer_is_agreed_on_whichever_it_is(rounds, outcome, converged, reason, against) -> None:
    found = assess_stances(answered(*rounds))
    assert (found.outcome, found.converged) == (outcome, converged), found.reason
    assert reason in found.reason
    assert (
        "".join(one.seat.name for one in sorted(find_opposed(answered(*rounds)), key=lambda one: one.id[-1])) == against
    )


def test_what_blocks_an_answer_is_dissent() -> None:
    found = assess_stances(answered("nnn", blocking=("cost",)))
    assert (found.outcome, found.converged, found.reason) == (
        AGREED_WITH_DISSENT,
        False,
        "3/3 say no, 1 blocking item from a",
    )


def test_agree_and_disagree_are_about_what_the_council_heads_for() -> None:
    """There most may disagree, and those are the dissent."""
    turns = [turn("a", stance="agree"), turn("b", stance="disagree"), turn("c", stance="disagree")]
    assert [one.seat.name for one in find_opposed(scene(*turns))] == ["b", "c"]
    assert assess_stances(scene(*turns)).reason.startswith("1/3 agree, b and c disagree")
    assert find_opposed(scene()) == []


# The same through the planner: what stands in the files, not what a test calls an answer.


def debated(said: RecordedTurn) -> Standing:
    """Where three members stand who all say the same, in both rounds, also when they are asked again."""
    ids = [
        f"{place}/{seat}{again}" for place in ("01-challenges", "02-closing") for seat in "abc" for again in ("", ".2")
    ]
    end = plan(load(DEBATE, "three.md"), dict.fromkeys(ids, said))
    assert end.done
    return assess_stances(end.scene)


@pytest.mark.parametrize(
    "said",
    [
        RecordedTurn("", absent="Error: 429 rate limit"),
        RecordedTurn("Error: 429 rate limit"),
        RecordedTurn(""),
        RecordedTurn("I cannot say I agree yet."),
        RecordedTurn("## Stance\nI cannot say I agree yet.\n\n## Blocking\nnone"),
        RecordedTurn("## Stance\nagree / mixed / disagree\n\n## Blocking\nnone"),
        RecordedTurn("> ## Stance\n> agree\n>\n> ## Blocking\n> none"),
        RecordedTurn("## Stance\nagree\n\n## Stance\ndisagree\n\n## Blocking\nnone"),
    ],
)
def test_three_who_say_the_same_nothing_have_not_agreed(said: RecordedTurn) -> None:
    found = debated(said)
    assert (found.outcome, found.converged) == (INSUFFICIENT, False)
    assert found.missing == ["a", "b", "c"]


def test_a_placeholder_echoed_from_the_brief_is_no_vote() -> None:
    form = describe(reply_of_closing())
    assert debated(RecordedTurn(form)).missing == ["a", "b", "c"]
    assert debated(RecordedTurn(f"Here it is.\n\n{form}", brief=f"Answer so:\n\n{form}")).missing == ["a", "b", "c"]


def reply_of_closing() -> Reply:
    return load(DEBATE, "three.md").phases[1].steps[0].reply


def test_three_who_agree_on_a_condition_have_not_agreed() -> None:
    found = debated(RecordedTurn("## Stance\nagree, once the costs are known\n\n## Blocking\nnone"))
    assert (set(found.stances.values()), found.converged) == ({"mixed"}, False)


def test_three_who_say_that_they_agree_have() -> None:
    assert debated(RecordedTurn("Yes.\n\n## Stance\nagree\n\n## Blocking\nnone")).outcome == AGREED
