"""Durable files: a file is complete or does not exist, and it is on the disk when the call returns.

Every change that council makes to the file system goes through here. It knows nothing about sessions.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from council import git
from council.errors import Damaged, StorageError, UsageError

TEMP = ".council-temp"
LINK = "a symbolic link, which council does not follow inside a session; remove it"
LARGEST = 32_000_000  # bytes that `read` accepts
ADVICE = {
    errno.ENOSPC: "the disk is full; free some space, then try again",
    errno.EDQUOT: "the disk quota is used up; free some space, then try again",
    errno.EROFS: "the file system is read-only; move COUNCIL_HOME to one that is not",
    errno.EACCES: "permission denied; make the folder writable or move COUNCIL_HOME",
    errno.EPERM: "permission denied; make the folder writable or move COUNCIL_HOME",
}


def encode(text: str) -> bytes:
    """UTF-8. A lone surrogate, which UTF-8 cannot hold, is written as an escape, so that any reply can be stored."""
    return text.encode("utf-8", "backslashreplace")


def create(path: Path, data: bytes) -> None:
    create_all({path: data})


def create_all(new: Mapping[Path, bytes]) -> None:
    """Write new files. The caller holds the session's lock, so nothing can happen between the check and the rename."""
    for path, data in new.items():
        check_size(data, str(path))
        if os.path.lexists(path):
            raise StorageError(f"{path} already exists; it is never overwritten")
    _put(new)


def check_size(data: bytes, what: str) -> None:
    """Refuse to write what could never be read again."""
    if len(data) > LARGEST:
        raise UsageError(f"{what} would have {len(data):,} bytes; council reads no file larger than {LARGEST:,}")


def replace(path: Path, data: bytes, temp: Path | None = None) -> None:
    """Give the file new content; nothing is written if it has that content already.

    Temporary files are swept only in sessions. Elsewhere the caller names its own `temp`, whose remains are removed.
    """
    if temp is not None:
        remove(temp)
    replace_all({path: data}, temp)


def export(path: Path, data: bytes) -> None:
    """Write a file outside of every session. What a killed writer leaves beside it is removed by the next one."""
    check_target(path)
    replace(path, data, path.with_name(f".{path.name[:80]}{TEMP}"))


def check_target(path: Path) -> None:
    """Refuse to write where a link of the project leads, or over what is no regular file."""
    refuse_links(path)
    if os.path.exists(path) and not os.path.isfile(path):  # which are false, and no error, where the user may not look
        what = "is a directory" if os.path.isdir(path) else "is not a regular file"
        raise UsageError(f"{path}: {what}; name another file")


def refuse_links(path: Path) -> None:
    """Refuse a path on which a link of the project lies: a stranger may have written the project, and a link in it may
    lead to any file of the user's."""
    top = git.repository(Path.cwd()).resolve()
    whole = path.absolute()
    for here in (*reversed(whole.parents), whole):
        if os.path.islink(here) and here.parent.resolve().is_relative_to(top):
            raise UsageError(f"{path}: {tilde(here)} is a link in the project, which no output follows; remove it")


def replace_all(made: Mapping[Path, bytes], temp: Path | None = None) -> None:
    changed = {}
    for path, data in made.items():
        with suppress(OSError, Damaged):
            if read(path) == data:
                continue
        changed[path] = data
    _put(changed, temp)


def claim(path: Path, data: bytes, temp: Path, mode: int = 0o600) -> bool:
    """Write the file unless another process has written it: the first one to link it has the name. Says whether it has
    these bytes now."""
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


def fill_folder(folder: Path, content: Mapping[str, bytes]) -> None:
    """Write the files of a new folder that nobody else reads yet. It is on the disk when the call returns."""
    for name, data in content.items():
        _fill(folder / name, data, os.O_EXCL)
    sync_folder(folder)


def _put(made: Mapping[Path, bytes], temp: Path | None = None) -> None:
    """Write each file under another name, then rename it. A folder is synced once, after the last of its files."""
    for path, data in made.items():
        written = temp or path.with_name(f".{path.name[:80]}.{secrets.token_hex(4)}{TEMP}")
        try:
            _fill(written, data, os.O_EXCL)
            os.rename(written, path)
        except OSError as failure:
            with suppress(OSError):
                os.unlink(written)
            raise storage_error(path, failure) from failure
    for folder in dict.fromkeys(path.parent for path in made):
        try:
            sync_folder(folder)
        except OSError as failure:
            raise storage_error(folder, failure) from failure


def _fill(path: Path, data: bytes, how: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | how, 0o600)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folder(folder: Path) -> None:
    """Create the folder and its missing parents, for this user alone."""
    if os.path.isdir(folder):  # which is false, and no error, where the user may not look
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


def fill(path: Path, data: bytes) -> None:
    """Write a small file that never has any other content: it does not matter who else writes it, or was killed."""
    try:
        _fill(path, data, os.O_NONBLOCK)
    except OSError as failure:
        raise storage_error(path, failure) from failure


def prove_writable(folder: Path) -> None:
    """Check that a file can be written there, before anything is paid for. All runs use one name, so none is left."""
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
    """Remove the temporary files of a killed writer. The caller holds the lock, so nothing is being written."""
    for path in walk(folder):
        if path.name.endswith(TEMP) and (path.is_symlink() or not path.is_dir()):
            remove(path)


@contextmanager
def open_regular(path: Path) -> Iterator[int]:
    """A regular file, open to be read. Anything else is refused, and so is one that is too large for a session."""
    descriptor = _open_regular(path)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _open_regular(path: Path | str) -> int:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as failure:
        if failure.errno == errno.ELOOP:
            raise Damaged(path, LINK) from None
        raise
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise Damaged(path, "not a regular file; remove it")
        if about.st_size > LARGEST:
            raise Damaged(path, f"larger than {LARGEST:,} bytes, which no file of a session is; remove it")
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def read(path: Path | str, first: int = -1) -> bytes:
    """The bytes of a regular file, or the `first` of them."""
    with open(_open_regular(path), "rb", 0) as file:
        return file.read(first)


def walk(folder: Path, deepest: int = 5) -> Iterator[Path]:
    """Every file below a folder, in order. Links are yielded, and never followed; so are folders that are nested deeper
    than council nests them. A folder that is removed meanwhile, as a desk is once its answer is taken, has none."""
    return (Path(entry.path) for entry in scan(str(folder), deepest))


def scan(folder: str, deepest: int = 5) -> Iterator[os.DirEntry[str]]:
    """What `walk` finds, as the folders list it: whether it is a link is known without another look at it."""
    with os.scandir(folder) as listing:
        entries = sorted(listing, key=lambda entry: entry.name)
    for entry in entries:
        if deepest and entry.is_dir(follow_symlinks=False):
            with suppress(FileNotFoundError):
                yield from scan(entry.path, deepest - 1)
        else:
            yield entry


@contextmanager
def storing(path: Path) -> Iterator[None]:
    """What fails in this block is said of that path, with what to do about it."""
    try:
        yield
    except OSError as failure:
        raise storage_error(path, failure) from failure


def storage_error(path: Path, failure: OSError) -> StorageError:
    advice = ADVICE.get(failure.errno or 0, "check the disk, then try again")
    return StorageError(f"{path}: {os.strerror(failure.errno or 0)}: {advice}")


def untilde(text: str) -> Path:
    """The path that `tilde` wrote. Another user's home is not looked up."""
    return Path.home() / text[2:] if text.startswith("~/") else Path(text)


def tilde(path: Path) -> str:
    """The path with the user's home folder as ~."""
    home = str(Path.home())
    return "~" + str(path).removeprefix(home) if str(path).startswith(home + "/") else str(path)
