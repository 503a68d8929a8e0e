"""The keys of Config.md: how each value is read, and who may set it.

A reader takes a value as YAML has it, and its place for errors. It returns the value in its final form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import date
from typing import Any
from urllib.parse import urlsplit

from council.next import rooms
from council.next.errors import UsageError
from council.next.schema import Table
from council.next.text import did_you_mean, join_words, one_line, slug

Reader = Callable[[Any, str], Any]
HERE = ("localhost", "127.0.0.1", "::1")


def must_be(noun: str, convert: Callable[[Any], Any], secret: bool = False) -> Reader:
    """Reads what `convert` takes: for anything else that returns None or raises an error. Somebody may have put a
    secret in a wrong place, so an error does not repeat it."""

    def read(value: Any, where: str) -> Any:
        with suppress(TypeError, ValueError):
            if (final := convert(value)) is not None:
                return final
        shown = "" if secret else f": {one_line(repr(value))}"
        raise UsageError(f"{where}{shown} must be {noun}")

    return read


def one_of(*names: str) -> Reader:
    return must_be(" or ".join(names), lambda value: value if value in names else None)


def number(least: float = 0, whole: bool = False) -> Reader:
    def convert(value: Any) -> float | None:
        amount = float(value)
        if isinstance(value, bool) or not least <= amount < 1e9 or (whole and amount != int(amount)):
            return None
        return int(amount) if whole else amount

    return must_be(f"{'a whole number' if whole else 'a number'} of at least {least:g}", convert)


def read_words(value: Any) -> tuple[str, ...] | None:
    words = value if isinstance(value, list) else [value]
    return tuple(words) if all(isinstance(word, str) and word for word in words) else None


def read_phases(value: Any) -> tuple[str, ...] | None:
    """Names that a phase could have. Which phases there are is known with a workflow."""
    names = read_words(value)
    return names if names is not None and all(slug(name) == name for name in names) else None


def read_address(value: Any) -> str | None:
    plain = str(value)
    parts = urlsplit(plain)
    fine = parts.scheme in ("http", "https") and parts.hostname and (parts.port or 1) > 0
    return plain.rstrip("/") if fine and plain.isprintable() and " " not in plain else None


def read_webhook(value: Any) -> str | None:
    parts = urlsplit(read_address(value) or "")
    return value if parts.scheme == "https" or parts.hostname in HERE else None


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
    return value if isinstance(value, str) else named(tier)(value, where)  # a name is one model for every tier


anything = must_be("a value", lambda value: value)
text = must_be("text", lambda value: value if isinstance(value, str) else None)
yes_or_no = must_be("true or false", lambda value: value if isinstance(value, bool) else None)
day = must_be("a day, as in 2026-12-31", lambda value: date.fromisoformat(value).isoformat())
phases = must_be("names of phases, as in [positions, synthesis]", read_phases)
words = must_be("a list of words, as in [one, two]; no shell reads them", read_words, secret=True)
address = must_be("an address that begins with https:// or http://", read_address, secret=True)
webhook = must_be("an address of https; http is only for this machine", read_webhook, secret=True)
variable = must_be(
    "the name of an environment variable, and never the key itself",
    lambda value: value if isinstance(value, str) and (value.isidentifier() or not value) else None,
    secret=True,
)
TIER = table({"endpoint": text, "model": text, "max_tokens": number(1, whole=True), "effort": text})
ENDPOINT = table({
    "base_url": address, "address": variable, "address_path": text,
    "key": variable, "token": variable, "key_command": words,
    "dialect": one_of("messages", "chat"), "effort": yes_or_no, "models": named(text),
    "client": one_of("own", "sdk", "profile", "bedrock", "vertex", "foundry"),
})  # fmt: skip
AMOUNTS = ("input", "output", "cache_read", "cache_write")
LONG = ("long_over", "long_input", "long_output", "long_cache_read", "long_cache_write")
PRICE = table({**dict.fromkeys((*AMOUNTS, *LONG), number()), "date": day, "until": day}, *AMOUNTS[:2])
TIMES = ("deadline", "round_timeout", "total_timeout", "checkpoint_timeout")
LIMITS = {"max_cost": number(), "max_calls": number(whole=True), **dict.fromkeys(TIMES, number(0.001))}
KIT, USER, ENVIRONMENT, FLAG, PROJECT = SOURCES = ("kit", "user", "environment", "flag", "project")
# Each key with its reader, and with who may set it beside the kit's file and the user's.
KEYS: Mapping[str, tuple[Reader, tuple[str, ...]]] = {
    "home": (text, (ENVIRONMENT,)),
    "speaker": (text, (ENVIRONMENT, FLAG)),
    "tiers": (tiers, (FLAG,)),
    "endpoints": (named(ENDPOINT), (ENVIRONMENT,)),
    "prices": (named(PRICE), ()),
    "deadline": (number(0.001), (FLAG,)),
    "stall": (number(0.001), ()),
    "concurrency": (number(1, whole=True), ()),
    "retry": (table(dict.fromkeys(("first_wait", "most_wait", "budget"), number())), ()),
    "cache_from": (number(), ()),
    "ask_above": (number(), ()),
    "gates": (phases, (FLAG,)),
    "notify": (table({"bell": yes_or_no, "command": words, "webhook": webhook, "content": yes_or_no}), ()),
    "protocols": (named(named(anything)), (FLAG, PROJECT)),  # read once the workflow is known
    "limits": (table(LIMITS), (FLAG, PROJECT)),
}
ROOMS = {"benches": "sandbox", "engines": "batch", "model": "embedded"}  # the kit's rooms, which may be absent


def read(given: Table, source: str) -> dict[str, Any]:
    """The values of a file or of flags. What this source may not set is refused."""
    values = {}
    for key, value in given.values.items():
        reader, others = KEYS.get(key, (named(anything), ()))
        if key not in KEYS and key not in rooms.names("setting"):
            if key not in ROOMS:
                raise given.wrong(f'unknown key "{one_line(key)}"; {did_you_mean(key, KEYS)}')
            if source != KIT:
                raise given.wrong(f'"{key}" is a setting of the room {ROOMS[key]}, which is not installed')
        elif source not in (KIT, USER, *others):
            able = join_words(name for name in KEYS if source in KEYS[name][1])
            raise given.wrong(f'a {source} may set only {able}, not "{key}"; put that into your own Config.md')
        else:
            values[key] = reader(value, f"{given.where}: {key}")
    return values
