"""A turn as a file: the receipt as frontmatter, the reply as the body, byte for byte, and a seal over both.

The frontmatter is a line a key, each value as JSON, which is YAML too: people can read it, and nothing is guessed.
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
    """Who said it, in answer to what, and what it took. None means that nobody knows.

    `call` is what the API, or the program that asked it, calls the answer: the trace of a real call.
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
MOST = 1_000_000_000  # seconds or dollars: whatever says more was not written by council
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
    """The receipt and the body. A file that is not exactly as it was written is damaged, and says so."""
    head, close, words = data.removeprefix(OPEN).partition(CLOSE)
    lines, _, seal = head.rpartition(b"\nseal: ")
    if not data.startswith(OPEN) or not close or not lines:
        raise Damaged(path, f"its receipt is missing or cut off; {REMEDY}")
    if seal != json.dumps(_seal(lines, words)).encode():
        raise Damaged(path, f"it is not as council wrote it; {REMEDY}")
    try:
        pairs = [line.split(": ", 1) for line in lines.decode("utf-8").split("\n")]
        found = {key: json.loads(value) for key, value in pairs}
        if len(found) < len(pairs):
            raise ValueError("a key stands twice")
        return _receipt(found), words.decode("utf-8")
    except (ValueError, TypeError, LookupError, RecursionError):
        raise Damaged(path, f"its receipt cannot be read; {REMEDY}") from None


REMEDY = "put the file back from a backup, or move it away and `council recover` runs that turn again"


def _receipt(found: dict[str, Any]) -> Receipt:
    found = {"call": None, **found}  # there were receipts before there was this key
    for name, kind in TYPES.items():
        allowed = ALLOWED[str(kind).split(" ")[0]]
        if not (isinstance(found[name], allowed) or (found[name] is None and "None" in str(kind))):
            raise TypeError(name)
    if datetime.fromisoformat(found["started"]).tzinfo is None:
        raise ValueError("started")
    for name in ("seconds", "usd"):
        if not 0 <= (found[name] or 0) < MOST:  # false of NaN too
            raise ValueError(name)
    return Receipt(**found)
