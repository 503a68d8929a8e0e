"""What a debate by hand costs an assistant, where it works, and what it survives: on real clients with a scripted API.

Each part is a promise, at full size; each is a module in scripts/proofs/of_assistants/. "Before" is council 0.3.0
(commit 0fff1cb). What only a real model can show is in the notes as not shown.
"""

from __future__ import annotations

from prove import Outcome, Promises

COLUMNS = ("what", "case", "before", "now", "target")
PROMISES = Promises("of_assistants", counted=False)
parts = PROMISES.parts


def prove(part: str) -> Outcome:
    """One part. Every cell is text: a sum of bytes and calls would mean nothing."""
    outcome = PROMISES.prove(part)
    return Outcome([[str(cell) for cell in row] for row in outcome.rows], outcome.wrong, outcome.notes)
