"""Returns memory to the system. What a long list took is free for the next one, and would stay with the server."""

from __future__ import annotations

import asyncio
import ctypes
from collections.abc import Callable
from contextlib import suppress

SOON = 0.5  # seconds after a request: those that come together are followed by one


class Trimmer:
    """Only glibc can return what is free between things that are not; elsewhere this does nothing."""

    def __init__(self) -> None:
        self.waiting = False
        self.trim: Callable[[int], object] = lambda _: None
        with suppress(OSError, AttributeError):
            library = ctypes.CDLL(None)
            library.mallopt(-8, 2)  # at most two heaps: each thread would keep what it once needed
            self.trim = library.malloc_trim

    def soon(self) -> None:
        """It takes some milliseconds, so it is done when the answer is on its way."""
        if not self.waiting:
            self.waiting = True
            asyncio.get_running_loop().call_later(SOON, self._run)

    def _run(self) -> None:
        self.waiting = False
        self.trim(0)
