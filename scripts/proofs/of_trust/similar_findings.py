"""Two findings at two places are never one, and whatever words alone cannot tell apart is shown with both wordings."""

from __future__ import annotations

from prove import Outcome

from tests import kills
from tests.similar import PLACES, SIMILAR, try_pair

NOTE = (
    "Findings: without a place, words alone cannot tell two similar findings apart. They may become one entry, which "
    "shows both, which a member can split, and which no baseline passes that knows only one of them. A fingerprint is "
    "of the passage, so another fault of a passage that a baseline knows passes if its words are alike."
)


def parts() -> list[str]:
    return list(PLACES)


def prove(part: str) -> Outcome:
    wrong: list[str] = []
    held = 0
    with kills.in_memory() as root:
        for pair in SIMILAR:
            found = list(try_pair(root / str(pair.number), pair, part))
            wrong += found
            held += not found
    known = {"quote": "each with its passage", "lines": "each with its lines", "none": "without a place"}[part]
    promise = "one entry that shows both" if part == "none" else "two entries"
    tried = f"pairs of similar findings, {known}: entries, formats, challenge, baseline"
    return Outcome([(promise, tried, len(SIMILAR), held)], wrong, [NOTE])
