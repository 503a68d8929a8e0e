"""Strikes a process at each call that changes a file: killed before or after it, half-way through a write, or refused.

A scenario is a function of a folder. It runs in a forked child whose calls are counted; at call N the fault strikes.
"""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CALLS = ("open", "write", "fsync", "rename", "mkdir", "unlink", "rmdir")
DEATHS = ("before", "after", "half")
ERRORS = {"full": errno.ENOSPC, "broken": errno.EIO}


@dataclass
class Strike:
    kind: str = "none"
    at: int = 0
    number: int = 0
    for_good: bool = False  # every call from then on is refused
    trace: list[tuple[str, str]] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)

    def wrap(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            if name == "open" and not args[1] & (os.O_CREAT | os.O_DIRECTORY):
                return real(*args, **named)
            self.number += 1
            struck = self.number == self.at or (self.for_good and self.number > self.at)
            if struck and self.kind == "before":
                os.kill(os.getpid(), signal.SIGKILL)
            if struck and self.kind == "half" and name == "write":
                real(args[0], bytes(args[1])[: len(args[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            if struck and self.kind in ERRORS and not (self.kind == "full" and name in ("fsync", "unlink", "rmdir")):
                raise OSError(ERRORS[self.kind], os.strerror(ERRORS[self.kind]))
            result = real(*args, **named)
            if struck and self.kind in ("after", "half"):
                os.kill(os.getpid(), signal.SIGKILL)
            if name == "open":
                self.names[result] = str(args[0])
            what = self.names.get(args[0], "?") if isinstance(args[0], int) else str(args[0])
            looks = name == "open" and not args[1] & os.O_CREAT
            self.trace.append(("look" if looks else name, f"{what} > {args[1]}" if name == "rename" else what))
            return result

        return call


@contextmanager
def struck(strike: Strike) -> Iterator[Strike]:
    """In this block, the strike counts and falls."""
    real = {name: getattr(os, name) for name in CALLS}
    try:
        for name in CALLS:
            setattr(os, name, strike.wrap(name, real[name]))
        yield strike
    finally:
        for name in CALLS:
            setattr(os, name, real[name])


def count(scenario: Callable[[Path], None], folder: Path) -> Strike:
    """How many calls the scenario makes, and which."""
    with struck(Strike()) as strike:
        scenario(folder)
    return strike


def die(scenario: Callable[[Path], None], folder: Path, kind: str, at: int) -> bool:
    """Run the scenario in a child that is struck. True if it was killed."""
    child = os.fork()
    if not child:
        try:
            with struck(Strike(kind, at)):
                scenario(folder)
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])
