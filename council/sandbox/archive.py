"""A tree as a tar stream: the sandbox unpacks it, so nothing of a candidate is ever written on the host."""

from __future__ import annotations

import os
import stat
import tarfile
from collections.abc import Collection, Iterator, Mapping
from itertools import accumulate
from pathlib import Path

END = b"\0" * 1024
PAGE = 4096
HISTORY = ".git"
WHEN = 1_000_000_000  # one time for all files: the stream of a tree is always the same


def pack(tree: Path | Mapping[str, bytes] | None, executable: Collection[str] = ()) -> Iterator[bytes]:
    """The stream, one piece per file. Nothing of a folder's files but their names, bytes and x bits matters.

    Devices, sockets, pipes and `.git` are left out. A link stays a link, and points inside the sandbox.
    """
    if isinstance(tree, Path):
        yield from _pack_folder(tree)
    else:
        programs = frozenset(executable)
        for name, data in (tree or {}).items():
            yield _entry(name, data, mode=0o755 if name in programs else 0o644)
    yield END


def fits(tree: Path | Mapping[str, bytes] | None, most: int) -> bool:
    """Whether a tree takes at most this much memory, in whole pages for each file. No more of it is looked at."""
    if isinstance(tree, Path):
        statuses = (path.lstat() for path in _walk(tree))
        sizes = (status.st_size for status in statuses if stat.S_ISREG(status.st_mode))
    else:
        sizes = (len(data) for data in (tree or {}).values())
    return all(taken <= most for taken in accumulate(-(-size // PAGE) * PAGE for size in sizes))


def _pack_folder(folder: Path) -> Iterator[bytes]:
    for path in _walk(folder):
        inside, mode = str(path.relative_to(folder)), path.lstat().st_mode
        if stat.S_ISLNK(mode):
            yield _entry(inside, type=tarfile.SYMTYPE, linkname=str(path.readlink()))
        elif stat.S_ISDIR(mode):
            yield _entry(inside, type=tarfile.DIRTYPE, mode=0o755)
        elif stat.S_ISREG(mode):
            yield _entry(inside, path.read_bytes(), mode=0o755 if mode & 0o100 else 0o644)


def _walk(folder: Path) -> Iterator[Path]:
    """Everything in a folder but a repository's history, in one order. A folder that cannot be read is an error."""
    for place, folders, files in os.walk(folder, onerror=_refuse):
        folders[:] = sorted({*folders} - {HISTORY})
        yield from (Path(place, name) for name in sorted({*files, *folders} - {HISTORY}))


def _refuse(failure: OSError) -> None:
    raise failure


def _entry(name: str, data: bytes = b"", **attributes: int | str | bytes) -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.mtime = len(data), WHEN
    for key, value in attributes.items():
        setattr(info, key, value)
    return info.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape") + data + b"\0" * (-len(data) % 512)
