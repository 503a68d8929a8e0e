"""A turn as a file: the receipt as frontmatter, the reply as the body, byte for byte, and a seal over both.

The frontmatter has one line per key, with the value as JSON, which is also YAML: people can read it, and no type is
guessed.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from council.errors import Damaged
from council.record import attempts, files
from council.record.attempts import Attempt

TURN = re.compile(r"\d{2}-[a-z0-9-]+/[a-z][a-z0-9-]*(\.2)?")  # the name of one
ABSENT = "absent"  # the `stop` of a turn whose calls all failed
HOOK, MEMBER, HAND = "hook", "member", "hand"
VALUE = json.JSONDecoder().raw_decode
OPEN, CLOSE = b"---\n", b"\n---\n"


@dataclass(frozen=True)
class Receipt:
    """Who spoke, in answer to which brief, and what it cost. None means unknown.

    `call` is the id that the API, or the program that called it, gave the answer: the trace of a real call. `most` is
    the most that the reply can have cost, where `usd` is unknown. `attempts` are the calls before it. `after` is the
    turn's link in the chain. `by` is the person who answered, and `via` where: at a terminal, on the page. Their `call`
    is the id of the answer. `recorded_by` says how a reply came that council did not
    call for: by a HOOK, by the MEMBER itself or by HAND. `trial` is what a machine did for its reply, and how.
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
    input: int | None
    cache_read: int
    cache_write: int
    output: int | None
    usd: float | None
    stop: str
    absent: str | None = None
    replayed: str | None = None
    call: str | None = None
    most: float | None = None
    attempts: tuple[Attempt, ...] = ()
    after: str | None = None
    by: str | None = None
    recorded_by: str | None = None
    trial: dict[str, Any] | None = None
    via: str | None = None

    @property
    def sent(self) -> int | None:
        """The tokens of the prompt."""
        return None if self.input is None else self.input + self.cache_read + self.cache_write

    @property
    def calls(self) -> tuple[Attempt, ...]:
        """Every call for this turn; the last one gave the reply, unless the turn is absent without one."""
        if self.stop == ABSENT:
            return self.attempts
        tokens = (self.input, self.cache_read, self.cache_write, self.output)
        reply = Attempt(self.started, self.speaker, self.asked, self.most, None, self.seconds, *tokens, self.usd)
        return (*self.attempts, reply)


SELDOM = ("trial", "via")  # keys that a receipt has only if there is something to say
REMEDY = "restore the file from a backup, or move it away and `council recover` runs that turn again"
EDITED = "changed since council wrote it"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def encode(receipt: Receipt, body: str) -> bytes:
    facts = {key: value for key, value in asdict(receipt).items() if key not in SELDOM or value is not None}
    head = "\n".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in facts.items())
    words, lines = files.encode(body), files.encode(head)
    return OPEN + lines + b"\nseal: " + json.dumps(_seal(lines, words)).encode() + CLOSE + words


def _seal(lines: bytes, words: bytes) -> str:
    return sha256(lines + b"\n\n" + words)


def decode(data: bytes, path: Path | str) -> tuple[Receipt, str]:
    """The receipt and the body. A file that is not exactly as council wrote it is damaged."""
    head, close, words = data.removeprefix(OPEN).partition(CLOSE)
    lines, _, seal = head.rpartition(b"\nseal: ")
    if not data.startswith(OPEN) or not close or not lines:
        raise Damaged(path, f"the receipt is missing or cut off; {REMEDY}")
    if seal != f'"{_seal(lines, words)}"'.encode():
        raise Damaged(path, f"{EDITED}; {REMEDY}")
    try:
        pairs = [line.split(": ", 1) for line in lines.decode("utf-8").split("\n")]
        found: dict[str, Any] = {}
        for key, value in pairs:  # exactly as `encode` writes it; `json.loads` takes three times as long
            found[key], end = (None, 4) if value == "null" else VALUE(value)
            if end != len(value):
                raise ValueError("more than a value")
        if len(found) < len(pairs):
            raise ValueError("duplicate key")
        return _receipt(found), words.decode("utf-8")
    except (ValueError, TypeError, LookupError, RecursionError):
        raise Damaged(path, f"the receipt cannot be read; {REMEDY}") from None


def _receipt(found: dict[str, Any]) -> Receipt:
    """Keys that an older receipt does not have get their defaults."""
    if isinstance(calls := found.get("attempts"), list):
        found["attempts"] = tuple(attempts.build(Attempt, one) for one in calls)
    return attempts.build(Receipt, found)
