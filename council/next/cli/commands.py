"""The commands: those of the core and of optional rooms, and each workflow. One is imported when it is called."""

from __future__ import annotations

import copy
import importlib
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING

import click

from council.next import rooms
from council.next.errors import CouncilError, Damaged, Unmet, UsageError
from council.next.terminal.output import TIE, echo, program
from council.next.text import did_you_mean, one_line, printable, slug

if TYPE_CHECKING:
    from council.next.record.session import Session
    from council.next.schema import Table

DEBATE, UNLISTED = "Debate", ""  # programs call an unlisted command, people do not
# The core's commands: by the sections of the help, the modules here and their functions. The docstrings are the help.
CORE = {
    DEBATE: {"run": "run recover pause"},
    "Follow up": {
        "by_hand": "answer",
        "confirm": "confirm",
        "sessions": "list_ status show verify decision build archive",
    },
    "By hand": {"by_hand": "start next_ brief record"},
    "Set up": {"setup": "doctor config", "own": "cost", "skill": "install_skill", "commands": "completion help_"},
    "Your own": {"own": "new_workflow lint diagram specialists"},
    UNLISTED: {"hook": "hook"},
}
# The commands of council's own optional rooms, to name the room where it is not here.
OF_ROOMS = {"index": "search stats", "lab": "apply code lab", "lessons": "lessons", "mcp_server": "mcp"}
OF_ROOMS |= {"planning": "planning", "reviews": "review", "sandbox": "sandbox", "web": "serve"}
MOST_LISTED = 40  # names of a section: a project may bring any number of workflows
COMPLETE = "_COUNCIL_COMPLETE"  # the variable by which a shell asks for completions
START = {
    'council run "Queue or table?"': "debate a question",
    "council show": "read what the last one came to",
    "council doctor": "see what is set up, and who would speak",
}

KEYS = """Without a key: the program `claude`, if it is logged in; `--speaker codex`; a
server on this machine, as in `--model ollama/llama3.3`; or `council start`,
where you or an assistant record the replies. A key is sent to its own endpoint
alone, and written to no file. `council doctor` shows who would speak."""


@dataclass(frozen=True)
class Entry:
    """Where a command is, as module:function, and the section of the help that lists it."""

    where: str
    section: str

    def load(self) -> click.Command:
        module, _, name = self.where.partition(":")
        found: click.Command = getattr(importlib.import_module(module), name)
        return found


@cache
def entries() -> dict[str, Entry]:
    """Every command that is not a workflow. Those of other people's rooms are left out: to find them takes 20 ms."""
    found = of_rooms(rooms.of_the_kit())
    for section, modules in CORE.items():
        for module, names in modules.items():
            for name in names.split():
                shown = name.rstrip("_").replace("_", "-")
                found[shown] = Entry(f"{__package__}.{module}:{name}", section)
    return found


def of_rooms(found: Mapping[str, ModuleType]) -> dict[str, Entry]:
    """The commands that these rooms list in their `room.py`: each name with the fields of an Entry."""
    return {
        name: Entry(f"{module.__package__}.{fields['where']}", fields["section"])
        for module in found.values()
        for name, fields in getattr(module, "command", {}).items()
    }


def workflows() -> tuple[str, ...]:
    """The workflows that have no command of another kind. A project may bring a `--help.md`: it is none."""
    from council.next.config import places

    names = places.workflows(places.overlays(places.project()))
    return tuple(name for name in names if name not in entries() and slug(name) == name)


def sections() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, entry in entries().items():
        if entry.section != UNLISTED:
            found.setdefault(entry.section, []).append(name)
    found[DEBATE] += workflows()
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
        is_told = "`council " in said
        if self.session is not None and (code != UsageError.code or self.spends):
            from council.next.record import catalog, files

            turns = len(list((self.session.folder / "turns").glob("*/*.md")))
            kept = f"kept: {turns} turn{'s' * (turns != 1)} in {files.tilde(self.session.folder)}"
            go_on = f"council {'show' if code == Unmet.code else 'verify'} {self.session.id}"
            if code not in (Damaged.code, Unmet.code):
                with suppress(CouncilError):  # of a damaged one, `verify` says what is wrong
                    go_on = catalog.next_command(self.session)
            go_on = go_on.replace("council", program(), 1).replace(" ", TIE)
            return kept if is_told else f"{kept}; go on with: {go_on}"
        if code == UsageError.code and not is_told:
            called = " ".join(filter(None, ("council", self.command, "-h")))
            return f"{'nothing was spent; ' * self.spends}`{called}` shows how to call it"
        return "nothing was spent" if self.spends else ""


class Group(click.Group):
    """The commands of the core and of optional rooms, and each workflow as a command of its own."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's own signature)
        return [*entries(), *workflows()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if entry := entries().get(cmd_name):
            return entry.load()
        if cmd_name in workflows():
            return workflow_command(cmd_name)
        other = of_rooms(rooms.of_others()).get(cmd_name)
        return other.load() if other else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if found := self.get_command(ctx, name):
            ctx.obj.command, ctx.obj.workflow = name, name if name not in entries() else ""
            ctx.obj.spends = any(one.name == "max_cost" for one in found.params)
            return name, found, args[1:]
        if ctx.resilient_parsing:  # shell completion: the line is not finished
            return None, None, args[1:]
        if " " in name:
            raise UsageError(f'"{name}" is no command; to debate a question: council run "QUESTION"')
        if room := next((room for room, names in OF_ROOMS.items() if name in names.split()), ""):
            raise UsageError(f"`council {name}` is a command of the optional room {room}, which is not here")
        raise UsageError(f'there is no command "{name}"; {did_you_mean(name, self.list_commands(ctx))}')

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What a newcomer needs, on one screen. `council help all` has the rest."""
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        with formatter.section("Start"):
            formatter.write_dl([*START.items()], col_max=40)
        with formatter.section("Commands"):
            for section, names in sections().items():
                more = f"  and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
                formatter.write_text(f"{section}: {'  '.join(names[:MOST_LISTED])}{more}")
        formatter.write_paragraph()
        formatter.write_text(
            "council COMMAND -h explains a command, and council help all lists them with the exit codes."
        )


def workflow_command(name: str) -> click.Command:
    """`run` with this workflow. Its help is the workflow's description, and the options that it has."""
    from council.next.config import places
    from council.next.schema import read_markdown

    found = copy.copy(entries()["run"].load())
    lines = ["\b", "Example:", f'  council {name} "Redis or PostgreSQL for the job queue?"']
    try:
        path = places.find_workflow(name, places.overlays(places.project()))
        table: Table = read_markdown(places.read(path), path.name)[0]
        found.help = printable(table.text("description"))
        own = table.mapping("options", {})
        spelt = {
            key: str(value).lower() if isinstance(value, bool) else one_line(str(value)) for key, value in own.items()
        }
        if spelt:
            told = [f"  -o {key}={value}" for key, value in spelt.items()]
            lines[1:1] = ["Its own options, with their defaults:", *told, "", "\b"]
    except CouncilError as wrong:
        found.help = f"It cannot be run: {wrong}"
    found.epilog = "\n".join(lines)
    return found


# ---- help and completion ----


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script for SHELL. Save it where your shell looks for completions.

    \b
    Example:
      council completion bash > ~/.local/share/bash-completion/completions/council
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    made = kind(context.find_root().command, {}, "council", COMPLETE)
    echo((made.source_template % made.source_vars()).strip())


def offer_names(_: click.Context, __: click.Parameter, typed: str) -> list[str]:
    return [name for name in (*entries(), *workflows()) if name.startswith(typed)]


@click.command("help")
@click.argument("word", metavar="[COMMAND|all|keys]", default="", shell_complete=offer_names)
@click.pass_context
def help_(context: click.Context, word: str) -> None:
    """Explain COMMAND, or all of them. `all` lists every command, `keys` says which key belongs to which vendor."""
    parent = context.find_root()
    group = parent.command
    assert isinstance(group, Group)
    if not word:
        echo(parent.get_help())
    elif word == "all":
        formatter = parent.make_formatter()
        group.format_usage(parent, formatter)
        for section, names in sections().items():
            with formatter.section(section):
                found = {name: group.get_command(parent, name) for name in names[:MOST_LISTED]}
                formatter.write_dl([(name, one.get_short_help_str(100)) for name, one in found.items() if one])
                if len(names) > MOST_LISTED:
                    formatter.write_text(f"and {len(names) - MOST_LISTED} more")
        formatter.write_paragraph()
        formatter.write_text(group.epilog or "")
        echo(formatter.getvalue().rstrip("\n"))
    elif word == "keys":
        from council.next.cli.options import load_settings

        keys = [(one.key, name) for name, one in load_settings({}).endpoints.items() if one.key]
        width = max(len(key) for key, _ in keys)
        rows = [f"  {key:{width}}  {name}{' (set)' * bool(os.environ.get(key))}" for key, name in keys]
        echo("\n".join(["Set one of these variables, and the models of that vendor speak:", "", *rows, "", KEYS]))
    else:
        name, command, _ = group.resolve_command(parent, [word])
        assert command is not None
        echo(command.get_help(click.Context(command, info_name=name, parent=parent)))
