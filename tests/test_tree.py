"""A tree of seats: levels, who sees whom, and what happens below a lead that was absent."""

from __future__ import annotations

import pytest

from council.engine.orders import order
from council.engine.scene import Scene, Turn
from council.engine.views import look
from council.errors import UsageError
from council.workflow.model import Ref, Seat
from tests.scenes import absent, turn


def seat(name: str, under: str = "") -> Seat:
    return Seat(name, "all", {"under": under} if under else {})


# root over a and b; a over a1 and a2; a1 over deep; b over b1
ALL = (
    *(seat("b1", "b"), seat("root"), seat("deep", "a1"), seat("a1", "a")),
    *(seat("b", "root"), seat("a2", "a"), seat("a", "root")),
)
BY_NAME = {one.name: one for one in ALL}


def scene(*turns: Turn) -> Scene:
    return Scene("s", {}, {"all": ALL}, turns, phase="work", round=1)


def batches(args: str | None = None, of: Scene | None = None, seats: tuple[Seat, ...] = ALL) -> list[list[str]]:
    return [[one.name for one in batch] for batch in order.call(Ref("tree", args), seats, of or scene())]


def said(name: str, at: str = "work", round: int = 1) -> Turn:
    return turn(BY_NAME[name], at, round)


def lost(name: str, at: str = "work", round: int = 1) -> Turn:
    made = absent(name, at, round)
    return Turn(made.id, made.phase, made.step, round, BY_NAME[name], made.said, made.asked)


def shown(view: str, reader: str, of: Scene, args: str | None = None) -> list[str]:
    seen = look([Ref(view, args)], BY_NAME[reader], of)
    return [f"{'~' * one.gist}{one.turn.seat.name}" for one in seen]


def test_levels_speak_in_parallel_from_the_root_or_from_the_leaves() -> None:
    assert batches() == [["root"], ["b", "a"], ["b1", "a1", "a2"], ["deep"]]
    assert batches("up") == [["b1", "deep", "a2"], ["a1", "b"], ["a"], ["root"]]
    assert batches(seats=()) == []


def test_a_lead_that_does_not_speak_here_or_was_absent_leaves_its_seats_to_its_own_lead() -> None:
    without = tuple(one for one in ALL if one.name != "a")
    assert batches(seats=without) == [["root"], ["a1", "b", "a2"], ["b1", "deep"]]
    assert batches(of=scene(said("root"), lost("a"))) == [["root"], ["a1", "b", "a2", "a"], ["b1", "deep"]]
    assert batches(of=scene(lost("a"), said("a", round=2))) == batches()


def test_each_seat_sees_the_one_above_those_below_and_those_beside() -> None:
    now = scene(*map(said, BY_NAME))
    assert shown("up", "deep", now) == ["a1"]
    assert shown("up", "root", now) == []
    assert shown("down", "root", now) == ["b", "a"]
    assert shown("down", "a", now) == ["a1", "a2"]
    assert shown("beside", "a", now) == ["~b"]
    assert shown("beside", "root", now) == []


def test_below_an_absent_lead_the_one_above_it_is_seen() -> None:
    now = scene(said("root"), lost("a"), said("b"), said("a1"), lost("a1", "later"), said("a2"), said("deep"))
    assert shown("up", "a2", now) == ["root"]
    assert shown("up", "deep", now) == ["root"]
    assert shown("down", "root", now) == ["a", "b", "a1", "a2", "deep", "a1"]
    assert shown("beside", "a2", now) == ["~a", "~b", "~a1", "~deep", "~a1"]


def test_a_view_may_name_steps() -> None:
    now = scene(said("root", "plan/split"), said("root", "work/do"), said("a", "work/do"))
    assert shown("up", "a", now, "split") == ["root"]
    assert len(look([Ref("up", ["split", "work"])], BY_NAME["a"], now)) == 2
    assert shown("up", "a", now, "plan") == ["root"]
    assert look([Ref("up", "do")], BY_NAME["a1"], now)[0].turn.seat.name == "a"


def test_another_direction_is_refused() -> None:
    with pytest.raises(UsageError, match='goes down or up, not "sideways"'):
        batches("sideways")
