"""The lock of a session, which ends with its process, and a note beside it that says which process holds it."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import signal
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from council.errors import Busy, Damaged, StorageError
from council.record import files

LOCK, NOTE = ".lock", "runner.json"
PATIENCE = 0.25  # `is_held` takes the lock for a moment too
LONGEST_WAIT = 30.0  # many members may store their answers at once, and each holds the lock for part of a second
NO_LOCKS = (errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK)
WITHOUT_LOCKS = (
    "this file system has no working file locks, so two processes could write to one session; "
    "move COUNCIL_HOME to a local disk"
)


@dataclass
class Lock:
    """The right to write to a session, as long as the lock file on disk is the one that is held."""

    folder: Path
    inode: tuple[int, int]

    def check(self) -> None:
        """Check before each commit that nobody has deleted or replaced the folder or its lock."""
        try:
            there = _identity(os.stat(self.folder / LOCK, follow_symlinks=False))
        except OSError as failure:
            raise files.storage_error(self.folder / LOCK, failure) from failure
        if there != self.inode:
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
    """The session's lock, after a moment's wait if a run has it, and a longer one if a command by hand has it.

    A process that died does not hold it.
    """
    began = time.monotonic()
    while (descriptor := _claim(folder / LOCK)) is None:
        note, waited = read_note(folder), time.monotonic() - began
        if waited > longest_wait(note):
            raise Busy(f"{folder.name} is in use by {describe(note)}")
        time.sleep(0.01)
    with _keep(folder, descriptor) as held:
        yield held


@contextmanager
def try_hold(folder: Path) -> Iterator[Lock | None]:
    """The session's lock, or None if another process has it. It never waits: for event loops."""
    if (descriptor := _claim(folder / LOCK)) is None:
        yield None
        return
    with _keep(folder, descriptor) as held:
        yield held


@contextmanager
def _keep(folder: Path, descriptor: int) -> Iterator[Lock]:
    try:
        held = Lock(folder, _identity(os.fstat(descriptor)))
        files.sweep(folder)
        yield held
    finally:
        os.close(descriptor)


def is_held(folder: Path) -> bool:
    """Whether a process holds the session right now. Several may look at once, so this lock is a shared one."""
    try:
        descriptor = os.open(folder / LOCK, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as failure:
        return failure.errno not in NO_LOCKS
    finally:
        os.close(descriptor)
    return False


def _claim(path: Path) -> int | None:
    """The locked file, which is unlocked by closing it; None while another process has it."""
    descriptor = _open(path)
    try:
        # The file may have been deleted or renamed before it was locked: then this lock excludes nobody.
        if _lock(path, descriptor) and _is_at(path, descriptor):
            _prove_exclusive(path)
            return descriptor
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    except OSError as failure:
        raise files.storage_error(path, failure) from failure


def _lock(path: Path, descriptor: int) -> bool:
    from filelock import lock_descriptor

    try:
        return lock_descriptor(descriptor, blocking=False)
    except OSError as failure:
        if failure.errno in NO_LOCKS:
            raise StorageError(f"{path}: {WITHOUT_LOCKS}") from None
        raise files.storage_error(path, failure) from failure


def _prove_exclusive(path: Path) -> None:
    """Some file systems accept every lock and exclude nobody. There, two processes would pay for the same turns."""
    second = _open(path)
    try:
        if _lock(path, second):
            raise StorageError(f"{path}: {WITHOUT_LOCKS}")
    finally:
        os.close(second)


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return _identity(os.stat(path, follow_symlinks=False)) == _identity(os.fstat(descriptor))
    except FileNotFoundError:
        return False


def read_note(folder: Path) -> Mapping[str, Any]:
    """What the process that holds the lock wrote about itself; empty if nothing can be read. Only the lock is proof."""
    try:
        note = json.loads(files.read(folder / NOTE))
    except (OSError, ValueError, RecursionError, Damaged):
        return {}
    return note if isinstance(note, dict) else {}


def describe(note: Mapping[str, Any]) -> str:
    """The process that wrote the note, if it can still hold the lock."""
    if not _may_run(note):
        return "another process"
    return f"pid {note.get('pid')} on {note.get('host')}, since {note.get('since')}"


def interrupt(folder: Path) -> bool:
    """Send SIGINT to the process that holds the lock, if it is a run that ends well by it; says whether it was sent.

    The note names the process, and the system must say that this very process holds the lock: a number that was given
    to another process meanwhile gets no signal. Where the system does not tell, a held lock and the note must do.
    """
    note, pid = read_note(folder), 0
    here = note.get("host") == socket.gethostname() and note.get("boot") == boot_id()
    if here and note.get("interruptible") is True and isinstance(note.get("pid"), int):
        pid = note["pid"]
    if pid <= 0 or pid == os.getpid():
        return False
    try:
        if not hasattr(os, "pidfd_open"):
            os.kill(pid, signal.SIGINT if is_held(folder) else 0)
            return is_held(folder)
        process = os.pidfd_open(pid)
        try:
            if _holds(pid, folder / LOCK):
                signal.pidfd_send_signal(process, signal.SIGINT)
                return True
        finally:
            os.close(process)
    except OSError:
        pass
    return False


def _holds(pid: int, path: Path) -> bool:
    """Whether the system lists the process as the holder of the file's lock."""
    inode = str(os.stat(path, follow_symlinks=False).st_ino)
    try:
        lines = Path("/proc/locks").read_text().splitlines()
    except OSError:
        return is_held(path.parent)
    locks = [line.split() for line in lines]  # 1: FLOCK ADVISORY WRITE 4711 08:01:131 0 EOF
    return any(one[1:2] == ["FLOCK"] and one[4:5] == [str(pid)] and one[5].rpartition(":")[2] == inode for one in locks)


def longest_wait(note: Mapping[str, Any]) -> float:
    """How many seconds it is worth waiting for the process that wrote the note; there may be none."""
    return PATIENCE if _may_run(note) else LONGEST_WAIT


def _may_run(note: Mapping[str, Any]) -> bool:
    """Whether the process that wrote the note can still hold the lock: a run, which may take minutes."""
    here = note.get("host") == socket.gethostname() and note.get("boot") == boot_id()
    return bool(note) and (not here or is_alive(note.get("pid")))


def is_alive(pid: object) -> bool:
    try:
        os.kill(pid if isinstance(pid, int) and pid > 0 else os.getpid(), 0)
    except (ProcessLookupError, OverflowError):
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


def _identity(about: os.stat_result) -> tuple[int, int]:
    return about.st_dev, about.st_ino
