"""A planning on disk: one small file that is complete or not there, and never changes. It has what was asked for, and
the ids of its sessions, chosen beforehand; all else is read from those sessions.
"""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from council.config.settings import Config
from council.errors import CouncilError, Damaged, UsageError
from council.record import catalog, files
from council.record.create import OLD
from council.text import did_you_mean

COUNCILS = ("board", "planning-1", "planning-2", "planning-3")
FOLDER = "council-planning"  # beside the folder of the sessions
ENDING = ".json"
ID = 24  # characters of a planning's id with the hyphen, before the council in the id of a session
SCHEMA = 1


@dataclass(frozen=True)
class Planning:
    """What was asked for. `folder` is where the command was called: each council begins there. `documents` are attached
    to the first one, by name. `sessions` are the ids of the sessions, by council, in order."""

    id: str
    started_at: str
    topic: str
    folder: str
    speaker: str
    sessions: Mapping[str, str]
    options: Mapping[str, Any] = field(default_factory=dict)
    tier_map: tuple[str, ...] = ()
    documents: tuple[tuple[str, str], ...] = ()
    replies: str = ""
    quorum: int | None = None
    max_calls: int | None = None
    max_cost: float | None = None


def name_sessions(id: str, first: str) -> dict[str, str]:
    """The ids of the sessions, from the first council on."""
    return {council: f"{id}-{council}" for council in COUNCILS[COUNCILS.index(first) :]}


def new_id() -> tuple[str, str]:
    """The id of a new planning, and when it began."""
    now = datetime.now(UTC)
    return f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(4)}", now.isoformat(timespec="microseconds")


def root(settings: Config) -> Path:
    return settings.sessions.parent / FOLDER


def write(settings: Config, planning: Planning) -> None:
    """Put it on the disk, complete or not at all. An id is taken once."""
    place = root(settings)
    files.make_folder(place)
    data = files.encode(json.dumps({"schema": SCHEMA, **asdict(planning)}, indent=2, ensure_ascii=False) + "\n")
    files.check_size(data, "the planning")
    _sweep(place)
    temp = place / f".{planning.id}{files.TEMP}"
    if not files.claim(place / f"{planning.id}{ENDING}", data, temp):
        raise UsageError(f"there is a planning {planning.id} already; try again")


def _sweep(place: Path) -> None:
    """Remove what was written and never named, because its command was killed: a planning gets its name at once."""
    for path in place.glob(f".*{files.TEMP}"):
        with suppress(OSError):
            if time.time() - path.lstat().st_mtime > OLD:
                path.unlink()


def read(settings: Config, id: str) -> Planning:
    path = root(settings) / f"{id}{ENDING}"
    try:
        found = json.loads(files.read(path))
        if found.pop("schema") > SCHEMA:
            raise UsageError(f"{path} was written by a newer council; update council")
        order = COUNCILS[-len(found["sessions"]) :]
        sessions = {council: catalog.check_id(found["sessions"][council]) for council in order}
        documents = tuple((str(name), str(text)) for name, text in found["documents"])
        return Planning(**{**found, "sessions": sessions, "documents": documents, "tier_map": tuple(found["tier_map"])})
    except (ValueError, TypeError, KeyError, AttributeError) as wrong:
        raise Damaged(path, f"not a planning that council wrote ({wrong}); restore it from a backup") from None


def list_ids(settings: Config) -> list[str]:
    """The ids of all plannings, newest first."""
    place = root(settings)
    names = [path.name for path in place.iterdir()] if place.is_dir() else []
    found = (name.removesuffix(ENDING) for name in names if name.endswith(ENDING) and not name.startswith("."))
    return sorted((id for id in found if catalog.GENERATED.fullmatch(id)), reverse=True)


def find(settings: Config, word: str) -> str | None:
    """The id that this word means: `last`, an id or a part of it, or the id of one of its sessions. None if it does not
    look like one; an error if it does and there is no such planning."""
    ids = list_ids(settings)
    if word in catalog.NEWEST:
        if not ids:
            raise UsageError('there is no planning yet; council planning "TOPIC" starts one')
        return ids[0]
    whole = catalog.GENERATED.match(word)
    if not whole and not re.fullmatch(r"[0-9a-f-]{4,23}", word):
        return None
    matching = [id for id in ids if id == word or word.startswith(f"{id}-")] or [
        id for id in ids if id.startswith(word) or id.endswith(word)
    ]
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise UsageError(f'"{word}" matches {len(matching)} plannings: {", ".join(matching[:4])}; give more of the id')
    if whole or re.fullmatch(r"[0-9a-f]{8}", word):
        raise UsageError(
            f'there is no planning "{word}"; {did_you_mean(word, ids[:20])}; `council planning` lists them'
        )
    return None


def read_all(settings: Config) -> Iterator[Planning | CouncilError]:
    """All plannings, newest first; the error for one that cannot be read."""
    for id in list_ids(settings):
        try:
            yield read(settings, id)
        except CouncilError as wrong:
            yield wrong
