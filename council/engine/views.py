"""Views: which earlier turns a seat may read, in full or as gists, under names or under labels.

The name of a phase or step is also a view: its turns. A seat never sees turns of its own batch.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from council.engine.scene import Moment, Scene, Seen, Turn
from council.errors import UsageError
from council.text import did_you_mean
from council.workflow.model import Ref, Seat
from council.workflow.registry import CheckedHook

View = tuple[Seen, ...]
OWN = "You"  # what anonymous views call their reader


@dataclass(frozen=True)
class ViewTraits:
    """What the checks need to know of a view."""

    by_place: bool = False  # it selects turns by phase, step, round and seat, not by their words
    one_each: bool = False  # it shows at most one turn about each seat
    everyone: bool = False  # it can show what any seat said in any phase
    labels: bool = False  # it replaces the seats' names with labels
    numbers: tuple[str, ...] = ()  # arguments that are numbers, or options with one
    inner: str = ""  # the argument that holds other views
    places: tuple[str, ...] = ()  # arguments that name phases or steps
    of_tree: bool = False  # it follows the seat key `under`


view: CheckedHook[Callable[..., View], ViewTraits] = CheckedHook("view", 2, ViewTraits)


def look(refs: Iterable[Ref], seat: Seat, scene: Scene) -> View:
    """All that these views show, each turn once, in the order spoken. A turn that one view shows in full stays in full.

    The turns of a step under labels are sorted by label, because the order of the seats would reveal their names.
    """
    shown: dict[str, Seen] = {}
    spoken_in = {name for turn in scene.turns for name in (turn.phase, turn.step)}
    for ref in refs:
        # Lint refuses a phase or step that has the name of a view, but in an older workflow it was not a view yet.
        is_place = ref.name not in view.known or ref.name in spoken_in
        view_: View = _full(scene.named(ref.name)) if is_place else view.call(ref, seat, scene)
        for seen in view_:
            if seen.turn.id not in shown or shown[seen.turn.id].gist:
                shown[seen.turn.id] = seen
    begun, spoken = dict[Moment, int](), dict[str, int]()
    for place, turn in enumerate(scene.turns):
        begun.setdefault(turn.moment, place)
        spoken[turn.id] = place

    def place_of(seen: Seen) -> tuple[int, int, str, int]:
        label = seen.label or ""
        return begun[seen.turn.moment], 0 if label == OWN else len(label), label, spoken[seen.turn.id]

    return tuple(sorted(shown.values(), key=place_of))


def _full(turns: Iterable[Turn]) -> View:
    return tuple(Seen(turn) for turn in turns)


def _round_keys(scene: Scene) -> list[tuple[str, int]]:
    """The rounds spoken so far, oldest first."""
    return list(dict.fromkeys((turn.phase, turn.round) for turn in scene.turns))


def everything(scene: Scene) -> View:
    return _full(scene.turns)


@view(by_place=True, everyone=True)
def so_far(seat: Seat, scene: Scene) -> View:
    """Everything said so far."""
    return everything(scene)


@view(by_place=True)
def nothing(seat: Seat, scene: Scene) -> View:
    """Nothing: the blind round."""
    return ()


@view(by_place=True)
def own(seat: Seat, scene: Scene) -> View:
    """The seat's own turns."""
    return _full(turn for turn in scene.turns if turn.seat.name == seat.name)


@view(by_place=True, everyone=True)
def gists(seat: Seat, scene: Scene) -> View:
    """Everything said so far, one line per turn."""
    return tuple(Seen(turn, gist=True) for turn in scene.turns)


@view(by_place=True, everyone=True, numbers=("rounds",))
def recent(seat: Seat, scene: Scene, *, rounds: Any = 1) -> View:
    """The current round and the last `rounds` before it."""
    now = (scene.phase, scene.round)
    before = [key for key in _round_keys(scene) if key != now]
    shown = {now, *before[max(0, len(before) - _whole(rounds, "recent: rounds")) :]}
    return _full(turn for turn in scene.turns if (turn.phase, turn.round) in shown)


@view(by_place=True, everyone=True, numbers=("digest", "tokens"))
def fading(seat: Seat, scene: Scene, *, keep: dict[str, Any], digest: Any = None, tokens: Any = None) -> View:
    """Recent rounds in full, older ones as gists. `keep: {3: all, 7: 2}`: all of them up to round 3, the last two up to
    round 7.

    With `digest: 7`, gists are shown up to round 7 only. With `tokens: 50000`, the oldest turns become gists until the
    rest has at most that many tokens (of four characters each); the current round is always shown in full."""
    schedule = _schedule(keep)
    rounds = next((rounds for last, rounds in schedule if scene.round <= last), schedule[-1][1])
    digested = digest is None or scene.round <= _whole(digest, "fading: digest")
    now = (scene.phase, scene.round)
    before = [key for key in _round_keys(scene) if key != now]
    kept = before if rounds is None else before[max(0, len(before) - rounds) :]
    full = {now, *(kept if tokens is None else _fitting(scene, now, kept, 4 * _whole(tokens, "fading: tokens")))}
    shown = full.union(before if digested else kept)
    keyed = [((turn.phase, turn.round), turn) for turn in scene.turns]
    return tuple(Seen(turn, gist=key not in full) for key, turn in keyed if key in shown)


def _fitting(scene: Scene, now: tuple[str, int], kept: list[tuple[str, int]], most: int) -> list[tuple[str, int]]:
    """The most recent of these rounds that fit into `most` characters together with the current round."""
    size = Counter[tuple[str, int]]()
    for turn in scene.turns:
        size[turn.phase, turn.round] += len(turn.body)
    while kept and size[now] + sum(size[key] for key in kept) > most:
        kept = kept[1:]
    return kept


def _schedule(keep: Any) -> list[tuple[int, int | None]]:
    """Up to which round how many rounds are shown in full; None for all."""
    if not isinstance(keep, dict) or not keep:
        raise UsageError("fading: keep must say up to which round how many are shown in full, as in {3: all, 7: 2}")
    what = "fading: keep"
    return sorted((_whole(last, what), None if kept == "all" else _whole(kept, what)) for last, kept in keep.items())


@view(everyone=True, labels=True, inner="of")
def anonymous(seat: Seat, scene: Scene, of: Any = "so_far") -> View:
    """Another view with labels in place of the seats' names. Each reader has its own labels, and the turns of a step
    are sorted by them."""
    refs = [_ref(one) for one in (of if isinstance(of, list) else [of])]
    labels = labels_for(seat, scene)
    return tuple(replace(seen, label=labels[seen.turn.seat.name]) for seen in look(refs, seat, scene))


def labels_for(reader: Seat, scene: Scene) -> dict[str, str]:
    """This reader's labels for all seats, which stay the same for the whole session. Its own label is `You`."""
    others = sorted({seat.name for group in scene.groups.values() for seat in group} - {reader.name})
    scene.rng("labels", reader.name).shuffle(others)
    labels = {reader.name: OWN} | {name: f"Member {_letters(place)}" for place, name in enumerate(others)}
    for turn in scene.turns:
        if turn.seat.name not in labels:  # cast later: any free letter, so that the others keep theirs
            free = {f"Member {_letters(place)}" for place in range(len(labels) + 26)} - set(labels.values())
            labels[turn.seat.name] = scene.rng("labels", reader.name, turn.seat.name).choice(sorted(free))
    return labels


def _letters(place: int) -> str:
    return (_letters(place // 26 - 1) if place >= 26 else "") + chr(ord("A") + place % 26)


def _ref(value: Any) -> Ref:
    if isinstance(value, Ref):
        return value
    return Ref(*next(iter(value.items()))) if isinstance(value, dict) and len(value) == 1 else Ref(str(value))


def _whole(value: Any, what: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", str(value)):
        raise UsageError(f'{what}: "{value}" must be a whole number')
    return int(value)


def check_view(ref: Ref, places: Iterable[str]) -> None:
    """Raise UsageError for a view that is neither registered nor the name of a phase or step."""
    if ref.name not in view.known and ref.name not in places:
        raise UsageError(f'there is no view "{ref.name}"; {did_you_mean(ref.name, {*view.known, *places})}')
    if ref.name in view.known:
        view.check(ref)
    for inner in inner_views(ref):
        check_view(inner, places)


def inner_views(ref: Ref) -> list[Ref]:
    """The views that this view contains."""
    given = view.arguments(ref).get(view.traits(ref.name).inner, [])
    return [_ref(one) for one in (given if isinstance(given, list) else [given])]
