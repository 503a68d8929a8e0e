"""Metadata of a session whose seal is right and whose values are of other types."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from council.config import settings as config
from council.errors import CouncilError
from council.record import session as sessions
from council.record.metadata import seal
from council.reports import summary, verify
from council.runner import debate, loop
from council.terminal import watch
from tests.helpers import User, agreed, script

CONFUSED: list[Any] = [
    None, True, 0, -1, 10**30, 1e308, "", "x", "\0", "~nosuchuser/x", "2026-01-01T00:00:00",
    "9999-12-31T23:59:59-23:00", [], [1], ["x"], [[]], {}, {"x": 1}, {"x": {}}, {"x": {"y": []}}, {"": None},
]  # fmt: skip
NAMES = ("council-sessions", "unknown speaker", "no endpoint")  # the file, or what is not configured here
OPTIONAL = (
    "after", "replay_of", "model", "dismissed", "overlays", "project", "attachments", "archived_to", "completed_at",
    "outcome", "totals", "seats", "absent", "rounds_completed", "continued_by", "derived", "archived", "deriving",
)  # fmt: skip


def begin(root: Path) -> User:
    """A session without turns: nothing chains its metadata yet."""
    user = User(root)
    assert user.council("start", "Shall we?").code == 0
    return user


def complete(root: Path) -> User:
    user = User(root)
    source = script(user, agreed(("architect", "engineer")))
    ended = user.council("run", "Shall we?", "--only", "architect,engineer", "--speaker", "replay", "--from", source)
    assert ended.code == 0, ended.err
    return user


STATES = {"begun": begin, "complete": complete}


def places(facts: dict[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Where a value is in the metadata, two levels deep."""
    for key, value in facts.items():
        yield (*above, key)
        if isinstance(value, dict) and len(above) < 2:
            yield from places(value, (*above, key))


def use(folder: Path) -> None:
    """All that the commands do with metadata, without the commands."""
    result = summary.summarize(folder)
    json.dumps(summary.as_row(result))
    list(verify.verify(folder))
    if result.state != "damaged":
        summary.as_document(result)
    found, settings = sessions.open_(folder), config.load()
    found.read_turns()
    for due in found.plan().due:
        loop.prepare(found, settings, due)
    debate.Limits().budget(found, settings)
    watch.list_costs(found, watch.sum_usage(found), watch.bound_usage(found, settings))


@dataclass
class Confused:
    """How many values were tried and refused, and what was wrong."""

    tried: int = 0
    refused: int = 0
    wrong: list[str] = field(default_factory=list)


def confuse(user: User, every: int = 1) -> Confused:
    """Every value that is there or may be there, by every kind of other value, or by every Nth of them."""
    found, path = Confused(), user.session / "metadata.json"
    before = path.read_bytes()
    facts = json.loads(before)
    both = [*places(facts), *((key,) for key in OPTIONAL if key not in facts)]
    pairs = [(place, value) for place in both for value in CONFUSED][::every]
    with mock.patch.dict(os.environ, user.environment):
        for place, value in pairs:
            path.write_bytes(seal(_replaced(json.loads(before), place, value)))
            found.tried += 1
            try:
                use(user.session)
            except CouncilError as refusal:
                found.refused += 1
                if not any(words in str(refusal) for words in NAMES):
                    found.wrong.append(f"{place} {value!r}: names no file: {refusal}")
            except Exception as failure:  # noqa: BLE001 (whatever it is, it is a finding)
                found.wrong.append(f"{place} {value!r}: {type(failure).__name__}: {failure}")
    path.write_bytes(before)
    return found


def _replaced(facts: dict[str, Any], place: tuple[str, ...], value: Any) -> dict[str, Any]:
    inner = facts
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return facts
