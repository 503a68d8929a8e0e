"""The shelf: a machine that speaks the lessons of the user's earlier sessions that are nearest to this one.

What it finds is a turn. So a session reads the same for ever, whatever is learned or forgotten later.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from council.lessons.answers import SHOWN
from council.speakers.base import Billing, Brief, Caption, Setup, Speaker, SpeakerType, Spoken

if TYPE_CHECKING:
    from council.engine.planner import Due
    from council.lessons.lesson import Lesson
    from council.lessons.store import Lessons
    from council.record.session import Session

MOST = 3  # lessons of one turn
NOTHING = "none: no earlier session left a lesson near this"
UNREADABLE = "none: the folder of lessons cannot be read"
LAST = 1_500  # characters of a failed trial: its summary is at its end


def job(session: Session, due: Due) -> tuple[str, tuple[str, ...]]:
    """The words to look for: of the topic, and of the newest failure that the seat sees."""
    from council.candidates.versions import GREEN, TESTS, runs
    from council.lessons.words import choose

    failed = [
        seen.turn.body[-LAST:]
        for seen in due.sees
        if runs(seen.turn.seat) and seen.turn.answers.get(TESTS, GREEN) != GREEN
    ]
    asked = choose(str(session.metadata["topic"]), *failed[-1:])
    return f"The lessons of earlier sessions that are nearest to these words:\n\n{', '.join(asked) or 'none'}\n", asked


class Shelf(Speaker):
    name = "shelf"

    def __init__(self, lessons: Lessons) -> None:
        self.lessons = lessons

    async def speak(self, brief: Brief, tell: Callable[[str], None]) -> Spoken:
        found: list[Lesson] = []
        nothing = NOTHING
        try:
            found = await asyncio.to_thread(self.lessons.search, brief.work, MOST)
        except OSError as failure:
            nothing = f"{UNREADABLE}: {os.strerror(failure.errno or 0)}"
        listed = "\n".join(f"- [{one.id}] {one.sentence}" for one in found)
        body = f"## Lessons\n\n{listed or nothing}\n"
        tell(body)
        return Spoken(body, trial={SHOWN: [one.id for one in found]})


def _make(setup: Setup) -> Speaker:
    from council.lessons.store import of_user

    return Shelf(of_user(setup.config))


SPEAKER = SpeakerType(
    name=Shelf.name,
    about="the lessons of your earlier sessions that are nearest to this one; a seat names it",
    make=_make,
    billing=Billing.FREE,
    machine=True,
    on_this_machine=True,
    job=job,
    caption=lambda trial: Caption(f"{len(trial.get(SHOWN, ()))} lessons"),
)
