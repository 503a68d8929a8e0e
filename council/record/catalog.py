"""The sessions of a home: listing them, and finding one by its id or a part of it. It reads
no more of a session than when it began."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from council.errors import CouncilError, UsageError
from council.record import files
from council.text import did_you_mean

ID = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
GENERATED = re.compile(r"\d{8}-\d{6}-[0-9a-f]{8}")  # the time in UTC, and a random number
SHORTEST = 4  # characters of an id that are enough to find it
NEWEST = ("last", "latest")
HEAD = re.compile(rb'\{\s*"schema": \d+,\s*"session_id": "([^"]*)",\s*"started_at": "([^"]*)"')


def check_id(id: str) -> str:
    """An id that a caller chose. It becomes a folder and a word on command lines."""
    if not ID.fullmatch(id):
        raise UsageError(
            f'"{id[:80]}" cannot be the id of a session: use up to 64 lower-case letters, digits and hyphens, '
            "beginning and ending with a letter or digit"
        )
    if id in NEWEST:
        raise UsageError(f'"{id}" cannot be the id of a session: it means the newest one')
    return id


def shorten(id: str) -> str:
    """The part of an id that tells sessions apart: the random number, or all of an id that a caller chose."""
    return id[-8:] if GENERATED.fullmatch(id) else id


def all_ids(root: Path) -> list[str]:
    """The ids of the sessions, newest first."""
    names = [name for name in os.listdir(root) if ID.fullmatch(name)] if os.path.isdir(root) else []
    began = {name: moment for name in names if (moment := read_beginning(root / name))}
    return sorted(began, key=lambda name: (began[name], name), reverse=True)


def exists(root: Path, id: str) -> bool:
    return bool(ID.fullmatch(id) and read_beginning(root / id))


def began_at(folder: Path) -> datetime:
    """When the session in a folder began, as well as its files tell."""
    return (read_beginning(folder) or (_guess_moment(folder), 0))[0]


def read_beginning(folder: Path) -> tuple[datetime, int] | None:
    """When a session began: its metadata say so, to the microsecond. None if the folder is not a session.

    Sessions of earlier versions know only the second; of those in one second, the age of a file that is written first
    and never again decides. A damaged session is a session.
    """
    try:
        head = HEAD.match(files.read(folder / "metadata.json", 300))
    except (OSError, CouncilError):
        head = None
    if head is None:
        there = any(os.path.lexists(folder / name) for name in ("metadata.json", "turns"))
        return (_guess_moment(folder), 0) if there else None
    if head[1].decode("utf-8", "replace") != folder.name and not GENERATED.fullmatch(folder.name):
        return None  # a copy of another session
    try:
        moment = datetime.fromisoformat(head[2].decode("ascii")).astimezone(UTC)
    except (ValueError, OverflowError):
        return _guess_moment(folder), 0
    return moment, 0 if moment.microsecond else _written(folder)


def _guess_moment(folder: Path) -> datetime:
    """When a session with damaged metadata began: its id, if council chose it, or the age of its workflow."""
    if GENERATED.fullmatch(folder.name):
        with suppress(ValueError):
            return datetime.strptime(folder.name[:15], "%Y%m%d-%H%M%S").replace(tzinfo=UTC)
    with suppress(ValueError, OverflowError):  # some file systems hold years that no calendar has
        return datetime.fromtimestamp(_written(folder) / 1e9, UTC)
    return datetime.fromtimestamp(0, UTC)


def _written(folder: Path) -> int:
    try:
        return os.stat(folder / "workflow.md", follow_symlinks=False).st_mtime_ns
    except OSError:
        return 0


def find(root: Path, word: str) -> Path:
    """The folder of the session with this id, or with an unambiguous part of it; `last` is the newest. Never a path
    elsewhere."""
    if word in NEWEST:
        if not (ids := all_ids(root)):
            raise UsageError(f'there is no session in {root} yet; `council run "topic"` starts one')
        return root / ids[0]
    if not re.fullmatch(r"[0-9a-z-]{1,64}", word):
        raise UsageError(f'"{word[:60]}" is not a session id; `council list` shows your sessions')
    matching = match(root, word)
    if len(matching) == 1:
        return root / matching[0]
    if matching:
        more = f" and {len(matching) - 4} more" if len(matching) > 4 else ""
        raise UsageError(
            f'"{word}" matches {len(matching)} sessions: {", ".join(matching[:4])}{more}; give more of the id'
        )
    raise UsageError(f'there is no session "{word}" in {root}; {did_you_mean(word, all_ids(root)[:20])}')


def match(root: Path, word: str) -> list[str]:
    """The ids that a word may mean: the one that it is, or else all that begin or end with it."""
    if exists(root, word):
        return [word]
    ids = all_ids(root) if len(word) >= SHORTEST else []
    return [id for id in ids if id.startswith(word) or id.endswith(word)]
