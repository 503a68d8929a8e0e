"""What of the user's work tree is not in the commit, found without git ever comparing a file: it would run filters.

Files are read below the work tree, step by step, and no link on the way is followed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from council.errors import UsageError
from council.lab.repository import MOST_BYTES, OVERHEAD, Repository, Snapshot, explain_path
from council.text import join_words

POINTER = b"version https://git-lfs.github.com/spec/"
SKIPPED = b"S"  # git's sign for a file that a sparse checkout leaves out


@dataclass(frozen=True)
class Uncommitted:
    """Files that differ from the commit, with their content, None if they are gone; and files that git does not know.

    What a filter would change on its way into the repository is not compared.
    """

    changed: Mapping[str, bytes | None] = field(default_factory=dict)
    untracked: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.changed or self.untracked)

    def describe(self) -> str:
        """A few words for the user; empty if there is nothing."""
        parts = [
            f"{len(paths)} {kind} ({join_words(sorted(paths)[:2] + (['…'] if len(paths) > 2 else []))})"
            for kind, paths in (("changed", list(self.changed)), ("untracked", list(self.untracked)))
            if paths
        ]
        return join_words(parts)


def find_uncommitted(repository: Repository, commit: Snapshot) -> Uncommitted:
    """How the work tree differs from a commit."""
    if repository.bare:
        return Uncommitted()
    known = {path for path, tag in _list_index(repository) if tag != SKIPPED}
    skipped = {path for path, tag in _list_index(repository) if tag == SKIPPED}
    changed = {}
    for path in sorted((known | commit.files.keys()) - skipped - commit.left_out.keys()):
        if not explain_path(path):
            there, before = read_below(repository.top, path), commit.files.get(path)
            if there != before and not _is_filtered(before, there):
                changed[path] = there
    listed = repository.read("ls-files", "-z", "--others", "--exclude-standard").split(b"\0")[:-1]
    names = (name.decode("utf-8", "surrogateescape") for name in listed)
    return Uncommitted(changed, tuple(name for name in names if not (explain_path(name) or name in commit.files)))


def _list_index(repository: Repository) -> Iterator[tuple[str, bytes]]:
    for line in repository.read("ls-files", "-tsz", "--cached").split(b"\0")[:-1]:
        about, _, path = line.partition(b"\t")
        yield path.decode("utf-8", "surrogateescape"), about[:1]


def _is_filtered(before: bytes | None, there: bytes | None) -> bool:
    if before is None or there is None:
        return False
    return before.startswith(POINTER) or before == there.replace(b"\r\n", b"\n")


def add_uncommitted(repository: Repository, commit: Snapshot, found: Uncommitted) -> Snapshot:
    """The commit with the work tree's changes and its new files on top of it."""
    files = {**commit.files, **{path: data for path, data in found.changed.items() if data is not None}}
    files = {path: data for path, data in files.items() if found.changed.get(path, b"") is not None}
    total = sum(len(data) + OVERHEAD for data in files.values())
    for path in found.untracked:
        if (data := read_below(repository.top, path)) is not None:
            files[path], total = data, total + len(data) + OVERHEAD
        if total > MOST_BYTES:
            raise UsageError(f"--worktree: the files have more than {MOST_BYTES:,} bytes; ignore the large ones")
    return replace(commit, files=files)


def read_below(top: Path, path: str) -> bytes | None:
    """The content of a regular file below a folder; None if there is none, or a link on the way."""
    *folders, name = path.split("/")
    open_, flags = [os.open(top, os.O_RDONLY | os.O_DIRECTORY)], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        with suppress(FileNotFoundError, NotADirectoryError, OSError):
            for part in folders:
                open_.append(os.open(part, flags | os.O_DIRECTORY, dir_fd=open_[-1]))
            open_.append(os.open(name, flags, dir_fd=open_[-1]))
            about = os.fstat(open_[-1])
            if stat.S_ISREG(about.st_mode) and about.st_size <= MOST_BYTES:
                with os.fdopen(open_[-1], "rb", closefd=False) as file:
                    return file.read(MOST_BYTES)
        return None
    finally:
        for descriptor in open_:
            os.close(descriptor)
