"""Views: which earlier turns a seat may read, in full or as gists, under names or under labels.

The name of a phase or step is a view as well: its turns. A seat never sees turns of its own batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from council.next.engine.registry import view, views
from council.next.engine.scene import Scene, Seen, Turn
from council.next.workflow.model import Ref, Seat

View = list[Seen]
CHARACTERS_A_TOKEN = 4  # of English prose, about


def look(refs: Iterable[Ref], seat: Seat, scene: Scene) -> tuple[Seen, ...]:
    """All that these views show, each turn once, as it was spoken. What one of them shows in full stays in full."""
    shown: dict[str, Seen] = {}
    for ref in refs:
        found: View = in_full(scene.named(ref.name)) if is_place(ref, scene) else views.call(ref, seat, scene)
        for seen in found:
            if seen.turn.id not in shown or shown[seen.turn.id].gist:
                shown[seen.turn.id] = seen
    spoken = sorted(shown.values(), key=lambda seen: scene.place_of(seen.turn))
    if not any(seen.label for seen in spoken):
        return tuple(spoken)
    # The order of the seats would tell who is who, so a step's turns are sorted by their labels.
    begun = {moment: place for place, moment in enumerate(scene.moments)}
    return tuple(sorted(spoken, key=lambda one: (begun[one.turn.moment], one.label != YOU, len(one.label), one.label)))


def is_place(ref: Ref, scene: Scene) -> bool:
    """Whether a view is the name of a phase or step. That comes before a view that an optional room has."""
    return ref.args is None and ref.name in scene.workflow.places()


def in_full(turns: Iterable[Turn]) -> View:
    return [Seen(turn) for turn in turns]


@view
def so_far(seat: Seat, scene: Scene) -> View:
    """Everything said so far."""
    return in_full(scene.turns)


@view
def nothing(seat: Seat, scene: Scene) -> View:
    """Nothing: the blind round."""
    return []


@view
def own(seat: Seat, scene: Scene) -> View:
    """The seat's own turns."""
    return in_full(scene.turns_of(seat.name))


@view
def gists(seat: Seat, scene: Scene) -> View:
    """Everything said so far, one line for each turn."""
    return [Seen(turn, gist=True) for turn in scene.turns]


@view
def recent(seat: Seat, scene: Scene, *, rounds: Any = 1) -> View:
    """The current round, and the last `rounds` before it."""
    most = scene.workflow.whole(rounds, least=0) + ((scene.phase, scene.round) in scene.rounds)
    return in_full(turn for turns in islice(reversed(scene.rounds.values()), most) for turn in turns)


@view
def fading(seat: Seat, scene: Scene, *, keep: Mapping[str, Any], digest: Any = None, tokens: Any = None) -> View:
    """Recent rounds in full, older ones as gists. `keep: {3: all, 7: 2}`: all up to round 3, then two up to round 7.

    After round `digest`, older rounds are left out. With `tokens`, the oldest rounds become gists until the others have
    at most that many tokens."""
    whole, now = scene.workflow.whole, (scene.phase, scene.round)
    earlier = [one for one in scene.rounds if one != now]
    schedule = sorted(
        (whole(last), len(earlier) if kept == "all" else whole(kept, least=0)) for last, kept in keep.items()
    )
    kept = next((kept for last, kept in schedule if scene.round <= last), schedule[-1][1])
    full = earlier[max(0, len(earlier) - kept) :]
    if digest is not None and scene.round > whole(digest):
        earlier = full
    if tokens is not None:
        most = CHARACTERS_A_TOKEN * scene.workflow.number(tokens)
        size = {one: sum(len(turn.said.body) for turn in turns) for one, turns in scene.rounds.items()}
        while full and size.get(now, 0) + sum(size[one] for one in full) > most:
            full = full[1:]
    shown, in_full = {now, *earlier}, {now, *full}
    return [Seen(turn, gist=one not in in_full) for one in scene.rounds if one in shown for turn in scene.rounds[one]]


YOU = "You"


@view
def anonymous(seat: Seat, scene: Scene, of: Any = "so_far") -> View:
    """Another view with labels in place of the seats' names. Each reader has labels of its own, throughout the session.

    Its own label is `You`."""
    refs = [one if isinstance(one, Ref) else Ref(str(one)) for one in (of if isinstance(of, list) else [of])]
    others = sorted({*scene.workflow.all_seats(), *(turn.seat.name for turn in scene.turns)} - {seat.name})
    scene.rng("labels", seat.name).shuffle(others)
    letters = [chr(65 + place) if place < 26 else str(place + 1) for place in range(len(others))]
    labels = {seat.name: YOU, **{name: f"Member {letter}" for name, letter in zip(others, letters, strict=True)}}
    return [replace(seen, label=labels[seen.turn.seat.name]) for seen in look(refs, seat, scene)]
