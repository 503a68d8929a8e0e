"""Orders: when the seats of a step speak. An order returns batches; the seats of a batch speak at the same time."""

from __future__ import annotations

from typing import Any

from council.next.engine.registry import Place, order
from council.next.engine.scene import Scene
from council.next.workflow.model import Seat

Seats = tuple[Seat, ...]
Batches = list[Seats]


@order
def parallel(seats: Seats, scene: Scene) -> Batches:
    """All at once."""
    return [seats] if seats else []


@order
def sequential(seats: Seats, scene: Scene) -> Batches:
    """One after the other, as listed."""
    return [(seat,) for seat in seats]


@order
def by_group(seats: Seats, scene: Scene) -> Batches:
    """One group after the other, the seats of each at once."""
    groups = dict.fromkeys(seat.group for seat in seats)
    return [tuple(seat for seat in seats if seat.group == group) for group in groups]


@order
def others(seats: Seats, scene: Scene, *, than: Place) -> Batches:
    """All at once, but for those who speak in the step `than` of this round: nobody reviews a text of its own."""
    authors = {turn.seat.name for turn in scene.moments.get((scene.phase, scene.round, than), ())}
    return parallel(tuple(seat for seat in seats if seat.name not in authors), scene)


@order
def shuffle(seats: Seats, scene: Scene, *, group: str = "", every: Any = 1) -> Batches:
    """One after the other, shuffled again after `every` rounds. With `group`, only its seats are, and they go first."""
    mixed = [seat for seat in seats if group in ("", seat.group)]
    rest = [seat for seat in seats if group not in ("", seat.group)]
    epoch = (max(scene.round, 1) - 1) // scene.workflow.whole(every)
    scene.rng("shuffle", scene.phase, epoch).shuffle(mixed)
    return [(seat,) for seat in mixed + rest]
