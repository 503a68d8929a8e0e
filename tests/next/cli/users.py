"""Users of the new program: each has a clean home, and runs commands in this process, in another, or on a terminal."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any
from unittest import mock

from tests import helpers, terminal
from tests.helpers import Ended, drive, run_line

with drive("next"):
    PROGRAM = run_line()
BEHIND = f"""import os, sys
if child := os.fork():
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
os.setpgid(0, 0)
{PROGRAM}"""


class User(helpers.User):
    def council(self, *words: str | Path, stdin: str | bytes = b"", **env: str) -> Ended:
        with drive("next"):
            return super().council(*words, stdin=stdin, **env)

    def spawn(self, *words: object, program: str = "", **how: Any) -> subprocess.Popen[bytes]:
        with drive("next"):
            return super().spawn(*words, program=program, **how)

    def replay(self, script: Path, *words: str | Path, **env: str) -> Ended:
        """A debate that is over at once."""
        return self.council("run", "--speaker", "replay", "--from", script, *words, **env)


class Running(terminal.Running):
    """One command on a terminal at which somebody types."""

    program = PROGRAM

    def __init__(self, user: User, *words: str | Path, columns: int = 80, rows: int = 30, **env: str) -> None:
        with mock.patch.object(terminal, "run_line", return_value=self.program):
            super().__init__(user, *words, columns=columns, rows=rows, **{"NO_COLOR": "1", **env})


class Behind(Running):
    """One command in the background: another group of processes has the terminal."""

    program = f"exec({BEHIND!r})"


class Shell(terminal.Shell):
    """A shell at whose prompt somebody calls the program."""

    def __init__(self, user: User) -> None:
        with drive("next"):
            super().__init__(user, NO_COLOR="1")
