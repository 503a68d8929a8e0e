"""The turns of another session, or of a scripted file, spoken again. Their receipts say so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from council.next.config import places
from council.next.config.settings import Settings
from council.next.engine.planner import RETRY
from council.next.errors import UsageError, Waiting
from council.next.prompts.brief import Brief
from council.next.record.session import Session
from council.next.schema import load_yaml
from council.next.speakers.base import Speaker, Spoken, speaker

ABSENT = "absent:"
THOUGHT = 0.2  # the part of a turn's seconds that passes before its first word
RATE = 250.0  # characters a second, where no receipt says how long a turn took
FREE = Spoken("", input=0, output=0, cache_read=0, cache_write=0, usd=0.0, most=0.0)


@speaker
class Replay(Speaker):
    """`pace` is the speed: 1 is the original, for a terminal; 0 takes no time."""

    name: ClassVar[str] = "replay"
    replays: ClassVar[bool] = True
    pace = 0.0

    def __init__(self, settings: Settings, source: str = "") -> None:
        super().__init__(settings, source)
        if not source:
            raise UsageError("a replay needs --from: the id of a session, or a file of turns with their replies")
        path = Path(source)
        path = path if path.exists() else places.find_session(settings.home, source).folder
        session = Session(path) if path.is_dir() else None
        self.source = session.id if session else str(path.absolute())
        self.spoken = dict(of_session(session) if session else of_script(path))
        self.receipts = session.receipts if session else {}

    def price(self) -> str:
        return "free"

    async def speak(self, brief: Brief, began: Callable[[str], None]) -> Spoken:
        turn = brief.due.id
        if turn not in self.spoken and brief.due.seat.is_person:
            raise Waiting(f"{self.source} has no person's reply for {turn}: `council answer {brief.session.id}`")
        if turn not in self.spoken:
            add = "add it to the script, or replay a session of the same workflow, members and options"
            if turn.endswith(RETRY):
                first, why = turn.removesuffix(RETRY), "; ".join(brief.due.problems)
                add = f"it is asked for because of {first}: {why}. Correct {first}, or add {turn}"
            raise UsageError(f"{self.source} has no turn {turn}; {add}")
        spoken = self.spoken[turn]
        seconds = self.receipts[turn].seconds if turn in self.receipts else len(spoken.body) / RATE
        words = spoken.body.split(" ") if seconds * self.pace else [spoken.body]
        for number, word in enumerate(words):
            part = (1 - THOUGHT) / len(words) if number else THOUGHT
            await asyncio.sleep(part * seconds * self.pace)
            began(f" {word}" if number else word)
        return spoken


def of_session(session: Session) -> Iterator[tuple[str, Spoken]]:
    """A session's turns. What a machine did is not believed again, because nothing is run."""
    for turn, said in session.said.items():
        receipt = session.receipts[turn]
        spoken = replace(FREE, body=said.body, answered=receipt.answered, stop=receipt.stop)
        yield turn, replace(spoken, absent=said.absent or None, replayed=session.id)


def of_script(path: Path) -> Iterator[tuple[str, Spoken]]:
    """A YAML file that gives each turn its reply. `absent: why` is a seat that does not speak."""
    turns = load_yaml(places.read(path), str(path))
    if not isinstance(turns, Mapping) or not all(isinstance(reply, str) for reply in turns.values()):
        raise UsageError(f"{path}: a script is turns with their replies, as in 01-positions/architect: |")
    for turn, reply in turns.items():
        absent = reply.removeprefix(ABSENT).strip() or "no reason given" if reply.startswith(ABSENT) else None
        yield turn, replace(FREE, body="" if absent else reply, absent=absent, replayed=path.name)
