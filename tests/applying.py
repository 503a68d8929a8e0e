"""Kills `council apply` at a chosen moment, with kill -9, and looks at what is left.

A program named git stands before the real one on PATH. At the call that is meant, it kills council before or after it
hands over; or it lets strace kill git itself at its Nth call that changes a file, and then kills council.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.helpers import Ended, User
from tests.repositories import git, picture

CHANGING = "openat,open,creat,write,pwrite64,rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,fsync"
WRAPPER = """#!/bin/sh
number=$(($(cat {count} 2>/dev/null || echo 0) + 1))
echo $number > {count}
echo "$*" >> {log}
if [ $number != {at} ]; then exec {git} "$@"; fi
case {how} in
    before) kill -9 $PPID; exit 1 ;;
    after) {git} "$@"; kill -9 $PPID ;;
    *) {strace} -qq -o {trace} -e trace={changing} -e inject={changing}:signal=KILL:when={how} {git} "$@"
       echo $? > {ended}
       kill -9 $PPID ;;
esac
"""


@dataclass(frozen=True)
class Point:
    """The call of git at which council dies, and how: before it, after it, or while git makes its Nth change."""

    at: int
    how: str


@dataclass(frozen=True)
class Killing:
    """A user with a session about a repository, and that repository as it was."""

    user: User
    session: str
    folder: Path

    @property
    def place(self) -> Path:
        return self.user.root / "killing"

    def apply(self, *words: str, **env: str) -> Ended:
        """One call that nothing disturbs."""
        return self.user.council("apply", *words, self.session, "--yes", "--repo", self.folder, **env)

    def kill(self, point: Point) -> Ended:
        env = {"PATH": self.prepare(point)}
        return self.user.process("apply", self.session, "--yes", "--repo", self.folder, env=env)

    def prepare(self, point: Point) -> str:
        """Put the other git in its place; the PATH that leads there."""
        shutil.rmtree(self.place, ignore_errors=True)
        self.place.mkdir()
        paths = {name: self.place / name for name in ("count", "log", "trace", "ended")}
        own = {"git": shutil.which("git"), "strace": shutil.which("strace") or "strace", "changing": CHANGING}
        program = self.place / "git"
        program.write_text(WRAPPER.format(**paths, **own, at=point.at, how=point.how))
        program.chmod(0o755)
        return f"{self.place}:{self.user.environment['PATH']}"

    def list_calls(self) -> list[str]:
        """The calls of git that one undisturbed apply makes; its branch is removed again."""
        assert self.apply(PATH=self.prepare(Point(0, ""))).code == 0
        calls = (self.place / "log").read_text().splitlines()
        assert self.apply("--undo").code == 0
        return calls

    @property
    def was_struck(self) -> bool:
        """Whether git was still at work when it was killed."""
        ended = self.place / "ended"
        return ended.exists() and ended.read_text().strip() not in ("0", "1")

    def check(self, before: dict[str, object]) -> Iterator[str]:
        """What is wrong after a death: it must have left nothing or the whole branch, and the next call makes it."""
        ref = f"refs/heads/council/{self.session}"
        there = git(self.folder, "for-each-ref", "--format=%(objectname)", ref).decode().strip()
        if picture(self.folder, ref) != before:
            yield "something of the user's changed"
        lock = self.folder / ".git" / f"{ref}.lock"
        again = self.apply()
        if lock.exists() and not there:
            if again.code != 2 or f"{ref}.lock" not in again.err:
                yield f"a lock that git left is not named: {again.err}"
            lock.unlink()
            again = self.apply()
        whole = git(self.folder, "for-each-ref", "--format=%(objectname)", ref).decode().strip()
        if again.code or not whole:
            yield f"apply did not work afterwards: {again.err}"
        if there not in ("", whole):
            yield "there was half a branch"
        try:
            git(self.folder, "fsck", "--no-dangling", "--connectivity-only")
        except subprocess.CalledProcessError as damaged:
            yield f"the repository is damaged: {damaged.stderr!r}"
        lock.unlink(missing_ok=True)
        undone = self.apply("--undo")
        if undone.code or picture(self.folder, ref) != before:
            yield f"undo did not work afterwards: {undone.err}"
