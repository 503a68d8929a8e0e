"""A session that is begun in a project, because the home is read-only, is whole or not there, and git never sees it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from prove import Outcome

from tests import sandboxes
from tests.faults import DEATHS, Fault

WALL, FIRST, EVERY = "permission denied", 16, 3  # each of the first calls, then one of three


def parts() -> list[str]:
    return [*DEATHS]


def prove(part: str) -> Outcome:
    if not sandboxes.works(WALL):
        return Outcome([], notes=["Sessions in projects were not tried: this machine cannot make a home read-only."])
    with tempfile.TemporaryDirectory() as folder:
        user = sandboxes.Sandboxed(Path(folder), wall=WALL)
        sandboxes.git(user.work, "init", "--quiet")
        calls = sandboxes.count_calls(user)
        points = [*range(1, FIRST), *range(FIRST + DEATHS.index(part), calls, EVERY)]
        wrong = {at: sandboxes.kill_start(user, Fault(part, at)) for at in points}
    held = sum(not one for one in wrong.values())
    row = ("sessions in projects are born whole", f"SIGKILL {part} a call of `council start`", len(points), held)
    return Outcome([row], [why for one in wrong.values() for why in one])
