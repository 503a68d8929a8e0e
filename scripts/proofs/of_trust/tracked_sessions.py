"""A session that git tracks may be a stranger's: no command, tool or hook writes to it, and nobody is paid for it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from prove import Outcome

from tests import tracked

WAYS = {**tracked.WAYS, **tracked.UNKNOWN}


def parts() -> list[str]:
    return [*WAYS]


def prove(part: str) -> Outcome:
    refusal = tracked.REFUSED if part in tracked.WAYS else tracked.UNTOLD
    with tempfile.TemporaryDirectory() as folder:
        user, session = tracked.bring_all(Path(folder))
        WAYS[part](session)
        found = {name: tracked.find_wrong(user, name, refusal) for name in tracked.TRIES if name != "review"}
    wrong = [f"{part}: {why}" for problems in found.values() for why in problems]
    held = sum(not problems for problems in found.values())
    return Outcome([("what git tracks is not continued", f"commands, tools, events: {part}", len(found), held)], wrong)
