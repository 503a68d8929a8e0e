"""Calls that may have been billed, written down before they are made.

A receipt says what a turn's reply cost. The calls before it (they failed, or council was killed while it waited for
them) are in `attempts/TURN.jsonl` until the turn is recorded, and in its receipt from then on.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from council.errors import Damaged
from council.record import files

FOLDER, SUFFIX = "attempts", ".jsonl"
MOST = 1_000_000_000  # seconds, tokens or dollars: council writes no larger number
ALLOWED: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "float": (int, float),
    "tuple[Attempt, ...]": (list, tuple),
    "dict[str, Any]": (dict,),
}

NUMBERS = (int, float)

T = TypeVar("T")


@dataclass(frozen=True)
class Attempt:
    """A call that did not become its turn's reply. None means unknown.

    `why` is why it failed, None if nobody saw it end. `most` is the most that it can have cost: it counts toward
    `--max-cost` as long as `usd` is unknown.
    """

    started: str
    speaker: str
    model: str | None
    most: float | None = None
    why: str | None = None
    seconds: float | None = None
    input: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    output: int | None = None
    usd: float | None = None

    @property
    def sent(self) -> int | None:
        """The tokens of the prompt."""
        return None if self.input is None else self.input + (self.cache_read or 0) + (self.cache_write or 0)

    @property
    def at_most(self) -> float | None:
        """What it cost, or else the most that it can have cost."""
        return self.most if self.usd is None else self.usd


def path_of(folder: Path, turn: str) -> Path:
    """Where the attempts of a turn are until it is recorded."""
    return folder / FOLDER / f"{turn}{SUFFIX}"


def find(folder: Path) -> dict[str, Path]:
    """The files with attempts, by turn."""
    top = folder / FOLDER
    found = sorted(top.glob(f"*/*{SUFFIX}"))
    return {path.relative_to(top).as_posix().removesuffix(SUFFIX): path for path in found}


def read(path: Path) -> tuple[Attempt, ...]:
    """The attempts in a file, oldest first; none if there is no file."""
    try:
        lines = files.read(path).splitlines()  # of bytes: in a text, other characters end a line too
        return tuple(build(Attempt, json.loads(line.decode("utf-8"))) for line in lines)
    except FileNotFoundError:
        return ()
    except (ValueError, TypeError, LookupError, RecursionError):
        why = "cannot be read, and it says which calls may have been billed; restore it from a backup, or remove it"
        raise Damaged(path, why) from None


def write(path: Path, attempts: Iterable[Attempt]) -> None:
    """Replace the file: it is whole at every moment, and on the disk when this returns."""
    files.make_folder(path.parent)
    files.replace(path, files.encode("".join(json.dumps(asdict(one), ensure_ascii=False) + "\n" for one in attempts)))


def remove(path: Path) -> None:
    """Remove the attempts of a turn that is recorded."""
    files.remove(path)
    files.remove_empty(path.parent)


def add(prices: Collection[float | None]) -> float | None:
    """The sum, in whatever order the prices come; None if one is unknown."""
    return None if None in prices else math.fsum(price or 0.0 for price in prices)


def build(kind: Callable[..., T], found: Mapping[str, Any]) -> T:
    """A dataclass from what was read. A key that is missing has its default; a value of another type is refused."""
    if not isinstance(found, Mapping):
        raise TypeError("not an object")
    types = _types(kind)
    for name, value in found.items():
        its = type(value)
        if name in types and its not in types[name]:
            raise TypeError(name)
        if its in NUMBERS and not 0 <= value < MOST:  # NaN is refused too
            raise ValueError(name)
    if datetime.fromisoformat(found["started"]).tzinfo is None:
        raise ValueError("started")
    return kind(**found)


@cache
def _types(kind: Any) -> Mapping[str, tuple[type, ...]]:
    """What a value of each field may be: exactly that type, so `true` is not a number."""
    found = {}
    for field in fields(kind):
        name, _, otherwise = str(field.type).partition(" | ")
        found[field.name] = (*ALLOWED[name], type(None)) if otherwise else ALLOWED[name]
    return found
