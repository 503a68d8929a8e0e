"""What members say of the list's entries, by their ids: rulings, and which two entries are one finding. Pure.

Nothing that is said here takes anything away that is not the speaker's to take. An entry that is joined to another
stays what it was, as a part of it, and leaves the list only in the ways that it could before.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby, product

from council.reviews.merge import (
    WITHDRAWN,
    Merged,
    gravity,
    rank,
    usual,
)
from council.reviews.model import Pairing, Ruling
from council.text import fold

Spoken = tuple[str, str, Ruling | Pairing]  # seat, turn (`step/seat`), and what it said
Pair = frozenset[str]


def ruled(merged: Sequence[Merged], spoken: Sequence[Spoken], dismissed: Collection[str] = ()) -> tuple[Merged, ...]:
    """The findings with each seat's last ruling on them, and those joined that are one. `spoken` is in its order.

    A finding leaves the list in two ways alone: all who found it withdraw it, or a person dismisses it. One that was
    joined leaves it when each of its parts would.
    """
    heard = _Heard({one.id: one for one in merged})
    for step, said in groupby(spoken, key=lambda one: _step(one[1])):
        heard.hear(step, list(said))
    gone = set(map(plain_id, dismissed))
    parts = {one.id: _ruled(one, heard.rulings.get(one.id, {}), one.id in gone) for one in merged}
    paired = {id: replace(part, pairings=heard.pairings(id)) for id, part in parts.items()}
    return tuple(_joined([paired[id] for id in group]) for group in heard.groups())


def plain_id(text: str) -> str:
    """`B1` of `**b1**`, `[B-1]` or `B01:`; what is no id stays what it is, and is nobody's."""
    match = re.fullmatch(r"\W*([bhml])[\W_]?0*([1-9]\d{0,5})[\W_]*", fold(text), re.A)
    return f"{match[1].upper()}{match[2]}" if match else text


@dataclass
class _Heard:
    """Each seat's last word on each entry, and on each two. What is said of an id is said of all that stood under it
    in the list that was read.
    """

    entries: Mapping[str, Merged]
    rulings: dict[str, dict[str, tuple[str, Ruling]]] = field(default_factory=dict)
    paired: dict[Pair, dict[str, Pairing]] = field(default_factory=dict)

    def hear(self, step: str, said: Iterable[Spoken]) -> None:
        home = {id: group for group in self.groups() for id in group}
        said = list(said)
        spoken = [(seat, turn, one, plain_id(one.id)) for seat, turn, one in said if isinstance(one, Ruling)]
        for direct in (False, True):  # of the very id last: so it goes before what was said of another of the group
            for seat, turn, ruling, about in spoken:
                for id in home.get(about, ()):
                    if (id == about) is direct:
                        self.rulings.setdefault(id, {})[seat] = (turn, ruling)
        for seat, _, one in said:
            if isinstance(one, Pairing):
                self._pair(step, seat, replace(one, id=plain_id(one.id), other=plain_id(one.other)))

    def _pair(self, step: str, seat: str, one: Pairing) -> None:
        """Only of entries that stood in the list when it was read: any other id was guessed."""
        if one.id != one.other and all(self._stood(id, step) for id in (one.id, one.other)):
            self.paired.setdefault(frozenset((one.id, one.other)), {})[seat] = one

    def _stood(self, id: str, step: str) -> bool:
        return id in self.entries and any(_moment(one.step) < _moment(step) for one in self.entries[id].members)

    def pairings(self, id: str) -> tuple[tuple[str, Pairing], ...]:
        return tuple((seat, one) for said in self.paired.values() for seat, one in said.items() if one.id == id)

    def groups(self) -> list[tuple[str, ...]]:
        """The ids of each finding, in the list's order; the first of a group is the one that is kept.

        The surest two are joined first, and a group does not grow over two of which somebody says that they differ.
        """
        home: dict[str, tuple[str, ...]] = {id: (id,) for id in self.entries}
        one = [pair for pair in self.paired if self._is_one(pair)]
        for pair in sorted(one, key=lambda pair: (-len(self._who(pair, True)), sorted(pair, key=rank))):
            first, second = (home[id] for id in pair)
            across = (frozenset(both) for both in product(first, second))
            if first != second and not any(self._who(both, False) and not self._is_one(both) for both in across):
                both = tuple(sorted(first + second, key=rank))
                home |= dict.fromkeys(both, both)
        return list(dict.fromkeys(home[id] for id in sorted(home, key=rank)))

    def _is_one(self, pair: Pair) -> bool:
        """Two seats say so, and more than deny it; or one says so who found one of the two, and nobody denies it."""
        same, differ = self._who(pair, True), self._who(pair, False)
        found = {seat for id in pair for seat in self.entries[id].severities}
        return len(same) > max(1, len(differ)) or (not differ and not same.isdisjoint(found))

    def _who(self, pair: Pair, same: bool) -> set[str]:
        return {seat for seat, one in self.paired.get(pair, {}).items() if one.same is same}


def _ruled(one: Merged, spoken: Mapping[str, tuple[str, Ruling]], dismissed: bool) -> Merged:
    last = {seat: max(_moment(said.step) for said in one.members if said.seat == seat) for seat in one.severities}
    rulings = tuple(
        (seat, ruling)
        for seat, (turn, ruling) in spoken.items()
        # Who says it again has taken the withdrawal back.
        if not (ruling.word == WITHDRAWN and seat in last and _moment(_step(turn)) <= last[seat])
    )
    one = replace(one, rulings=rulings)
    severity = usual(one.severities[seat] for seat in one.owners or one.severities)
    return replace(one, severity=severity, status="dismissed" if dismissed else _status(one))


def _status(one: Merged) -> str:
    if not one.owners:
        return "withdrawn"
    against = any(seat not in one.severities and ruling.word.startswith("disagree") for seat, ruling in one.rulings)
    return "contested" if against else "open"


def _joined(parts: Sequence[Merged]) -> Merged:
    """Several entries as one: all that was said of any, as grave as the gravest of those that still stand."""
    first, *others = parts
    if not others:
        return first
    standing = [part for part in parts if part.status in ("open", "contested")]
    severities: dict[str, str] = {}
    for seat, severity in chain.from_iterable(part.severities.items() for part in parts):
        severities[seat] = min(severity, severities.get(seat, severity), key=gravity)
    statuses = {part.status for part in standing or parts}
    return replace(
        first,
        severity=min((part.severity for part in standing or parts), key=gravity),
        severities=severities,
        members=tuple(chain.from_iterable(part.members for part in parts)),
        place=next((part.place for part in parts if part.place.found), first.place),
        rulings=tuple(dict.fromkeys(chain.from_iterable(part.rulings for part in parts))),
        pairings=tuple(chain.from_iterable(part.pairings for part in parts)),
        status=next(status for status in ("contested", "open", "dismissed", "withdrawn") if status in statuses),
        parts=tuple(parts),
    )


def _step(turn: str) -> str:
    return turn.partition("/")[0]


def _moment(step: str) -> tuple[tuple[int, str], ...]:
    """When a step is, by its name: numbers in it count as numbers."""
    return tuple((int(digits or 0), text) for digits, text in re.findall(r"(\d*)(\D*)", step))
