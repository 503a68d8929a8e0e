"""One list out of everybody's findings: the same fault is one finding, with all who found it. Pure.

Ids never change once they are given: each step is merged on top of the ones before it and never looks at a later one.
Words and places alone decide here, and only in the first step, because members can split in the next one what they
joined wrongly. What is raised later is an entry of its own: no round may follow in which anybody could split it. What
members say of the list's entries by their ids is for `rule`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import count, product
from math import fsum, inf
from string import ascii_lowercase

from council.reviews.entries import (
    Merged,
    RaisedFinding,
    digest,
    fingerprint,
    rank,
    severities_of,
    weigh,
)
from council.reviews.locate import FOUND, Place
from council.reviews.similarity import (
    SAME,
    Gist,
    circumstances,
    gists,
    likeness,
    stems,
    together,
)
from council.text import fold

# Two findings further apart than this are never one, whatever others stand between them: groups do not chain.
APART = SAME - 0.1


def merge(said: Sequence[RaisedFinding], first: str = "") -> tuple[Merged, ...]:
    """The findings in the order of their ids: the gravest first, then by place. `first` is the step in which they were
    first asked for; by default the first that has any.
    """
    order = list(dict.fromkeys(one.step for one in said))
    first = first or next(iter(order), "")
    groups: list[_Group] = []
    for step in order:
        fresh = _alone(one for one in said if one.step == step)
        groups = _joined(fresh) if step == first else _beside(groups, fresh)
        _number(groups)
    return tuple(sorted((_merged(group, order) for group in groups), key=lambda one: rank(one.id)))


class _Group:
    """Findings that are one. What it is called and where it stands is settled when it is first seen."""

    def __init__(self, said: list[RaisedFinding]) -> None:
        self.said = said
        self.first: tuple[RaisedFinding, ...] = ()
        self.id = ""
        self.fingerprint = ""

    def texts(self) -> list[RaisedFinding]:
        """One of each text: saying it twice does not weigh twice."""
        return list({one.wording: one for one in reversed(self.said)}.values())[::-1]


def _alone(said: Iterable[RaisedFinding]) -> list[_Group]:
    """A group for each finding; the very same text at the same place is one from the beginning."""
    texts: dict[tuple[object, ...], list[RaisedFinding]] = {}
    for one in sorted(said, key=_canonical):
        texts.setdefault(one.wording, []).append(one)
    return [_Group(same) for same in texts.values()]


def _canonical(one: RaisedFinding) -> tuple[object, ...]:
    """An order that does not know who spoke first."""
    finding = one.finding
    return (
        *_whereabouts(one.place),
        finding.issue,
        finding.change,
        one.seat,
        one.turn,
        finding.severity,
        finding.number,
    )


def _whereabouts(place: Place) -> tuple[object, ...]:
    return not place.found, place.path, place.first, place.last, place.passage, place.how


def _joined(fresh: list[_Group]) -> list[_Group]:
    """One group of those that are alike; the alikest are joined first."""
    return [_Group([one for number in numbers for one in fresh[number].said]) for numbers in _Joining(fresh).parts()]


def _beside(groups: list[_Group], fresh: list[_Group]) -> list[_Group]:
    """The groups and those that were raised after them; only the very same text at the same place is no new one."""
    home = {one.wording: group for group in groups for one in group.said}
    for group in fresh:
        if known := home.get(group.said[0].wording):
            known.said += group.said
    return groups + [group for group in fresh if group.said[0].wording not in home]


@dataclass(frozen=True)
class _Cluster:
    """Some groups on their way to be one: their numbers, the texts in them, their gist, and who said them where."""

    groups: tuple[int, ...]
    texts: tuple[int, ...]
    gist: Gist
    seats: frozenset[str]

    def barred(self, other: _Cluster) -> bool:
        """A seat that names two findings in one reply means two."""
        return not self.seats.isdisjoint(other.seats)


class _Joining:
    """Joins the alikest two clusters as long as there are two that reach `SAME`: by their middles, so that what is
    joined is like the whole and not like one member of it, and never with two members that are `APART`.
    """

    def __init__(self, groups: Sequence[_Group]) -> None:
        texts = [(number, one) for number, group in enumerate(groups) for one in group.texts()]
        self.gists, self.traits = gists([(one.finding, one.place) for _, one in texts])
        self.pairs: dict[tuple[int, int], tuple[float, bool]] = {}
        self.figures: dict[tuple[int, int], float] = {}
        self.clusters: dict[int, _Cluster] = {}
        self.heap: list[tuple[float, int, int]] = []
        for number, group in enumerate(groups):
            own = tuple(at for at, (owner, _) in enumerate(texts) if owner == number)
            self._add(_Cluster((number,), own, self._middle(own), frozenset(one.seat for one in group.said)), number)

    def parts(self) -> list[tuple[int, ...]]:
        """The groups that belong together, by their numbers."""
        following = len(self.clusters)
        while self.heap:
            _, first, second = heappop(self.heap)
            if first in self.clusters and second in self.clusters:
                self._add(self._both(self.clusters.pop(first), self.clusters.pop(second)), following)
                following += 1
        return [tuple(sorted(cluster.groups)) for cluster in self.clusters.values()]

    def _both(self, one: _Cluster, other: _Cluster) -> _Cluster:
        texts = (*one.texts, *other.texts)
        return _Cluster(one.groups + other.groups, texts, self._middle(texts), one.seats | other.seats)

    def _middle(self, texts: Sequence[int]) -> Gist:
        return self.gists[texts[0]] if len(texts) == 1 else together(self.gists[text] for text in sorted(texts))

    def _add(self, cluster: _Cluster, number: int) -> None:
        for earlier, other in self.clusters.items():
            if not cluster.barred(other) and (figure := self._figure(cluster, other)) >= SAME:
                heappush(self.heap, (-round(figure, 9), earlier, number))
        self.clusters[number] = cluster

    def _figure(self, one: _Cluster, other: _Cluster) -> float:
        pairs = [(min(pair), max(pair)) for pair in product(one.texts, other.texts)]
        if len(pairs) > 1 and any(self._alike(pair) < APART for pair in pairs):
            return -inf
        beside = [self._beside(pair) for pair in pairs]
        here = 2 * sum(here for _, here in beside) > len(pairs)
        middle = fsum(figure for figure, _ in beside) / len(pairs)
        return likeness(one.gist, other.gist, middle, here, len(pairs))

    def _beside(self, pair: tuple[int, int]) -> tuple[float, bool]:
        if pair not in self.pairs:
            self.pairs[pair] = circumstances(self.traits[pair[0]], self.traits[pair[1]])
        return self.pairs[pair]

    def _alike(self, pair: tuple[int, int]) -> float:
        if pair not in self.figures:
            self.figures[pair] = likeness(self.gists[pair[0]], self.gists[pair[1]], *self._beside(pair), 1)
        return self.figures[pair]


def _number(groups: Iterable[_Group]) -> None:
    """Settles what is new: ids go on after those that are given, by place and then text."""
    groups = list(groups)
    last = Counter(group.id[:1] for group in groups if group.id)
    taken = Counter(_passage(lead(group.said).place) for group in groups)
    known = {group.fingerprint for group in groups}
    for group in sorted((group for group in groups if not group.id), key=lambda group: _canonical(lead(group.said))):
        group.first = tuple(group.said)
        letter = weigh(group.said)[0][0].upper()
        last[letter] += 1
        group.id = f"{letter}{last[letter]}"
        first = lead(group.said)
        group.fingerprint = _new_fingerprint(first, taken[_passage(first.place)] > 1, known)
        known.add(group.fingerprint)


def lead(said: Sequence[RaisedFinding]) -> RaisedFinding:
    """Whose words and place stand for all: of those whose place was found, one who takes it as gravely as the group
    does, at the surest place, which most of them name, with a change, in full.
    """
    most = weigh(said)[0]
    places = Counter(_whereabouts(one.place) for one in said)

    def order(one: RaisedFinding) -> tuple[object, ...]:
        finding, place = one.finding, one.place
        sureness = FOUND.index(place.how) if place.found else len(FOUND)
        length = len(finding.issue + finding.change)
        differs = finding.severity != most
        often = places[_whereabouts(place)]
        return (not place.found, differs, sureness, -often, not finding.change, -length, _canonical(one))

    return min(said, key=order)


def _passage(place: Place) -> tuple[str, str]:
    return place.path, fold(place.passage) if place.found else ""


def _new_fingerprint(one: RaisedFinding, shared: bool, known: Collection[str]) -> str:
    """One that no other entry has: with the issue's words where several stand at the same passage."""
    found = fingerprint(one.place, one.finding.issue, shared)
    words = sorted(stems(one.finding.issue))
    again = (digest(*_passage(one.place), *words, str(double)) for double in count(1))
    return found if found not in known else next(other for other in again if other not in known)


def _merged(group: _Group, steps: Sequence[str]) -> Merged:
    members = sorted(group.said, key=lambda one: (steps.index(one.step), one.seat, _canonical(one)))
    first = lead(group.first)
    wordings: dict[tuple[object, ...], list[RaisedFinding]] = {first.wording: []}
    for one in members:
        wordings.setdefault(one.wording, []).append(one)
    ids = _ids(group.id)
    variants = [
        _entry(next(ids), said, fingerprint(said[0].place, said[0].finding.issue)) for said in wordings.values()
    ]
    whole = _entry(group.id, [first, *members], group.fingerprint)
    shown = tuple(variants) if len(variants) > 1 else ()
    return replace(whole, members=tuple(members), severities=severities_of(members), variants=shown)


def _entry(id: str, members: Sequence[RaisedFinding], mark: str) -> Merged:
    """The entry of some members, in the words and at the place of the first of them."""
    severity, inferred = weigh(members)
    first = members[0]
    words = first.finding.issue, first.finding.change
    return Merged(id, severity, severities_of(members), tuple(members), *words, first.place, mark, inferred=inferred)


def _ids(id: str) -> Iterator[str]:
    """B1, B1b, B1c …: the wordings of an entry."""
    yield id
    for size in count(1):
        yield from (f"{id}{''.join(letters)}" for letters in product(ascii_lowercase, repeat=size) if letters != ("a",))
