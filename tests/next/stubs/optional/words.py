"""Signatures alone: what each word takes."""

from __future__ import annotations

from typing import Any

from council.next.engine.registry import Place, order, rule, view
from council.next.engine.scene import Scene, Seen, Verdict
from council.next.replies.kinds import Items, answer
from council.next.workflow.model import Seat


@rule
def passes(scene: Scene, step: Place, *, least: Any = 1) -> Verdict:
    return Verdict(False)


@rule
def dry(scene: Scene) -> Verdict:
    return Verdict(False)


@rule
def contested(scene: Scene, *, severity: str = "blocking") -> Verdict:
    return Verdict(False)


@order
def still(seats: tuple[Seat, ...], scene: Scene, *, of: Place, tests: str = "fail", exactly: Any = False) -> list[Any]:
    return [seats]


@order
def winner(seats: tuple[Seat, ...], scene: Scene) -> list[Any]:
    return [seats]


@order
def tree(seats: tuple[Seat, ...], scene: Scene, direction: str = "down") -> list[Any]:
    return [seats]


def see_nothing(seat: Seat, scene: Scene, steps: Any = None) -> list[Seen]:
    return []


for name in ("mine", "standing", "up", "down", "beside"):
    view(type(see_nothing)(see_nothing.__code__, globals(), name, see_nothing.__defaults__))
for name in ("files", "findings", "rulings", "tasks"):
    answer(name)(type(name.title(), (Items,), {}))
