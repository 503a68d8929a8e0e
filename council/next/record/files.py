"""Durable files: a file is whole or not there, and it is on the disk when the call returns.

Nothing here needs hard links or knows what a session is. Links are never followed inside of a session.
"""

from __future__ import annotations

import codecs
import errno
import hashlib
import json
import os
import secrets
import shutil
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeGuard

from council.next.errors import CouncilError, Damaged, StorageError, UsageError

SCHEMA = 1  # of the files of a session: every later version reads it
TEMP = ".council-temp"
OLD = 3600.0  # seconds after which a hidden folder that nobody holds was left by a killed process
LARGEST = 32_000_000  # bytes: no file of a session is larger
DEEPEST = 4  # folders below a session in which council writes
RESTORE = "restore it from a backup"
SPACE = "free some space, then try again"
RIGHTS = "permission denied; give yourself the right to read and write it, or move COUNCIL_HOME"
NO_LOCKS = "this file system has no working locks, so two processes could write at once; use a local COUNCIL_HOME"
ADVICE = {
    **dict.fromkeys((errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK), NO_LOCKS),
    **dict.fromkeys((errno.EACCES, errno.EPERM), RIGHTS),
    errno.ENOSPC: f"the disk is full; {SPACE}",
    errno.EDQUOT: f"the disk quota is used up; {SPACE}",
    errno.ENOTDIR: "a file is in the place of a folder; move it away",
    errno.EISDIR: "a folder is in the place of a file; move it away",
    errno.ELOOP: "it is a symbolic link, which council does not follow; remove it",
    errno.EROFS: "the file system is read-only; move COUNCIL_HOME to one that is not",
}
SPECIAL = "it is not a regular file; remove it"
# What somebody did to the files. Anything else is the disk's fault.
DAMAGE = {
    errno.ELOOP: ADVICE[errno.ELOOP],
    errno.ENOENT: f"it is missing; {RESTORE}",
    errno.ENOTDIR: "a file is in the place of a folder; move it away",
    errno.EISDIR: SPECIAL,
    errno.ENXIO: SPECIAL,
}
TAKEN = (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR)
VISIBLE = "council-visible"  # encodes half of a surrogate pair, which no file can hold, as an escape that people see


def _escape(failure: UnicodeError) -> tuple[str, int]:
    assert isinstance(failure, UnicodeEncodeError)
    return "".join(f"\\\\u{ord(one):04x}" for one in failure.object[failure.start : failure.end]), failure.end


codecs.register_error(VISIBLE, _escape)


def sha256(*parts: bytes) -> str:
    return hashlib.sha256(b"".join(parts)).hexdigest()


def to_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2).encode("utf-8", VISIBLE) + b"\n"


def write(path: Path, data: bytes) -> None:
    """Give a file its content. Readers see the old one or the new one. The caller holds the session."""
    with placed(path) as hidden:
        fill(hidden, data)


def write_once(path: Path, data: bytes) -> bool:
    """Write a file unless it is there; True if it was written. The caller holds the session."""
    if os.path.lexists(path):
        return False
    write(path, data)
    return True


def replace(path: Path, data: bytes) -> None:
    """As `write`, without touching a file that has this content."""
    with suppress(CouncilError):
        if read(path) == data:
            return
    write(path, data)


def fill(path: Path, data: bytes) -> None:
    """A new file on the disk, for this user alone. A kill may leave a part of it, so nobody may know its name yet."""
    if len(data) > LARGEST:
        raise UsageError(f"{path.name} would have {len(data):,} bytes; no file of a session may have over {LARGEST:,}")
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(handle, rest) :]
        os.fsync(handle)
    finally:
        os.close(handle)


def remove(path: Path) -> None:
    """Remove a file that may be there. The next file that is written to its folder makes that durable."""
    with explained(path), suppress(FileNotFoundError):
        os.unlink(path)


@contextmanager
def placed(path: Path) -> Iterator[Path]:
    """A hidden name for a file or folder that is made here, which is then renamed to `path`. If anything fails, nothing
    is there.

    A rename never replaces a folder with files, so the first one has the name; the next gets FileExistsError.
    """
    hidden = path.with_name(f".{path.name[:80]}.{secrets.token_hex(4)}{TEMP}")
    try:
        yield hidden
        os.rename(hidden, path)
        sync_folder(path.parent)
    except OSError as failure:
        is_taken = failure.errno in TAKEN and hidden.is_dir()
        raise FileExistsError if is_taken else storage_error(path, failure) from failure
    finally:
        discard(hidden)


def publish(folder: Path, content: Mapping[str, bytes]) -> bool:
    """Make a folder with these files, whole and at once. False if the name is taken."""
    try:
        with placed(folder) as hidden:
            fill_folder(hidden, content)
    except FileExistsError:
        return False
    return True


def fill_folder(folder: Path, content: Mapping[str, bytes]) -> None:
    """Write the files of a folder that nobody else reads yet, and have them on the disk."""
    for name, data in content.items():
        fill(make_folder((folder / name).parent) / Path(name).name, data)
    for inner in {(folder / name).parent for name in content}:
        sync_folder(inner)


def discard(path: Path) -> None:
    """Remove a file or a folder with what is in it, as far as that can be done. Links are removed and not followed."""
    with suppress(OSError):
        os.unlink(path)
    with suppress(RecursionError):  # somebody may have nested folders without end
        shutil.rmtree(path, ignore_errors=True)


def make_folder(folder: Path) -> Path:
    """Make a folder and those above it, for this user alone, and have each on the disk."""
    if not os.path.isdir(folder):
        make_folder(folder.parent)
        with explained(folder):
            with suppress(FileExistsError):
                os.mkdir(folder, 0o700)
            sync_folder(folder.parent)
    return folder


def list_folder(folder: Path) -> list[Path]:
    """What is in a folder, in the order of the names. Empty if there is no such folder."""
    with explained(folder, DAMAGE), suppress(FileNotFoundError):
        return sorted(folder.iterdir())
    return []


def refuse_links(folder: Path, names: Iterable[str]) -> None:
    """Damage, if one of these folders or one in them is a link: what is written there would be written elsewhere."""
    for path in (path for name in names for path in (folder / name, *list_folder(folder / name))):
        if path.is_symlink() and path.is_dir():
            raise Damaged(path, DAMAGE[errno.ELOOP])


def sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read(path: Path, most: int = LARGEST) -> bytes:
    """The bytes of a regular file. A link, a pipe or a huge file in its place is damage, and so is nothing."""
    with explained(path, DAMAGE), open(path, "rb", 0, opener=open_plainly) as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise Damaged(path, SPECIAL)
        if about.st_size > most:
            raise Damaged(path, f"it is larger than {most:,} bytes, which no such file is; remove it")
        return file.read()


def open_plainly(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)


def decode(data: bytes, path: Path) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Damaged(path, f"it is not UTF-8; {RESTORE}") from None


def read_json(path: Path, most: int = LARGEST) -> dict[str, Any]:
    """An object of JSON. Anything else in its place is damage, and so are infinity and half of a surrogate pair."""
    try:
        value = json.loads(read(path, most))
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise Damaged(path, f"it is torn or was edited; {RESTORE}")
    return value


def is_amount(value: object) -> TypeGuard[float]:
    """Whether a number that was read can be a sum of money, a time or a count. Sums of such numbers stay finite."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 10**11


def sweep(folder: Path, held: bool = True) -> None:
    """Remove what a killed writer left. In a session that is held nobody writes files, so all are removed.

    Answers are left without holding the session, so the folder of one is removed only when it is old."""
    for place, folders, names in os.walk(folder):
        for path in (Path(place, name) for name in (*names, *folders) if name.endswith(TEMP)):
            with suppress(OSError):
                about = path.lstat()
                if (held and not stat.S_ISDIR(about.st_mode)) or time.time() - about.st_mtime > OLD:
                    discard(path)
        deep = len(Path(place).parts) - len(folder.parts) == DEEPEST
        folders[:] = [] if deep else [name for name in folders if not name.endswith(TEMP)]


@contextmanager
def explained(path: Path, damage: Mapping[int, str] | None = None) -> Iterator[None]:
    """Turn an error of the disk into one that says what to do. Some are damage, where a file is read."""
    try:
        yield
    except OSError as failure:
        if problem := (damage or {}).get(failure.errno or 0):
            raise Damaged(path, problem) from None
        raise storage_error(path, failure) from failure


def storage_error(path: Path, failure: OSError) -> StorageError:
    advice = ADVICE.get(failure.errno or 0, "check the disk, then try again")
    return StorageError(f"{path}: {os.strerror(failure.errno or 0)}: {advice}")


def tilde(path: Path) -> str:
    """A path as people write it."""
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
