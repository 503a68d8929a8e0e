"""Prompt caching: how much of a brief is worth caching, and when one member should speak before the others.

A cached prefix can be read only after the response that wrote it has begun: calls that start together with a new prefix
all pay for it in full. These are estimates; receipts say what the API really read and wrote.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from council.speakers.base import Brief
from council.text import CHARS_A_TOKEN

LIFETIME = 300.0  # seconds that an entry lives after its last use
SHORT = 1 / 4  # of a call: a longer wait for the answer to begin costs the round more than it saves


def breakpoints(brief: Brief, min_tokens: int) -> tuple[int, ...]:
    """The offsets into the shared part up to which it is cached: the first that is long enough, and the last two.

    A later round finds the last but one: up to there its briefs are the same.
    """
    long = [at for at in (*brief.marks, len(brief.shared)) if at >= max(1, min_tokens * CHARS_A_TOKEN)]
    return tuple(dict.fromkeys((*long[:1], *long[-2:])))


@dataclass
class Start:
    """When a turn may begin: once `after` is set. `begun` is set once its answer begins, fails or ends.

    `keep` are the offsets up to which the API is asked to cache its brief. `at` is when its answer began.
    """

    after: asyncio.Event | None = None
    keep: tuple[int, ...] = ()
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    at: float = 0.0


@dataclass
class PromptCache:
    """The prefixes that the API has cached for this run, by model, each with the time when it expires.

    `min_tokens` is where a prefix is worth caching, and where a saving is worth waiting for. `shares` are the parts of
    this run's calls that passed before their answers began; the smallest counts, because a first call is slow.
    """

    min_tokens: int
    clock: Callable[[], float] = time.monotonic
    kept: dict[tuple[str, ...], float] = field(default_factory=dict)
    shares: list[float] = field(default_factory=list)

    def starts(self, briefs: Iterable[Brief]) -> dict[str, Start]:
        """When each turn of a batch begins: at once, or after the first of its model if waiting saves enough.

        A turn that does not wait caches nothing new: each would pay for writing what one alone has to write.
        """
        groups: dict[tuple[str, ...], list[Brief]] = {}
        for brief in briefs:
            groups.setdefault(_model(brief), []).append(brief)
        result: dict[str, Start] = {}
        for leader, *others in groups.values():
            result[leader.turn] = lead = Start(keep=breakpoints(leader, self.min_tokens))
            saved = {other.turn: self.saved(leader, other) for other in others}
            worth = min(self.shares, default=0.0) <= SHORT and sum(saved.values()) >= self.min_tokens * CHARS_A_TOKEN
            for other in others:
                waits = worth and saved[other.turn] > 0
                keep = breakpoints(other, self.min_tokens) if waits else (self.cached(other),)
                result[other.turn] = Start(lead.begun if waits else None, tuple(filter(None, keep)))
        return result

    def call_ended(self, waited: float, total: float) -> None:
        """Note the seconds until a call's answer began, and those of the whole call."""
        self.shares.append(waited / total if total else 0.0)

    def saved(self, leader: Brief, other: Brief) -> int:
        """How many more characters the other call could read from the cache once the leader's answer has begun."""
        common = [at for at in breakpoints(other, self.min_tokens) if leader.shared[:at] == other.shared[:at]]
        same = max((at for at in common if at in breakpoints(leader, self.min_tokens)), default=0)
        return max(0, same - self.cached(other))

    def cached(self, brief: Brief) -> int:
        """How much of the brief's shared part can be read from the cache now."""
        if not self.kept:
            return 0
        now = self.clock()
        return max((at for at, key in self._prefixes(brief, brief.marks) if self.kept.get(key, 0.0) > now), default=0)

    def answer_began(self, brief: Brief) -> None:
        """The answer to the brief has begun, so its prefixes are cached."""
        until = self.clock() + LIFETIME
        self.kept.update((key, until) for _, key in self._prefixes(brief))

    def _prefixes(self, brief: Brief, marks: Iterable[int] = ()) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Each offset with the key of what is cached up to it. A long debate has many, so the text is hashed once."""
        seal, begin = hashlib.sha256(), 0
        for at in sorted({*breakpoints(brief, self.min_tokens), *marks}):
            seal.update(brief.shared[begin:at].encode("utf-8", "surrogatepass"))
            begin = at
            yield at, (*_model(brief), seal.hexdigest())


def _model(brief: Brief) -> tuple[str, ...]:
    """What a cache entry belongs to. With another effort, the prompt may be another one to the API."""
    return brief.model.endpoint.name, brief.model.name, brief.model.effort or ""
