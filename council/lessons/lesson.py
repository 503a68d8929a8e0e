"""One lesson as a file: where it comes from and how often it helped as frontmatter, its words as the body.

The file is named after its words, so a file that was torn or edited does not match its name, and is not used.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from council.errors import Damaged
from council.record import files
from council.record.turn_file import CLOSE, OPEN, sha256
from council.text import one_line

FILE = re.compile(r"[0-9a-f]{16}\.md")
LARGEST = 8_000  # bytes of a lesson's file
LONGEST = {"applies": 200, "cause": 400, "change": 600}  # characters
TITLES = {"applies": "When", "cause": "Cause", "change": "What to change"}
REMEMBERED = 20  # sessions that a lesson remembers, so that none is counted twice
SINKS = 5  # uses without a single win after which other lessons come first


@dataclass(frozen=True)
class Lesson:
    """`episode` are the turns behind it: the version that failed, its trial, the reflection, the next version, and its
    trial. `uses` counts the sessions that it was shown in, `wins` those of them whose tests passed in the end.
    """

    applies: str
    cause: str
    change: str
    session: str
    turn: str
    made: str
    episode: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    language: str = ""
    bench: str = ""
    before: str = ""
    after: str = ""
    uses: int = 0
    wins: int = 0
    shown_in: tuple[str, ...] = ()

    @property
    def body(self) -> bytes:
        parts = (f"## {title}\n\n{getattr(self, name)}\n" for name, title in TITLES.items() if getattr(self, name))
        return files.encode("\n".join(parts))

    @property
    def id(self) -> str:
        return sha256(self.body)[:16]

    @property
    def sunk(self) -> bool:
        """Whether it was shown often and never in a session that succeeded."""
        return self.uses >= SINKS and not self.wins

    @property
    def text(self) -> str:
        """All of its words, to be searched."""
        return " ".join((*self.words, self.language, self.bench, self.applies, self.cause, self.change))

    @property
    def sentence(self) -> str:
        """The lesson in one line, as a shelf says it."""
        when, cause = (f"{text} " if text else "" for text in (self.applies, self.cause))
        return f"{when}{cause}{self.change}"

    def encode(self) -> bytes:
        head = {name: value for name, value in asdict(self).items() if name not in TITLES}
        lines = "\n".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in head.items())
        return OPEN + files.encode(lines) + CLOSE + self.body


KINDS: dict[str, type] = {
    one.name: {"int": int, "str": str}.get(str(one.type), list) for one in fields(Lesson) if one.name not in TITLES
}
BODY = re.compile(
    r"(?:## When\n\n(?P<applies>[^\n]+)\n\n)?(?:## Cause\n\n(?P<cause>[^\n]+)\n\n)?"
    r"## What to change\n\n(?P<change>[^\n]+)\n"
)


def read(path: Path) -> Lesson:
    """The lesson in a file; Damaged if it is not exactly as council wrote it."""
    data = files.read(path, LARGEST + 1)
    if len(data) > LARGEST:
        raise Damaged(path, f"larger than {LARGEST:,} bytes, which no lesson is; remove it")
    return decode(data, path)


def decode(data: bytes, path: Path) -> Lesson:
    head, close, body = data.removeprefix(OPEN).partition(CLOSE)
    words = BODY.fullmatch(body.decode("utf-8", "replace"))
    if not data.startswith(OPEN) or not close or not words or f"{sha256(body)[:16]}.md" != path.name:
        raise Damaged(path, "torn, or changed since council wrote it; remove it")
    try:
        found = _facts(head)
    except (ValueError, RecursionError):
        raise Damaged(path, "its frontmatter cannot be read; remove it") from None
    said: dict[str, Any] = {name: text or "" for name, text in words.groupdict().items()}
    if any(text != one_line(text, LONGEST[name]) for name, text in said.items()):
        raise Damaged(path, "not a lesson that council wrote; remove it")
    return Lesson(**said, **found)


def _facts(head: bytes) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for line in head.decode("utf-8").split("\n"):
        name, _, value = line.partition(": ")
        if name in found or name not in KINDS:
            raise ValueError(name)
        found[name] = json.loads(value)
        if type(found[name]) is not KINDS[name]:
            raise ValueError(name)
    if not {"session", "turn", "made"} <= found.keys():
        raise ValueError("a key is missing")
    for name, value in found.items():
        if KINDS[name] is list:
            if not all(isinstance(one, str) for one in value):
                raise ValueError(name)
            found[name] = tuple(value)
        elif KINDS[name] is int and value < 0:
            raise ValueError(name)
    return found
