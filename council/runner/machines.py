"""The turns that council makes itself, in a debate whose other turns are recorded by hand.

Each command that lists what is due calls this first. Claude Code's hooks do not: they must answer at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from council.config.settings import Config
from council.engine.planner import Due
from council.record.session import Session
from council.runner import notify
from council.runner.debate import NoAudience, close
from council.runner.loop import Runner
from council.speakers import registry, select
from council.speakers.base import Setup
from council.text import join_words


class _Told(NoAudience):
    """Says what is being run."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self.tell = tell

    def due(self, _: Any, batch: tuple[Due, ...], *__: Any) -> None:
        self.tell(f"running: {join_words(due.seat.label for due in batch)}")


def list_due(session: Session) -> list[Due]:
    """The turns of machines that are due."""
    return [due for due in session.plan().due if registry.machine_of(due.seat)]


def run_due(session: Session, settings: Config, tell: Callable[[str], None] = lambda _: None) -> None:
    """Make every turn of a machine that is due, until others are. The session must be locked.

    A machine that cannot work here is refused before anybody is asked in vain.
    """
    by_hand = registry.manual().name
    if not session.plan().done:
        select.check_machines(session.workflow, by_hand, settings)
    if not list_due(session):
        return
    assert session.lock is not None
    before = session.plan()
    session.lock.note()  # others learn who is at work, and that it may take a while
    try:
        asyncio.run(_run(session, settings, select.Voices(by_hand, Setup(settings), ask=False), tell))
    finally:
        session.lock.clear()
    notify.report_by_hand(settings.notify, session, before)


async def _run(session: Session, settings: Config, voices: select.Voices, tell: Callable[[str], None]) -> None:
    runner = Runner(session, voices, settings, _Told(tell))
    try:
        while list_due(session):
            await runner.batch(session.plan())
    finally:
        await close(voices)
