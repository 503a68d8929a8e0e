"""Reads and seals `metadata.json`. A file that was edited, cut off or written by a newer council is refused."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from council.errors import Damaged
from council.record import files, program
from council.record.turn_file import EDITED, sha256
from council.workflow.model import NAME

FROZEN = ("workflow.md", "topic.md", program.NAME)  # what decides a debate, written before its metadata
EXTRA = re.compile(r"[a-z]+\.(json|tar)")  # what a room may freeze besides; the hashes of all are in `files`
SCHEMA = 2  # since 2, templates and personas are frozen in `program.json`

OTHERS = (
    "metadata.json",
    "convergence.json",
    "state.json",
    "runner.json",
)  # names that a session has for something else

NEEDED: dict[str, type | tuple[type, ...]] = {
    "schema": int, "session_id": str, "topic": str, "started_at": str, "members": list, "output_mode": str,
    "rounds_planned": (str, int), "workflow": str, "options": dict, "seed": str, "speaker": str, "tiers": dict,
    "files": dict,
}  # fmt: skip

# What may be there too: a type, or the type that a list or an object holds.
STAMP = {"files": {str: str}, "turns": str, "council": str}
SHAPES: dict[str, Any] = {
    "options": {str: (bool, str)}, "tiers": {str: {str: str}}, "files": {str: str}, "seats": {str: {str: object}},
    "council": str, "model": str, "replay_of": str, "after": str, "attachments": [str], "project": str,
    "overlays": [{"folder": str, "whose": str, "files": {str: str}}],
    "configured": [{"whose": str, "options": {str: (bool, str)}, "limits": {str: (int, float)}}],
    "dismissed": {str: str}, "continued_by": str,
    "completed_at": str, "rounds_completed": int, "outcome": (str, type(None)), "absent": [str], "archived_to": str,
    "totals": {str: (int, float, type(None))}, "derived": STAMP, "archived": STAMP, "deriving": STAMP,
}  # fmt: skip


def read_existing(path: Path) -> bytes:
    try:
        return files.read(path)
    except OSError as failure:
        raise Damaged(path, f"cannot be read ({os.strerror(failure.errno or 0)}); restore it from a backup") from None


def seal(metadata: Mapping[str, Any]) -> bytes:
    plain = {key: value for key, value in metadata.items() if key != "seal"}
    return _write(plain, digest(plain))


def _write(plain: Mapping[str, Any], seal: str) -> bytes:
    return files.encode(json.dumps({**plain, "seal": seal}, indent=2, ensure_ascii=False) + "\n")


SORTED = json.JSONEncoder(sort_keys=True, ensure_ascii=False)  # made once: that takes as long as encoding a little


def digest(plain: Mapping[str, Any]) -> str:
    """The hash of plain data, whatever the order of its keys."""
    return sha256(files.encode(SORTED.encode(plain)))


def read_metadata(folder: Path) -> dict[str, Any]:
    path = folder / "metadata.json"
    try:
        data = read_existing(path)
        found = json.loads(data, object_pairs_hook=_each_once)
    except (ValueError, RecursionError):
        raise Damaged(path, "not valid JSON; restore it from a backup") from None
    if isinstance(found, dict) and isinstance(found.get("schema"), int) and found["schema"] > SCHEMA:
        raise Damaged(
            path,
            f"written by a newer council (schema {found['schema']}, this one knows {SCHEMA}); update council",
        )
    sealed = found.pop("seal", None) if isinstance(found, dict) else None
    if not isinstance(found, dict) or sealed != digest(found) or data != _write(found, sealed):
        raise Damaged(path, f"{EDITED}; restore it from a backup")
    wrong = [key for key, kind in NEEDED.items() if not isinstance(found.get(key), kind)] or list(_misshapen(found))
    if wrong or found["session_id"] != folder.name:
        raise Damaged(path, f"{', '.join(wrong) or 'session_id'} is missing or invalid; restore the file from a backup")
    return found


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object; two equal keys are refused, because one would hide the other."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("duplicate key")
    return found


def _misshapen(found: Mapping[str, Any]) -> Iterator[str]:
    """The keys with invalid values. A member's name becomes a path, so it must be a name."""
    if not found["members"] or not all(isinstance(name, str) and NAME.fullmatch(name) for name in found["members"]):
        yield "members"
    if found["schema"] < 2 and "seats" not in found:
        yield "seats"
    yield from (key for key, shape in SHAPES.items() if key in found and not _fits(found[key], shape))
    added = found["files"].keys() - {*FROZEN}
    if not set(FROZEN if found["schema"] > 1 else FROZEN[:2]) <= set(found["files"]) or not all(map(is_extra, added)):
        yield "files"
    for key in {"started_at", "completed_at"} & found.keys():
        try:
            moment = datetime.fromisoformat(found[key])
            moment.astimezone(UTC)  # near the ends of the calendar that is not possible
            if moment.tzinfo is None:
                yield key
        except (ValueError, TypeError, OverflowError):
            yield key
    if re.match("~[^/]|.*\0", str(found.get("archived_to")), re.S):  # council archives in no other user's home
        yield "archived_to"


def is_extra(name: str) -> bool:
    """Whether a file that a room adds to what is frozen may have this name."""
    return EXTRA.fullmatch(name) is not None and name not in (*FROZEN, *OTHERS)


def _fits(value: object, shape: Any) -> bool:
    """Whether plain data is of this type, or a list or an object of what fits; an object may have more keys."""
    if isinstance(shape, list):
        return isinstance(value, list) and all(_fits(one, shape[0]) for one in value)
    if not isinstance(shape, dict):
        return isinstance(value, shape)
    if not isinstance(value, dict):
        return False
    if str in shape:
        return all(_fits(one, shape[str]) for one in value.values())
    return all(key in value and _fits(value[key], inner) for key, inner in shape.items())
