"""The ledger of concerns as briefs, reports and programs show it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from council.engine.anonymity import restore_names, translate_labels
from council.engine.facts import PromptContext, fact
from council.engine.scene import Scene, Turn
from council.engine.views import labels_for, view
from council.protocols.ledger import (
    ACCEPTED,
    ANSWERED,
    BLOCKS,
    JOINED,
    OPEN,
    OPENED,
    REOPENED,
    REPEATED,
    WITHDRAWN,
    Concern,
    Event,
    read_ledger,
)  # fmt: skip
from council.text import fold, one_line
from council.workflow.model import Workflow

MOST_SHOWN = 20  # concerns in a brief: what blocks first, then the newest of the others
LONGEST_SHOWN = 140  # characters of a concern in a brief
AROUND_NEWEST = len(" (now: )")
MOST_TOKENS = 6_000  # in a brief, at most: these characters of four bytes each, with the marks around them


@fact
def ledger(context: PromptContext) -> dict[str, Any]:
    """The concerns that are open: `ledger.total` and `ledger.blocking` are their numbers, `ledger.listed` has them by
    owner, between marks, each with its id, and `ledger.hidden` is how many are not listed."""
    scene, reader = context.scene, context.due.seat
    anonymous = any(view.traits(ref.name).labels for ref in context.due.step.sees if ref.name in view.known)
    labels = labels_for(reader, scene) if anonymous else {}
    turns = {turn.id: turn for turn in scene.turns}
    every = [one for one in read_ledger(scene) if one.status == OPEN]
    shown = _choose(every)
    listed = []
    for owner, concerns in groupby(sorted(shown, key=lambda one: one.owner.name), lambda one: one.owner):
        lines = []
        for one in concerns:
            newest = [event for event in one.history if event.seat == owner.name][-1]
            wordings = []
            for event, wording in ((one.opened, one.opened.text), (newest, one.text)):
                named = turns[event.turn]
                translated = translate_labels(wording, named, reader, context.workflow, scene)
                wordings.append(translated if anonymous else restore_names(wording, named, context.workflow, scene))
            lines.append(f"{one.id} ({one.kind}): {join_wordings(wordings[0], wordings[1], LONGEST_SHOWN)}")
        fence = context.fence_own if owner.name == reader.name else context.fence
        listed.append(fence(labels.get(owner.name, owner.label), "\n".join(lines), f"ledger/{owner.name}"))
    return {
        "total": len(every),
        "blocking": sum(one.kind == BLOCKS for one in every),
        "listed": listed,
        "hidden": len(every) - len(shown),
    }


def join_wordings(first: str, newest: str, longest: int = 100_000) -> str:
    """A concern as it was raised, and in its owner's newest words where they differ, which may only add to it."""
    if fold(first) == fold(newest):
        return one_line(newest, longest)
    half = (longest - AROUND_NEWEST) // 2
    return f"{one_line(first, half)} (now: {one_line(newest, half)})"


def _choose(concerns: list[Concern]) -> list[Concern]:
    """The concerns that a brief has room for."""
    ranked = [one for one in concerns if one.kind == BLOCKS] + [one for one in concerns[::-1] if one.kind != BLOCKS]
    return sorted(ranked[:MOST_SHOWN], key=lambda one: int(one.id[1:]))


@fact
def raised(context: PromptContext) -> list[dict[str, int]]:
    """For each round of this phase: `round`, and how many concerns were `new`, named `again` and `settled` in it."""
    return count_items(context.scene, context.scene.phase)


def find_reasons(scene: Scene, turn: Turn, rise: bool) -> tuple[tuple[str, ...], Turn | None]:
    """The seat's own concerns that were settled (or for a fall, raised) since its previous turn in the same step, and
    the turn that answered one of them."""
    places = {one.id: place for place, one in enumerate(scene.turns)}
    own = [one.id for one in scene.turns if (one.seat.name, one.step) == (turn.seat.name, turn.step)]
    since = places[own[own.index(turn.id) - 1]] if own.index(turn.id) else -1
    wanted = (ANSWERED, WITHDRAWN, ACCEPTED) if rise else (OPENED, REOPENED)
    events = [
        (one.id, event)
        for one in read_ledger(scene)
        if one.owner.name == turn.seat.name
        for event in one.history
        if event.what in wanted and since < places[event.turn] <= places[turn.id]
    ]
    answers = [scene.turns[places[event.by]] for _, event in events if event.by]
    return tuple(dict.fromkeys(id for id, _ in events)), answers[-1] if answers else None


def count_items(scene: Scene, phase: str) -> list[dict[str, int]]:
    """For each round of a phase: how many concerns were new, named again and settled in it."""
    rows = {turn.round: {"round": turn.round, "new": 0, "again": 0, "settled": 0} for turn in scene.named(phase)}
    columns = {OPENED: "new", REPEATED: "again", JOINED: "again", REOPENED: "again"}
    for event in (event for one in read_ledger(scene) for event in one.history if event.phase == phase):
        rows[event.round][columns.get(event.what, "settled")] += 1
    return list(rows.values())


def list_concerns(
    scene: Scene, workflow: Workflow, numbers: Mapping[tuple[str, int], int] | None = None
) -> list[dict[str, Any]]:
    """The ledger as plain data, with the seats' names in place of labels. `numbers` count the rounds of all phases."""
    turns = {turn.id: turn for turn in scene.turns}

    def number(event: Event) -> int:
        return (numbers or {}).get((event.phase, event.round), event.round)

    def name(event: Event, text: str) -> str:
        return restore_names(text, turns[event.turn], workflow, scene)

    return [_as_data(one, number, name) for one in read_ledger(scene)]


def _as_data(concern: Concern, number: Callable[[Event], int], name: Callable[[Event, str], str]) -> dict[str, Any]:
    ended = concern.settled
    own = [event for event in concern.history if event.seat == concern.owner.name]
    named = [event for event in concern.history if event.what in (OPENED, REPEATED, JOINED, REOPENED)]
    return {
        "id": concern.id,
        "kind": concern.kind,
        "owner": concern.owner.name,
        "label": concern.owner.label,
        "text": name(own[-1], concern.text),
        "wordings": list(dict.fromkeys(name(event, event.text) for event in named)),
        "opened": {"turn": concern.opened.turn, "round": number(concern.opened)},
        "status": concern.status,
        "settled": {"turn": ended.turn, "round": number(ended), "by": ended.by or None} if ended else None,
        "held_by": list(concern.holders),
        "history": list(_as_events(concern.history, number, name)),
    }


def _as_events(
    history: Iterable[Event], number: Callable[[Event], int], name: Callable[[Event, str], str]
) -> Iterator[dict[str, Any]]:
    for event in history:
        yield {
            "what": event.what, "turn": event.turn, "round": number(event), "seat": event.seat,
            "text": name(event, event.text), "by": event.by or None,
        }  # fmt: skip
