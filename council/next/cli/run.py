"""`run`, `recover` and `pause`: hold a debate, go on with one, and ask one to stop."""

from __future__ import annotations

from typing import Any

import click

from council.next.cli import options
from council.next.cli.commands import Context


@click.command()
@options.REQUEST
@options.HOLD
@click.pass_obj
def run(context: Context, /, **given: Any) -> None:
    """Debate TOPIC with any workflow. `-` reads it from standard input.

    The sentences that call a council in an assistant work here too: "Council with security: …", "Quick council: …",
    "Just architect and engineer: …", "Council recovery".

    \b
    Examples:
      council run "Redis or PostgreSQL for the job queue?"
      council run --with security --file spec.md "Is this spec ready?"
      council delphi --max-cost 0.50 "Drop the old clients?"
    """
    from council.next.cli import debate

    debate.run(context, given)


@click.command()
@options.SESSION
@options.HOLD
@click.pass_obj
def recover(context: Context, /, session: str, **given: Any) -> None:
    """Continue SESSION (default: the newest) where it stopped. What was said is never asked or billed again.

    \b
    Example:
      council recover 1a2b3c4d --speaker claude
    """
    from council.next.cli import debate

    debate.go_on(context, session, given)


@click.command()
@options.SESSION
@options.flag("--now", "Stop at once, as Ctrl-C does; calls under way may have been billed.")
@options.BY
def pause(session: str, now: bool, by: str) -> None:
    """Ask the run of SESSION to stop before its next turns. `council recover` continues it."""
    from council.next.cli import debate

    debate.pause(session, now, by)
