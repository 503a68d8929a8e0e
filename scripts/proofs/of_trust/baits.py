"""Whatever a document holds to sway its review, the findings are the same, and the report says where it stands."""

from __future__ import annotations

import tempfile
from pathlib import Path

from prove import Outcome

from tests import baits
from tests.helpers import User

PROMISE = "no bait changes a review"


def parts() -> list[str]:
    return ["documents"]


def prove(part: str) -> Outcome:
    bitten = {}
    for name in baits.BAITS:
        with tempfile.TemporaryDirectory(prefix="council-baits-") as place:
            bitten[name] = baits.find_bitten(User(Path(place), {"ANTHROPIC_API_KEY": "k"}), name)
    wrong = [f"{name}: {what}" for name, found in bitten.items() for what in found]
    return Outcome([(PROMISE, f"baits in {part}", len(bitten), sum(not found for found in bitten.values()))], wrong)
