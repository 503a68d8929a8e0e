"""The words that people type to call a council: "Council with security: …", "Just architect and engineer: …"."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from council.errors import UsageError
from council.text import did_you_mean
from council.workflow import declare

CALL = re.compile(
    r"\s*(?P<quick>quick\s+)?council(?P<recovery>\s+recovery)?(?:\s*\((?P<mode>[^():\n]{1,60})\))?"
    r"(?:\s+with\s+(?P<with>[^:\n]{1,120}?))?(?:\s*\((?P<mode2>[^():\n]{1,60})\))?\s*:(?P<topic>.*)",
    re.I | re.S,
)
JUST = re.compile(r"\s*(?:just|only)\s+(?P<only>[^:\n]{1,120}?)\s*:(?P<topic>.*)", re.I | re.S)
ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{8}")
PATCHLIST = declare.option(
    "patchlist", "`--mode patchlist` turns it on: the kit's prompts then ask for lists of changes"
)
MODES = ("deliberative", PATCHLIST)


@dataclass(frozen=True)
class Invocation:
    """What was asked for. The topic is what is left when the call is taken off; it is never changed otherwise."""

    topic: str
    with_: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    recover: str | None = None


def parse(text: str, known: Collection[str]) -> Invocation:
    """The call at the beginning of a text, if there is one; `known` are the seats that may be named in it."""
    if call := CALL.fullmatch(text):
        if call["recovery"]:
            found = ID.search(call["topic"])
            return Invocation("", recover=found.group() if found else "last")
        words = tuple(
            word.strip().lower() for mode in (call["mode"], call["mode2"]) if mode for word in mode.split(",")
        )
        words = ("quick", *words) if call["quick"] else words
        inner = parse_just(call["topic"], known) or Invocation(_topic(call["topic"]))
        return Invocation(inner.topic, seats(call["with"] or "", known), inner.only, words)
    return parse_just(text, known) or Invocation(text)


def parse_just(text: str, known: Collection[str]) -> Invocation | None:
    """`Just architect and engineer: …`. A topic may begin so too: it is a call only if it names a seat."""
    if (just := JUST.fullmatch(text)) and any(name in known for name in _split(just["only"])):
        return Invocation(_topic(just["topic"]), only=seats(just["only"], known))
    return None


def seats(text: str, known: Collection[str]) -> tuple[str, ...]:
    """Names with commas or `and` between them; each must be somebody."""
    names = _split(text)
    for name in names:
        if name not in known:
            raise UsageError(f'unknown member "{name}"; {did_you_mean(name, known)}')
    return tuple(dict.fromkeys(names))


def _split(text: str) -> list[str]:
    words = re.split(r"\s*(?:,|&|\+|\band\b|\bund\b)\s*", text.strip())
    return [re.sub(r"^(?:the|an?)\s+", "", word.strip().lower()).replace(" ", "-") for word in words if word.strip()]


def _topic(text: str) -> str:
    return text.removeprefix(" ")
