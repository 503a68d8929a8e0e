"""The brief of a due turn: the part that its whole batch shares, and the seat's own."""

from __future__ import annotations

from dataclasses import dataclass

from council.next.engine.planner import Due
from council.next.record.session import Session


@dataclass(frozen=True)
class Brief:
    """What a seat is asked, exactly. `cuts` are the ends, in characters, of beginnings that are worth caching."""

    session: Session
    due: Due
    shared: str
    own: str
    cuts: tuple[int, ...] = ()
    hash: str = ""

    @property
    def text(self) -> str:
        return self.shared + self.own
