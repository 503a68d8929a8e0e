"""The commands of this room, for the list of commands."""

from __future__ import annotations

from council.cli.command import CODE, Entry

HERE = "council.lab"

COMMANDS = {
    "lessons": Entry(
        CODE, "List, show and forget what your sessions learned.", f"{HERE}.lessons:lessons",
        ("council lessons", 'council lessons list "empty lists"', "council lessons forget 1a2b3c4d"),
        "`council lessons` lists them",
    ),
}  # fmt: skip
