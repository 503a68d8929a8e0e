"""Every word of the room. Importing this module registers them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from council.next.engine.registry import check, order, rule, view
from council.next.engine.scene import Scene, Seen, Verdict
from council.next.replies.kinds import Kind, answer
from council.next.replies.markdown import Block
from council.next.workflow.model import Seat


@rule
def everybody_laughs(scene: Scene, *, at: str = "jokes") -> Verdict:
    """Every seat threw a six."""
    turns = scene.latest("throw")
    return Verdict(bool(turns) and all(turn.answers.get("throw") == 6 for turn in turns), f"laughing at {at}")


@order
def backwards(seats: tuple[Seat, ...], scene: Scene) -> list[tuple[Seat, ...]]:
    """One after the other, the last first."""
    return [(seat,) for seat in reversed(seats)]


@view
def first_words(seat: Seat, scene: Scene) -> list[Seen]:
    """The first turn of all."""
    return [Seen(turn) for turn in scene.turns[:1]]


@answer("dice")
@dataclass(frozen=True)
class Dice(Kind):
    def wanted(self) -> str:
        return "one to six dots"

    def read(self, block: Block) -> int:
        dots = block.own.count("•")
        if not 1 <= dots <= 6:
            raise self.unreadable()
        return dots


@check
def throw(answers: Mapping[str, Any], scene: Scene, seat: Seat) -> str:
    return "nobody throws a five" if answers.get("throw") == 5 else ""
