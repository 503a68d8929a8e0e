"""What members say of the list's entries, by their ids: rulings, and which are one finding and which are not. Pure.

Nothing that is said here takes anything away that is not the speaker's to take. An entry that is joined to another
stays what it was, as a part of it, and leaves the list only in the ways that it could before. Of what was taken for one
by its words alone, one member's "different from" is enough to make two.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, groupby, product

from council.reviews.entries import (
    WITHDRAWN,
    Merged,
    RaisedFinding,
    fingerprint,
    gravity,
    rank,
    severities_of,
    weigh,
)
from council.reviews.model import Pairing, Ruling
from council.text import fold

Spoken = tuple[str, str, Ruling | Pairing]  # seat, turn (`step/seat`), and what it said
Pair = frozenset[str]
Whole = tuple[str, ...]  # the wordings that are one entry, by their ids; the first is the entry's own


def ruled(merged: Sequence[Merged], spoken: Sequence[Spoken], dismissed: Collection[str] = ()) -> tuple[Merged, ...]:
    """The findings with each seat's last ruling on them, and those joined that are one. `spoken` is in its order.

    A finding leaves the list in two ways alone: all who found it withdraw it, or a person dismisses it. One that was
    joined leaves it when each of its parts would.
    """
    heard = _Heard(merged)
    for step, said in groupby(spoken, key=lambda one: _step(one[1])):
        heard.hear(step, list(said))
    gone = set(map(plain_id, dismissed))
    return tuple(_joined([_ruled(heard, whole, gone) for whole in group]) for group in heard.groups())


def stood(merged: Iterable[Merged], step: str) -> frozenset[str]:
    """The ids that were in the list when the step read it."""
    wordings = chain.from_iterable(one.wordings for one in merged)
    return frozenset(one.id for one in wordings if any(_moment(said.step) < _moment(step) for said in one.members))


def plain_id(text: str) -> str:
    """`B1` of `**b1**`, `[B-1]` or `B01:`; what is no id stays what it is, and is nobody's."""
    match = re.fullmatch(r"\W*([bhml])[\W_]?0*([1-9]\d{0,5})([a-z]{0,2})[\W_]*", fold(text), re.A)
    return f"{match[1].upper()}{match[2]}{'' if match[3] == 'a' else match[3]}" if match else text


class _Heard:
    """Each seat's last word on each wording, and on each two. What is said of an id is said of all that stood under it
    in the list that was read.
    """

    def __init__(self, merged: Sequence[Merged]) -> None:
        self.merged = merged
        self.wordings = {one.id: one for entry in merged for one in entry.wordings}
        self.rulings: dict[str, dict[str, tuple[str, Ruling]]] = {}
        self.paired: dict[Pair, dict[str, Pairing]] = {}

    def hear(self, step: str, said: Iterable[Spoken]) -> None:
        home = {
            id: (group, whole) for group in self.groups() for whole in group for id in whole if self._stood(id, step)
        }
        found: list[tuple[int, str, str, str, Ruling]] = []
        for seat, turn, one in said:
            if isinstance(one, Pairing):
                self._pair(step, seat, replace(one, id=plain_id(one.id), other=plain_id(one.other)))
            elif (about := plain_id(one.id)) in home:
                group, whole = home[about]
                if about != whole[0]:
                    found.append((2, about, seat, turn, one))
                else:
                    found += [(int(other is whole), id, seat, turn, one) for other in group for id in other]
        for _, id, seat, turn, ruling in sorted(found, key=lambda one: one[0]):  # the closer to the very id, the later
            self.rulings.setdefault(id, {})[seat] = (turn, ruling)

    def _pair(self, step: str, seat: str, one: Pairing) -> None:
        """Only of entries that stood in the list when it was read, and of a finding that the seat adds to it: any other
        id was guessed.
        """
        if (
            one.id != one.other
            and self._stood(one.other, step)
            and (self._stood(one.id, step) or self._adds(one.id, step, seat))
        ):
            self.paired.setdefault(frozenset((one.id, one.other)), {})[seat] = one

    def _stood(self, id: str, step: str) -> bool:
        return id in self.wordings and any(_moment(one.step) < _moment(step) for one in self.wordings[id].members)

    def _adds(self, id: str, step: str, seat: str) -> bool:
        return id in self.wordings and any((one.seat, one.step) == (seat, step) for one in self.wordings[id].members)

    def pairings(self, id: str) -> Iterator[tuple[str, Pairing]]:
        return ((seat, one) for said in self.paired.values() for seat, one in said.items() if one.id == id)

    def entry(self, whole: Whole) -> Merged:
        """The entry of these wordings: as it was merged, or what is left of it, or what was split from it."""
        before = next(one for one in self.merged if whole[0] in (wording.id for wording in one.wordings))
        if whole == tuple(one.id for one in before.wordings):
            return before
        variants = tuple(self.wordings[id] for id in whole)
        members = [one for one in before.members if any(one in variant.members for variant in variants)]
        first = variants[0]
        own = first.fingerprint
        if first.id == before.id:
            own = before.fingerprint
        elif own == before.fingerprint:
            own = fingerprint(first.place, first.issue, worded=True)
        severity, inferred = weigh(members)
        return replace(
            first,
            severity=severity,
            severities=severities_of(members),
            members=tuple(members),
            fingerprint=own,
            variants=variants if len(variants) > 1 else (),
            inferred=inferred,
        )

    def groups(self) -> list[tuple[Whole, ...]]:
        """The ids of each finding, in the list's order; the first of a group is the one that is kept.

        The surest two are joined first, and a group does not grow over two of which somebody says that they differ.
        """
        wholes = [whole for entry in self.merged for whole in self._wholes(entry)]
        home: dict[str, tuple[Whole, ...]] = {id: (whole,) for whole in wholes for id in whole}
        one = [pair for pair in self.paired if self._is_one(pair)]
        for pair in sorted(one, key=lambda pair: (-len(self._who(pair, True)), sorted(pair, key=rank))):
            first, second = (home[id] for id in pair)
            across = map(frozenset, product(chain.from_iterable(first), chain.from_iterable(second)))
            if first != second and not any(self._differ(both) for both in across):
                both = tuple(sorted(first + second, key=lambda whole: rank(whole[0])))
                home |= dict.fromkeys(chain.from_iterable(both), both)
        return list(dict.fromkeys(home[id] for id in sorted(home, key=rank)))

    def _wholes(self, entry: Merged) -> list[Whole]:
        """The wordings of an entry, apart where somebody says that they differ."""
        found: list[Whole] = []
        for id in (one.id for one in entry.wordings):
            apart = (any(self._differ(frozenset((id, other))) for other in whole) for whole in found)
            at = next((number for number, differs in enumerate(apart) if not differs), len(found))
            found[at : at + 1] = [(*(found[at] if at < len(found) else ()), id)]
        return found

    def _differ(self, pair: Pair) -> bool:
        return bool(self._who(pair, False)) and not self._is_one(pair)

    def _is_one(self, pair: Pair) -> bool:
        """Two seats say so, and more than deny it; or one says so who found one of the two, and nobody denies it."""
        same, differ = self._who(pair, True), self._who(pair, False)
        found = {seat for id in pair for seat in self.wordings[id].severities}
        return len(same) > max(1, len(differ)) or (not differ and not same.isdisjoint(found))

    def _who(self, pair: Pair, same: bool) -> set[str]:
        return {seat for seat, one in self.paired.get(pair, {}).items() if one.same is same}


def _ruled(heard: _Heard, whole: Whole, gone: Collection[str]) -> Merged:
    """An entry with what was said of it. `gone` are the ids that a person dismissed."""
    entry = heard.entry(whole)
    last = {seat: max(_moment(said.step) for said in entry.members if said.seat == seat) for seat in entry.severities}
    variants = tuple(
        replace(heard.wordings[id], rulings=tuple(_standing(heard.rulings.get(id, {}), last))) for id in whole
    )
    entry = replace(
        entry,
        rulings=tuple(dict.fromkeys(chain.from_iterable(one.rulings for one in variants))),
        pairings=tuple(chain.from_iterable(map(heard.pairings, whole))),
        variants=variants if entry.variants else (),
    )
    severity, inferred = weigh(_owned(entry) or entry.members)
    entry = replace(entry, severity=severity, inferred=inferred)
    return replace(entry, status="dismissed" if entry.id in gone else _status(entry))


def _standing(
    spoken: Mapping[str, tuple[str, Ruling]], last: Mapping[str, tuple[tuple[int, str], ...]]
) -> Iterator[tuple[str, Ruling]]:
    """Each seat's ruling; who says the finding again has taken the withdrawal back."""
    for seat, (turn, ruling) in spoken.items():
        if not (ruling.word == WITHDRAWN and seat in last and _moment(_step(turn)) <= last[seat]):
            yield seat, ruling


def _owned(entry: Merged) -> list[RaisedFinding]:
    return [one for one in entry.members if one.seat in entry.owners]


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
    gravest = min(standing or parts, key=lambda part: (part.inferred, gravity(part.severity)))
    members = tuple(chain.from_iterable(part.members for part in parts))
    statuses = {part.status for part in standing or parts}
    return replace(
        first,
        severity=gravest.severity,
        inferred=gravest.inferred,
        severities=severities_of(members),
        members=members,
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
