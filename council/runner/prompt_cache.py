"""Prompt caching by choice: up to where a brief is worth it, and when one member had better speak before the others.

A cached prefix can be read only once the response that wrote it has begun: calls that start together over a new prefix
all pay for it in full. It only estimates; what was really read and written, the API counts and the receipts say.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from council.record.turn_file import sha256
from council.speakers.base import Brief

CHARS_A_TOKEN = 4
LIFETIME = 300.0  # seconds that an entry lives after it was used last
SHORT = 1 / 4  # of a call: a longer time until the answer begins stretches the round by more than is saved


def breakpoints(brief: Brief, least: int) -> tuple[int, ...]:
    """The offsets into the shared part up to which it is cached: where it is long enough first, and at its end.

    The mark before the end is what a later round finds: it says the same up to there, and goes on with other words.
    """
    long = [at for at in (*brief.marks, len(brief.shared)) if at >= max(1, least * CHARS_A_TOKEN)]
    return tuple(dict.fromkeys((*long[:1], *long[-2:])))


@dataclass
class Start:
    """When a turn may begin, and where it says that its answer has begun: also by failing, or by ending.

    `keep` are the offsets up to which the API is asked to keep its brief.
    """

    after: asyncio.Event | None = None
    keep: tuple[int, ...] = ()
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    at: float = 0.0

    def begin(self) -> None:
        self.at = time.monotonic()
        self.begun.set()

    async def __aenter__(self) -> None:
        if self.after is not None:
            await self.after.wait()

    async def __aexit__(self, *failure: object) -> None:
        self.begun.set()


@dataclass
class Warmth:
    """The prefixes that this run has made the API keep, by model, with the time until which it does.

    `least` is how many tokens make a prefix worth keeping, and how many must be saved to be worth a wait. `shares` are
    the parts of this run's calls that passed before their answers began; the least counts, for a first call is slow.
    """

    least: int
    clock: Callable[[], float] = time.monotonic
    kept: dict[tuple[str, ...], float] = field(default_factory=dict)
    shares: list[float] = field(default_factory=list)

    def starts(self, briefs: Iterable[Brief]) -> dict[str, Start]:
        """When each turn of a batch begins: at once, or after the first of its model, where waiting saves enough.

        Who does not wait keeps nothing new: all of them would pay for writing what one alone has to write.
        """
        groups: dict[tuple[str, ...], list[Brief]] = {}
        for brief in briefs:
            groups.setdefault(_model(brief), []).append(brief)
        found: dict[str, Start] = {}
        for leader, *others in groups.values():
            found[leader.turn] = lead = Start(keep=breakpoints(leader, self.least))
            saved = {other.turn: self.saved(leader, other) for other in others}
            worth = min(self.shares, default=0.0) <= SHORT and sum(saved.values()) >= self.least * CHARS_A_TOKEN
            for other in others:
                waits = worth and saved[other.turn] > 0
                keep = breakpoints(other, self.least) if waits else (self.warm(other),)
                found[other.turn] = Start(lead.begun if waits else None, tuple(filter(None, keep)))
        return found

    def took(self, waited: float, spoken: float) -> None:
        """A call is over: the seconds until its answer began, and all of them."""
        self.shares.append(waited / spoken if spoken else 0.0)

    def saved(self, leader: Brief, other: Brief) -> int:
        """How many characters more the other could read from the cache once the leader's answer has begun."""
        common = [at for at in breakpoints(other, self.least) if leader.shared[:at] == other.shared[:at]]
        same = max((at for at in common if at in breakpoints(leader, self.least)), default=0)
        return max(0, same - self.warm(other))

    def warm(self, brief: Brief) -> int:
        """Up to where the brief's shared part can be read from the cache now."""
        if not self.kept:
            return 0
        now = self.clock()
        return max((at for at, key in self._prefixes(brief, brief.marks) if self.kept.get(key, 0.0) > now), default=0)

    def began(self, brief: Brief) -> None:
        """The answer to the brief has begun: what it was asked to keep is kept."""
        until = self.clock() + LIFETIME
        self.kept.update((key, until) for _, key in self._prefixes(brief))

    def _prefixes(self, brief: Brief, marks: Iterable[int] = ()) -> Iterator[tuple[int, tuple[str, ...]]]:
        for at in {*breakpoints(brief, self.least), *marks}:
            yield at, (*_model(brief), sha256(brief.shared[:at].encode("utf-8", "surrogatepass")))


def _model(brief: Brief) -> tuple[str, ...]:
    """Whose cache it is. Another effort may be another prompt to the API."""
    return brief.model.endpoint.name, brief.model.name, brief.model.effort or ""
