"""No line of a synthesis is lost in what is made from it: documents, issue, synthesis.md, transcript, page and JSON.

The syntheses are made up from code, tables, nested lists, headings of all levels, diagrams, comments, quotations and
text in many scripts. One that cannot be read in full is asked for again, and the second reply gives just what lacked.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from prove import Outcome

from tests import syntheses

EACH = 100
PROMISE = "nothing is lost in the documents"


def parts() -> list[str]:
    return list(syntheses.BASES)


def prove(part: str) -> Outcome:
    """Record each synthesis in a copy of a debate of this kind, and look for its lines in everything that is made."""
    wrong, lines, lost, asked_again = [], 0, 0, 0
    with tempfile.TemporaryDirectory(prefix="council-lossless-") as place:
        base = syntheses.begin(Path(place, "base"), part)
        for seed in range(EACH):
            session, plan, written = syntheses.record(base, Path(place, "copy"), seed)
            found = list(syntheses.find_lost(session, plan, written))
            lost += bool(found)
            lines += syntheses.count_lines(written)
            asked_again += any(turn.endswith(".2") for turn in session.said)
            wrong += [f"{part}, seed {seed}: {what}" for what in found[:3]]
    tried = f"{EACH} syntheses of {part} with {lines:,} lines, {asked_again} of them asked for twice"
    return Outcome([(PROMISE, tried, EACH, EACH - lost)], wrong)
