"""One row for each session, from metadata.json and state.json alone, so a list is fast. A session is planned only if
its turns are newer than its state.json: somebody may have edited them."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from council.next.errors import CouncilError, Damaged
from council.next.record import catalog, files, lock
from council.next.record.files import SCHEMA
from council.next.text import one_line

STATE = "state.json"
LONGEST_TOPIC = 200
COMPLETE, RUNNING, WAITING, INTERRUPTED, DAMAGED = "complete", "running", "waiting", "interrupted", "damaged"


def rows(root: Path, newest: int = 0) -> list[dict[str, Any]]:
    """The sessions of a folder, those that began last at the end. `newest` is how many of them, or 0 for all."""
    return [row(root / id, metadata) for id, metadata in catalog.rows(root)[-newest:]]


def status(folder: Path) -> dict[str, Any]:
    """The row of one session."""
    metadata: dict[str, Any] = {}
    with suppress(OSError, Damaged):
        metadata = files.read_json(folder / "metadata.json")
    return row(folder, metadata)


def row(folder: Path, metadata: dict[str, Any]) -> dict[str, Any]:
    """Where a session is. `kind` is what it came to, `standing` what its votes so far would give.

    `waits_for` are turns of persons. `by_hand` says that it waits for replies that somebody collects. `is_stale` says
    that turns came after the derived files were built: then nothing is said of the outcome."""
    wrong = [name for name in ("session_id", "topic", "started_at") if not isinstance(metadata.get(name), str)]
    problem = f"metadata.json: {wrong[0]} is missing or no text; restore it from a backup" if wrong else None
    state: dict[str, Any] = {}
    if not problem:
        state, problem = read_state(folder)
    outcome, totals, waits = (state.get(key) or {} for key in ("outcome", "totals", "waits_for"))
    over = state.get("status") == COMPLETE
    running = lock.is_held(folder)
    by_hand = not (problem or over or waits or running) and catalog.is_by_hand(folder)
    place = RUNNING if running else WAITING if waits or by_hand else INTERRUPTED
    return {
        "session_id": folder.name,
        "topic": one_line(str(problem or metadata["topic"]), LONGEST_TOPIC),
        **{name: metadata.get(name) for name in ("workflow", "started_at", "completed_at", "members")},
        "status": DAMAGED if problem else COMPLETE if over else place,
        "kind": outcome.get("kind") or None,
        "standing": None if over else outcome.get("standing") or None,
        "waits_for": [*waits],
        "by_hand": by_hand,
        "turns": state.get("turns_of"),
        "due": [one for one in state.get("due") or () if isinstance(one, str)],
        "calls": totals.get("calls"),
        "usd": totals.get("usd"),
        "is_stale": not state and not problem,
        "problem": problem,
    }


def read_state(folder: Path) -> tuple[dict[str, Any], str | None]:
    """state.json, if it is of the turns as they are, and what is damaged. It can be built again, so what is wrong with
    it is no damage."""
    with suppress(OSError, Damaged):
        state = files.read_json(folder / STATE)
        is_own = (state.get("schema"), state.get("debate_id")) == (SCHEMA, folder.name)
        outcome, totals, waits = (state.get(key) for key in ("outcome", "totals", "waits_for"))
        if is_own and isinstance(outcome, dict) and isinstance(totals, dict) and isinstance(waits, list):
            words = (outcome.get("kind"), outcome.get("standing"), *waits)
            amounts = (one for one in (totals.get("calls"), totals.get("usd")) if one is not None)
            fits = all(isinstance(one, str | None) for one in words) and all(map(files.is_amount, amounts))
            times = turn_times(folder)
            if not fits or state.get("turns_of") != len(times):
                return {}, None
            is_newer = max(times, default=0) > (folder / STATE).stat().st_mtime_ns
            return check_turns(folder, state) if is_newer else (state, None)
    return {}, None


def turn_times(folder: Path) -> list[int]:
    """When each turn file was written. Hidden files and folders are left by editors and systems."""
    found: list[int] = []
    with suppress(OSError):
        for step in os.scandir(folder / "turns"):
            if step.is_dir(follow_symlinks=False):
                turns = (one for one in os.scandir(step) if one.name.endswith(".md") and one.name[0] != ".")
                found += [one.stat(follow_symlinks=False).st_mtime_ns for one in turns]
    return found


def check_turns(folder: Path, state: dict[str, Any]) -> tuple[dict[str, Any], str | None]:
    """As read_state, for turns that are newer than state.json. In a copy of a session they may be, and are the same."""
    from council.next.record.session import Session  # with the engine: 100 ms that other lists need not wait for

    try:
        return (state if Session(folder).head == state.get("head") else {}), None
    except CouncilError as damage:
        return {}, str(damage).removeprefix(f"{folder}/")
