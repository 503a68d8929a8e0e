"""`hook`: what an assistant's program tells of its members, and what it is told. `hooks/council-hook.py` calls it."""

from __future__ import annotations

import json
import sys

import click

from council.errors import UsageError

LARGEST = 64_000_000


@click.command()
def hook() -> None:
    """Answer one event of Claude Code's hooks: JSON on standard input, JSON or nothing on standard output."""
    from council.config import settings
    from council.runner import subagents

    try:
        call = json.loads(sys.stdin.buffer.read(LARGEST))
    except (ValueError, RecursionError):
        call = None
    if not isinstance(call, dict) or not isinstance(call.get("tool_input", {}), dict):
        raise UsageError("a hook gets the JSON of one event on standard input; Claude Code calls it, not people")
    if (said := subagents.hook(call, settings.load())) is not None:
        click.echo(json.dumps(said))


COMMANDS = (hook,)
