"""What the commands share: the session that a command works on, and how a command ends when it cannot go on."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from council.errors import (
    Busy,
    Damaged,
    Denied,
    Paused,
    StorageError,
    UsageError,
    Waiting,
)
from council.record import catalog
from council.text import harmless

if TYPE_CHECKING:
    from council.record.session import Session


class Stopped(BaseException):
    """A signal asked the program to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@dataclass
class State:
    debug: bool = False
    session: Session | None = None
    go_on: str | None = None

    def open(self, word: str) -> Session:
        """The session of that id, or of a part of it."""
        from council.record import session

        self.session = session.open_(self.folder(word))
        return self.session

    def folder(self, word: str) -> Path:
        from council.config import settings

        return catalog.find(settings.load().sessions, word)

    def closing(self, message: str, code: int, advice: str = "") -> int:
        """The end of a command that failed: what is wrong, and in the last line what is kept and how to go on."""
        from council.record.files import tilde

        lines = [f"council: {message}"]
        if self.session is None:
            otherwise = "nothing was spent" if code > 128 else "nothing was changed"
            lines.append(advice or self.go_on or FIRST_AID.get(code, otherwise))
        else:
            turns = len(list((self.session.folder / "turns").rglob("*.md")))
            kept = f"kept: {turns} turn{'s' if turns != 1 else ''} in {tilde(self.session.folder)}"
            lines.append(f"{kept}; go on with: {self.advice(code)}")
        print(harmless("\n".join(lines)), file=sys.stderr)
        return code

    def advice(self, code: int) -> str:
        assert self.session is not None
        id = self.session.id
        by_code = {
            Waiting.code: f"council next {id}",
            Damaged.code: f"council verify {id}",
        }
        return by_code.get(code, self.go_on or f"council recover {id}")


FIRST_AID = {
    UsageError.code: "nothing was spent; `council -h` shows what there is",
    Denied.code: "nothing was spent; `council doctor` shows what is set up",
    StorageError.code: "nothing was spent; `council doctor` shows which folders are writable",
    Busy.code: "nothing was changed; try again when the other runner is done",
    Paused.code: "nothing is lost; `council list` shows the sessions",
}
