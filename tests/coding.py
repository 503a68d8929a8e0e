"""A small code debate for tests: two members write `add`, a bench tries each, and what is red is written again."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

from council.candidates.base import Base
from council.config import settings
from council.config.overlays import workflow_text
from council.record import turn_file
from council.runner.start import Request, begin
from council.speakers.registry import machine_of
from council.workflow.loader import load
from tests.helpers import PATIENCE, User

RIGHT = "add.py\n```python\ndef add(a, b):\n    return a + b\n```\n"
WRONG = "add.py\n```python\ndef add(a, b):\n    return a - b\n```\n"
TESTS = b"""from add import add


def test_small():
    assert add(1, 2) == 3


def test_nothing():
    assert add(0, 0) == 0
"""
BASE = Base(tree={"README.md": b"Sums.\n"}, visible={"test_add.py": TESTS}, facts={"bench": "pytest"})
REPLY = "{tests: pass | fail | tampered | timeout | unknown, passed: list, failed: list, log: text}"
WORKFLOW = f"""---
name: sums
description: Two members write, a bench tries what they wrote.
seats:
  team: [architect, engineer]
  benches: {{tester: {{of: team, speaker: shell, run: pytest}}}}
phases:
  - name: loop
    rounds: [1, 3]
    order: {{still: {{of: trial}}}}
    steps:
      - {{name: draft, prompt: draft, sees: {{mine: [draft, trial]}}, reply: {{solution: files}}}}
      - {{name: trial, seats: benches, sees: nothing, reply: {REPLY}}}
    until: {{green: {{passes: trial}}}}
---

# Sums

## Prompts

### Draft

Write `add`.
"""
DRAFTS = {
    "01-loop-r01-1-draft/architect": WRONG,
    "01-loop-r01-1-draft/engineer": RIGHT,
    "01-loop-r02-1-draft/architect": RIGHT,
}


def start(user: User, workflow: str = WORKFLOW, base: Base = BASE, speaker: str = "assistant", **how: Any) -> Path:
    """A session of the workflow, with this base; the session's folder."""
    write_workflow(user, workflow)
    return start_kit(user, "sums", base, speaker, **how)


def start_kit(user: User, name: str, base: Base = BASE, speaker: str = "assistant", **how: Any) -> Path:
    """A session of the workflow with this name, about this base."""
    with mock.patch.dict(os.environ, user.environment, clear=True):
        request = Request("Write add.", name, base=base, speaker=speaker, **how)
        return begin(request, settings.load()).folder


def tries_code(name: str) -> bool:
    """Whether a workflow of the kit has a bench, so that it cannot begin without a project."""
    return any(one and one.benches for one in map(machine_of, load(*workflow_text(name)).all_seats()))


def write_workflow(user: User, workflow: str) -> None:
    place = user.settings / "Workflows" / "sums.md"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(workflow)


def record_all(user: User, drafts: Mapping[str, str] = DRAFTS) -> list[str]:
    """Record what is due by hand until nothing is; the turns in the order in which they were due."""
    asked: list[str] = []
    while due := [one["turn"] for one in user.council("next", "--json").json["due"]]:
        for turn in due:
            ended = user.council("record", "last", turn, stdin=drafts[turn])
            assert ended.code == 0, ended.err
        asked += due
    return asked


def body_of(session: Path, turn: str) -> bytes:
    """What was said in a turn."""
    path = session / "turns" / f"{turn}.md"
    return turn_file.decode(path.read_bytes(), path)[1].encode()


# ---- processes of trials ----


def find_children(pid: int) -> Iterator[tuple[int, str]]:
    """Every process below this one, with the time of its start."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        if int(fields[1]) == pid:
            child = int(path.parent.name)
            yield child, fields[19]
            yield from find_children(child)


def is_alive(process: tuple[int, str]) -> bool:
    """Whether it still runs: another process may have its number by now."""
    try:
        fields = Path(f"/proc/{process[0]}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return fields[19] == process[1] and fields[0] != "Z"


def wait_until(holds: Callable[[], bool], seconds: float = PATIENCE) -> bool:
    latest = time.monotonic() + seconds
    while not (held := holds()) and time.monotonic() < latest:
        time.sleep(0.01)
    return held


def find_trials(pid: int) -> list[tuple[int, str]]:
    """The processes below this one that try a candidate; council also runs others, to see whether the sandbox works."""
    return [child for child in find_children(pid) if b"council.sandbox.harness" in read_command(child[0])]


def read_command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def interrupt_trial(process: subprocess.Popen[bytes], number: int) -> list[tuple[int, str]]:
    """Send the signal while a candidate is tried; what ran below the process."""
    assert wait_until(lambda: bool(find_trials(process.pid)) or process.poll() is not None)
    process.send_signal(signal.SIGSTOP)  # so that it starts nothing that is not seen
    below = list(find_children(process.pid))
    process.send_signal(number)
    process.send_signal(signal.SIGCONT)
    assert below
    return below
