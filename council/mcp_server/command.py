"""`mcp`: the manual loop for assistants that have no shell."""

from __future__ import annotations

import sys

from council.cli.command import command
from council.errors import UsageError


@command()
def mcp() -> None:
    """Serve debates to an assistant without a shell, as a Model Context Protocol server on stdio.

    The assistant's program starts it. It needs no API key and calls no model: the assistant's
    subagents are the members.
    """
    from council.mcp_server import server

    if sys.stdin.isatty():
        raise UsageError(
            "an MCP client starts this command, not a person; add `council mcp` to the client's configuration"
        )
    server.serve()
