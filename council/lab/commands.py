"""The commands of this room, for the list of commands."""

from __future__ import annotations

from council.cli.command import CODE, Entry

HERE = "council.lab"
SESSIONS = "`council list` shows your sessions"

COMMANDS = {
    "apply": Entry(
        CODE, "Put the winner of a code session on a new branch.", f"{HERE}.apply:apply",
        ("council apply", "council apply 1a2b3c4d --yes", "council apply --undo 1a2b3c4d"), SESSIONS,
    ),
    "code": Entry(
        CODE, "Have members fix or write code in your project, and run it.", f"{HERE}.code:code",
        (
            "council code",
            'council code "Make parse() accept an empty line" --tests tests/test_parse.py',
            'council code "Speed up the search" --hidden checks --max-cost 1.00',
        ),
        "`council code -h` shows how to call it", spends=True,
    ),
    "lessons": Entry(
        CODE, "List, show and forget what your sessions learned.", f"{HERE}.lessons:lessons",
        ("council lessons", 'council lessons list "empty lists"', "council lessons forget 1a2b3c4d"),
        "`council lessons` lists them",
    ),
    "sandbox": Entry(
        CODE, "Run a command in the sandbox, as a bench does.", f"{HERE}.sandbox:sandbox",
        ("council sandbox -- python3 -c 'print(1)'", "council sandbox --tree . --seconds 10 -- make test"),
        "`council doctor` says whether the sandbox works here", room="sandbox",
    ),
    "lab": Entry(
        CODE, "Compare workflows on sets of tasks.", f"{HERE}.command:lab",
        (
            "council lab check humaneval",
            "council lab run humaneval --workflow reflexion --limit 20 --max-cost 2",
        ),
        "`council lab -h` shows how to name a set", spends=True, room="sandbox",
    ),
}  # fmt: skip
