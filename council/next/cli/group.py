"""The commands as one click group: imported when they are called, grouped by what people want to do."""

from __future__ import annotations

import copy
import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from council.next.errors import Damaged, Unmet, UsageError, Waiting
from council.next.terminal.output import program
from council.next.text import did_you_mean

if TYPE_CHECKING:
    from council.next.record.session import Session

MOST_LISTED = 40  # names of a section: a project may bring any number of workflows


@dataclass(frozen=True)
class Entry:
    """A command as the help lists it. `spends` marks one that may cost money."""

    where: str  # module:function
    section: str
    summary: str
    examples: tuple[str, ...] = ()
    spends: bool = False

    def load(self) -> click.Command:
        module, _, name = self.where.partition(":")
        found: click.Command = getattr(importlib.import_module(module), name)
        found.epilog = "\n".join(["\b", "Examples:", *(f"  {example}" for example in self.examples)])
        return found


@dataclass
class Context:
    """What a command works on, for the case that it fails."""

    debug: bool = False
    command: str = ""
    workflow: str = ""  # of a command that runs one
    spends: bool = False
    session: Session | None = None

    def advice(self, code: int, said: str) -> str:
        """What is kept, and what to type next. Empty if the error has said so itself."""
        if self.session is not None and (code != UsageError.code or self.spends):
            from council.next.record import files

            turns, id = len(list((self.session.folder / "turns").glob("*/*.md"))), self.session.id
            go_on = f"{self.next_command(code)} {id}"
            kept = f"kept: {turns} turn{'s' * (turns != 1)} in {files.tilde(self.session.folder)}"
            return kept if "`council " in said else f"{kept}; go on with: {program()} {go_on}"
        if code == UsageError.code and self.command and "`council " not in said:
            return f"{'nothing was spent; ' * self.spends}`council {self.command} -h` shows how to call it"
        return "nothing was spent" if self.spends else ""

    def next_command(self, code: int) -> str:
        """What goes on after this exit code."""
        if code == Waiting.code and self.session and any(due.seat.is_person for due in self.session.plan.due):
            return "answer"
        return {Waiting.code: "next", Damaged.code: "verify", Unmet.code: "show"}.get(code, "recover")


class Group(click.Group):
    """The commands of the core and of optional rooms, and each workflow as a command of its own."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's own signature)
        from council.next.cli import commands

        return [*commands.entries(), *commands.workflows()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        from council.next.cli import commands

        entry = commands.find(cmd_name)
        if entry is not None:
            ctx.obj.command, ctx.obj.spends = cmd_name, entry.spends
            return entry.load()
        if cmd_name not in commands.workflows():
            return None
        ctx.obj.command, ctx.obj.workflow, ctx.obj.spends = cmd_name, cmd_name, True
        found = copy.copy(commands.entries()["run"].load())
        found.help, found.epilog = commands.describe(cmd_name), commands.options_of(cmd_name)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from council.next.cli import commands

        name = args[0]
        if found := self.get_command(ctx, name):
            return name, found, args[1:]
        if ctx.resilient_parsing:  # shell completion: the line is not finished
            return None, None, args[1:]
        if " " in name:
            raise UsageError(f'"{name}" is no command; to debate a question: council run "QUESTION"')
        if room := commands.OF_ROOMS.get(name):
            raise UsageError(f"`council {name}` is a command of the optional room {room}, which is not here")
        raise UsageError(f'there is no command "{name}"; {did_you_mean(name, self.list_commands(ctx))}')

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What a newcomer needs, on one screen. `council help all` has the rest."""
        from council.next.cli import commands

        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        with formatter.section("Start"):
            formatter.write_dl([*commands.START.items()], col_max=40)
        with formatter.section("Commands"):
            for section, names in commands.sections().items():
                more = f"  and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
                formatter.write_text(f"{section}: {'  '.join(names[:MOST_LISTED])}{more}")
        formatter.write_paragraph()
        formatter.write_text(
            "council COMMAND -h explains a command, and council help all lists them with the exit codes."
        )
