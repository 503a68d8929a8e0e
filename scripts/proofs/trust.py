"""What council promises between sessions, about money, at a repository's border and in its documents.

Each part is a promise and an attempt to break it, at full size; each is a module in scripts/proofs/of_trust/. "Tried"
and "held" count the same thing. What cannot hold is in the notes.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Protocol

from prove import Outcome

COLUMNS = ("promise", "what was tried", "tried", "held")
PROMISES = sorted(path.stem for path in (Path(__file__).parent / "of_trust").glob("[a-z]*.py"))


class Promise(Protocol):
    """What a module in of_trust/ has. A row is (promise, what was tried, tried, held)."""

    def parts(self) -> list[str]: ...
    def prove(self, part: str) -> Outcome: ...


def promise(name: str) -> Promise:
    module: Promise = importlib.import_module(f"proofs.of_trust.{name}")
    return module


def parts() -> list[str]:
    return [f"{name}: {part}" for name in PROMISES for part in promise(name).parts()]


def prove(part: str) -> Outcome:
    """One part. A row where less held than was tried is wrong, whether or not the module says so itself."""
    name, _, rest = part.partition(": ")
    outcome = promise(name).prove(rest)
    broken = [f"{row[0]}: {row[1]}: {row[3]} of {row[2]} held" for row in outcome.rows if row[2] != row[3]]
    return Outcome(outcome.rows, [*outcome.wrong, *(broken if not outcome.wrong else ())], outcome.notes)
