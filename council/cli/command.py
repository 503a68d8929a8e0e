"""Our click command and group: sections, examples, lazy loading and better suggestions."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from council.text import nearest

DEBATE, FOLLOW_UP, REVIEWS, CODE, OWN, ASSISTANTS, SETUP, PLUMBING = SECTIONS = (
    "Debate", "Follow up", "Reviews", "Code", "Your own workflows", "Assistants", "Setup", "Plumbing",
)  # fmt: skip


@dataclass(frozen=True)
class Entry:
    """A command as `council help all` lists it. Its module is imported when the command is called.

    `advice` names the command that helps with wrong arguments; `spends` marks a command that may cost money; `room` is
    the optional room that the command needs.
    """

    section: str
    summary: str
    where: str
    examples: tuple[str, ...]
    advice: str = ""
    spends: bool = False
    room: str = ""

    def load(self) -> Command:
        module, _, attribute = self.where.partition(":")
        loaded: Command = getattr(import_module(module), attribute)
        loaded.examples, loaded.advice, loaded.spends = self.examples, self.advice, self.spends
        return loaded


class Command(click.Command):
    """A command whose help ends with examples."""

    examples: tuple[str, ...] = ()
    advice = ""
    spends = False

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        with formatter.section("Examples" if len(self.examples) > 1 else "Example"):
            for example in self.examples:  # never wrapped: people copy them
                formatter.write(f"{' ' * formatter.current_indent}{example}\n")


def command(name: str | None = None, **attributes: Any) -> Callable[[Callable[..., Any]], Command]:
    """`@click.command` with our class."""
    return click.command(name, cls=Command, **attributes)


class Group(click.Group):
    """The program: the commands that the rooms list, and one for each workflow."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's own signature)
        from council.cli import commands

        return [*commands.built_in(), *commands.workflows()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        from council.cli import commands

        entry = commands.built_in().get(cmd_name)
        found = entry.load() if entry else commands.from_workflow(cmd_name)
        if ctx.obj is not None:
            ctx.obj.command = found
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if found := self.get_command(ctx, name):
            return name, found, args[1:]
        if ctx.resilient_parsing:  # shell completion: the line is not finished
            return None, None, args[1:]
        if " " in name:
            raise click.UsageError(f'"{name}" is not a command; to debate a question: council run "QUESTION"', ctx)
        near = nearest(name, self.list_commands(ctx))
        raise click.UsageError(f'there is no command "{name}"{f"; did you mean {near}?" if near else ""}', ctx)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What a newcomer needs, on one screen. `format_all` has the rest."""
        from council.cli import commands

        shown = commands.front_page()
        names = {name for group in shown.values() for name in group}
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        with formatter.section("Start"):
            rows = [(f"council {call}", does) for call, does in commands.START.items() if call.split()[0] in names]
            formatter.write_dl(rows, col_max=40)
        with formatter.section("Commands"):
            indent = " " * formatter.current_indent
            for title, group in shown.items():
                begin = f"{indent}{title.ljust(max(map(len, shown)))}  "
                lines = textwrap.wrap(
                    "  ".join(group), formatter.width, initial_indent=begin, subsequent_indent=" " * len(begin),
                    break_on_hyphens=False, break_long_words=False,
                )  # fmt: skip
                formatter.write("".join(f"{line}\n" for line in lines))
        formatter.write_paragraph()
        formatter.write_dl(
            [
                ("council COMMAND -h", "its options and examples"),
                ("council help all", "every command, --version, --debug and the exit codes"),
            ]
        )

    def format_all(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Every command with its summary, the options and the exit codes."""
        super().format_help(ctx, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands come first: they are what people look for here."""
        from council.cli import commands

        summaries = commands.summaries()
        width = max(len(name) for _, rows in summaries for name in rows)
        for section, rows in summaries:
            with formatter.section(section):
                formatter.write_dl([(name.ljust(width), summary) for name, summary in rows.items()])
        click.Command.format_options(self, ctx, formatter)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """click's own would import the module of each command for its help."""
        from council.cli import commands

        rows = {name: summary for _, rows in commands.summaries() for name, summary in rows.items()}
        found = [CompletionItem(name, help=rows[name]) for name in sorted(rows) if name.startswith(incomplete)]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]
