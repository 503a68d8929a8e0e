"""Users of the new program: each has a clean home, and runs commands in this process, in another, or on a terminal."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

from council.next.cli import main
from tests import helpers, terminal
from tests.helpers import Ended

PROGRAM = "import sys; from council.next.cli import main; sys.exit(main())"


BEHIND = f"""import os, sys
if child := os.fork():
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
os.setpgid(0, 0)
{PROGRAM}"""


def run_main() -> int:
    return main(sys.argv[1:])


class User(helpers.User):
    def council(self, *words: str | Path, stdin: str | bytes = b"", **env: str) -> Ended:
        with mock.patch.object(helpers, "_exit_code", run_main):
            return super().council(*words, stdin=stdin, **env)

    def spawn(self, *words: object, program: str = PROGRAM, **how: Any) -> subprocess.Popen[bytes]:
        return super().spawn(*words, program=program, **how)

    def replay(self, script: Path, *words: str | Path, **env: str) -> Ended:
        """A debate that is over at once."""
        return self.council("run", "--speaker", "replay", "--from", script, *words, **env)


class Running(terminal.Running):
    """One command on a terminal at which somebody types."""

    program = PROGRAM

    def __init__(self, user: User, *words: str | Path, columns: int = 80, rows: int = 30, **env: str) -> None:
        with mock.patch.object(terminal, "PROGRAM", self.program):
            super().__init__(user, *words, columns=columns, rows=rows, **{"NO_COLOR": "1", **env})


class Behind(Running):
    """One command in the background: another group of processes has the terminal."""

    program = f"exec({BEHIND!r})"


class Shell(terminal.Shell):
    """A shell at whose prompt somebody calls the program."""

    def __init__(self, user: User) -> None:
        with mock.patch.object(terminal, "PROGRAM", PROGRAM):
            super().__init__(user, NO_COLOR="1")
