"""Changed copies of the repository: one process does all the commands of a copy, so it is imported once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.helpers import Ended, User

# Each order is a line on stdin; its exit code, stdout and stderr are the answer.
DRIVER = """
import json, os, sys
from tempfile import TemporaryFile
import council
from council.cli import main
orders, answers = sys.stdin, sys.stdout
for line in orders:
    sys.argv = ["council", *json.loads(line)]
    with open(os.devnull) as sys.stdin, TemporaryFile("w+") as sys.stdout, TemporaryFile("w+") as sys.stderr:
        try:
            code = main() if sys.argv[1:] else print(council.load_session("last").outcome)
        except SystemExit as ended:
            code = ended.code
        said = [stream.seek(0) or stream.read() for stream in (sys.stdout, sys.stderr)]
    sys.stderr = sys.__stderr__
    print(json.dumps([code or 0, *said]), file=answers, flush=True)
"""


@dataclass(frozen=True)
class Copy:
    """A process of a copy, and a user of it."""

    user: User
    driver: subprocess.Popen[str]

    def run(self, *words: str | Path) -> Ended:
        """A command; without words, what the library says of the last session."""
        assert self.driver.stdin is not None
        assert self.driver.stdout is not None
        print(json.dumps([*map(str, words)]), file=self.driver.stdin, flush=True)
        return Ended(*json.loads(self.driver.stdout.readline()))

    def ok(self, *words: str | Path) -> str:
        ended = self.run(*words)
        assert ended.code == 0, ended.err
        return ended.out


@contextmanager
def driven(folder: Path, user: User) -> Iterator[Copy]:
    env = {**user.environment, "PYTHONPATH": str(folder), "PATH": os.environ["PATH"]}
    command = [sys.executable, "-W", "error", "-c", DRIVER]
    with subprocess.Popen(
        command, cwd=user.work, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as driver:
        yield Copy(user, driver)
