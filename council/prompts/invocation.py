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
    r"\s*(?:(?P<quick>quick\s+)|full\s+)?council(?:(?P<recovery>\s+recovery)|\s+debate)?(?:\s*\((?P<mode>[^():\n]{1,60})\))?"
    r"(?:\s+with\s+(?P<with>[^:\n]{1,120}?))?(?:\s*\((?P<mode2>[^():\n]{1,60})\))?\s*:(?P<topic>.*)",
    re.I | re.S,
)
RECOVERY = re.compile(rf"\s*council\s+recovery(?:\s+(?:session\s+)?(?P<id>{GENERATED.pattern}|last))?\s*[.!]?\s*", re.I)
NO_TOPIC = re.compile(r"\s*(?:quick\s+|full\s+)?council(?:\s+with\s+(?P<with>[^:\n]{1,120}))?\s*", re.I)
WITHOUT = re.compile(r"\s*(?:quick\s+|full\s+)?council\s+without\s+(?P<who>[^:\n]{1,120}):.*", re.I | re.S)
ROUNDS = re.compile(r"(?:\d+|three)-rounds?")
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
    rounds: int | None = None


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
        with_ = _split(call["with"] or "")
        rounds = [name.partition("-")[0] for name in with_ if ROUNDS.fullmatch(name)]
        members = seats(",".join(name for name in with_ if not ROUNDS.fullmatch(name)), known)
        number = int(rounds[0].replace("three", "3")) if rounds else None
        return Invocation(inner.topic, members, inner.only, words, rounds=number)
    if recovery := RECOVERY.fullmatch(text):
        return Invocation("", recover=(recovery["id"] or "last").lower())
    check_call(text, known)
    return parse_just(text, known) or Invocation(text)


def check_call(text: str, known: Collection[str]) -> None:
    """Refuse what was meant as a call and would be debated as a topic."""
    if (without := WITHOUT.fullmatch(text)) and any(name in known for name in _split(without["who"])):
        raise UsageError('"without" is not understood; name the members who stay, as in "Just architect, engineer: …"')
    if (alone := NO_TOPIC.fullmatch(text)) and all(name in known for name in _split(alone["with"] or "")):
        raise UsageError(f'the topic is missing: write "{text.strip()}: …", with your question after the colon')


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
