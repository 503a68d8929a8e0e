"""A tree of seats: `under` names the seat above. The order and the views that follow it.

If the seat above was absent when it last should have spoken, its seats are under the one above it, until it speaks
again. A seat that a reply casts is under the seat that cast it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from council.engine.orders import Batches, order
from council.engine.scene import Scene, Seen, Turn
from council.engine.views import View, view
from council.errors import UsageError
from council.workflow.model import Seat

DOWN, UP = "down", "up"


def find_parents(scene: Scene, seats: Iterable[Seat] = ()) -> dict[str, str]:
    """The seat above each seat, as the workflow says it."""
    known = {seat.name: seat for seat in chain(*scene.groups.values())}
    casters = {turn.step: turn.seat.name for turn in scene.turns if not turn.absent}
    parents = {}
    for seat in (*known.values(), *seats, *(turn.seat for turn in scene.turns)):
        above = seat.under or (casters.get(seat.group, "") if seat.name not in known else "")
        if above and above != seat.name:
            parents[seat.name] = above
    return parents


def find_above(name: str, parents: Mapping[str, str], skip: Iterable[str]) -> str:
    """The nearest seat above that is not to be skipped; empty for the root, and in a circle."""
    passed, skipped = {name}, set(skip)
    above = parents.get(name, "")
    while above in skipped:
        passed.add(above)
        above = parents.get(above, "")
        if above in passed:
            return ""
    return above


def find_absent(scene: Scene) -> set[str]:
    """The seats that were absent when they last should have spoken."""
    newest = {turn.seat.name: turn.absent for turn in scene.turns}
    return {name for name, absent in newest.items() if absent is not None}


@order(parallel=False, of_tree=True)
def tree(seats: tuple[Seat, ...], scene: Scene, direction: str = DOWN) -> Batches:
    """One level after the other, from the root down; `{tree: up}` begins with the leaves. A level speaks in parallel.

    A seat key `under` names the seat above. A seat whose lead was absent is under the lead's own lead."""
    if direction not in (DOWN, UP):
        raise UsageError(f'the order "tree" goes {DOWN} or {UP}, not "{direction}"')
    parents, present = find_parents(scene, seats), {seat.name for seat in seats}
    away = (parents.keys() | {*parents.values()}) - present | find_absent(scene)
    above = {seat.name: find_above(seat.name, parents, away) for seat in seats}
    levels: dict[int, list[Seat]] = {}
    for seat in seats:
        levels.setdefault(_depth(seat.name, above) if direction == DOWN else _height(seat.name, above), []).append(seat)
    return [tuple(levels[level]) for level in sorted(levels)]


def _depth(name: str, above: Mapping[str, str]) -> int:
    """How many seats are above; a circle ends where it comes back."""
    passed = [name]
    while (name := above.get(name, "")) and name not in passed:
        passed.append(name)
    return len(passed) - 1


def _height(name: str, above: Mapping[str, str]) -> int:
    """How many levels are below."""
    depth = _depth(name, above)
    return max((_depth(other, above) - depth for other in above if _is_below(other, name, above)), default=0)


def _is_below(name: str, lead: str, above: Mapping[str, str]) -> bool:
    passed = {name}
    while (name := above.get(name, "")) and name not in passed:
        if name == lead:
            return True
        passed.add(name)
    return False


@view(places=("steps",), of_tree=True)
def up(seat: Seat, scene: Scene, steps: Any = None) -> View:
    """The turns of the seat above (`under`), or of the one above it if that was absent. With `steps`, only of these."""
    lead = _lead(seat, scene)
    return _show((turn for turn in scene.turns if turn.seat.name == lead), steps)


@view(places=("steps",), of_tree=True)
def down(seat: Seat, scene: Scene, steps: Any = None) -> View:
    """The turns of the seats directly below, also of those that were so while their lead was absent. With `steps`, only
    of these."""
    parents, away = find_parents(scene, [seat]), find_absent(scene)
    now = {name for name in parents if find_above(name, parents, away) == seat.name}
    turns = (turn for turn, above in _list_with_leads(scene, parents) if above == seat.name or turn.seat.name in now)
    return _show(turns, steps)


def _list_with_leads(scene: Scene, parents: Mapping[str, str]) -> Iterator[tuple[Turn, str]]:
    """Each turn with the seat above its own at that time. A lead that was absent when a step began, or in it, has no
    seats in that step: what they said there would otherwise be lost when it speaks again."""
    away: set[str] = set()
    for turns in scene.moments():
        lost = {turn.seat.name for turn in turns if turn.absent is not None}
        yield from ((turn, find_above(turn.seat.name, parents, away | lost)) for turn in turns)
        away = away.difference(turn.seat.name for turn in turns) | lost


@view(places=("steps",), of_tree=True)
def beside(seat: Seat, scene: Scene, steps: Any = None) -> View:
    """The turns of the seats under the same seat as this one, one line per turn. With `steps`, only of these."""
    parents, away, lead = find_parents(scene, [seat]), find_absent(scene), _lead(seat, scene)
    names = {name for name in parents if lead and find_above(name, parents, away) == lead} - {seat.name}
    turns = (turn for turn in scene.turns if turn.seat.name in names)
    return tuple(Seen(seen.turn, gist=True) for seen in _show(turns, steps))


def _lead(seat: Seat, scene: Scene) -> str:
    return find_above(seat.name, find_parents(scene, [seat]), find_absent(scene))


def _show(turns: Iterable[Turn], steps: Any) -> View:
    wanted = set(steps if isinstance(steps, list) else [steps] if steps else [])
    return tuple(Seen(turn) for turn in turns if not wanted or wanted.intersection((turn.phase, turn.step)))
