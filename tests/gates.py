"""Debates that wait for a person, for tests of how they are answered. Nobody else speaks in them: nothing is called."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest import mock

from council.config import settings as config
from council.record import lock
from council.record import session as sessions
from council.record.turn_file import Receipt
from council.runner import answering
from council.runner.answering import Answered
from tests.coding import wait_until
from tests.helpers import User

GATED = """---
name: gated
seats: {members: [architect], boss: human}
options: {checkpoint_timeout: none}
phases:
  - {name: gate, seats: boss, reply: {decision: approve | reject | veto, reason: text}}
  - name: release
    seats: boss
    when: {some: {decision: approve}}
    reply: {decision: approve | reject | veto, reason: text}
---
"""
TEMPLATE = '{% include "_head.md.j2" %}\n# Now\n\nShall it go on?\n{% include "_tail.md.j2" %}\n'
GATE, RELEASE = "01-gate/human", "02-release/human"
Given = str | tuple[tuple[str, str], ...]
RUN = ("run", "-w", "gated", "--wait", "Shall we?")
APPROVE, REJECT = (("decision", "approve"), ("reason", "It is tested.")), (("decision", "reject"), ("reason", "No."))


def make(folder: Path) -> User:
    """A user who has that workflow, and a key that nobody uses."""
    user = User(folder, {"ANTHROPIC_API_KEY": "sk-ant-of-the-tests"})
    user.write(".council/Workflows/Gated.md", GATED)
    for name in ("gate", "release"):
        user.write(f".council/templates/gated/{name}.md.j2", TEMPLATE)
    return user


@contextmanager
def waiting(user: User, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """A run without a terminal, which waits for a person."""
    with user.spawn(*(words or RUN), stdin=subprocess.DEVNULL) as run:
        try:
            wait_for(user, run)
            yield run
        finally:
            with suppress(ProcessLookupError):
                run.kill()


def wait_for(user: User, run: subprocess.Popen[bytes]) -> None:
    """Until the run waits for the person, or has ended."""
    assert wait_until(lambda: run.poll() is not None or is_waiting(user))


def is_waiting(user: User) -> bool:
    with suppress(ValueError, OSError):
        note = lock.read_note(user.session)
        return "pid" in note and lock.is_held(user.session) and (user.session / "briefs/01-gate/human.md").exists()
    return False


def receipts(user: User) -> dict[str, Receipt]:
    found = sessions.open_(user.session)
    found.read_turns()
    return found.receipts


def answer(user: User, turn: str = GATE, given: Given = APPROVE, by: str = "Ada", **how: Any) -> Answered:
    """The function itself, in this process."""
    with mock.patch.dict(os.environ, user.environment, clear=True):
        return answering.answer(user.session, config.load(), turn, given, by, **how)
