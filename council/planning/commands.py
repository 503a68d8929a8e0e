"""The command of this room, for the list of commands."""

from __future__ import annotations

from council.cli.command import DEBATE, Entry

COMMANDS = {
    "planning": Entry(
        DEBATE, "Plan something in four councils, from a question to tasks.", "council.planning.command:planning",
        (
            "council planning",
            'council planning "Shall we offer the service in the EU?" --max-cost 20',
            "council planning 1a2b3c4d",
            "council planning --from planning-1 --document docs/decisions/adr-0007-eu.md",
        ),
        "`council planning` lists your plannings", spends=True,
    ),
}  # fmt: skip
