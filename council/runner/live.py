"""Writes what the seats say into the live files of a run, at most every `EVERY` seconds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from council.errors import StorageError
from council.record.live import LiveFile

EVERY = 0.05


@dataclass
class LiveWords:
    """The words of a run that are not turns yet. The first file that cannot be written ends it, for all seats, and
    `tell` is called with the reason: nothing of the debate depends on these files.
    """

    folder: Path
    tell: Callable[[str], None]
    waiting: dict[str, list[str]] = field(default_factory=dict)
    written: dict[str, LiveFile] = field(default_factory=dict)
    timer: asyncio.TimerHandle | None = None
    off: bool = False

    def add(self, turn: str, piece: str) -> None:
        if self.off:
            return
        self.waiting.setdefault(turn, []).append(piece)
        if self.timer is None:
            self.timer = asyncio.get_running_loop().call_later(EVERY, self._write)

    def _write(self) -> None:
        waiting, self.waiting, self.timer = self.waiting, {}, None
        try:
            for turn, pieces in waiting.items():
                if turn not in self.written:
                    self.written[turn] = LiveFile(self.folder, turn)
                self.written[turn].append("".join(pieces))
        except (OSError, StorageError) as failure:
            self.off = True
            self.close()
            self.tell(f"what the seats said could not be shown elsewhere while they said it: {failure}")

    def end(self, turn: str) -> None:
        """The turn is stored, or its call is about to be repeated."""
        self.waiting.pop(turn, None)
        if file := self.written.pop(turn, None):
            with suppress(OSError):
                file.remove()

    def close(self) -> None:
        """End all of them: also those whose calls failed."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        for turn in [*self.waiting, *self.written]:
            self.end(turn)
