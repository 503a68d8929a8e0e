"""Where the index is: one SQLite file in the user's cache for each home. Nobody else may have put it there."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from council.errors import CouncilError
from council.index.schema import FORMAT
from council.record import files

TAKEN = (errno.EWOULDBLOCK, errno.EACCES, errno.EAGAIN)
BESIDE = ("", "-wal", "-shm", "-journal")  # what SQLite keeps beside a database


class Unusable(Exception):
    """Why there can be no index in the cache."""


def locate(root: Path, env: Mapping[str, str] = os.environ) -> Path:
    """The file for the sessions below this root."""
    cache = Path(env.get("XDG_CACHE_HOME") or "")
    if not cache.is_absolute():
        cache = Path(env.get("HOME") or "~").expanduser() / ".cache"
    return cache / "council" / f"index-{hashlib.sha256(os.fsencode(root)).hexdigest()[:12]}.{FORMAT}.sqlite"


def prepare(path: Path) -> None:
    """Make the folder, and check that it and what is in it are this user's alone."""
    folder = path.parent
    try:
        files.make_folder(folder)
        about = os.lstat(folder)
    except (CouncilError, OSError) as failure:
        raise Unusable(f"{folder} cannot be written") from failure
    if not stat.S_ISDIR(about.st_mode):
        raise Unusable(f"{folder} is a link or not a folder")
    if about.st_uid != os.geteuid():
        raise Unusable(f"{folder} belongs to another user ({about.st_uid})")
    if about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise Unusable(f"others may write to {folder}; `chmod go-w {folder}`")
    for name in BESIDE:
        with suppress(FileNotFoundError):
            there = os.lstat(f"{path}{name}")
            if not stat.S_ISREG(there.st_mode) or there.st_uid != os.geteuid():
                raise Unusable(f"{path}{name} is not a file of yours; remove it")


class Locked:
    """A lock file beside the index, as a shared or an exclusive lock, which ends with its process."""

    def __init__(self, path: Path, kind: str) -> None:
        self.path = path.with_name(f".{path.name}.{kind}")
        self.descriptor: int | None = None

    def take(self, exclusive: bool) -> bool:
        """Take the lock, or change its kind; False if another process is in the way. It never waits."""
        try:
            if self.descriptor is None:
                how = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
                self.descriptor = os.open(self.path, how, 0o600)
            fcntl.flock(self.descriptor, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except OSError as failure:
            if failure.errno in TAKEN:
                return False
            raise Unusable(f"{self.path} cannot be locked ({os.strerror(failure.errno or 0)})") from failure
        return True

    def release(self) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None
