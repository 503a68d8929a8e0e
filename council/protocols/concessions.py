"""What perspectives concede to each other, in their own words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from council.engine.scene import Scene, Turn
from council.protocols.mentions import find_mentioned
from council.protocols.perspectives import is_cast
from council.text import stands_in, unwrap
from council.workflow.model import Seat

CONCEDES = re.compile(r"\bI(?: have to| must| do| now| also| therefore| readily)? concede\b", re.I)
DENIED = re.compile(r"\b(?:not|never|nothing|nobody|no point|cannot|if|unless|would)\b|n['’]t\b", re.I)
QUOTED = re.compile(r"“[^“”]*”|\"[^\"\n]*\"")
SENTENCE = re.compile(r"(?<=[.!?…])\s+|\n+")


@dataclass(frozen=True)
class Concession:
    """The sentence in which a perspective concedes a point, and to whom, if it says so."""

    turn: Turn
    to: tuple[Seat, ...]
    text: str


def find_concessions(scene: Scene) -> Iterator[Concession]:
    """Every concession of a perspective that was cast, oldest first. A quotation is not its own."""
    sides = {turn.seat.name: turn.seat for turn in scene.turns if is_cast(turn.seat, scene)}
    for turn in scene.turns:
        if turn.seat.name in sides and not turn.absent:
            others = [seat for name, seat in sides.items() if name != turn.seat.name]
            for sentence in SENTENCE.split(unwrap(turn.prose)):
                own = QUOTED.sub("", sentence)
                said = CONCEDES.search(own) if stands_in(sentence, turn.whole) else None
                if said and not DENIED.search(own[: said.end() + 20]):
                    yield Concession(turn, find_mentioned(sentence, others), sentence.strip(" -*_"))
