"""What the commands share: the session that a command works on, and how a command ends when it cannot go on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from council.cli.command import Command
from council.errors import Damaged, UsageError, Waiting

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
    command: Command | None = None

    def open(self, word: str) -> Session:
        """The session with that id, or a part of it."""
        from council.record import session

        self.session = session.open_(self.folder(word))
        return self.session

    def folder(self, word: str) -> Path:
        from council.config import settings
        from council.record import catalog

        return catalog.find(settings.load().sessions, word)

    def close(self, failure: str, code: int, advice: str = "") -> int:
        """The end of a command that failed: what is wrong, and in the last line what is kept and how to go on."""
        from council.terminal.errors import show_error

        if self.session is None:
            show_error(failure, self.go_on or self.first_aid(failure, code, advice))
            return code
        from council.record.files import tilde

        turns = len(list((self.session.folder / "turns").rglob("*.md")))
        kept = f"kept: {turns} turn{'s' if turns != 1 else ''} in {tilde(self.session.folder)}"
        show_error(failure, f"{kept}; go on with: {self.next_command(code)}")
        return code

    def first_aid(self, failure: str, code: int, advice: str) -> str:
        """The command that helps; before it, that nothing was spent, where money was in question."""
        command = self.command
        if code == UsageError.code and not advice:
            advice = (command and command.advice) or self.usage()
        if command and command.spends and code != Damaged.code:
            return "; ".join(filter(None, ["nothing was spent", advice]))
        if not advice:
            return "nothing was changed"
        return "" if "`council " in failure else advice

    def usage(self) -> str:
        return (
            f"`council {self.command.name} -h` shows how to call it"
            if self.command
            else "`council -h` lists the commands"
        )

    def next_command(self, code: int) -> str:
        assert self.session is not None
        id = self.session.id
        by_code = {Waiting.code: f"council next {id}", Damaged.code: f"council verify {id}"}
        return by_code.get(code, self.go_on or f"council recover {id}")
