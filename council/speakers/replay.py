"""Replay: the turns of another session or of a script, spoken again, instantly or at their original speed.

A replay is always marked as one.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from council.config import places
from council.config.settings import Config
from council.engine.planner import RETRY
from council.engine.scene import RecordedTurn
from council.errors import Denied, UsageError, Waiting
from council.record import catalog, session
from council.record.turn_file import Receipt
from council.speakers.base import Billing, Brief, Speaker, SpeakerType, Spoken, Usage
from council.workflow import frontmatter

ABSENT = "absent:"
THOUGHT = 0.2  # the part of a turn's seconds that passes before its first word
USUAL_RATE = 250.0  # characters per second, if no receipt says how long it took


SPEAKER = SpeakerType(
    name="replay",
    about="the turns of another session, or of a scripted file, spoken again",
    make=lambda setup: of_source(setup.source, setup.config, setup.paced),
    billing=Billing.FREE,
    replays=True,
    on_this_machine=True,
)


class ReplaySpeaker(Speaker):
    name = SPEAKER.name

    def __init__(self, spoken: Mapping[str, Spoken], source: str, seconds: Mapping[str, float] | None = None) -> None:
        """`seconds` are how long each turn takes; a turn without them takes no time."""
        self.spoken = spoken
        self.source = source
        self.seconds = seconds or {}

    async def speak(self, brief: Brief, tell: Callable[[str], None]) -> Spoken:
        if brief.turn not in self.spoken and brief.person:
            raise Waiting(f"waiting for {brief.turn}: {self.source} has no person's reply for it")
        if brief.turn not in self.spoken:
            add = "add it to the script, or replay a session of the same workflow, members and options"
            if brief.problems:
                first, why = brief.turn.removesuffix(RETRY), "; ".join(brief.problems)
                add = f"it is asked for because of what {first} says: {why}. Correct {first}, or add {brief.turn}"
            raise Denied(f"{self.source} has no turn {brief.turn}; {add}")
        clock = asyncio.get_running_loop()
        began = clock.time()
        for moment, piece in rhythm(self.spoken[brief.turn].body, self.seconds.get(brief.turn, 0.0)):
            if (left := began + moment - clock.time()) > 0:
                await asyncio.sleep(left)
            tell(piece)
        return self.spoken[brief.turn]


def rhythm(body: str, seconds: float) -> Iterator[tuple[float, str]]:
    """The pieces of a turn, each with the second at which it arrives: a pause first, then word by word."""
    if not seconds:
        yield 0.0, body
        return
    said = 0
    for piece in re.findall(r"\s*\S+\s*\Z|\s*\S+|\s+", body) or [""]:
        said += len(piece)
        yield seconds * (THOUGHT + (1 - THOUGHT) * (said / len(body) if body else 1)), piece


def of_source(source: str, settings: Config, paced: bool = False) -> ReplaySpeaker:
    """The speaker for what `--from` names, or what the replay began with: a script's path or a session's id."""
    if Path(source).is_file():
        return of_script(Path(source), paced)
    if not (catalog.GENERATED.fullmatch(source) or places.exists(settings, source)):
        raise UsageError(f"the replay of {source} needs its script again: add --from with the path")
    other = session.open_(places.find(settings, source))
    other.read_turns()
    return of_session(other.said, other.receipts, f"session {other.id}", paced)


def of_session(
    said: Mapping[str, RecordedTurn], receipts: Mapping[str, Receipt], source: str, paced: bool = False
) -> ReplaySpeaker:
    """A session's turns as they were spoken. They cost nothing now, so no tokens are counted."""
    return ReplaySpeaker(
        {
            turn: Spoken(
                one.body,
                model=receipts[turn].answered,
                stop=receipts[turn].stop,
                absent=one.absent,
                usd=0.0,
                trial=receipts[turn].trial,
            )
            for turn, one in said.items()
        },
        source,
        {turn: receipts[turn].seconds for turn in said} if paced else None,
    )


def of_script(path: Path, paced: bool = False) -> ReplaySpeaker:
    """A YAML file of turn ids with their replies; `absent: reason` is a seat that does not speak."""
    try:
        keys = frontmatter.load_yaml(path.read_text("utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as bad:
        raise UsageError(f"{path}: cannot be read: {bad}") from None
    if not isinstance(keys, dict) or not all(isinstance(reply, str) for reply in keys.values()):
        raise UsageError(f"{path}: a script is a list of turns with their replies, as in 01-positions/architect: |")
    seconds = {turn: len(reply) / USUAL_RATE for turn, reply in keys.items()} if paced else None
    return ReplaySpeaker({turn: _spoken(reply) for turn, reply in keys.items()}, path.name, seconds)


def _spoken(reply: str) -> Spoken:
    if reply.startswith(ABSENT):
        return Spoken("", absent=reply.removeprefix(ABSENT).strip() or "no reason given", usd=0.0)
    return Spoken(reply, usage=Usage(), usd=0.0)
