"""What candidates are written on: the files of a project and its tests, frozen with the session that is about them.

`base.json` says where they came from, `base.tar` holds them. A trial never looks at the project again.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from council.errors import UsageError

FACTS, FILES = "base.json", "base.tar"
FOLDERS = ("tree", "visible", "hidden")


@dataclass(frozen=True)
class Base:
    """`tree` is what candidates change, `visible` and `hidden` are the tests that are laid over it, all by path.
    `facts` is plain data: the repository, the commit, the bench, the environment, the versions of tools, the files
    shown.
    """

    tree: Mapping[str, bytes] = field(default_factory=dict)
    visible: Mapping[str, bytes] = field(default_factory=dict)
    hidden: Mapping[str, bytes] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)

    def encode(self) -> dict[str, bytes]:
        """The files that a session freezes: the same base gives the same bytes."""
        facts = {**self.facts, "tree": hash_files(self.tree)}
        text = json.dumps(facts, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
        return {FACTS: text.encode("utf-8", "backslashreplace"), FILES: _pack(self)}


EMPTY = Base()


def hash_files(files: Mapping[str, bytes]) -> str:
    """The hash of files by path, whatever their order."""
    lines = (f"{_hash(data)} {path}\n" for path, data in sorted(files.items()))
    return hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


@lru_cache(maxsize=4096)
def _hash(data: bytes) -> str:
    """The trees of a session share most of their files, and each trial hashes a whole tree."""
    return hashlib.sha256(data).hexdigest()


def read(frozen: Mapping[str, bytes]) -> Base:
    """The base among a session's frozen files; an empty one if it has none."""
    return _read(frozen[FACTS], frozen[FILES]) if FACTS in frozen and FILES in frozen else EMPTY


@lru_cache(maxsize=4)
def _read(facts: bytes, packed: bytes) -> Base:
    import tarfile  # which few sessions need, and it is large

    try:
        found = json.loads(facts)
        files: dict[str, dict[str, bytes]] = {folder: {} for folder in FOLDERS}
        for folder, path, data in _unpack(packed):
            files[folder][path] = data
        base = Base(files["tree"], files["visible"], files["hidden"], found)
        whole = isinstance(found, dict) and found.get("tree") == hash_files(base.tree)
    except (ValueError, LookupError, tarfile.TarError, EOFError, RecursionError):
        whole = False
    if not whole:
        raise UsageError(f"{FACTS} and {FILES} of this session cannot be read; restore them from a backup")
    return base


def _pack(base: Base) -> bytes:
    """A tar file without times, owners or modes, in the order of the paths."""
    import tarfile

    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for folder, files in zip(FOLDERS, (base.tree, base.visible, base.hidden), strict=True):
            for path, data in sorted(files.items()):
                if not is_inside(path):
                    raise UsageError(f"{path!r} is not a path inside the project")
                member = tarfile.TarInfo(f"{folder}/{path}")
                member.size, member.mode = len(data), 0o644
                tar.addfile(member, io.BytesIO(data))
    return packed.getvalue()


def _unpack(packed: bytes) -> Iterator[tuple[str, str, bytes]]:
    """Each file with its folder and its path. What is no plain file inside its folder is refused."""
    import tarfile

    with tarfile.open(fileobj=io.BytesIO(packed), mode="r:") as tar:
        for member in tar:
            folder, _, path = member.name.partition("/")
            data = tar.extractfile(member) if member.isreg() and is_inside(path) else None
            if data is None:
                raise ValueError(member.name)
            yield folder, path, data.read()


def is_inside(path: str) -> bool:
    """Whether a path leads to a file inside the folder that it starts from."""
    return "\0" not in path and not {"", ".", ".."} & {*path.split("/")}
