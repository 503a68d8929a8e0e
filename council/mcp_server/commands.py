"""The command of this room, for the list of commands."""

from __future__ import annotations

from council.cli.command import PLUMBING, Entry

COMMANDS = {
    "mcp": Entry(
        PLUMBING, "Serve debates to an assistant over MCP.", "council.mcp_server.command:mcp",
        ("claude mcp add council -- council mcp",),
    )
}  # fmt: skip
