"""The lock of a session, which ends with its process, and a note beside it that says which process holds it."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from council.errors import Busy, Damaged, StorageError
from council.record import files

if TYPE_CHECKING:
    from filelock import BaseFileLock

LOCK, NOTE = ".lock", "runner.json"
PATIENCE = 0.25


@dataclass
class Lock:
    """The right to write to a session, as long as the lock file on disk is the one that is held."""

    folder: Path
    inode: tuple[int, int]

    def check(self) -> None:
        """Check before each commit that nobody has deleted or replaced the folder or its lock."""
        if _inode(self.folder / LOCK) != self.inode:
            raise StorageError(f"{self.folder / LOCK} was removed or replaced; stopped before overwriting other work")

    def note(self, **facts: Any) -> None:
        self.check()
        since = datetime.now(UTC).isoformat(timespec="seconds")
        about = {"pid": os.getpid(), "host": socket.gethostname(), "boot": boot_id(), "since": since}
        files.replace(self.folder / NOTE, json.dumps(about | facts, indent=2).encode() + b"\n")

    def clear(self) -> None:
        """Remove the note: the work is done."""
        self.check()
        files.remove(self.folder / NOTE)


@contextmanager
def hold(folder: Path) -> Iterator[Lock]:
    """The session's lock, at once or not at all. A process that died does not hold it."""
    lock = _lock(folder)
    if not _acquired(lock, PATIENCE):
        raise Busy(f"{folder.name} is in use by {describe(read_note(folder))}")
    try:
        held = Lock(folder, _inode(folder / LOCK))
        files.sweep(folder)
        yield held
    finally:
        lock.release()


def is_held(folder: Path) -> bool:
    """Whether a process holds the session right now."""
    if not (folder / LOCK).exists():
        return False
    lock = _lock(folder)
    try:
        free = _acquired(lock, 0.05)
    except StorageError:
        return False
    lock.release()
    return not free


def _lock(folder: Path) -> BaseFileLock:
    from filelock import FileLock

    return FileLock(folder / LOCK, mode=0o600, thread_local=False)


def _acquired(lock: BaseFileLock, patience: float) -> bool:
    """`is_held` takes the lock for a moment too, so wait a moment before it counts as taken."""
    try:
        lock.acquire(timeout=patience, poll_interval=0.02)
    except TimeoutError:
        return False
    except OSError as failure:
        raise files.storage_error(Path(lock.lock_file), failure) from failure
    return True


def read_note(folder: Path) -> Mapping[str, Any]:
    """What the process that holds the lock wrote about itself; empty if nothing can be read. Only the lock is proof."""
    try:
        note = json.loads(files.read(folder / NOTE))
    except (OSError, ValueError, RecursionError, Damaged):
        return {}
    return note if isinstance(note, dict) else {}


def describe(note: Mapping[str, Any]) -> str:
    """The process that wrote the note, if it can still hold the lock."""
    here = note.get("host") == socket.gethostname() and note.get("boot") == boot_id()
    if not note or (here and not is_alive(note.get("pid"))):
        return "another process"
    return f"pid {note.get('pid')} on {note.get('host')}, since {note.get('since')}"


def is_alive(pid: object) -> bool:
    try:
        os.kill(pid if isinstance(pid, int) and pid > 0 else os.getpid(), 0)
    except ProcessLookupError:
        return False
    except OSError:  # the process exists, and is another user's
        return True
    return True


def boot_id() -> str:
    """Changes with each start of the machine; empty if the system does not tell."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _inode(path: Path) -> tuple[int, int]:
    try:
        about = os.stat(path, follow_symlinks=False)
    except OSError as failure:
        raise files.storage_error(path, failure) from failure
    return about.st_dev, about.st_ino
