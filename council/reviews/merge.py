"""One list out of everybody's findings: the same fault is one finding, with all who found it. Pure.

Ids never change once they are given: each step is merged on top of the ones before it and never looks at a later one.
Words alone decide here. What members say of the list's entries by their ids is for `joining`.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count, product
from math import fsum, inf

from council.reviews.locate import FOUND, Place
from council.reviews.model import (
    SEVERITIES,
    WORDS,
    Finding,
    Pairing,
    Ruling,
)
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
BLOCKING = SEVERITIES[0]
WITHDRAWN = WORDS[-1]


@dataclass(frozen=True)
class RaisedFinding:
    """One finding as one seat said it, and where it was found to stand. `turn` is `step/seat`."""

    seat: str
    turn: str
    finding: Finding
    place: Place

    @property
    def step(self) -> str:
        return self.turn.partition("/")[0]


@dataclass(frozen=True)
class Merged:
    """One fault. `members` are those who found it; `severities` has each one's own, the gravest if there are more;
    `rulings` has each seat's last word on it, and `pairings` each one's on whether it is the same as another.

    `parts` are the entries of which members said that they are one: the one whose id it keeps, then the others.
    """

    id: str
    severity: str
    severities: Mapping[str, str]
    members: tuple[RaisedFinding, ...]
    issue: str
    change: str
    place: Place
    fingerprint: str
    rulings: tuple[tuple[str, Ruling], ...] = ()
    status: str = "open"
    pairings: tuple[tuple[str, Pairing], ...] = ()
    parts: tuple[Merged, ...] = ()

    @property
    def entries(self) -> tuple[Merged, ...]:
        """What it was before anything was joined: itself, or its parts."""
        return self.parts or (self,)

    @property
    def also(self) -> tuple[str, ...]:
        """The other ids that it answers to."""
        return tuple(part.id for part in self.parts[1:])

    @property
    def wordings(self) -> tuple[tuple[str, tuple[str, ...], RaisedFinding], ...]:
        """How the parts that were joined put it: the id of each, who said it so, and what they said."""
        found: dict[tuple[object, ...], tuple[str, tuple[str, ...], RaisedFinding]] = {}
        for part in self.parts[1:]:
            for said in part.members:
                _, seats, first = found.get(key := (part.id, *_text(said)), ("", (), said))
                found[key] = part.id, tuple(dict.fromkeys((*seats, said.seat))), first
        return tuple(found.values())

    @property
    def fingerprints(self) -> tuple[str, ...]:
        return tuple(part.fingerprint for part in self.entries)

    @property
    def withdrawn(self) -> frozenset[str]:
        """Who found it and has withdrawn it, every time that they did; anybody else's withdrawal is a remark."""
        if self.parts:
            return frozenset(self.severities) - {seat for part in self.parts for seat in part.owners}
        gone = {seat for seat, ruling in self.rulings if ruling.word == WITHDRAWN}
        return frozenset(gone.intersection(self.severities))

    @property
    def owners(self) -> tuple[str, ...]:
        """Who found it and stands by it."""
        return tuple(seat for seat in self.severities if seat not in self.withdrawn)

    @property
    def supporters(self) -> tuple[str, ...]:
        """Who found it and stands by it, then who agrees."""
        agreeing = [seat for seat, ruling in self.rulings if ruling.word == "agree"]
        return tuple(dict.fromkeys([*self.owners, *agreeing]))

    @property
    def disputed(self) -> bool:
        return len(self.distribution) > 1

    @property
    def distribution(self) -> tuple[tuple[str, int], ...]:
        """Each severity that was given, with the number of seats, the gravest first."""
        counts = Counter(self.severities.values())
        return tuple((severity, counts[severity]) for severity in sorted(counts, key=gravity))


def merge(said: Sequence[RaisedFinding]) -> tuple[Merged, ...]:
    """The findings in the order of their ids: the gravest first, then by place."""
    steps = dict.fromkeys(one.step for one in said)
    groups: list[_Group] = []
    for step in steps:
        fresh = _alone(one for one in said if one.step == step)
        groups = _grown(groups, fresh)
        _number(groups)
    order = list(steps)
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
        return list({_text(one): one for one in reversed(self.said)}.values())[::-1]

    @property
    def turns(self) -> set[tuple[str, str]]:
        return {(one.seat, one.turn) for one in self.said}


def _alone(said: Iterable[RaisedFinding]) -> list[_Group]:
    """A group for each finding; the very same text at the same place is one from the beginning."""
    texts: dict[tuple[object, ...], list[RaisedFinding]] = {}
    for one in sorted(said, key=_canonical):
        texts.setdefault(_text(one), []).append(one)
    return [_Group(same) for same in texts.values()]


def _text(one: RaisedFinding) -> tuple[object, ...]:
    return fold(one.finding.issue), fold(one.finding.change), one.place


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


def _grown(groups: list[_Group], fresh: list[_Group]) -> list[_Group]:
    """The groups with the fresh findings in them or beside them; the alikest are joined first."""
    everything = groups + fresh
    for parts in _Joining(everything).parts():
        first, *others = parts
        for other in others:
            everything[first].said += everything[other].said
            everything[other].said = []
    return [group for group in everything if group.said]


@dataclass(frozen=True)
class _Cluster:
    """Some groups on their way to be one: their numbers, the texts in them, their gist, and who said them where."""

    groups: tuple[int, ...]
    texts: tuple[int, ...]
    gist: Gist
    settled: bool
    turns: frozenset[tuple[str, str]]

    def barred(self, other: _Cluster) -> bool:
        """Two that have ids stay two, and a seat that names two findings in one reply means two."""
        return (self.settled and other.settled) or not self.turns.isdisjoint(other.turns)


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
            self._add(_Cluster((number,), own, self._middle(own), bool(group.id), frozenset(group.turns)), number)

    def parts(self) -> list[tuple[int, ...]]:
        """The groups that belong together, those with an id first."""
        following = len(self.clusters)
        while self.heap:
            _, first, second = heappop(self.heap)
            if first in self.clusters and second in self.clusters:
                self._add(self._both(self.clusters.pop(first), self.clusters.pop(second)), following)
                following += 1
        return [tuple(sorted(cluster.groups)) for cluster in self.clusters.values()]

    def _both(self, one: _Cluster, other: _Cluster) -> _Cluster:
        texts = (*one.texts, *other.texts)
        settled = one.settled or other.settled
        return _Cluster(one.groups + other.groups, texts, self._middle(texts), settled, one.turns | other.turns)

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
    taken = Counter(_passage(group.said) for group in groups)
    known = {group.fingerprint for group in groups}
    for group in sorted((group for group in groups if not group.id), key=lambda group: _canonical(_leader(group.said))):
        group.first = tuple(group.said)
        letter = usual(_severities(group.said).values())[0].upper()
        last[letter] += 1
        group.id = f"{letter}{last[letter]}"
        group.fingerprint = _fingerprint(group.said, taken[_passage(group.said)] > 1, known)
        known.add(group.fingerprint)


def _leader(said: Iterable[RaisedFinding]) -> RaisedFinding:
    """Whose place is the group's: the surest, at the place that most of them name."""
    said = list(said)
    places = Counter(_whereabouts(one.place) for one in said)
    return min(said, key=lambda one: (_sureness(one.place), -places[_whereabouts(one.place)], _canonical(one)))


def _sureness(place: Place) -> int:
    return FOUND.index(place.how) if place.found else len(FOUND)


def _passage(said: Iterable[RaisedFinding]) -> tuple[str, str]:
    place = _leader(said).place
    return place.path, fold(place.passage) if place.found else ""


def _fingerprint(said: Sequence[RaisedFinding], shared: bool, known: Collection[str]) -> str:
    """Of the place alone, so that other words for it change nothing; with the issue's words where these must tell."""
    path, passage = _passage(said)
    words = sorted(stems(_speaker(said).finding.issue)) if shared or not passage else []
    for double in count():
        text = "\0".join((path, passage, *words, *([str(double)] if double else [])))
        found = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        if found not in known:
            return found
    raise AssertionError("count() does not end")


def _speaker(said: Sequence[RaisedFinding]) -> RaisedFinding:
    """Whose words stand for all: one of those who take it as gravely as the group does, with a change, in full."""
    most = usual(_severities(said).values())

    def order(one: RaisedFinding) -> tuple[object, ...]:
        finding = one.finding
        return (finding.severity != most, not finding.change, -len(finding.issue + finding.change), _canonical(one))

    return min(said, key=order)


def _severities(said: Iterable[RaisedFinding]) -> dict[str, str]:
    """Each seat's severity; of more than one the gravest: saying it again more mildly withdraws nothing."""
    found: dict[str, str] = {}
    for one in said:
        found[one.seat] = min(one.finding.severity, found.get(one.seat, one.finding.severity), key=gravity)
    return found


def gravity(severity: str) -> int:
    return SEVERITIES.index(severity)


def usual(severities: Iterable[str]) -> str:
    """BLOCKING if anybody says so; else the most frequent, and of two the graver."""
    counts = Counter(severities)
    return BLOCKING if counts[BLOCKING] else min(counts, key=lambda severity: (-counts[severity], gravity(severity)))


def _merged(group: _Group, steps: Sequence[str]) -> Merged:
    members = tuple(sorted(group.said, key=lambda one: (steps.index(one.step), one.seat, _canonical(one))))
    severities = _severities(members)
    words = _speaker(group.first).finding
    leader = _leader(group.first)
    place = leader.place if leader.place.found else _leader(members).place
    severity = usual(severities.values())
    return Merged(group.id, severity, severities, members, words.issue, words.change, place, group.fingerprint)


def rank(id: str) -> tuple[int, int]:
    """Where an id stands in the list."""
    return [word[0].upper() for word in SEVERITIES].index(id[0]), int(id[1:])
