"""A debate by hand ends and verifies, whatever comes between: compaction, Esc, signals, no skill, another host."""

from __future__ import annotations

import tempfile
from pathlib import Path

from prove import Outcome

from tests import interruptions

NOTES = [
    "After compaction the scripted host finds the session's id in the summary or the last result. Not shown: whether a "
    "real model writes the id into its summary.",
    "Esc in a terminal: members that run in the background go on, and so does the host once they have answered.",
]


def parts() -> list[str]:
    return list(interruptions.CASES)


def prove(part: str) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="council-interrupted-", ignore_cleanup_errors=True) as place:
        wrong = interruptions.CASES[part](Path(place))
    now = "failed" if wrong else "ended, verified, byte for byte"
    notes = NOTES if part == parts()[0] else ()
    row = ("interrupted, Claude Code", part, "not measured", now, "it ends and verifies")
    return Outcome([row], [f"{part}: {one}" for one in wrong], notes)
