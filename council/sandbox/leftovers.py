"""What a killed runner left on the machine is told from what another one still uses."""

from __future__ import annotations

import contextlib
import os
import signal
from functools import cache
from pathlib import Path

WORD = "COUNCIL_RUNNER"  # of bubblewrap's environment: whose it is


@cache
def sweep() -> None:
    """Kill what is left of sandboxes whose runner is gone; once in each process.

    Bubblewrap dies with its runner, and the sandbox with bubblewrap. But if both die before bubblewrap has let the
    sandbox's first process begin, that one waits for ever: it has not yet asked to be killed.
    """
    for process in Path("/proc").glob("[1-9]*"):
        with contextlib.suppress(OSError):
            if process.joinpath("comm").read_bytes() == b"bwrap\n":
                words = process.joinpath("environ").read_text("utf-8", "replace").split("\0")
                if any(name == WORD and is_gone(runner) for name, _, runner in (word.partition("=") for word in words)):
                    os.kill(int(process.name), signal.SIGKILL)


def identify() -> str:
    """What no other process has had: the space of its id, the id and when it started."""
    return f"{_read_space()}-{os.getpid()}-{_read_start(os.getpid())}"


def is_gone(runner: str) -> bool:
    """Whether that process has ended. Of one in another space nobody can tell from here."""
    try:
        space, process, started = map(int, runner.split("-"))
    except ValueError:
        return False
    return space == _read_space() and _read_start(process) != started


def _read_space() -> int:
    return Path("/proc/self/ns/pid").stat().st_ino


def _read_start(process: int) -> int:
    """0 if there is no such process."""
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{process}/stat").read_text("utf-8", "replace").rpartition(") ")[2].split()[19])
    return 0
