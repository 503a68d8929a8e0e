"""Durable files: a file is whole or not there, and it is on the disk when the call returns.

Nothing here needs hard links or knows what a session is. Links are never followed inside of a session.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import secrets
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from council.next.errors import Damaged, StorageError

TEMP = ".council-temp"
OLD = 3600.0  # seconds after which a hidden folder that nobody holds was left by a killed process
LARGEST = 32_000_000  # bytes: no file of a session is larger
FULL = "free some space, then try again"
ADVICE = {
    errno.ENOSPC: f"the disk is full; {FULL}",
    errno.EDQUOT: f"the disk quota is used up; {FULL}",
    errno.EROFS: "the file system is read-only; move COUNCIL_HOME to one that is not",
    errno.EACCES: "permission denied; make the folder writable or move COUNCIL_HOME",
    errno.EPERM: "permission denied; make the folder writable or move COUNCIL_HOME",
}
TAKEN = (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR)


def sha256(*parts: bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def to_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "backslashreplace") + b"\n"


def write(path: Path, data: bytes) -> None:
    """Give a file its content. Readers see the old one or the new one. The caller holds the session."""
    temporary = path.with_name(f".{path.name[:80]}.{secrets.token_hex(4)}{TEMP}")
    try:
        fill(temporary, data)
        os.rename(temporary, path)
        sync_folder(path.parent)
    except OSError as failure:
        with suppress(OSError):
            os.unlink(temporary)
        raise storage_error(path, failure) from failure


def write_once(path: Path, data: bytes) -> bool:
    """Write a file unless it is there; True if it was written. The caller holds the session."""
    if os.path.lexists(path):
        return False
    write(path, data)
    return True


def replace(path: Path, data: bytes) -> None:
    """As `write`, without touching a file that has this content."""
    with suppress(OSError, Damaged):
        if read(path) == data:
            return
    write(path, data)


def fill(path: Path, data: bytes) -> None:
    """A new file on the disk, for this user alone. A kill may leave a part of it, so nobody may know its name yet."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(handle, rest) :]
        os.fsync(handle)
    finally:
        os.close(handle)


def publish(folder: Path, content: Mapping[str, bytes]) -> bool:
    """Make a folder with these files, whole and at once. False if the name is taken: the first one has it.

    The files are written into a hidden folder, which is then renamed. A rename never replaces a folder with files.
    """
    hidden = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}{TEMP}")
    try:
        os.mkdir(hidden, 0o700)
        fill_folder(hidden, content)
        os.rename(hidden, folder)
        sync_folder(folder.parent)
    except OSError as failure:
        discard(hidden)
        if failure.errno in TAKEN:
            return False
        raise storage_error(folder, failure) from failure
    return True


def fill_folder(folder: Path, content: Mapping[str, bytes]) -> None:
    """Write the files of a folder that nobody else reads yet, and have them on the disk."""
    for name, data in content.items():
        fill(make_folder((folder / name).parent) / Path(name).name, data)
    for inner in {(folder / name).parent for name in content}:
        sync_folder(inner)


def discard(folder: Path) -> None:
    """Remove a folder that this user made, with what is in it. A link in it is removed and not followed."""
    with suppress(OSError):
        for path in sorted(folder.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        folder.rmdir()


def make_folder(folder: Path) -> Path:
    """Make a folder and those above it, for this user alone, and have each on the disk."""
    if not os.path.isdir(folder):
        make_folder(folder.parent)
        try:
            with suppress(FileExistsError):
                os.mkdir(folder, 0o700)
            sync_folder(folder.parent)
        except OSError as failure:
            raise storage_error(folder, failure) from failure
    return folder


def refuse_links(folder: Path, names: Iterable[str]) -> None:
    """Damage, if one of these folders or one in them is a link: what is written there would be written elsewhere."""
    for path in (path for name in names for path in (folder / name, *(folder / name).glob("*"))):
        if path.is_symlink() and path.is_dir():
            raise Damaged(path, "it is a symbolic link, which council does not follow; remove it")


def sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read(path: Path) -> bytes:
    """The bytes of a regular file. A link, a pipe or a huge file in its place is damage."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as failure:
        if failure.errno == errno.ELOOP:
            raise Damaged(path, "it is a symbolic link, which council does not follow; remove it") from None
        raise
    try:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise Damaged(path, "it is not a regular file; remove it")
        if about.st_size > LARGEST:
            raise Damaged(path, f"it is larger than {LARGEST:,} bytes, which no file of a session is; remove it")
        with open(handle, "rb", 0, closefd=False) as file:
            return file.read()
    finally:
        os.close(handle)


def read_text(path: Path) -> str:
    try:
        return read(path).decode()
    except UnicodeDecodeError:
        raise Damaged(path, "it is not UTF-8; restore it from a backup") from None


def read_json(path: Path) -> dict[str, Any]:
    """An object of JSON. Anything else in its place is damage."""
    try:
        value = json.loads(read(path), parse_constant=refuse)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise Damaged(path, "it is torn or was edited; restore it from a backup")
    return value


def refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a number of JSON")


def sweep(folder: Path) -> None:
    """Remove the temporary files of a killed writer. The caller holds the session, so nobody is writing.

    Answers are left without holding the session, so those are removed only when they are old."""
    for path in walk(folder):
        if path.name.endswith(TEMP):
            with suppress(OSError):
                if path.is_symlink() or not path.is_dir():
                    path.unlink()
                elif time.time() - path.lstat().st_mtime > OLD:
                    discard(path)


def walk(folder: Path, deepest: int = 4) -> Iterator[Path]:
    """Everything below a folder, as deep as a session is. Links are not followed."""
    with suppress(FileNotFoundError, NotADirectoryError):
        for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
            yield Path(entry.path)
            if deepest and entry.is_dir(follow_symlinks=False) and not entry.name.endswith(TEMP):
                yield from walk(Path(entry.path), deepest - 1)


def storage_error(path: Path, failure: OSError) -> StorageError:
    advice = ADVICE.get(failure.errno or 0, "check the disk, then try again")
    return StorageError(f"{path}: {os.strerror(failure.errno or 0)}: {advice}")
