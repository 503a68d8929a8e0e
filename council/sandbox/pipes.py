"""The pipes between the runner and a sandbox, all served by one thread."""

from __future__ import annotations

import os
import selectors
import signal
from collections.abc import Callable, Iterator
from types import TracebackType

CHUNK = 65536


class Pipes:
    """`hear`, `send` and `lend` make the sandbox's ends, which `hand_over` closes here once the sandbox has them."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._ours: set[int] = set()
        self._theirs: set[int] = set()

    def __enter__(self) -> Pipes:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self.hand_over()
        self._selector.close()
        while self._ours:
            os.close(self._ours.pop())

    def hear(self, take: Callable[[bytes], object]) -> int:
        """A descriptor to write to; `take` gets every piece that was written."""
        ours, theirs = os.pipe()
        self._theirs.add(theirs)
        self._serve(ours, selectors.EVENT_READ, lambda: self._read(ours, take))
        return theirs

    def send(self, pieces: Iterator[bytes]) -> tuple[int, Callable[[], None]]:
        """A descriptor to read from, and what to call to send the pieces. Until then it is empty, and has no end."""
        theirs, ours = os.pipe()
        self._theirs.add(theirs)
        self._ours.add(ours)
        letter = _Letter(pieces)
        return theirs, lambda: self._serve(ours, selectors.EVENT_WRITE, lambda: self._write(ours, letter))

    def lend(self, data: bytes) -> int:
        """A descriptor of a file with these bytes, which has no name."""
        theirs = os.memfd_create("council")
        self._theirs.add(theirs)
        with open(theirs, "wb", closefd=False) as file:
            file.write(data)
        os.lseek(theirs, 0, os.SEEK_SET)
        return theirs

    def note(self) -> tuple[int, Callable[[], bytes]]:
        """A descriptor of a file to write to, and what reads all that was written so far. Nobody is ever told that the
        reader is gone, as with a pipe.
        """
        theirs = self.lend(b"")
        ours = os.dup(theirs)
        self._ours.add(ours)
        return theirs, lambda: os.pread(ours, CHUNK, 0)

    def hand_over(self) -> None:
        while self._theirs:
            os.close(self._theirs.pop())

    def await_end(self, process: int, take: Callable[[], object] = lambda: None) -> Callable[[], None]:
        """Call `take` when a process has ended. What comes back kills it, if it has not ended."""
        ours = os.pidfd_open(process)

        def end() -> None:
            self._close(ours)
            take()

        def kill() -> None:
            if ours in self._ours:
                signal.pidfd_send_signal(ours, signal.SIGKILL)

        self._serve(ours, selectors.EVENT_READ, end)
        return kill

    @property
    def is_idle(self) -> bool:
        """Whether all that was heard has its end, all was sent, and every process has ended."""
        return not self._selector.get_map()

    def serve(self, seconds: float) -> None:
        """Serve what is ready, or what becomes ready first in that time."""
        for key, _ in self._selector.select(max(0.0, seconds)):
            if key.fd in self._ours:
                key.data()

    def _serve(self, ours: int, event: int, act: Callable[[], None]) -> None:
        self._ours.add(ours)
        os.set_blocking(ours, False)
        self._selector.register(ours, event, act)

    def _read(self, ours: int, take: Callable[[bytes], object]) -> None:
        data = os.read(ours, CHUNK)
        take(data)
        if not data:
            self._close(ours)

    def _write(self, ours: int, letter: _Letter) -> None:
        try:
            while letter.rest:
                letter.rest = letter.rest[os.write(ours, letter.rest) :] or letter.turn()
        except BlockingIOError:
            return
        except BrokenPipeError:
            pass  # nobody reads it any more
        self._close(ours)

    def _close(self, ours: int) -> None:
        self._selector.unregister(ours)
        self._ours.discard(ours)
        os.close(ours)


class _Letter:
    """Pieces on their way, and what is left of the one that is being sent."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self.rest = self.turn()

    def turn(self) -> memoryview:
        return memoryview(next(self._pieces, b""))
