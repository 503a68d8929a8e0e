"""Samples are asked for once: an arm of n calls makes n calls, whether or not each reply can be read."""

from __future__ import annotations

from collections.abc import Callable

from council.engine.planner import RETRY
from council.record.turn_file import ABSENT
from council.speakers.base import Brief, Speaker, Spoken
from council.speakers.select import Voices
from council.workflow.model import Seat

WHY = "nobody is asked twice here, so that the calls are as many as planned"


class AskOnce(Voices):
    """The same speakers. A second try calls nobody: it is recorded as absent, and the first reply stays."""

    def __init__(self, voices: Voices) -> None:
        super().__init__(voices.name, voices.setup, voices.setup.keyboard)
        self.made = voices.made

    def __call__(self, seat: Seat) -> Speaker | None:
        speaker = super().__call__(seat)
        return speaker and FirstTry(speaker)


class FirstTry(Speaker):
    def __init__(self, speaker: Speaker) -> None:
        self.speaker, self.name = speaker, speaker.name

    async def speak(self, brief: Brief, tell: Callable[[str], None]) -> Spoken:
        if brief.turn.endswith(RETRY):
            return Spoken("", stop=ABSENT, absent=WHY, usd=0.0)
        return await self.speaker.speak(brief, tell)
