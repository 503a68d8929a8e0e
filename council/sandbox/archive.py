"""A tree as a tar stream: the sandbox unpacks it, so nothing of a candidate is ever written on the host."""

from __future__ import annotations

import os
import stat
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path

END = b"\0" * 1024
WHEN = 1_000_000_000  # one time for all files: the stream of a tree is always the same


def pack(tree: Path | Mapping[str, bytes] | None) -> Iterator[bytes]:
    """The stream, one piece per file. Nothing of a folder's files but their names, bytes and x bits matters."""
    if isinstance(tree, Path):
        yield from _pack_folder(tree)
    else:
        for name, data in (tree or {}).items():
            yield _entry(name, data)
    yield END


def _pack_folder(folder: Path) -> Iterator[bytes]:
    """Devices, sockets and pipes are left out. A link stays a link, and points inside the sandbox."""
    for place, folders, files in os.walk(folder):
        folders.sort()
        for path in (Path(place, name) for name in sorted(files + folders)):
            inside, mode = str(path.relative_to(folder)), path.lstat().st_mode
            if stat.S_ISLNK(mode):
                yield _entry(inside, type=tarfile.SYMTYPE, linkname=str(path.readlink()))
            elif stat.S_ISDIR(mode):
                yield _entry(inside, type=tarfile.DIRTYPE, mode=0o755)
            elif stat.S_ISREG(mode):
                yield _entry(inside, path.read_bytes(), mode=0o755 if mode & 0o100 else 0o644)


def _entry(name: str, data: bytes = b"", **attributes: int | str | bytes) -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.mtime = len(data), WHEN
    for key, value in attributes.items():
        setattr(info, key, value)
    return info.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape") + data + b"\0" * (-len(data) % 512)
