"""The command of this room, for the list of commands."""

from __future__ import annotations

from council.cli.command import FOLLOW_UP, Entry

COMMANDS = {
    "serve": Entry(
        FOLLOW_UP, "Watch and steer debates on a page in your browser.", "council.web.command:serve",
        ("council serve", "council serve --port 8642 --no-open --read-only"),
    )
}  # fmt: skip
