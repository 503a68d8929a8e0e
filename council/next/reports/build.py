"""Writes the derived files of a session. They can be deleted, and building them again gives the same bytes."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import PurePosixPath

from council.next.errors import Damaged
from council.next.record import files
from council.next.record.session import Session
from council.next.reports.section import added_by_rooms
from council.next.reports.state import convergence, state

STATE, CONVERGENCE = "state.json", "convergence.json"


def build(session: Session) -> None:
    """Write what follows from the record now, and remove what rooms derived from it before and do not any more."""
    now = state(session)
    made = {name: data for _, section in added_by_rooms(session) for name, data in section.files.items()}
    for name in before(session):
        if name not in made and is_safe(name):
            with suppress(OSError):
                (session.folder / name).unlink()
    for name, data in made.items():
        if not is_safe(name):
            raise ValueError(f"{name} is not a name for a derived file")
        files.make_folder((session.folder / name).parent)
        files.replace(session.folder / name, data)
    files.replace(session.folder / CONVERGENCE, files.to_json(convergence(session)))
    files.replace(session.folder / STATE, files.to_json(now))


def before(session: Session) -> list[str]:
    """The files that rooms derived at the last build. None, if that cannot be read: a derived file proves nothing."""
    with suppress(OSError, Damaged, json.JSONDecodeError):
        found = files.read_json(session.folder / STATE).get("files")
        return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []
    return []


RECORD = ("turns", "briefs", "attempts", "desk", "attached", "frozen")
FIXED = ("metadata.json", "program.json", "workflow.md", "topic.md", "runner.json", STATE, CONVERGENCE)


def is_safe(name: str) -> bool:
    """Whether a room may have a file of this name: below the session, and nothing of the record."""
    parts = PurePosixPath(name).parts
    plain = bool(parts) and not any(part in ("..", "/") or part.startswith(".") for part in parts)
    return plain and parts[0] not in RECORD and name not in FIXED
