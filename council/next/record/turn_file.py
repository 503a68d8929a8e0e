"""A turn as a file: the receipt as frontmatter, and the reply below it, byte for byte.

python-frontmatter strips and folds what it reads, so these files are split by our own code.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from council.next.errors import Damaged
from council.next.record.files import refuse

OPEN, CLOSE = b"---\n", b"\n---\n"
REMEDY = "restore it from a backup; or move it away, and `council recover` asks for that turn again"


@dataclass(frozen=True)
class Receipt:
    """Who spoke, in answer to which brief, and what it cost. None is unknown, and zero is zero.

    `after` is the session's head when the turn was asked for. `most` is what it can have cost where `usd` is unknown.
    `by` names the person who spoke, `via` where (page, terminal, record, api), `stored` who stored an answer that an
    assistant's member gave. `machine` is what council itself did for a machine's seat.
    """

    turn: str
    seat: str
    step: str
    round: int
    speaker: str
    tier: str = ""
    asked: str | None = None
    answered: str | None = None
    brief: str = ""
    after: str = ""
    started: str = ""
    seconds: float = 0.0
    input: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    output: int | None = None
    usd: float | None = None
    most: float | None = None
    stop: str | None = None
    call: str | None = None
    attempts: int = 0
    absent: str | None = None
    replayed: str | None = None
    by: str | None = None
    via: str | None = None
    stored: str | None = None
    machine: Mapping[str, Any] | None = None

    @property
    def tokens(self) -> int:
        return sum(count or 0 for count in (self.input, self.cache_read, self.cache_write, self.output))


# What the value of each key may be in the file, by the annotation of its field.
TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "float": (int, float),
    "str | None": (str, type(None)),
    "int | None": (int, type(None)),
    "float | None": (int, float, type(None)),
    "Mapping[str, Any] | None": (dict, type(None)),
}
KEYS = {one.name: TYPES[str(one.type)] for one in fields(Receipt)}


def write(receipt: Receipt, body: bytes) -> bytes:
    """One key a line with its value as JSON, which is YAML too: people can read it, and no type is guessed."""
    lines = [f"{key}: {json.dumps(one, ensure_ascii=False, allow_nan=False)}" for key, one in asdict(receipt).items()]
    data = OPEN + "\n".join(lines).encode("utf-8", "backslashreplace") + CLOSE + body
    if read(data, Path(receipt.turn)) != (receipt, body):
        raise ValueError(f"the receipt of {receipt.turn} would not be read back as it is")
    return data


def read(data: bytes, path: Path) -> tuple[Receipt, bytes]:
    head, close, body = data.removeprefix(OPEN).partition(CLOSE)
    try:
        if not data.startswith(OPEN) or not close:
            raise ValueError
        pairs = [line.split(": ", 1) for line in head.decode().split("\n")]
        found = {key: json.loads(value, parse_constant=refuse) for key, value in pairs}
        if len(pairs) != len(found) or {*found} != {*KEYS} or not all(map(fits, found, found.values())):
            raise ValueError
        body.decode()
        return Receipt(**found), body
    except (ValueError, RecursionError):
        raise Damaged(path, f"it is torn or was edited; {REMEDY}") from None


def fits(key: str, value: object) -> bool:
    """Whether a key may have this value. Python counts `true` as a number and reads 1e999 as infinity."""
    if isinstance(value, bool) or (isinstance(value, float) and not math.isfinite(value)):
        return False
    return isinstance(value, KEYS[key])
