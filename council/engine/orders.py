"""Orders: when the seats of a step speak. An order returns batches; the seats of a batch speak in parallel."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from council.engine.scene import Scene
from council.errors import UsageError
from council.workflow.model import Seat
from council.workflow.registry import CheckedHook

Batches = list[tuple[Seat, ...]]


@dataclass(frozen=True)
class OrderTraits:
    """What the checks need to know of an order."""

    parallel: bool = False  # no seat of a step sees another's turn
    numbers: tuple[str, ...] = ()  # arguments that are numbers, or options with one
    sources: tuple[str, ...] = ()  # arguments that name a step and its answer
    places: tuple[str, ...] = ()  # arguments that name phases or steps
    of_tree: bool = False  # it follows the seat key `under`
    selects: bool = False  # those whom it leaves out do not take part at all


order: CheckedHook[Callable[..., Batches], OrderTraits] = CheckedHook("order", 2, OrderTraits)


@order(parallel=True)
def parallel(seats: tuple[Seat, ...], scene: Scene) -> Batches:
    """Everyone at once."""
    return [seats] if seats else []


@order
def sequential(seats: tuple[Seat, ...], scene: Scene) -> Batches:
    """One after the other, as listed."""
    return [(seat,) for seat in seats]


@order(numbers=("every",))
def shuffle(seats: tuple[Seat, ...], scene: Scene, *, group: str | None = None, every: Any = 1) -> Batches:
    """One after the other, reshuffled after `every` rounds. With `group`, only its seats are shuffled, and go first."""
    if group is not None and group not in scene.groups:
        raise UsageError(f'the order "shuffle" names the group "{group}", which the workflow does not have')
    if not re.fullmatch(r"[1-9][0-9]{0,3}", str(every)):
        raise UsageError(f'the order "shuffle": every: "{every}" must be a number of rounds')
    mixed = [seat for seat in seats if group in (None, seat.group)]
    rest = [seat for seat in seats if seat not in mixed]
    epoch = (max(scene.round, 1) - 1) // int(every)
    scene.rng("shuffle", scene.phase, epoch).shuffle(mixed)
    return [(seat,) for seat in mixed + rest]


@order
def by_group(seats: tuple[Seat, ...], scene: Scene) -> Batches:
    """One group after the other, each in parallel."""
    groups: dict[str, list[Seat]] = {}
    for seat in seats:
        groups.setdefault(seat.group, []).append(seat)
    return [tuple(group) for group in groups.values()]
