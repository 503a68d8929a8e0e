"""A turn as a file: the receipt as frontmatter, and the reply below it, byte for byte.

python-frontmatter strips and folds what it reads, so these files are split by our own code.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from council.next.engine.planner import Due
from council.next.errors import Damaged
from council.next.record.files import VISIBLE, is_amount

OPEN, CLOSE = b"---\n", b"\n---\n"
MOMENT = "%Y-%m-%dT%H:%M:%SZ"
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

    @classmethod
    def of(cls, due: Due, **facts: Any) -> Receipt:
        """The receipt of a due turn."""
        return cls(due.id, due.seat.name, due.step.name, due.round, tier=due.tier, **facts)

    @property
    def tokens(self) -> int:
        return sum(count or 0 for count in (self.input, self.cache_read, self.cache_write, self.output))


# What the value of each key may be in the file, by the annotation of its field.
TYPES: dict[str, type | tuple[type, ...]] = {"str": str, "int": int, "float": (int, float), "Mapping[str, Any]": dict}


def write(receipt: Receipt, body: bytes) -> bytes:
    """The file of a turn. A receipt that could not be read again raises Damaged, and is never written."""
    data = head(receipt) + body
    read(data, Path(receipt.turn))
    return data


def head(receipt: Receipt) -> bytes:
    """One key a line with its value as JSON, which is YAML too: people can read it, and no type is guessed."""
    lines = [f"{key}: {json.dumps(one, ensure_ascii=False, allow_nan=False)}" for key, one in vars(receipt).items()]
    return OPEN + "\n".join(lines).encode("utf-8", VISIBLE) + CLOSE


def read(data: bytes, path: Path) -> tuple[Receipt, bytes]:
    """The receipt and the reply. A receipt that council would write differently was edited."""
    try:
        lines, _, body = data.removeprefix(OPEN).partition(CLOSE)
        receipt = Receipt(
            **{key: json.loads(one) for key, one in (line.split(": ", 1) for line in lines.decode().split("\n"))}
        )
        body.decode()
        if receipt.started:
            time.strptime(receipt.started, MOMENT)
        if head(receipt) + body == data and all(fits(one.type, getattr(receipt, one.name)) for one in fields(receipt)):
            return receipt, body
    except (ValueError, TypeError, RecursionError):
        pass
    raise Damaged(path, f"it is torn or was edited; {REMEDY}")


def fits(annotation: object, value: object) -> bool:
    kind, _, nothing = str(annotation).partition(" | ")
    if value is None:
        return bool(nothing)
    return isinstance(value, TYPES[kind]) and (isinstance(value, str | dict) or is_amount(value))
