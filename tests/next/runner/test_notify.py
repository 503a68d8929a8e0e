"""Who waits for a person, or has ended, says so: by the user's own command, with nothing that was said."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from council.next.engine.planner import Plan
from council.next.errors import Paused, Waiting
from council.next.runner.budget import Budget
from council.next.runner.loop import Run
from tests.next.runner.debating import Scripted, begun, held, settings

WRITES = """
import os, pathlib, sys
pathlib.Path(sys.argv[1], os.environ["COUNCIL_STATE"]).write_bytes(sys.stdin.buffer.read())
"""


def told(folder: Path, state: str) -> dict[str, str]:
    """The notification, which a process of its own delivers."""
    until = time.monotonic() + 30
    while not (folder / state).exists() or not (folder / state).read_bytes():
        assert time.monotonic() < until, "nobody was told"
        time.sleep(0.01)
    found: dict[str, str] = json.loads((folder / state).read_bytes())
    return found


def command(folder: Path) -> dict[str, Any]:
    folder.mkdir()
    return {"command": [sys.executable, "-c", WRITES, str(folder)]}


@pytest.mark.parametrize("content", [False, True])
def test_a_person_who_is_needed_is_called_and_the_end_is_told(tmp_path: Path, content: bool) -> None:
    folder = tmp_path / "told"
    given = settings(tmp_path, notify={**command(folder), "content": content})
    with begun(tmp_path, gates=("synthesis",)) as session:
        assert isinstance(held(Run(session, Scripted(given), given)), Waiting)
    facts = told(folder, "waiting")
    assert (facts["event"], facts["session"]) == ("needed", session.id)
    assert ("Redis" in json.dumps(facts)) == content


def test_the_end_of_a_debate_and_a_pause_are_told(tmp_path: Path) -> None:
    folder = tmp_path / "told"
    given = settings(tmp_path, notify=command(folder))
    with begun(tmp_path) as session:
        assert isinstance(held(Run(session, Scripted(given, most=0.01), given, Budget(max_calls=2))), Paused)
        assert told(folder, "stopped")["event"] == "ended"
        assert isinstance(held(Run(session, Scripted(given), given)), Plan)
    assert told(folder, "complete")["event"] == "ended"


def test_a_command_that_is_not_there_fails_no_run(tmp_path: Path) -> None:
    given = settings(tmp_path, notify={"command": ["/nowhere/at-all"], "webhook": "http://127.0.0.1:9/"})
    with begun(tmp_path) as session:
        assert isinstance(held(Run(session, Scripted(given), given)), Plan)
