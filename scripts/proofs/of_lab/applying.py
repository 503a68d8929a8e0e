"""Whatever call `council apply` dies at, there is nothing or the whole branch, and the user's own is untouched."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from prove import Outcome

from tests import repositories
from tests.applying import Killing, Point
from tests.code_sessions import about
from tests.helpers import User
from tests.repositories import picture

PROMISE = "apply leaves nothing or a branch"
WRITES = ("hash-object", "read-tree", "update-index", "write-tree", "commit-tree", "update-ref")
MOST = 200  # changes of files by one call of git; none comes near


def parts() -> list[str]:
    return ["council is killed around each call of git", *(f"git {name} is killed at each change" for name in WRITES)]


def prove(part: str) -> Outcome:
    with TemporaryDirectory(prefix="council-proof-") as place:
        user, folder = User(Path(place, "user")), repositories.make(Path(place, "project"))
        repositories.disturb(folder)
        killing = Killing(user, about(user, folder).id, folder)
        before = picture(folder, killing.session)
        calls = killing.list_calls()
        if part.startswith("council"):
            points = [Point(at, how) for at in range(1, len(calls) + 1) for how in ("before", "after")]
            wrong = [f"{part}, {point}: {what}" for point in points for what in _strike(killing, point, before)]
            tried = len(points)
        else:
            if shutil.which("strace") is None:
                return Outcome([], [f"{part}: strace is not installed"])
            name = part.split()[1]
            wrong, tried = _strike_inside(killing, calls, name, before)
    held = tried - len({line.rpartition(": ")[0] for line in wrong})
    row = (PROMISE, part, "nothing, or the whole branch", f"{held} times")
    return Outcome([(*row, tried, held)], wrong)


def _strike(killing: Killing, point: Point, before: dict[str, object]) -> list[str]:
    ended = killing.kill(point)
    return [*([f"it ended with {ended.code}"] if ended.code != -9 else []), *killing.check(before)]


def _strike_inside(killing: Killing, calls: list[str], name: str, before: dict[str, object]) -> tuple[list[str], int]:
    """Git dies at its first change of a file, then at its second, until it comes to its end."""
    wrong, tried = [], 0
    for at in (at for at, call in enumerate(calls, 1) if f" {name} " in f"{call} "):
        for number in range(1, MOST):
            point = Point(at, str(number))
            found = _strike(killing, point, before)
            if not killing.was_struck:
                break
            tried += 1
            wrong += [f"git {name}, change {number}: {what}" for what in found]
    return wrong, tried
