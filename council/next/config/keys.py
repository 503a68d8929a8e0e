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


TEXT, FLAG_SHAPE, WORDS, ANY = str, bool, list, object
SECONDS = Number(least=0.001)
LIMITS: Mapping[str, Number] = {
    "max_cost": Number(), "max_calls": Number(whole=True), "deadline": SECONDS, "round_timeout": SECONDS,
    "total_timeout": SECONDS, "checkpoint_timeout": SECONDS,
}  # fmt: skip
TIER = {"endpoint": TEXT, "model": TEXT, "max_tokens": Number(1, whole=True), "effort": TEXT}
ENDPOINT = {
    "base_url": TEXT, "address": TEXT, "dialect": ("messages", "chat"), "client": ("own", "sdk"), "key": TEXT,
    "key_command": WORDS, "effort": FLAG_SHAPE, "models": Named(TEXT),
}  # fmt: skip
PRICE = {
    **dict.fromkeys(("input", "output", "cache_read", "cache_write", "long_over"), Number()),
    **dict.fromkeys(("long_input", "long_output", "long_cache_read", "long_cache_write"), Number()),
    "date": TEXT,
    "until": TEXT,
}
SHAPES: Mapping[str, Any] = {
    "home": TEXT,
    "speaker": TEXT,
    "tiers": Named(TIER),
    "endpoints": Named(ENDPOINT),
    "prices": Named(PRICE),
    "deadline": SECONDS,
    "stall": SECONDS,
    "concurrency": Number(1, whole=True),
    "retry": dict.fromkeys(("first_wait", "most_wait", "budget"), Number()),
    "cache_from": Number(),
    "ask_above": Number(),
    "gates": WORDS,
    "notify": {"bell": FLAG_SHAPE, "command": WORDS, "webhook": TEXT, "content": FLAG_SHAPE},
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
        raise UsageError(f"{where}: {value!r} must be {'true or false' if shape is FLAG_SHAPE else 'text'}")
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


def check_address(address: str, where: str, secret: bool = False) -> str:
    """An address of http or https. One that may hold a secret is not repeated."""
    try:
        parts = urlsplit(address)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        fine = False
    if not fine or any(letter.isspace() or not letter.isprintable() for letter in address):
        shown = "it" if secret else repr(address)
        raise UsageError(f"{where}: {shown} must be an address that begins with https:// or http://")
    return address.rstrip("/")
