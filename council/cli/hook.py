"""`hook`: answers the events of Claude Code's hooks. `hooks/council-hook` calls it."""

from __future__ import annotations

import json
import sys

import click

from council.cli.command import command
from council.config import command_line
from council.errors import UsageError

LARGEST = 64_000_000


@command()
@click.option("--wake", is_flag=True, help="Answer with what wakes the assistant, on standard error; exit 2.")
def hook(wake: bool) -> None:
    """Answer one event of Claude Code's hooks: JSON on standard input, JSON or nothing on standard output."""
    from council.config import settings
    from council.runner import assistant_hooks

    command_line.note_call(command_line.NAME)  # where hooks run, the assistant finds the program by its name
    try:
        call = json.loads(sys.stdin.buffer.read(LARGEST))
    except (ValueError, RecursionError):
        call = None
    if not isinstance(call, dict) or not isinstance(call.setdefault("tool_input", {}), dict):
        raise UsageError(
            "expected the JSON of one hook event on standard input; Claude Code calls this command, not people"
        )
    if wake:
        if text := assistant_hooks.wake(call, settings.load()):
            click.echo(text, err=True)
            sys.exit(2)
    elif (answer := assistant_hooks.answer(call, settings.load(), sys.argv[0])) is not None:
        click.echo(json.dumps(answer))
