"""A review as it stands: the findings so far, merged into one list, and what was said of each. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from council.engine.scene import Scene, Turn
from council.reviews.model import (
    SEVERITIES,
    Document,
    Finding,
    Findings,
    Pairing,
    Ruling,
    lists_findings,
)
from council.text import join_words

if TYPE_CHECKING:
    from council.reviews.entries import Merged
    from council.reviews.locate import Place

Rulings = tuple[tuple[str, str, Ruling | Pairing], ...]
ATTACHED = re.compile(r'<said by="file (?P<path>[^"\n]*)" key="(?P<key>[0-9a-f]+)">\n')


@lru_cache(maxsize=64)
def documents(text: str) -> tuple[Document, ...]:
    """The documents that stand in a topic, or in a brief that quotes it: each between marks that it cannot forge."""
    return tuple(_documents(text))


def _documents(text: str) -> Iterator[Document]:
    """What stands inside of a document is its own affair, also what looks like the beginning of another."""
    at = 0
    while begun := ATTACHED.search(text, at):
        end = text.find(f"\n</{begun.group().strip()[1:-1]}>", begun.end() - 1)
        if end < 0:
            at = begun.end()
            continue
        yield Document(begun["path"], text[begun.end() : max(end, begun.end())])
        at = end + 1


def reviewed(scene: Scene, dismissed: tuple[str, ...] = ()) -> tuple[Merged, ...]:
    """The one list. Its documents are those that the members were given to read."""
    asked = next((turn.said.brief for turn in scene.turns if turn.said.brief), "")
    found = tuple((turn.seat.name, turn.id, one) for turn in scene.turns for one in _items(turn))
    if not found:
        return ()
    rulings = tuple(
        (turn.seat.name, turn.id, one)
        for turn in scene.turns
        for value in turn.answers.values()
        if isinstance(value, tuple)
        for one in value
        if isinstance(one, Ruling | Pairing)
    )
    steps = tuple(dict.fromkeys(map(_step, scene.turns)))
    first = next((_step(turn) for turn in scene.turns if lists_findings(turn)), "")
    return _reviewed(found, rulings, documents(asked), dismissed, steps, first)


def _step(turn: Turn) -> str:
    return turn.id.partition("/")[0]


def _items(turn: Turn) -> Iterator[Finding]:
    for value in turn.answers.values():
        if isinstance(value, Findings):
            yield from value.items


@lru_cache(maxsize=16)
def _reviewed(
    found: tuple[tuple[str, str, Finding], ...],
    rulings: Rulings,
    given: tuple[Document, ...],
    dismissed: tuple[str, ...],
    steps: tuple[str, ...],
    first: str,
) -> tuple[Merged, ...]:
    from council.reviews.entries import RaisedFinding
    from council.reviews.locate import place  # every brief asks for this module, and only a review for those
    from council.reviews.merge import merge
    from council.reviews.rule import ruled

    said = [RaisedFinding(seat, turn, one, place(one, given)) for seat, turn, one in found]
    merged = merge(said, first)
    spoken = sorted((*rulings, *_repeats(merged)), key=lambda one: steps.index(one[1].partition("/")[0]))
    return ruled(merged, spoken, dismissed)


def _repeats(merged: Iterable[Merged]) -> Iterator[tuple[str, str, Pairing]]:
    """What members say of the findings that they add to a list: "same as B2"."""
    for entry in merged:
        for wording in entry.wordings:
            for one in wording.members:
                if one.finding.repeats:
                    yield one.seat, one.turn, Pairing(wording.id, one.finding.repeats, True)


def is_review(scene: Scene) -> bool:
    return any(map(lists_findings, scene.turns))


def told(merged: tuple[Merged, ...]) -> str:
    """`3 findings: 1 blocking and 2 high; B1 is contested`"""
    open_ = [one for one in merged if one.status in ("open", "contested")]
    counts = [(name, sum(one.severity == name for one in open_)) for name in SEVERITIES]
    parts = [f"{count} {name}" for name, count in counts if count]
    contested = [one.id for one in open_ if one.status == "contested"]
    number = f"{len(open_)} finding{'' if len(open_) == 1 else 's'}"
    beside = f"; {join_words(contested)} {'is' if len(contested) == 1 else 'are'} contested" if contested else ""
    return f"{number}: {join_words(parts)}{beside}" if parts else "no findings"


def listed(merged: tuple[Merged, ...], labels: dict[str, str]) -> str:
    """The list as the members read it."""
    return "\n\n".join(_entry(one, labels) for one in merged) or "(There are none.)"


def _entry(one: Merged, labels: dict[str, str]) -> str:
    def named(seats: Iterable[str]) -> str:
        return ", ".join(labels.get(seat, seat) for seat in seats)

    also = f"; also {', '.join(one.also)}" if one.also else ""
    lines = [f"- {one.id} ({one.severity.upper()}, {one.status}; found or supported by {named(one.supporters)}{also})"]
    lines += [f"  {_where(one.place)}"] if _where(one.place) else []
    lines += [f"  Issue: {_flat(one.issue)}"]
    lines += [f"  Proposed change: {_flat(one.change)}"] if one.change else []
    for other in one.wordings[1:]:
        change = f" → {_flat(other.change)}" if other.change else ""
        place = f" ({_where(other.place)})" if _where(other.place) else ""
        about = f"{other.id}, {other.severity.upper()}"
        lines += [f"  Also put as, by {named(other.seats)} ({about}): {_flat(other.issue)}{change}{place}"]
    for seat, ruling in one.rulings:
        of = f" (of {ruling.id})" if len(one.wordings) > 1 else ""
        lines += [f"  {labels.get(seat, seat)}{of}: {ruling.word}. {_flat(ruling.why)}".rstrip()]
    for seat, pair in one.pairings:
        lines += [f"  {labels.get(seat, seat)} (of {pair.id}): {pair.word} {pair.other}. {_flat(pair.why)}".rstrip()]
    return "\n".join(lines)


def _where(place: Place) -> str:
    if place.how in ("missing", "none"):
        return "Place: not found in the documents" if place.how == "missing" else ""
    lines = f"{place.first}" if place.first == place.last else f"{place.first}-{place.last}"
    return f"Place: {place.path}:{lines}: “{_flat(place.passage)[:300]}”"


def _flat(text: str) -> str:
    return " ".join(text.split())
