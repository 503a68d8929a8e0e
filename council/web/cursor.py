"""What a viewer of a session has been sent, and what it is sent next; pure.

The id of every event is the whole cursor after it. So a viewer that comes back, also to a server that was started
since, is sent exactly what it lacks: no word is lost, and none comes twice.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from council.record.turn_file import TURN

Json = dict[str, Any]
CURSOR = re.compile(
    r"(?P<leading>\d{1,6})\.(?P<sum>[0-9a-f]{8})"
    r"(?P<cards>(?:;[^;|=]{1,200}=[0-9a-f]{8})*)(?P<live>(?:\|[^;|:]{1,200}:[0-9a-f]{1,32}:\d{1,9})*)",
    re.ASCII,
)


@dataclass(frozen=True)
class SeenWords:
    """All that a seat has said in one attempt. `broken` says that nobody is there any more who could go on."""

    key: str
    seat: str
    label: str
    data: bytes
    broken: bool = False


@dataclass(frozen=True)
class SeenSession:
    """A session at one moment: the cards of the recorded turns in their order, the words that are no turn yet, who is
    due, and the row of the list."""

    cards: Mapping[str, Json] = field(default_factory=dict)
    live: Mapping[str, SeenWords] = field(default_factory=dict)
    due: Json = field(default_factory=dict)
    state: Json = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Cursor:
    """Which cards were sent, with their digests, and how many bytes of which attempt. `due` and `state` are sent again
    to everybody who connects."""

    cards: dict[str, str] = field(default_factory=dict)
    live: dict[str, tuple[str, int]] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    due: Json | None = None
    state: Json | None = None

    def encode(self, now: SeenSession) -> str:
        """The leading cards that were all sent are one number and one digest; the others are named."""
        leading = []
        for turn, digest in now.digests.items():
            if self.cards.get(turn) != digest:
                break
            leading.append(turn)
        rest = (f";{turn}={digest}" for turn, digest in self.cards.items() if turn not in set(leading))
        said = (f"|{turn}:{key}:{at}" for turn, (key, at) in self.live.items())
        return "".join((f"{len(leading)}.{_sum(self.cards, leading)}", *rest, *said))


def digest(value: Json) -> str:
    return f"{zlib.crc32(json.dumps(value, sort_keys=True).encode()):08x}"


def _sum(digests: Mapping[str, str], turns: list[str]) -> str:
    return f"{zlib.crc32(' '.join(f'{turn}={digests[turn]}' for turn in turns).encode()):08x}"


def decode(text: str, now: SeenSession) -> Cursor:
    """The cursor of an id. If it does not fit this session, as after a repair, everything is sent again."""
    parts = CURSOR.fullmatch(text)
    leading = list(now.digests)[: int(parts["leading"])] if parts else []
    if parts is None or len(leading) < int(parts["leading"]) or _sum(now.digests, leading) != parts["sum"]:
        return Cursor()
    named = (tuple(one.split("=")) for one in parts["cards"].split(";") if one)
    said = (one.split(":") for one in parts["live"].split("|") if one)
    return Cursor(
        {turn: now.digests[turn] for turn in leading} | dict(named),
        {turn: (key, int(at)) for turn, key, at in said if TURN.fullmatch(turn)},
    )


def advance(cursor: Cursor, now: SeenSession) -> Iterator[tuple[str, Json, str]]:
    """The events that bring a viewer up to date: name, data, id. The cursor moves with each of them.

    A turn's card replaces the words that were sent while it was spoken, and an earlier card, as when a round is closed.
    """
    for turn, digest in now.digests.items():
        if cursor.cards.get(turn) != digest:
            cursor.cards[turn] = digest
            cursor.live.pop(turn, None)
            yield "turn", now.cards[turn], cursor.encode(now)
    for turn in [turn for turn in cursor.live if turn not in now.live]:
        del cursor.live[turn]
    for turn, words in now.live.items():
        key, at = cursor.live.get(turn, ("", 0))
        at = at if key == words.key and at <= len(words.data) else 0
        broken = words.broken and turn not in cursor.broken
        if key != words.key or at < len(words.data) or broken:
            cursor.live[turn] = words.key, len(words.data)
            cursor.broken = cursor.broken | {turn} if words.broken else cursor.broken - {turn}
            about = {"turn": turn, "seat": words.seat, "label": words.label, "broken": words.broken}
            text = words.data[at:].decode("utf-8", "replace")
            yield "words", about | {"at": at, "text": text}, cursor.encode(now)
    for name in ("due", "state"):
        if getattr(cursor, name) != getattr(now, name):
            setattr(cursor, name, getattr(now, name))
            yield name, getattr(now, name), cursor.encode(now)
