"""The keys of Config.md: what each may hold, and who may set it. Data, and one reader that checks a file against it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from council.next import rooms
from council.next.errors import UsageError
from council.next.schema import Table
from council.next.text import did_you_mean, join_words

# What may come from where. The kit's file, the user's, the environment, the command line, the project's file.
KIT, USER, ENVIRONMENT, FLAG, PROJECT = SOURCES = ("kit", "user", "environment", "flag", "project")


@dataclass(frozen=True)
class Number:
    least: float = 0.0
    whole: bool = False


@dataclass(frozen=True)
class Named:
    """Any names, each with a value of this shape."""

    each: Any


TEXT, YES_OR_NO, WORDS, ANY, AMOUNT, SECONDS, COUNT = str, bool, list, object, Number(), Number(0.001), Number(1, True)
LIMITS = {
    "max_cost": AMOUNT,
    "max_calls": Number(0, whole=True),
    **dict.fromkeys(("deadline", "round_timeout", "total_timeout", "checkpoint_timeout"), SECONDS),
}
ENDPOINT = {
    **dict.fromkeys(("base_url", "address", "key"), TEXT),
    "dialect": ("messages", "chat"),
    "client": ("own", "sdk"),
    "key_command": WORDS,
    "effort": YES_OR_NO,
    "models": Named(TEXT),
}
LONG = ("long_over", "long_input", "long_output", "long_cache_read", "long_cache_write")
PRICE = {
    **dict.fromkeys(("input", "output", "cache_read", "cache_write", *LONG), AMOUNT),
    **dict.fromkeys(("date", "until"), TEXT),
}
SHAPES: Mapping[str, Any] = {
    **dict.fromkeys(("home", "speaker"), TEXT),
    "tiers": Named({"model": TEXT, "max_tokens": COUNT, "effort": TEXT}),
    "endpoints": Named(ENDPOINT),
    "prices": Named(PRICE),
    **dict.fromkeys(("deadline", "stall"), SECONDS),
    "concurrency": COUNT,
    "retry": dict.fromkeys(("first_wait", "most_wait", "budget"), AMOUNT),
    **dict.fromkeys(("cache_from", "ask_above"), AMOUNT),
    "gates": WORDS,
    "notify": {"bell": YES_OR_NO, "command": WORDS, "webhook": TEXT, "content": YES_OR_NO},
    "protocols": Named(Named(ANY)),
    "limits": LIMITS,
}
MINE = (KIT, USER)
TRUST: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(SHAPES, MINE),
    "home": (*MINE, ENVIRONMENT),
    "speaker": (*MINE, ENVIRONMENT, FLAG),
    "tiers": (*MINE, FLAG),
    "endpoints": (*MINE, ENVIRONMENT),
    "deadline": (*MINE, FLAG),
    "gates": (*MINE, FLAG),
    "protocols": (*MINE, FLAG, PROJECT),
    "limits": (*MINE, FLAG, PROJECT),
}
ROOMS = {"benches": "sandbox", "engines": "batch", "model": "embedded"}  # the kit's rooms, which may be absent


def check(table: Table, source: str) -> dict[str, Any]:
    """The values of a file or of flags, with numbers as numbers. What this source may not set is refused."""
    values = {}
    for key, value in table.values.items():
        known = {*SHAPES, *(() if key in SHAPES else rooms.names("setting"))}
        if key not in known:
            if key not in ROOMS:
                raise table.wrong(f'unknown key "{key}"; {did_you_mean(key, known)}')
            if source != KIT:
                raise table.wrong(f'"{key}" is a setting of the room {ROOMS[key]}, which is not installed')
        elif source not in TRUST.get(key, MINE):
            able = join_words(name for name in TRUST if source in TRUST[name])
            raise table.wrong(f'a {source} may set only {able}, not "{key}"; put that into your own Config.md')
        else:
            values[key] = read(value, SHAPES.get(key, Named(ANY)), f"{table.where}: {key}")
    return values


def read(value: Any, shape: Any, where: str) -> Any:
    """A value in the form that its shape says."""
    if isinstance(shape, Named):
        return {name: read(one, shape.each, f"{where}: {name}") for name, one in Table(value, where).values.items()}
    if isinstance(shape, Mapping):
        table = Table(value, where, *shape)
        return {name: read(one, shape[name], f"{where}: {name}") for name, one in table.values.items()}
    if isinstance(shape, Number):
        return read_number(value, shape, where)
    if isinstance(shape, tuple) and value not in shape:
        raise UsageError(f"{where}: {value!r} must be {' or '.join(shape)}")
    if shape is WORDS:
        words = value if isinstance(value, list) else [value]
        if not all(isinstance(word, str) and word for word in words):
            raise UsageError(f"{where}: it must be a list of words, as in [one, two]; no shell reads them")
        return words
    if isinstance(shape, type) and not isinstance(value, shape):
        raise UsageError(f"{where}: {value!r} must be {'true or false' if shape is YES_OR_NO else 'text'}")
    return value


def read_number(value: Any, shape: Number, where: str) -> float:
    try:
        number = float(value) if not isinstance(value, bool) else math.nan
    except (TypeError, ValueError):
        number = math.nan
    if not shape.least <= number < 1e9 or (shape.whole and number != int(number)):
        kind = "a whole number" if shape.whole else "a number"
        raise UsageError(f"{where}: {value!r} must be {kind} of at least {shape.least:g}")
    return int(number) if shape.whole else number


def check_address(address: str, where: str) -> str:
    """An address of http or https. It may hold a secret, so no error repeats it."""
    try:
        parts = urlsplit(address)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        fine = False
    if not fine or any(letter.isspace() or not letter.isprintable() for letter in address):
        raise UsageError(f"{where} must be an address that begins with https:// or http://")
    return address.rstrip("/")
