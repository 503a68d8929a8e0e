"""Hostile replies on their way through council: recorded, derived from and tried. Every write is watched."""

from __future__ import annotations

import contextlib
import ctypes
import os
import random
import struct
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from council.candidates.files import read_files
from council.sandbox.model import Job
from council.sandbox.run import SandboxError, run
from council.workflow.types import Unreadable
from tests import coding, hostile_replies
from tests.helpers import User

CHANGES = 0x2 | 0x4 | 0x40 | 0x80 | 0x100 | 0x200  # written, attributes, moved from, moved to, created, deleted
DIRECTORY, NO_WAIT = 0x40000000, 0o4000
HEAD = struct.Struct("iIII")
OF_THE_MACHINE = ("/", "/etc", "/etc/cron.d", "/usr", "/home", "/var")
WORKFLOW = """---
name: sums
description: One member writes.
seats: {members: architect}
phases: [{name: draft, prompt: draft, reply: {solution: files}}]
---

# Sums

## Prompts

### Draft

Write `add`.
"""
TURN = "01-draft/architect"


class Watch:
    """What is written in folders and in all that is below them, as inotify tells it."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._inotify = self._libc.inotify_init1(NO_WAIT)
        self._folders: dict[int, Path] = {}

    def add(self, folder: Path, below: bool = True) -> None:
        for place in [folder, *([path for path in folder.rglob("*") if path.is_dir()] if below else [])]:
            number = self._libc.inotify_add_watch(self._inotify, os.fsencode(place), CHANGES)
            assert number >= 0, f"{place}: {os.strerror(ctypes.get_errno())}"
            self._folders[number] = place

    def read(self) -> Iterator[Path]:
        """What was written since the last time."""
        while True:
            try:
                data = os.read(self._inotify, 65536)
            except BlockingIOError:
                return
            while data:
                number, mask, _, length = HEAD.unpack_from(data)
                path = self._folders[number] / os.fsdecode(data[HEAD.size : HEAD.size + length].rstrip(b"\0"))
                data = data[HEAD.size + length :]
                if mask & DIRECTORY and path.is_dir() and not path.is_symlink():
                    self.add(path)
                yield path


def try_replies(first: int, count: int) -> list[str]:
    """What is wrong: something was written that a harmless reply does not write, or elsewhere."""
    with tempfile.TemporaryDirectory(prefix="council-borders-") as folder:
        user = prepare(Path(folder))
        usual = names_in(follow(user, coding.RIGHT))
        assert "candidates/architect/v1.patch" in usual
        watch, wrong = Watch(), []
        watch.add(user.work)
        for place in filter(Path.is_dir, map(Path, OF_THE_MACHINE)):
            watch.add(place, below=False)
        before = list_files(user)
        for number in range(first, first + count):
            reply = hostile_replies.make(random.Random(number), number % 2 == 1)
            written = names_in(follow(user, reply.body)) - usual
            wrong += [f"reply {number}: the session has {path}" for path in sorted(written)]
            wrong += [f"reply {number}: {path} was written" for path in watch.read()]
        changed = list_files(user).items() ^ before.items()
        return [*wrong, *(f"{path} has changed" for path in sorted({path for path, _ in changed}))]


def try_paths() -> list[str]:
    """The sandbox itself, given paths that no reader lets through."""
    wrong = []
    watch = Watch()
    for place in filter(Path.is_dir, map(Path, OF_THE_MACHINE)):
        watch.add(place, below=False)
    for name, path in hostile_replies.PATHS.items():
        try_tree({path: b"out"})
        wrong += [f"{name}: {written} was written" for written in watch.read()]
    return wrong


def prepare(root: Path) -> User:
    """Somebody in a repository, who has written the workflow."""
    user = User(root)
    coding.write_workflow(user, WORKFLOW)
    for path in (".git/hooks/pre-commit.sample", "src/calc.py", "README.md"):
        user.write(path, "as it was\n")
    return user


def follow(user: User, body: str) -> Path:
    """A session with this reply, with all that is derived from it, and its files in the sandbox."""
    session = coding.start(user, WORKFLOW)
    user.council("record", session.name, TURN, stdin=body.encode("utf-8", "surrogatepass"))
    user.council("build", session.name)
    try:
        found = read_files(body, "", False)
        try_tree(found.lay_on(coding.BASE.tree) if found else {})
    except Unreadable:
        pass
    return session


def try_tree(tree: Mapping[str, bytes]) -> None:
    with contextlib.suppress(SandboxError, UnicodeError):
        run(Job(("true",), tree))


def names_in(session: Path) -> set[str]:
    return {str(path.relative_to(session)) for path in session.rglob("*")}


def list_files(user: User) -> dict[Path, tuple[int, int]]:
    """Every file of the user, with its size and when it was written, but what council keeps and is configured by."""
    own = (user.home, user.settings)
    paths = [path for path in user.root.rglob("*") if not any(map(path.is_relative_to, own)) and path.is_file()]
    return {path: (path.lstat().st_size, path.lstat().st_mtime_ns) for path in paths}
