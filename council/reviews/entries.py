"""The entries of a review's list: one fault each, with everybody's words for it, and how grave it is. Pure."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain

from council.reviews.locate import Place
from council.reviews.model import SEVERITIES, WORDS, Finding, Pairing, Ruling
from council.reviews.similarity import stems
from council.text import fold

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

    @property
    def fingerprint(self) -> str:
        return own_fingerprint(self.place, self.finding.issue, self.finding.change)

    @property
    def wording(self) -> tuple[object, ...]:
        """The same for two findings in the same words, of the same place."""
        anchor = self.finding.anchor
        named = () if self.place.found else (anchor.path, anchor.first, anchor.last, fold(anchor.quote))
        return fold(self.finding.issue), fold(self.finding.change), self.place, *named


@dataclass(frozen=True)
class Merged:
    """One fault. `members` are those who found it; `severities` has each one's own, the gravest if there are more;
    `rulings` has each seat's last word on it, and `pairings` each one's on whether it is the same as another.

    `issue`, `change` and `place` are those of one member. `variants` has every wording that was taken for the same
    fault by its words, each as an entry of its own (B1, B1b, B1c), the shown one first; empty where there is only one.
    `parts` are the entries of which members said that they are one: the one whose id it keeps, then the others.
    `inferred`: nobody said plainly how severe it is. `rule` names what was broken, where a program found it.
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
    variants: tuple[Merged, ...] = ()
    inferred: bool = False
    rule: str = ""

    @property
    def code(self) -> str:
        """What kind of finding it is, as programs group them."""
        return self.rule or f"council/{self.severity}"

    @property
    def entries(self) -> tuple[Merged, ...]:
        """What it was before members joined anything: itself, or its parts."""
        return self.parts or (self,)

    @property
    def wordings(self) -> tuple[Merged, ...]:
        """Everything that was joined, by words or by members; the first is what the entry shows."""
        return tuple(chain.from_iterable(part.variants or (part,) for part in self.entries))

    @property
    def also(self) -> tuple[str, ...]:
        """The other ids that it answers to."""
        return tuple(part.id for part in self.parts[1:])

    @property
    def seats(self) -> tuple[str, ...]:
        """Who found it."""
        return tuple(dict.fromkeys(one.seat for one in self.members))

    @property
    def fingerprints(self) -> tuple[str, ...]:
        return tuple(part.fingerprint for part in self.entries)

    @property
    def known_by(self) -> frozenset[str]:
        """What an earlier report must have for nothing of this to be new: its fingerprints, and its members' own."""
        return frozenset(self.fingerprints) | {one.fingerprint for one in self.members}

    @property
    def withdrawn(self) -> frozenset[str]:
        """Who found it and has withdrawn it, every time that they did; anybody else's withdrawal is a remark."""
        if pieces := self.parts or self.variants:
            return frozenset(self.severities) - {seat for piece in pieces for seat in piece.owners}
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


# ---- how grave it is ----


def gravity(severity: str) -> int:
    return SEVERITIES.index(severity)


def usual(severities: Iterable[str]) -> str:
    """BLOCKING if anybody says so; else the most frequent, and of two the more severe."""
    counts = Counter(severities)
    return BLOCKING if counts[BLOCKING] else min(counts, key=lambda severity: (-counts[severity], gravity(severity)))


def severities_of(said: Iterable[RaisedFinding]) -> dict[str, str]:
    """Each seat's severity; of more than one the gravest: saying it again more mildly withdraws nothing."""
    found: dict[str, str] = {}
    for one in said:
        found[one.seat] = min(one.finding.severity, found.get(one.seat, one.finding.severity), key=gravity)
    return found


def weigh(said: Iterable[RaisedFinding]) -> tuple[str, bool]:
    """The severity of what these say, and whether it is only inferred: where anybody gave one, only that counts."""
    said = list(said)
    given = [one for one in said if not one.finding.inferred]
    return usual(severities_of(given or said).values()), not given


# ---- ids and fingerprints ----


def rank(id: str) -> tuple[int, int, int, str]:
    """Where an id stands in the list."""
    match = re.fullmatch(r"([BHML])(\d+)([a-z]*)", id)
    assert match
    letters = [word[0].upper() for word in SEVERITIES]
    return letters.index(match[1]), int(match[2]), len(match[3]), match[3]


def fingerprint(place: Place, issue: str, worded: bool = False) -> str:
    """Of the place alone, so that other words for it change nothing; with the issue's words where these must tell."""
    passage = fold(place.passage) if place.found else ""
    worded = worded or not passage or place.how == "section"  # which has room for many faults
    return digest(place.path, passage, *(sorted(stems(issue)) if worded else ()))


def own_fingerprint(place: Place, issue: str, change: str) -> str:
    """A member's own. Without lines or a passage every word counts, also the small ones: "must" is not "must not"."""
    if place.found and place.passage.strip() and place.how != "section":
        return fingerprint(place, issue)
    return digest("words", place.path, *fold(f"{issue} {change}").split())


def digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
