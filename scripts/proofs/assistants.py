"""What a debate by hand costs an assistant, where it works, and what it survives: on real clients with a scripted API.

Each part is a promise, at full size; each is a module in scripts/proofs/of_assistants/. "Before" is council 0.3.0
(commit 0fff1cb). What only a real model can show is in the notes as not shown.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Protocol

from prove import Outcome

COLUMNS = ("what", "case", "before", "now", "target")
PROMISES = sorted(path.stem for path in (Path(__file__).parent / "of_assistants").glob("[a-z]*.py"))


class Promise(Protocol):
    """What a module in of_assistants/ has. A row is (what, case, before, now, target), all of them text."""

    def parts(self) -> list[str]: ...
    def prove(self, part: str) -> Outcome: ...


def promise(name: str) -> Promise:
    module: Promise = importlib.import_module(f"proofs.of_assistants.{name}")
    return module


def parts() -> list[str]:
    return [f"{name}: {part}" for name in PROMISES for part in promise(name).parts()]


def prove(part: str) -> Outcome:
    """One part. Every cell is text: a sum of bytes and calls would mean nothing."""
    name, _, rest = part.partition(": ")
    outcome = promise(name).prove(rest)
    return Outcome([[str(cell) for cell in row] for row in outcome.rows], outcome.wrong, outcome.notes)
