"""Who works on a session: a lock that dies with its process, and a note beside it that says who holds it."""

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
class Holder:
    """The right to write to a session, for as long as the lock file on disk is the one that is held."""

    folder: Path
    inode: tuple[int, int]

    def check(self) -> None:
        """Before each commit: somebody may have deleted or replaced the folder or its lock meanwhile."""
        if _inode(self.folder / LOCK) != self.inode:
            raise StorageError(
                f"{self.folder / LOCK} was removed or replaced; this runner stops before it overwrites another's work"
            )

    def note(self, **facts: Any) -> None:
        self.check()
        about = {"pid": os.getpid(), "host": socket.gethostname(), "boot": boot(), "since": _now()}
        files.replace(self.folder / NOTE, json.dumps(about | facts, indent=2).encode() + b"\n")

    def clear(self) -> None:
        """Nobody works here any more, and nothing is left to do."""
        self.check()
        files.remove(self.folder / NOTE)


@contextmanager
def hold(folder: Path) -> Iterator[Holder]:
    """The session's lock, at once or not at all. Whoever died holding it no longer does."""
    lock = _lock(folder)
    if not _acquired(lock, PATIENCE):
        raise Busy(f"{folder.name} is being worked on by {described(read_note(folder))}")
    try:
        holder = Holder(folder, _inode(folder / LOCK))
        files.sweep(folder)
        yield holder
    finally:
        lock.release()


def held(folder: Path) -> bool:
    """Whether somebody holds the session right now."""
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
    """A look at the status takes the lock for a moment too, so wait a moment before it counts as taken."""
    try:
        lock.acquire(timeout=patience, poll_interval=0.02)
    except TimeoutError:
        return False
    except OSError as failure:
        raise files.storage_error(Path(lock.lock_file), failure) from failure
    return True


def read_note(folder: Path) -> Mapping[str, Any]:
    """What the holder says of itself; empty where nothing readable stands there. It proves nothing: the lock does."""
    try:
        note = json.loads(files.read(folder / NOTE))
    except (OSError, ValueError, RecursionError, Damaged):
        return {}
    return note if isinstance(note, dict) else {}


def described(note: Mapping[str, Any]) -> str:
    """Who it was that noted itself there last; only if that one can still be the holder."""
    here = note.get("host") == socket.gethostname() and note.get("boot") == boot()
    if not note or (here and not alive(note.get("pid"))):
        return "another runner"
    return f"pid {note.get('pid')} on {note.get('host')}, since {note.get('since')}"


def alive(pid: object) -> bool:
    try:
        os.kill(pid if isinstance(pid, int) and pid > 0 else os.getpid(), 0)
    except ProcessLookupError:
        return False
    except OSError:  # somebody else's process, which is there
        return True
    return True


def boot() -> str:
    """What tells this start of the machine from the one before; empty where the system does not say."""
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


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
