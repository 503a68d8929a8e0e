"""One process at a time writes to a session. A lock ends with its process, so there is no state to clean up.

`runner.json` says for people which process it is. Only the lock is proof.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from council.next.errors import Busy, CouncilError, StorageError
from council.next.record import files

LOCK, NOTE = ".lock", "runner.json"


@dataclass
class Held:
    """The right to write to a session, for as long as the lock file on the disk is the one that is held."""

    folder: Path
    handle: int

    def check(self) -> None:
        """Raise StorageError if somebody removed or replaced the folder or its lock. Asked before each commit."""
        if not is_at(self.folder / LOCK, self.handle):
            raise StorageError(f"{self.folder / LOCK} was removed or replaced; stopped before overwriting other work")


@contextmanager
def hold(folder: Path, wait: float = 0.25, work: str = "") -> Iterator[Held]:
    """Hold a session, after at most `wait` seconds. A process that died does not hold it."""
    until = time.monotonic() + wait
    while (handle := claim(folder / LOCK)) is None:
        if time.monotonic() > until:
            raise Busy(f"{folder.name} is in use by {describe(read_holder(folder))}; nothing was changed")
        time.sleep(0.01)
    try:
        held = Held(folder, handle)
        files.sweep(folder)
        about = {"pid": os.getpid(), "host": socket.gethostname(), "since": round(time.time(), 3), "work": work}
        files.write(folder / NOTE, files.to_json(about))
        yield held
        if is_at(held.folder / LOCK, handle):
            files.remove(held.folder / NOTE)
    finally:
        os.close(handle)


def claim(path: Path) -> int | None:
    """The locked file, which closing unlocks. None while another process has it."""
    with files.explained(path):
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
        try:
            # It may have been removed or renamed before it was locked: then this lock excludes nobody.
            if lock(handle) and is_at(path, handle):
                with open(path, "r+b", 0, opener=files.open_plainly) as second:
                    if lock(second.fileno()):  # some file systems say yes to everybody
                        raise StorageError(f"{path}: {files.NO_LOCKS}")
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
        return None


def lock(handle: int) -> bool:
    from filelock import lock_descriptor  # a reader does without it

    return lock_descriptor(handle, blocking=False)


def is_at(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(os.stat(path, follow_symlinks=False), os.fstat(handle))
    except OSError:
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


def interrupt(folder: Path) -> bool:
    """Send Ctrl-C to the process that holds the session. False if its note names no process of this machine: anybody
    may have edited it, and 0 or -1 would reach every process of the user."""
    holder = read_holder(folder)
    pid = holder.get("pid")
    if type(pid) is not int or not 1 < pid < 2**31 or holder.get("host") != socket.gethostname():
        return False
    try:
        if held := is_held(folder):
            os.kill(pid, signal.SIGINT)
        return held
    except OSError:  # it has ended meanwhile, or it is somebody else's
        return False


def describe(holder: Mapping[str, Any]) -> str:
    """The holder in words, without believing that its note is whole."""
    pid, host, since = (holder.get(key) for key in ("pid", "host", "since"))
    if not isinstance(pid, int) or not isinstance(host, str):
        return "another process"
    began = f", since {time.strftime('%H:%M:%S', time.localtime(since))}" if files.is_amount(since) else ""
    return f"process {pid} on {json.dumps(host)[1:-1]}{began}"
