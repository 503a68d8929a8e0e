"""What commands share: the session that a command works on, and how a failed command ends."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from council.cli.command import Command
from council.config import command_line
from council.errors import Damaged, UsageError, Waiting
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
    next_step: str | None = None
    command: Command | None = None

    def open(self, word: str) -> Session:
        """Open the session with that id, or part of an id."""
        from council.record import session

        self.session = session.open_(self.folder(word))
        return self.session

    def folder(self, word: str) -> Path:
        from council.config import places, settings

        return places.find(settings.load(), word)

    def show_notices(self) -> None:
        """Print what the user should know of the session, on stderr."""
        for notice in self.session.notices if self.session else ():
            print(command_line.name_commands(harmless(notice)), file=sys.stderr)

    def close(self, failure: str, code: int, advice: str = "") -> int:
        """End a failed command: print what is wrong, then what is kept and how to continue; return the exit code."""
        from council.terminal.errors import show_error

        if self.session is None:
            show_error(failure, self.next_step or self.first_aid(failure, code, advice))
            return code
        from council.record.files import tilde

        turns = len(list((self.session.folder / "turns").glob("*/*.md")))
        kept = f"kept: {turns} turn{'s' if turns != 1 else ''} in {tilde(self.session.folder)}"
        command = self.next_command(code)
        reads = command.startswith(("council show", "council review"))  # there is nothing to go on with
        show_error(failure, f"{kept}; {'read it' if reads else 'go on'} with: {command}")
        return code

    def first_aid(self, failure: str, code: int, advice: str) -> str:
        """The command that helps; if the failed one could cost money, also say that nothing was spent."""
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
            else "`council help all` lists the commands"
        )

    def next_command(self, code: int) -> str:
        from council.record import tracked

        assert self.session is not None
        id = self.session.id
        if self.session.kept_from or tracked.explain(self.session.folder):
            return f"council show {id}"
        by_code = {Waiting.code: f"council next {id}", Damaged.code: f"council verify {id}"}
        otherwise = f"council show {id}" if "completed_at" in self.session.metadata else f"council recover {id}"
        return by_code.get(code, self.next_step or otherwise)
