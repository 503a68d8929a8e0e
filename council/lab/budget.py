"""The money of all sessions of a comparison, also where several programs run it: a limit that they share by files.

Before a session runs it needs an allowance: the most that it can cost. What the sessions that run now may still spend
counts, and of all others what they did spend. A program that ends, however it ends, gives its allowances back.
"""

from __future__ import annotations

import fcntl
import math
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from council.errors import Busy, OverBudget
from council.lab.experiment import LOCK, alone
from council.record import files

FOLDER = "allowances"
LOOK = 0.2  # seconds between two looks whether another session has ended


@contextmanager
def allow(
    folder: Path, id: str, most: float | None, usd: float, spent: Callable[[str], float], stopped: threading.Event
) -> Iterator[float]:
    """How much the session may have cost in all when it pauses. `most` is what it can cost, None if that is unknown;
    `spent` says what a session has cost.

    If that is too much while others run, it waits for them; if nobody runs, the rest is its own.
    """
    place = folder / FOLDER
    files.make_folder(place)
    with files.storing(place / id):
        file = (place / id).open("a+b")
    with file as own:
        fcntl.flock(own, fcntl.LOCK_EX)
        try:
            while (cap := _find_room(place, id, most, usd, spent)) is None:
                if stopped.wait(LOOK):
                    raise Busy("the run was stopped")
            yield cap
        finally:
            os.ftruncate(own.fileno(), 0)


def _find_room(place: Path, id: str, most: float | None, usd: float, spent: Callable[[str], float]) -> float | None:
    """The session's allowance, written down; None if it has to wait."""
    with alone(place):
        others = [path.name for path in place.iterdir() if path.name not in (id, LOCK)]
        running = {name: cap for name in others if (cap := _read_cap(place / name)) is not None}
        left = usd - math.fsum(running[name] if name in running else spent(name) for name in others)
        before = spent(id)
        if left <= before and not running:
            raise OverBudget(f"the limit of ${usd:g} is reached (--max-cost); continue with a higher one")
        if left <= before or (running and (most is None or most > left)):
            return None
        cap = left if most is None else min(left, max(most, before))
        with files.storing(place / id):
            (place / id).write_text(repr(cap))
        return cap


def _read_cap(path: Path) -> float | None:
    """The allowance of a session that runs now; None if none does, or the one that wants to is waiting."""
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return float(file.read() or 0) or None
    return None
