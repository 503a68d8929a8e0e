"""The keys of Config.md: how each value is read, and who may set it.

A reader takes a value as YAML has it, and its place for errors. It returns the value in its final form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any
from urllib.parse import urlsplit

from council.next import rooms
from council.next.errors import UsageError
from council.next.schema import Table
from council.next.text import did_you_mean, join_words, one_line

Reader = Callable[[Any, str], Any]
HERE = ("localhost", "127.0.0.1", "::1")
EVERY = "*"  # `tiers: NAME` is one model for every tier


def plain(kind: type, noun: str) -> Reader:
    def read(value: Any, where: str) -> Any:
        if not isinstance(value, kind):
            raise UsageError(f"{where}: {one_line(repr(value))} must be {noun}")
        return value

    return read


text, yes_or_no = plain(str, "text"), plain(bool, "true or false")


def words(value: Any, where: str) -> tuple[str, ...]:
    listed = value if isinstance(value, list) else [value]
    if not all(isinstance(word, str) and word for word in listed):
        raise UsageError(f"{where}: it must be a list of words, as in [one, two]; no shell reads them")
    return tuple(listed)


def one_of(*names: str) -> Reader:
    def read(value: Any, where: str) -> Any:
        if value not in names:
            raise UsageError(f"{where}: {one_line(repr(value))} must be {' or '.join(names)}")
        return value

    return read


def number(least: float = 0, whole: bool = False) -> Reader:
    def read(value: Any, where: str) -> float:
        try:
            found = -1.0 if isinstance(value, bool) else float(value)
        except (TypeError, ValueError):
            found = -1.0
        if not least <= found < 1e9 or (whole and found != int(found)):
            kind = "a whole number" if whole else "a number"
            raise UsageError(f"{where}: {one_line(repr(value))} must be {kind} of at least {least:g}")
        return int(found) if whole else found

    return read


def day(value: Any, where: str) -> str:
    try:
        return date.fromisoformat(value).isoformat()
    except (TypeError, ValueError):
        raise UsageError(f"{where}: {one_line(repr(value))} must be a day, as in 2026-12-31") from None


def variable(value: Any, where: str) -> str:
    """The name of an environment variable. Somebody may have put the key itself here, so no error repeats it."""
    if not isinstance(value, str) or not (value.isidentifier() or not value):
        raise UsageError(f"{where} must be the name of an environment variable, and never the key itself")
    return value


def address(value: Any, where: str) -> str:
    """An address of http or https. It may hold a secret, so no error repeats it."""
    try:
        parts = urlsplit(str(value))
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        fine = False
    if not fine or any(letter.isspace() or not letter.isprintable() for letter in value):
        raise UsageError(f"{where} must be an address that begins with https:// or http://")
    return str(value).rstrip("/")


def webhook(value: Any, where: str) -> str:
    parts = urlsplit(address(value, where))
    if parts.scheme == "http" and parts.hostname not in HERE:
        raise UsageError(f"{where}: http is only for this machine; use https")
    return str(value)


def named(each: Reader) -> Reader:
    """Any names, each with a value of this kind."""
    return lambda value, where: {
        name: each(one, f"{where}: {name}") for name, one in Table(value, where).values.items()
    }


def table(known: Mapping[str, Reader], *needed: str) -> Reader:
    def read(value: Any, where: str) -> dict[str, Any]:
        found = Table(value, where, *known)
        for key in needed:
            found.get(key)
        return {key: known[key](one, f"{where}: {key}") for key, one in found.values.items()}

    return read


def tier(value: Any, where: str) -> dict[str, Any]:
    """`opus: NAME` is the same as `opus: {model: NAME}`, and an endpoint is a part of the model's name."""
    found: dict[str, Any] = {"model": value} if isinstance(value, str) else TIER(value, where)
    if "endpoint" in found:
        found["model"] = f"{found.pop('endpoint')}/{found.get('model', '')}"
    return found


def tiers(value: Any, where: str) -> Any:
    return {EVERY: {"model": value}} if isinstance(value, str) else named(tier)(value, where)


TIER = table({"endpoint": text, "model": text, "max_tokens": number(1, whole=True), "effort": text})
ENDPOINT = table({
    "base_url": address, "address": variable, "key": variable, "key_command": words,
    "dialect": one_of("messages", "chat"), "client": one_of("own", "sdk"), "effort": yes_or_no, "models": named(text),
})  # fmt: skip
AMOUNTS = ("input", "output", "cache_read", "cache_write")
LONG = ("long_over", "long_input", "long_output", "long_cache_read", "long_cache_write")
PRICE = table({**dict.fromkeys((*AMOUNTS, *LONG), number()), "date": day, "until": day}, *AMOUNTS[:2])
TIMES = ("deadline", "round_timeout", "total_timeout", "checkpoint_timeout")
LIMITS = {"max_cost": number(), "max_calls": number(whole=True), **dict.fromkeys(TIMES, number(0.001))}
READERS: Mapping[str, Reader] = {
    "home": text,
    "speaker": text,
    "tiers": tiers,
    "endpoints": named(ENDPOINT),
    "prices": named(PRICE),
    "deadline": number(0.001),
    "stall": number(0.001),
    "concurrency": number(1, whole=True),
    "retry": table(dict.fromkeys(("first_wait", "most_wait", "budget"), number())),
    "cache_from": number(),
    "ask_above": number(),
    "gates": words,
    "notify": table({"bell": yes_or_no, "command": words, "webhook": webhook, "content": yes_or_no}),
    "protocols": named(named(plain(object, ""))),  # read once the workflow is known
    "limits": table(LIMITS),
}
# Who may set what: the kit's file, the user's, the environment, the command line, a project's file.
KIT, USER, ENVIRONMENT, FLAG, PROJECT = SOURCES = ("kit", "user", "environment", "flag", "project")
TRUST: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(READERS, (KIT, USER)),
    "home": (KIT, USER, ENVIRONMENT),
    "speaker": (KIT, USER, ENVIRONMENT, FLAG),
    "tiers": (KIT, USER, FLAG),
    "endpoints": (KIT, USER, ENVIRONMENT),
    "deadline": (KIT, USER, FLAG),
    "gates": (KIT, USER, FLAG),
    "protocols": (KIT, USER, FLAG, PROJECT),
    "limits": (KIT, USER, FLAG, PROJECT),
}
ROOMS = {"benches": "sandbox", "engines": "batch", "model": "embedded"}  # the kit's rooms, which may be absent


def read(given: Table, source: str) -> dict[str, Any]:
    """The values of a file or of flags. What this source may not set is refused."""
    values = {}
    for key, value in given.values.items():
        known = {*READERS, *(() if key in READERS else rooms.names("setting"))}
        if key not in known:
            if key not in ROOMS:
                raise given.wrong(f'unknown key "{one_line(key)}"; {did_you_mean(key, known)}')
            if source != KIT:
                raise given.wrong(f'"{key}" is a setting of the room {ROOMS[key]}, which is not installed')
        elif source not in TRUST.get(key, (KIT, USER)):
            able = join_words(name for name in TRUST if source in TRUST[name])
            raise given.wrong(
                f'a {source} may set only {able}, not "{one_line(key)}"; put that into your own Config.md'
            )
        else:
            values[key] = READERS.get(key, named(plain(object, "")))(value, f"{given.where}: {key}")
    return values
