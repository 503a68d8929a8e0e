"""Users of the new program: each has a clean home, and runs commands in this process, in another, or on a terminal."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from tests import helpers, terminal
from tests.helpers import Ended, drive, run_line

with drive("next"):
    PROGRAM = run_line()


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

    def __init__(self, user: User, *words: str | Path, columns: int = 80, rows: int = 30, **env: str) -> None:
        with drive("next"):
            super().__init__(user, *words, columns=columns, rows=rows, **{"NO_COLOR": "1", **env})
