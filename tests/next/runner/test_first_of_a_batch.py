"""Over a long shared part, one member of a batch begins first, so that the others read what it put into the cache."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from council.next.config.settings import Settings
from council.next.engine.planner import Plan
from council.next.prompts.brief import Brief
from council.next.runner.loop import Run
from council.next.speakers.base import CallFailed, Spoken
from tests.next.runner.debating import Scripted, begun, held, settings, usual_reply

LONG = "Redis or PostgreSQL? " * 1_000
MEMBERS = {"architect", "designer", "engineer", "researcher"}


@dataclass
class Log:
    """Who had asked when the first answer of the first round began, and who asked in all."""

    asked: list[str] = field(default_factory=list)
    before: set[str] | None = None


class Careful(Scripted):
    """An answer begins some moments after the call, and ends long after that, so the order of calls shows."""

    log: Log
    fails: Callable[[Brief], bool] = staticmethod(lambda _: False)

    def place(self, brief: Brief) -> str:
        return "other" if brief.due.seat.name == "researcher" and self.most == 0.02 else "one"

    async def speak(self, brief: Brief, began: Callable[[str], None]) -> Spoken:
        first = brief.due.phase.name == "positions"
        if first:
            self.log.asked.append(brief.due.seat.name)
        for _ in range(5):
            await asyncio.sleep(0)
        if first and self.log.before is None:
            self.log.before = {*self.log.asked}
        if self.fails(brief):
            raise CallFailed("the prompt is refused (400)", again=False, usd=0.0)
        began("")
        await asyncio.sleep(0.02)
        return Spoken(usual_reply(brief), usd=0.0)


def log_of(tmp_path: Path, topic: str, **more: object) -> Log:
    given: Settings = settings(tmp_path)
    speaker = Careful(given)
    speaker.log = Log()
    for name, value in more.items():
        setattr(speaker, name, value)
    with begun(tmp_path, topic) as session:
        ended = held(Run(session, speaker, given, quorum=2))
    assert isinstance(ended, Plan)
    return speaker.log


def test_one_begins_first_over_a_long_new_part(tmp_path: Path) -> None:
    log = log_of(tmp_path, LONG)
    assert len(log.before or ()) == 1
    assert {*log.asked} == MEMBERS


def test_one_of_each_place_begins_first(tmp_path: Path) -> None:
    """What one endpoint keeps, another does not read."""
    assert len(log_of(tmp_path, LONG, most=0.02).before or ()) == 2


def test_without_a_long_part_all_begin_at_once(tmp_path: Path) -> None:
    assert log_of(tmp_path, "Redis or PostgreSQL?").before == MEMBERS


def test_the_others_go_on_when_the_first_fails(tmp_path: Path) -> None:
    log = log_of(tmp_path, LONG, fails=lambda brief: brief.due.seat.name == "architect")
    assert log.before == {"architect"}
    assert {*log.asked} == MEMBERS


@pytest.mark.parametrize("waits", [True, False])
def test_nobody_waits_where_answers_take_long_to_begin(tmp_path: Path, waits: bool) -> None:
    given = settings(tmp_path)
    speaker = Careful(given)
    speaker.log = Log()
    with begun(tmp_path, LONG) as session:
        run = Run(session, speaker, given)
        run._begins_late = not waits  # as after an earlier call
        assert isinstance(held(run), Plan)
    assert (len(speaker.log.before or ()) == 1) == waits
