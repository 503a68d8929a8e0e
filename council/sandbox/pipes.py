"""The pipes between the runner and a sandbox, all served by one thread."""

from __future__ import annotations

import os
import selectors
from collections.abc import Callable, Iterator
from types import TracebackType

CHUNK = 65536


class Pipes:
    """`hear`, `send` and `lend` make the sandbox's ends, which `hand_over` closes here once the sandbox has them."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._theirs: list[int] = []

    def __enter__(self) -> Pipes:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.hand_over()
        for key in list(self._selector.get_map().values()):
            self._close(key.fd)
        self._selector.close()

    def hear(self, take: Callable[[bytes], object]) -> int:
        """A descriptor to write to; `take` gets every piece that was written."""
        ours, theirs = os.pipe()
        return self._serve(ours, theirs, selectors.EVENT_READ, lambda: self._read(ours, take))

    def send(self, pieces: Iterator[bytes]) -> int:
        """A descriptor to read the pieces from."""
        theirs, ours = os.pipe()
        letter = _Letter(pieces)
        return self._serve(ours, theirs, selectors.EVENT_WRITE, lambda: self._write(ours, letter))

    def lend(self, data: bytes) -> int:
        """A descriptor of a file with these bytes, which has no name."""
        theirs = os.memfd_create("council")
        self._theirs.append(theirs)
        with open(theirs, "wb", closefd=False) as file:
            file.write(data)
        os.lseek(theirs, 0, os.SEEK_SET)
        return theirs

    def hand_over(self) -> None:
        while self._theirs:
            os.close(self._theirs.pop())

    def serve(self, seconds: float) -> None:
        """Serve what is ready, or what becomes ready first in that time."""
        for key, _ in self._selector.select(max(0.0, seconds)):
            key.data()

    def await_end(self, process: int, take: Callable[[], object]) -> None:
        """Call `take` once when a process has ended."""
        descriptor = os.pidfd_open(process)

        def end() -> None:
            self._close(descriptor)
            take()

        self._selector.register(descriptor, selectors.EVENT_READ, end)

    @property
    def idle(self) -> bool:
        """Whether all of them are closed, and every process has ended."""
        return not self._selector.get_map()

    def _serve(self, ours: int, theirs: int, event: int, act: Callable[[], None]) -> int:
        os.set_blocking(ours, False)
        self._theirs.append(theirs)
        self._selector.register(ours, event, act)
        return theirs

    def _read(self, descriptor: int, take: Callable[[bytes], object]) -> None:
        data = os.read(descriptor, CHUNK)
        take(data)
        if not data:
            self._close(descriptor)

    def _write(self, descriptor: int, letter: _Letter) -> None:
        try:
            while letter.rest:
                letter.rest = letter.rest[os.write(descriptor, letter.rest) :] or letter.turn()
        except BlockingIOError:
            return
        except BrokenPipeError:
            pass  # nobody reads it any more
        self._close(descriptor)

    def _close(self, descriptor: int) -> None:
        self._selector.unregister(descriptor)
        os.close(descriptor)


class _Letter:
    """Pieces on their way, and what is left of the one that is being sent."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self.rest = self.turn()

    def turn(self) -> memoryview:
        return memoryview(next(self._pieces, b""))
