"""A user in a sandbox that may write only to the project, as coding assistants run their commands.

The home is read-only for real: mounted so by bubblewrap, or closed by its permissions to a user without privileges.
Nothing names the home, so it is the default one, below HOME.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from council.record import catalog
from tests import rights, warm
from tests.faults import Fault
from tests.helpers import CODE, Ended, User, run_line

FORBIDDEN = "permission denied"
TINY = "65536"  # bytes of a disk that is full at once


@dataclass(frozen=True)
class Sandboxed(User):
    """A user whose home is `~/.claude/MEMORY`, by default; `council` runs in a process of its own, in the sandbox."""

    wall: str = ""

    @property
    def home(self) -> Path:
        return self.root / ".claude" / "MEMORY"

    @property
    def environment(self) -> dict[str, str]:
        found = super().environment
        return {name: value for name, value in found.items() if name != "COUNCIL_HOME" or "COUNCIL_HOME" in self.env}

    @property
    def in_project(self) -> list[Path]:
        """The sessions of the project, oldest first."""
        return sorted(path for path in (self.work / ".council" / "sessions").glob("*") if path.is_dir())

    def spawn(self, *words: object, program: str = "", **how: Any) -> subprocess.Popen[bytes]:
        return self.python(program or run_line(), *words, **how)

    def python(self, program: str, *words: object, cwd: Path | None = None, **how: Any) -> subprocess.Popen[bytes]:
        """A program in the sandbox."""
        env = {**self.environment, "PYTHONPATH": str(CODE), **how.pop("env", {})}
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        wall = WALLS[self.wall](self, cwd or self.work)
        if self.wall == FORBIDDEN and os.geteuid() == 0:
            program = rights.PROGRAM + program
        command = [*wall, sys.executable, "-c", program, *map(str, words)]
        return warm.start(command, cwd=cwd or self.work, env=env, **{**streams, **how})

    def inside(self, *words: str | Path, stdin: str = "", **how: Any) -> Ended:
        """One command in the sandbox, to its end."""
        return end(self.spawn(*words, stdin=subprocess.PIPE, **how), stdin)


def end(process: subprocess.Popen[bytes], stdin: str = "") -> Ended:
    with process:
        out, err = process.communicate(stdin.encode() if process.stdin else None, timeout=60)
    return Ended(process.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))


def mount_read_only(user: User, cwd: Path) -> list[str]:
    root, work = str(user.root), str(user.work)
    return ["bwrap", "--dev-bind", "/", "/", "--ro-bind", root, root, "--bind", work, work, "--chdir", str(cwd)]


def mount_full(user: User, cwd: Path) -> list[str]:
    """The home is on a disk with no space left."""
    (user.root / ".claude").mkdir(exist_ok=True)
    return [*mount_read_only(user, cwd), "--size", TINY, "--tmpfs", str(user.root / ".claude")]


def forbid(user: User, _: Path) -> list[str]:
    """The home belongs to the user, who has no right to write to it."""
    (user.root / ".claude").mkdir(exist_ok=True)
    permit(user, 0o500)
    return []


def permit(user: User, mode: int) -> None:
    for top, _, _ in os.walk(user.root / ".claude"):
        Path(top).chmod(mode)


WALLS: dict[str, Callable[[User, Path], Sequence[str]]] = {
    "": lambda _user, _cwd: [],
    "a read-only file system": mount_read_only,
    FORBIDDEN: forbid,
    "a full disk": mount_full,
}


@cache
def works(wall: str) -> bool:
    """Whether this machine can build the wall."""
    if wall == FORBIDDEN:
        return os.geteuid() != 0 or warm.python(rights.PROGRAM, stderr=subprocess.DEVNULL).wait() == 0
    words = ["bwrap", "--dev-bind", "/", "/", "--size", TINY, "--tmpfs", "/tmp", "true"]
    return bool(shutil.which("bwrap")) and subprocess.run(words, check=False, capture_output=True).returncode == 0


def behind(root: Path, wall: str) -> Sandboxed:
    if not works(wall):
        pytest.skip(f"this machine cannot make {wall}")
    return Sandboxed(root, wall=wall)


def leave(user: Sandboxed) -> Sandboxed:
    """The same user outside of the sandbox."""
    permit(user, 0o700)
    return Sandboxed(user.root, user.env)


# ---- a session that is begun there, and killed ----


def git(place: Path, *words: str) -> str:
    own = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    return subprocess.run(["git", *own, *words], cwd=place, check=True, capture_output=True, text=True).stdout


START = """
import os, sys
from tests import faults
told = os.dup(2)
injector = faults.Injector(faults.Fault({kind!r}, {at}), {top!r}, lambda _: None)
injector.install()
from council.cli import main
code = main()
os.write(told, f"calls: {{injector.count}}".encode())
sys.exit(code)
"""


def start(user: Sandboxed, fault: Fault) -> Ended:
    """`council start`, with a fault at one of the calls that change something in the project's `.council`."""
    top = user.work / ".council"
    shutil.rmtree(top, ignore_errors=True)
    return end(user.python(START.format(kind=fault.kind, at=fault.at, top=str(top)), "start", "Shall we?"))


def count_calls(user: Sandboxed) -> int:
    ended = start(user, Fault())
    assert ended.code == 0, ended.err
    return int(ended.err.rpartition("calls: ")[2])


def kill_start(user: Sandboxed, fault: Fault) -> list[str]:
    """What is wrong after it was killed, in sentences: a session is whole or not there, git sees none, and the next one
    begins as if nothing had been."""
    root, wrong = user.work / ".council" / "sessions", []
    killed = start(user, fault)
    if killed.code != -signal.SIGKILL:
        wrong.append(f"it was not killed: {killed.text}")
    seen = git(user.work, "status", "--porcelain", "--untracked-files=all").split()[1::2]
    if bad := [path for path in seen if Path(path).name != ".gitignore"]:
        wrong.append(f"git sees {', '.join(bad)}")
    states = [user.inside("status", id) for id in catalog.all_ids(root)]
    wrong += [f"a session is not whole: {state.text}" for state in states if state.code]
    if (again := user.inside("start", "Shall we?")).code:
        wrong.append(f"the next one does not begin: {again.text}")
    if left := git(user.work, "status", "--porcelain"):
        wrong.append(f"afterwards git sees {left}")
    return [f"killed {fault.kind} call {fault.at}: {one}" for one in wrong]
