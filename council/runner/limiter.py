"""One limiter for all calls of this process to an endpoint: how many run at once, and until when nobody begins one.

Debates share it, also those in other threads and event loops.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections import deque
from collections.abc import AsyncIterator
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from council.config.models import Endpoint
from council.speakers.registry import describe


@dataclass
class Limiter:
    """`busy` calls run, never more than `limit`. The others wait in the order in which they came, each with the most
    calls that it allows.
    """

    limit: int = sys.maxsize
    busy: int = 0
    open_at: float = 0.0  # time.monotonic, which all loops share
    queue: deque[tuple[int, Future[None]]] = field(default_factory=deque)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @asynccontextmanager
    async def slot(self, most: int) -> AsyncIterator[None]:
        """A place among at most this many calls."""
        with self.lock:
            place: Future[None] = Future()
            self.queue.append((min(most, self.limit), place))
        self._admit()
        try:
            await asyncio.wrap_future(place)
        except asyncio.CancelledError:
            if not place.cancel():  # the place was given to this call meanwhile
                self._leave()
            raise
        try:
            yield
        finally:
            self._leave()

    def _leave(self) -> None:
        with self.lock:
            self.busy -= 1
        self._admit()

    def _admit(self) -> None:
        """Give places to the calls that wait. One that was cancelled is passed over."""
        admitted = []
        with self.lock:
            while self.queue and (self.busy < self.queue[0][0] or self.queue[0][1].cancelled()):
                _, place = self.queue.popleft()
                if place.set_running_or_notify_cancel():
                    self.busy += 1
                    admitted.append(place)
        for place in admitted:  # not under the lock: it wakes a task, which may be in another thread
            place.set_result(None)

    def close_for(self, seconds: float) -> None:
        """Nobody begins a call for so long."""
        with self.lock:
            self.open_at = max(self.open_at, time.monotonic() + seconds)

    def wait(self) -> float:
        """The seconds until calls may begin."""
        return self.open_at - time.monotonic()


class Limiters:
    """The limiters of a process, by speaker and endpoint. A speaker that answers one call at a time has only one."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, Endpoint | None], Limiter] = {}
        self._lock = threading.Lock()

    def find(self, speaker: str, endpoint: Endpoint) -> Limiter:
        alone = describe(speaker).one_at_a_time
        with self._lock:
            place = (speaker, None if alone else endpoint)
            return self._made.setdefault(place, Limiter(limit=1) if alone else Limiter())


SHARED = Limiters()
