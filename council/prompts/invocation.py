"""How people call a council in words: "Council with security: …", "Just architect and engineer: …"."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from council.errors import UsageError
from council.record.catalog import GENERATED, ID
from council.text import did_you_mean
from council.workflow import declare

CALL = re.compile(
    r"\s*(?P<quick>quick\s+)?council(?P<recovery>\s+recovery)?(?:\s*\((?P<mode>[^():\n]{1,60})\))?"
    r"(?:\s+with\s+(?P<with>[^:\n]{1,120}?))?(?:\s*\((?P<mode2>[^():\n]{1,60})\))?\s*:(?P<topic>.*)",
    re.I | re.S,
)
JUST = re.compile(r"\s*(?:just|only)\s+(?P<only>[^:\n]{1,120}?)\s*:(?P<topic>.*)", re.I | re.S)
PATCHLIST = declare.option(
    "patchlist", "`--mode patchlist` turns it on: the kit's prompts then ask for lists of changes"
)
MODES = ("deliberative", PATCHLIST)


@dataclass(frozen=True)
class Invocation:
    """What was asked for. The topic is the text without the call; it is not changed otherwise."""

    topic: str
    with_: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    recover: str | None = None


def parse(text: str, known: Collection[str]) -> Invocation:
    """The call at the beginning of a text, if there is one; `known` are the seats that it may name."""
    if call := CALL.fullmatch(text):
        if call["recovery"]:
            topic = call["topic"].strip()
            found = GENERATED.search(topic) or ID.fullmatch(topic)
            return Invocation("", recover=found.group() if found else "last")
        words = tuple(
            word.strip().lower() for mode in (call["mode"], call["mode2"]) if mode for word in mode.split(",")
        )
        words = ("quick", *words) if call["quick"] else words
        inner = parse_just(call["topic"], known) or Invocation(call["topic"].removeprefix(" "))
        return Invocation(inner.topic, seats(call["with"] or "", known), inner.only, words)
    return parse_just(text, known) or Invocation(text)


def parse_just(text: str, known: Collection[str]) -> Invocation | None:
    """`Just architect and engineer: …`. It is a call only if it names a seat: a topic may begin like that too."""
    if (just := JUST.fullmatch(text)) and any(name in known for name in _split(just["only"])):
        return Invocation(just["topic"].removeprefix(" "), only=seats(just["only"], known))
    return None


def seats(text: str, known: Collection[str]) -> tuple[str, ...]:
    """Names separated by commas or `and`; each must be known."""
    names = _split(text)
    for name in names:
        if name not in known:
            raise UsageError(f'unknown member "{name}"; {did_you_mean(name, known)}')
    return tuple(dict.fromkeys(names))


def _split(text: str) -> list[str]:
    words = re.split(r"\s*(?:,|&|\+|\band\b|\bund\b)\s*", text.strip())
    return [re.sub(r"^(?:the|an?)\s+", "", word.strip().lower()).replace(" ", "-") for word in words if word.strip()]
