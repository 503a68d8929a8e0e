"""Scripts for replays: whole debates as YAML, made by holding them in memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.next.protocols.held import Held, kit, signs

AGREED = {"challenges": {"all": signs("R1")}}
SPLIT = {
    "challenges": {"A": signs("R1"), "D": signs("R2"), "E": signs("R3"), "R": signs("R4")},
    "closing": {"A": signs("R1"), "D": signs("R2"), "E": signs("R3"), "R": signs("R4")},
}
DISSENT = {
    "challenges": {"all": signs("R1"), "D": signs("none", "the table will be full by June")},
    "closing": {"all": signs("R1"), "D": signs("none", "the table will be full by June")},
}
FEW = {
    "challenges": {"A": signs("R1"), "D": None, "E": None, "R": None},
    "closing": {"A": signs("R1"), "D": None, "E": None, "R": None},
}
SYNTHESIS = {"all": {"title": "One database", "answer": "Keep PostgreSQL.", "confidence": "high"}}


def script(path: Path, votes: Mapping[str, Any] = AGREED, workflow: str = "Debate") -> Path:
    """A file that a replay speaks."""
    held = Held(kit(workflow), **{"synthesis": SYNTHESIS, **votes}).until()
    turns = {id: f"absent: {said.absent}" if said.absent else said.body for id, said in held.said.items()}
    path.write_text(yaml.safe_dump(turns, sort_keys=False, allow_unicode=True), "utf-8")
    return path
