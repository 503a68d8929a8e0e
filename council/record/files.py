"""Durable files: a file is there whole or not at all, and it is on the disk when a call returns.

Every change that council makes to the file system goes through here. It knows nothing of sessions.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from council.errors import Damaged, StorageError

TEMP = ".council-temp"
LARGEST = 32_000_000
ADVICE = {
    errno.ENOSPC: "the disk is full; make room, then go on",
    errno.EDQUOT: "the disk quota is used up; make room, then go on",
    errno.EROFS: "the file system is read-only; move COUNCIL_HOME to one that is not",
    errno.EACCES: "permission denied; make the folder writable or move COUNCIL_HOME",
    errno.EPERM: "permission denied; make the folder writable or move COUNCIL_HOME",
}


def encode(text: str) -> bytes:
    """UTF-8; what it cannot hold (half of a surrogate pair) is written as an escape, so that any reply can be kept."""
    return text.encode("utf-8", "backslashreplace")


def create(path: Path, data: bytes) -> None:
    create_all({path: data})


def create_all(new: Mapping[Path, bytes]) -> None:
    """New files. The caller holds the session's lock, so that nobody comes between the look and the rename."""
    for path in new:
        if os.path.lexists(path):
            raise StorageError(f"{path} is there already; it is never overwritten")
    _put(new)


def replace(path: Path, data: bytes, temp: Path | None = None) -> None:
    """The file with new content; nothing is written where it has that content already.

    Outside of a session nobody sweeps: there the caller names a `temp` that is its own, and what is left of it goes.
    """
    if temp is not None:
        remove(temp)
    if not _stands(path, data):
        _put({path: data}, temp)


def replace_all(made: Mapping[Path, bytes]) -> None:
    _put({path: data for path, data in made.items() if not _stands(path, data)})


def _stands(path: Path, data: bytes) -> bool:
    with suppress(OSError, Damaged):
        return read(path) == data
    return False


def claim(path: Path, data: bytes, temp: Path, mode: int = 0o600) -> bool:
    """The file under that name, unless another's stands there: whoever links it first has the name."""
    remove(temp)
    try:
        _fill(temp, data, os.O_EXCL)
        os.chmod(temp, mode)
        with suppress(FileExistsError):
            os.link(temp, path)
        os.unlink(temp)
        sync_folder(path.parent)
    except OSError as failure:
        with suppress(OSError):
            os.unlink(temp)
        raise storage_error(path, failure) from failure
    return read(path) == data


def _put(made: Mapping[Path, bytes], temp: Path | None = None) -> None:
    """A folder is synced once, after the last of its files."""
    for path, data in made.items():
        _place(path, data, temp or path.with_name(f".{path.name[:80]}.{secrets.token_hex(4)}{TEMP}"))
    for folder in dict.fromkeys(path.parent for path in made):
        try:
            sync_folder(folder)
        except OSError as failure:
            raise storage_error(folder, failure) from failure


def _place(path: Path, data: bytes, temp: Path) -> None:
    try:
        _fill(temp, data, os.O_EXCL)
        os.rename(temp, path)
    except OSError as failure:
        with suppress(OSError):
            os.unlink(temp)
        raise storage_error(path, failure) from failure


def _fill(path: Path, data: bytes, how: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | how, 0o600)
    try:
        _write_all(descriptor, data)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folder(folder: Path) -> None:
    """The folder and whatever is missing above it, for this user alone."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    try:
        with suppress(FileExistsError):
            os.mkdir(folder, 0o700)
        sync_folder(folder.parent)
    except OSError as failure:
        raise storage_error(folder, failure) from failure


def remove(path: Path) -> None:
    try:
        with suppress(FileNotFoundError):
            os.unlink(path)
    except OSError as failure:
        raise storage_error(path, failure) from failure


def remove_empty(folder: Path) -> None:
    with suppress(OSError):
        os.rmdir(folder)


def prove_writable(folder: Path) -> None:
    """Before anything is paid for: a file can be made, filled and removed there. All use one name, so none is left."""
    make_folder(folder)
    probe = folder / f".probe{TEMP}"
    try:
        _fill(probe, b"council was here\n" * 4096, os.O_NONBLOCK)
    except OSError as failure:
        with suppress(OSError):
            os.unlink(probe)
        raise storage_error(probe, failure) from failure
    remove(probe)


def sweep(folder: Path) -> None:
    """Remove what a killed writer left behind. The caller holds the lock, so nobody is writing."""
    for path in walk(folder):
        if path.name.endswith(TEMP):
            remove(path)


def read(path: Path) -> bytes:
    """The bytes of a plain file; anything else by that name is refused, and so is one that no session could have."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as failure:
        if failure.errno == errno.ELOOP:
            raise Damaged(path, "it is a symbolic link; council follows none inside a session. Remove it") from None
        raise
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise Damaged(path, "not a regular file; remove it")
        if about.st_size > LARGEST:
            raise Damaged(path, f"it is larger than {LARGEST:,} bytes; no session has such a file")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(descriptor)


def walk(folder: Path) -> Iterator[Path]:
    """Every file below a folder, in order. Links are never followed; they come as themselves."""
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from walk(Path(entry.path))
        else:
            yield Path(entry.path)


def storage_error(path: Path, failure: OSError) -> StorageError:
    advice = ADVICE.get(failure.errno or 0, "see to the disk, then go on")
    return StorageError(f"{path}: {os.strerror(failure.errno or 0)}: {advice}")


def tilde(path: Path) -> str:
    """The path as people write it, with their home folder as ~."""
    home = str(Path.home())
    return "~" + str(path).removeprefix(home) if str(path).startswith(home + "/") else str(path)
