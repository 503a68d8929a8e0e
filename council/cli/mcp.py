"""`mcp`: the same loop by hand, for assistants that have no shell."""

from __future__ import annotations

import sys

import click

from council.errors import UsageError


@click.command()
def mcp() -> None:
    """Serve the loop by hand to an assistant without a shell: a Model Context Protocol server on stdio.

    The assistant's program starts it. It needs no key and asks no model: the assistant speaks for the members.
    """
    from council.mcp_server import server

    if sys.stdin.isatty():
        raise UsageError("a client starts this, not a person: name the command `council mcp` in its configuration")
    server.serve()


COMMANDS = (mcp,)
