"""Reads and seals `metadata.json`. A file that was edited, cut off or written by a newer council is refused."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from council.errors import Damaged
from council.record import files, program
from council.record.turn_file import EDITED, sha256
from council.workflow.model import NAME

FROZEN = ("workflow.md", "topic.md", program.NAME)  # what decides a debate, written before its metadata
SCHEMA = 2  # since 2, templates and personas are frozen in `program.json`

NEEDED: dict[str, type | tuple[type, ...]] = {
    "schema": int, "session_id": str, "topic": str, "started_at": str, "members": list, "output_mode": str,
    "rounds_planned": (str, int), "workflow": str, "options": dict, "seed": str, "speaker": str, "tiers": dict,
    "files": dict,
}  # fmt: skip


def read_existing(path: Path) -> bytes:
    try:
        return files.read(path)
    except OSError as failure:
        raise Damaged(path, f"cannot be read ({os.strerror(failure.errno or 0)}); restore it from a backup") from None


def seal(metadata: Mapping[str, Any]) -> bytes:
    plain = {key: value for key, value in metadata.items() if key != "seal"}
    return files.encode(json.dumps({**plain, "seal": digest(plain)}, indent=2, ensure_ascii=False) + "\n")


def digest(plain: Mapping[str, Any]) -> str:
    """The hash of plain data, whatever the order of its keys."""
    return sha256(files.encode(json.dumps(plain, sort_keys=True, ensure_ascii=False)))


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
    if not isinstance(found, dict) or found.pop("seal", None) != digest(found) or data != seal(found):
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
    seats = found.get("seats", None if found["schema"] < 2 else {})
    for key, value in {"seats": seats, "tiers": found["tiers"]}.items():
        if not isinstance(value, dict) or not all(isinstance(inner, dict) for inner in value.values()):
            yield key
        elif key == "tiers":
            yield from (key for tier in value.values() if not all(isinstance(word, str) for word in tier.values()))
    if not set(FROZEN if found["schema"] > 1 else FROZEN[:2]) <= set(found["files"]):
        yield "files"
    if not isinstance(used := found.get("overlays", []), list) or not all(map(_is_overlay, used)):
        yield "overlays"
    try:
        if datetime.fromisoformat(found["started_at"]).tzinfo is None:
            yield "started_at"
    except ValueError:
        yield "started_at"
    yield from _misshapen_later(found)


def _misshapen_later(found: Mapping[str, Any]) -> Iterator[str]:
    """The same of what is added when a debate ends. `~name` is another user's home, where council archives nothing."""
    archived = found.get("archived_to", "/")
    if not isinstance(archived, str) or "\0" in archived or re.match("~[^/]", archived):
        yield "archived_to"
    for key in ("derived", "archived", "deriving"):
        stamp = found.get(key, {"files": {}, "turns": "", "council": ""})
        if (
            not isinstance(stamp, dict)
            or not isinstance(stamp.get("files"), dict)
            or not {"turns", "council"} <= set(stamp)
        ):
            yield key


def _is_overlay(value: Any) -> bool:
    """Whether it says whose files were used instead of the kit's: `whose`, `folder`, and `files` with their hashes."""
    if not isinstance(value, dict) or not isinstance(value.get("files"), dict):
        return False
    return all(isinstance(word, str) for word in (value.get("whose"), value.get("folder"), *value["files"].values()))
