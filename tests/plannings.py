"""A planning in small: the kit's four councils with one member of their own each, and what everybody says in them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import yaml

from council.config import overlays
from council.planning.store import COUNCILS
from council.workflow.loader import load
from tests.debates import everything
from tests.scripted import Script, play

PLAN = """### T1: Write the schema
- Depends on: none
- Done when: the migration runs

### T2: Read from it
- Depends on: T1
- Done when: every read goes there
"""
ROUND = {
    "positions/*": "I say so, because it pays.",
    "respond/*": {
        "challenges": ["Contrarian: it will be late."], "risks": ["It is late."], "stance": "agree", "blocking": [],
        "gist": "It pays.", "ready": "yes",
    },
    "poll/*": {"move_on": "yes"},
    "review/*": {"ruling": "continue", "repeating_rounds": 0},
    "check/*": {"accurate": "yes", "correction": []},
}  # fmt: skip
END = {"rejected": ["Wait."], "dissents": [], "risks": ["It is late."], "confidence": "high"}
SPEC = {
    "components": "One service.", "contracts": "`GET /sessions`", "data": "One table.",
    "failure_modes": ["It is full."],
    "acceptance_tests": ["Read what was written."],
}  # fmt: skip
WRITTEN: Mapping[str, Mapping[str, object]] = {
    "board": {}, "planning-1": {}, "planning-2": SPEC, "planning-3": {"tasks": PLAN},
}  # fmt: skip


@lru_cache
def small(council: str) -> str:
    """The kit's workflow with the first member of its own, who writes the document too if a member does."""
    text, where = overlays.workflow_text(council)
    workflow = load(text, where)
    pen = workflow.seats(["pen"])[0].name
    own = pen if pen in [seat.name for seat in workflow.members] else workflow.members[0].name
    group = next(iter(workflow.groups))
    made, count = re.subn(rf"^  {group}: \[.*\]$", f"  {group}: [{own}]", text, count=1, flags=re.M)
    assert count == 1
    return made.replace("rounds: [2, max_rounds]", "rounds: [1, max_rounds]")


@lru_cache
def replies(council: str) -> str:
    """A script of what everybody says in it."""
    said = {**ROUND, "synthesize/*": {"chosen": f"What {council} chose.", **WRITTEN[council], **END}}
    debate = play(Script(council, "", load(small(council), council), "seed", 0.0, said))
    return yaml.safe_dump(everything(debate), allow_unicode=True)


def prepare(work: Path, config: Path) -> Path:
    """Overlays of the user for the small councils, and a folder with their scripts."""
    folder = work / "replies"
    for place in (folder, config / "Workflows"):
        place.mkdir(parents=True, exist_ok=True)
    for council in COUNCILS:
        (config / "Workflows" / f"{council}.md").write_text(small(council), "utf-8")
        (folder / f"{council}.yaml").write_text(replies(council), "utf-8")
    return folder


def normal_name(path: str) -> str:
    """The name of a file without the time and the ids in it."""
    path = re.sub(r"\d{8}-\d{6}-[0-9a-f]{8}", "<id>", path)
    path = re.sub(r"_<id>-[a-z]+(-\d)?(?=\.md$)", "", path)  # of two that ended in one second
    return re.sub(r"\d{4}-\d\d(-\d\d(-\d{6})?)?", "<day>", path)
