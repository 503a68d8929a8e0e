"""Caps concurrent calls to one place, and holds new ones back after it asked for that."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Limiter:
    """Calls under way go on while new ones are held back, and waits that overlap are counted once."""

    def __init__(self, slots: int) -> None:
        self._slots = asyncio.Semaphore(slots)
        self._free_at = 0.0

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """A place among the calls under way, once nothing holds them back."""
        async with self._slots:
            while (left := self._free_at - time.monotonic()) > 0:  # noqa: ASYNC110 (others may put it off meanwhile)
                await asyncio.sleep(left)
            yield

    def hold_back(self, seconds: float) -> float:
        """Begin no call for so long. Returns by how much that is longer than before."""
        now = time.monotonic()
        before = max(self._free_at, now)
        self._free_at = max(before, now + seconds)
        return self._free_at - before
