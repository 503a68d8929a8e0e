"""A code debate that is killed: at any change of a file, or while a candidate's own code runs; then it is recovered."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from tests import coding
from tests.fakeapi import FakeApi
from tests.helpers import PATIENCE, Table, User

SUBREAPER = 36  # of prctl: orphans below this process become its children
PROGRAM = """
import os, sys
from tests import faults
log = os.open({log!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
faults.Injector(faults.Fault({kind!r}, {at}), {home!r}, lambda line: os.write(log, (line + "\\n").encode())).install()
from council.cli import main
sys.argv = ["council", "recover", "last"]
sys.exit(main())
"""


@contextmanager
def adopting() -> Iterator[Callable[[], list[int]]]:
    """Processes whose parent was killed become ours: a function that lists those that still run."""
    libc = ctypes.CDLL(None)
    libc.prctl(SUBREAPER, 1)
    before = {pid for pid, _ in coding.find_children(os.getpid())}

    def list_left() -> list[int]:
        new = [child for child in coding.find_children(os.getpid()) if child[0] not in before]
        for pid, _ in new:
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        return [child[0] for child in new if coding.is_alive(child)]

    try:
        yield list_left
    finally:
        libc.prctl(SUBREAPER, 0)


@dataclass
class World:
    """A user with a debate, whose members answer over HTTP."""

    user: User
    session: Path
    table: Table
    api: FakeApi

    def kill(self, kind: str, at: int) -> list[str]:
        """Continue the debate in a process with a fault at that call; the calls that it made."""
        log = self.user.root / "calls"
        with self.spawn(PROGRAM.format(log=str(log), kind=kind, at=at, home=str(self.user.home))) as process:
            process.communicate(timeout=PATIENCE)
            assert process.returncode == (-signal.SIGKILL if kind != "none" else 5)  # two are green, and nobody votes
        return [line for line in log.read_text().splitlines() if line.startswith("call ")]

    def kill_trial(self, made: int) -> None:
        """Continue the debate, and kill it while a sandbox is at work and this many trials are recorded."""

        def is_at_work() -> bool:
            trials = sum("trial" in turn for turn in self.recorded)
            return trials >= made and bool(coding.find_trials(process.pid))

        with self.spawn(PROGRAM.format(log=os.devnull, kind="none", at=0, home=str(self.user.home))) as process:
            assert coding.wait_until(lambda: is_at_work() or process.poll() is not None)
            process.kill()
            process.communicate(timeout=PATIENCE)

    def spawn(self, program: str) -> subprocess.Popen[bytes]:
        return self.user.spawn(program=program)

    @property
    def recorded(self) -> set[str]:
        turns = self.session / "turns"
        return {path.relative_to(turns).with_suffix("").as_posix() for path in turns.glob("*/*.md")}

    def read(self) -> dict[str, bytes]:
        """What was said, and what follows from it."""
        said = {turn: coding.body_of(self.session, turn) for turn in self.recorded}
        made = [*self.session.glob("candidates/**/*.patch"), *self.session.glob("metrics.json")]
        return said | {path.relative_to(self.session).as_posix(): path.read_bytes() for path in made}


@contextmanager
def world(root: Path) -> Iterator[World]:
    user = replace(User(root), env={"ANTHROPIC_API_KEY": "k"})
    table = Table(user, coding.DRAFTS)
    with FakeApi(table) as api:
        user.configure(f"endpoints: {{anthropic: {{base_url: {api.url}}}}}")
        yield World(user, coding.start(user, speaker="anthropic"), table, api)


@dataclass(frozen=True)
class Unbroken:
    calls: list[str]
    result: dict[str, bytes]


def run_unbroken(root: Path) -> Unbroken:
    with world(root) as whole:
        return Unbroken(whole.kill("none", 0), whole.read())


def find_faults(root: Path, unbroken: Unbroken, kill: Callable[[World], object], within: float = 1.0) -> list[str]:
    """What is wrong after this kill and a recovery, in sentences. Nothing may run any more after so many seconds."""
    wrong = []
    with world(root) as broken, adopting() as list_left:
        kill(broken)
        if not coding.wait_until(lambda: not list_left(), within):
            wrong.append(f"still running after {within:g} s: {list_left()}")
        stored, asked = broken.recorded, len(broken.table.asked)
        ended = broken.user.council("recover", "last")
        if ended.code != 5:  # as above
            return [*wrong, f"it cannot be recovered: {ended.err}"]
        if twice := stored.intersection(broken.table.asked[asked:]):
            wrong.append(f"paid twice: {sorted(twice)}")
        if (found := broken.read()) != unbroken.result:
            differ = sorted(
                name for name in found.keys() | unbroken.result if found.get(name) != unbroken.result.get(name)
            )
            wrong.append(f"not the same: {differ}")
        if (verified := broken.user.council("verify")).code:
            wrong.append(f"verify: {verified.text}")
    return wrong
