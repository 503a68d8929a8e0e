"""One process at a time writes to a session. A lock ends with its process, so there is no state to clean up.

`runner.json` says for people which process it is. Only the lock is proof.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any

from council.next.errors import Busy, CouncilError, StorageError
from council.next.record import files

LOCK, NOTE = ".lock", "runner.json"
BY_HAND = "by hand"  # the work of commands that hold a session for a moment
PATIENCE = 30.0  # seconds that they wait for one another, and for nobody else: a run lasts


@dataclass
class Held:
    """The right to write to a session, for as long as the lock file on the disk is the one that is held."""

    folder: Path
    file: FileIO

    def check(self) -> None:
        """Raise StorageError if somebody removed or replaced the folder or its lock. Asked before each commit."""
        if not is_at(self.folder / LOCK, self.file):
            raise StorageError(f"{self.folder / LOCK} was removed or replaced; stopped before overwriting other work")


@contextmanager
def hold(folder: Path, wait: float = 0.25, work: str = "") -> Iterator[Held]:
    """Hold a session, after at most `wait` seconds. A process that died does not hold it."""
    until = time.monotonic() + wait
    while (file := claim(folder / LOCK)) is None:
        short = work == BY_HAND and read_holder(folder).get("work", BY_HAND) == BY_HAND
        if time.monotonic() > until + PATIENCE * short:
            raise Busy(f"{folder.name} is in use by {describe(read_holder(folder))}; nothing was changed")
        time.sleep(0.01)
    with file:
        held = Held(folder, file)
        files.sweep(folder)
        about = {"pid": os.getpid(), "host": socket.gethostname(), "since": round(time.time(), 3), "work": work}
        files.write(folder / NOTE, files.to_json(about))
        yield held
        if is_at(held.folder / LOCK, file):
            files.remove(held.folder / NOTE)


def claim(path: Path) -> FileIO | None:
    """The locked file, which closing unlocks. None while another process has it."""
    from filelock import lock_descriptor  # a reader does without it

    with files.explained(path), ExitStack() as on_failure:
        file = on_failure.enter_context(open(path, "a+b", 0, opener=files.open_plainly))
        # It may have been removed or renamed before it was locked: then this lock excludes nobody.
        if not lock_descriptor(file.fileno(), blocking=False) or not is_at(path, file):
            return None
        with open(path, "r+b", 0, opener=files.open_plainly) as second:
            if lock_descriptor(second.fileno(), blocking=False):  # some file systems say yes to everybody
                raise StorageError(f"{path}: {files.NO_LOCKS}")
        on_failure.pop_all()
        return file


def is_at(path: Path, file: FileIO) -> bool:
    with suppress(OSError):
        return os.path.samestat(os.stat(path, follow_symlinks=False), os.fstat(file.fileno()))
    return False


def is_held(folder: Path) -> bool:
    """Whether a process holds the session right now. Looking takes nobody's lock away."""
    try:
        with open(folder / LOCK, "rb", 0, opener=files.open_plainly) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as failure:
        return isinstance(failure, BlockingIOError)
    return False


def read_holder(folder: Path) -> Mapping[str, Any]:
    """What the process that holds the session wrote of itself. Empty if nothing can be read."""
    try:
        return files.read_json(folder / NOTE)
    except CouncilError:
        return {}


def describe(holder: Mapping[str, Any]) -> str:
    """The holder in words, without believing that its note is whole."""
    pid, host, since = (holder.get(key) for key in ("pid", "host", "since"))
    began = f", since {time.strftime('%H:%M:%S', time.localtime(since))}" if files.is_amount(since) else ""
    is_known = isinstance(pid, int) and isinstance(host, str)
    return f"process {pid} on {json.dumps(host)[1:-1]}{began}" if is_known else "another process"
