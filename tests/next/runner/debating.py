"""Sessions on a disk, held by a speaker whose every reply, price and failure a test chooses."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from council.next.config import settings as config
from council.next.config.settings import Retry, Settings
from council.next.engine.planner import Due, Plan
from council.next.errors import CouncilError
from council.next.prompts.brief import Brief
from council.next.record.session import Session
from council.next.record.turn_file import Receipt
from council.next.runner.loop import Listener, Run, hold
from council.next.runner.prepare import Request, prepare
from council.next.speakers.base import Speaker, Spoken
from tests.next.protocols.held import Held, kit, signs

Answer = str | Spoken | BaseException | None  # None for the usual reply
Answers = Callable[[Brief], Answer | Awaitable[Answer]]


def settings(home: Path, **changed: Any) -> Settings:
    """The kit's settings, which wait for nothing that a test does not ask for."""
    return replace(config.load(), home=home, retry=Retry(0.001, 5.0, 5.0), **changed)


class Scripted(Speaker):
    """Gives the usual replies of a debate, unless `instead` gives another one or fails."""

    name = "scripted"

    def __init__(self, settings: Settings, instead: Answers | None = None, most: float | None = 0.0) -> None:
        super().__init__(settings)
        self.instead, self.most = instead, most
        self.asked: list[str] = []
        self.briefs: dict[str, str] = {}
        self.closed = 0

    def price_limit(self, brief: Brief) -> float | None:
        return self.most

    async def speak(self, brief: Brief, began: Callable[[str], None]) -> Spoken:
        self.asked.append(brief.due.id)
        self.briefs[brief.due.id] = brief.text
        await asyncio.sleep(0)  # as with a real call, the others of a batch begin meanwhile
        given = self.instead(brief) if self.instead else None
        given = await given if isinstance(given, Awaitable) else given
        if isinstance(given, BaseException):
            raise given
        if isinstance(given, Spoken):
            return given
        began("")
        began(words := given or usual_reply(brief))
        return Spoken(words, asked="m", answered="m-20261101", input=10, output=5, usd=self.most, most=self.most)

    async def close(self) -> None:
        self.closed += 1


def usual_reply(brief: Brief) -> str:
    held = Held(kit("Debate"), challenges={"all": signs("R1")}, closing={"all": signs("R1")})
    held.plan = brief.session.plan
    return held.reply(brief.due).body


@dataclass
class Told(Listener):
    """What a listener heard."""

    lines: list[str] = field(default_factory=list)
    spoken: list[str] = field(default_factory=list)
    lost: dict[str, str] = field(default_factory=dict)
    words_of: dict[str, str] = field(default_factory=dict)

    def say(self, line: str) -> None:
        self.lines.append(line)

    def words(self, due: Due, text: str) -> None:
        self.words_of[due.id] = self.words_of.get(due.id, "") + text

    def spoke(self, due: Due, receipt: Receipt, body: str) -> None:
        self.spoken.append(due.id)

    def unsaved(self, due: Due, body: str) -> None:
        self.lost[due.id] = body


@contextmanager
def begun(home: Path, topic: str = "Redis or PostgreSQL?", **more: Any) -> Iterator[Session]:
    with prepare(Request(topic, **more), settings(home)) as session:
        yield session


def held(run: Run) -> Plan | CouncilError:
    """The plan at the end, or the error that ended the run."""
    try:
        return asyncio.run(hold(run))
    except CouncilError as ended:
        return ended


async def until(holds: Callable[[], bool]) -> None:
    """Let the others go on until this holds."""
    while not holds():  # noqa: ASYNC110 (nobody tells of it)
        await asyncio.sleep(0.002)
