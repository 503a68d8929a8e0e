"""A debate by hand ends, whatever length its members' replies have."""

from __future__ import annotations

import tempfile
from pathlib import Path

from prove import Outcome

from tests import footprints

KB = 1_024
# What council 0.3.0 (commit 0fff1cb) came to in Claude Code 2.1.327.
BEFORE = {
    "4 x 3, replies of 1 KB": "ended",
    "4 x 3, replies of 8 KB": "stopped in round 1",
    "4 x 3, replies of 30 KB": "stopped in round 1",
    "consensus of ten, replies of 1 KB": "ended",
    "consensus of ten, replies of 8 KB": "stopped before the design",
}


def parts() -> list[str]:
    return list(BEFORE)


def prove(part: str) -> Outcome:
    size = int(part.split()[-2]) * KB
    with tempfile.TemporaryDirectory(prefix="council-sizes-", ignore_cleanup_errors=True) as place:
        try:
            if part.startswith("consensus"):
                footprints.hold(Path(place), footprints.Consensus(size), footprints.CONSENSUS)
            else:
                footprints.hold(Path(place), footprints.debate(size))
        except AssertionError as failed:
            wrong = [f"{part}: {failed}"]
        else:
            wrong = []
    now = "failed" if wrong else "ended, verified, byte for byte"
    return Outcome([("length of replies, Claude Code", part, BEFORE[part], now, "it ends")], wrong)
