"""A turn as a file: the receipt as frontmatter, the reply as the body, byte for byte, and a seal over both.

The frontmatter has one line per key, with the value as JSON, which is also YAML: people can read it, and no type is
guessed.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any

from council.errors import Damaged
from council.record import files

OPEN, CLOSE = b"---\n", b"\n---\n"


@dataclass(frozen=True)
class Receipt:
    """Who spoke, in answer to which brief, and what it cost. None means unknown.

    `call` is the id that the API, or the program that called it, gave the answer: the trace of a real call.
    """

    turn: str
    seat: str
    phase: str
    step: str
    round: int
    speaker: str
    tier: str
    asked: str | None
    answered: str | None
    brief: str
    started: str
    seconds: float
    input: int
    cache_read: int
    cache_write: int
    output: int
    usd: float | None
    stop: str
    absent: str | None = None
    replayed: str | None = None
    call: str | None = None


ALLOWED: dict[str, tuple[type, ...]] = {"str": (str,), "int": (int,), "float": (int, float)}
REMEDY = "restore the file from a backup, or move it away and `council recover` runs that turn again"
EDITED = "changed since council wrote it"
MOST = 1_000_000_000  # seconds or dollars: council writes no larger number
TYPES = {field.name: field.type for field in fields(Receipt)}


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def encode(receipt: Receipt, body: str) -> bytes:
    head = "\n".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in asdict(receipt).items())
    words, lines = files.encode(body), files.encode(head)
    return OPEN + lines + b"\nseal: " + json.dumps(_seal(lines, words)).encode() + CLOSE + words


def _seal(lines: bytes, words: bytes) -> str:
    return sha256(lines + b"\n\n" + words)


def decode(data: bytes, path: Path) -> tuple[Receipt, str]:
    """The receipt and the body. A file that is not exactly as council wrote it is damaged."""
    head, close, words = data.removeprefix(OPEN).partition(CLOSE)
    lines, _, seal = head.rpartition(b"\nseal: ")
    if not data.startswith(OPEN) or not close or not lines:
        raise Damaged(path, f"the receipt is missing or cut off; {REMEDY}")
    if seal != json.dumps(_seal(lines, words)).encode():
        raise Damaged(path, f"{EDITED}; {REMEDY}")
    try:
        pairs = [line.split(": ", 1) for line in lines.decode("utf-8").split("\n")]
        found = {key: json.loads(value) for key, value in pairs}
        if len(found) < len(pairs):
            raise ValueError("duplicate key")
        return _receipt(found), words.decode("utf-8")
    except (ValueError, TypeError, LookupError, RecursionError):
        raise Damaged(path, f"the receipt cannot be read; {REMEDY}") from None


def _receipt(found: dict[str, Any]) -> Receipt:
    found = {"call": None, **found}  # older receipts do not have this key
    for name, kind in TYPES.items():
        allowed = ALLOWED[str(kind).split(" ")[0]]
        if not (isinstance(found[name], allowed) or (found[name] is None and "None" in str(kind))):
            raise TypeError(name)
    if datetime.fromisoformat(found["started"]).tzinfo is None:
        raise ValueError("started")
    for name in ("seconds", "usd"):
        if not 0 <= (found[name] or 0) < MOST:  # NaN is refused too
            raise ValueError(name)
    return Receipt(**found)
