"""Replay: the words of another session, or of a scripted file, spoken again. Never presented as a debate of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from council import markdown
from council.errors import Denied, UsageError
from council.receipts import Receipt
from council.scene import Said
from council.speakers.base import Brief, Spoken, Usage

ABSENT = "absent:"


class ReplaySpeaker:
    name = "replay"

    def __init__(self, spoken: Mapping[str, Spoken], source: str) -> None:
        self.spoken = spoken
        self.source = source

    async def speak(self, brief: Brief, tell: Callable[[str], None]) -> Spoken:
        if brief.turn not in self.spoken:
            raise Denied(
                f"{self.source} has no turn {brief.turn}; replay the same workflow with the same members and options"
            )
        tell(self.spoken[brief.turn].body)
        return self.spoken[brief.turn]

    async def close(self) -> None:
        pass


def of_session(said: Mapping[str, Said], receipts: Mapping[str, Receipt], source: str) -> ReplaySpeaker:
    """A session's turns as they were spoken. They cost nothing now, so no tokens are counted."""
    return ReplaySpeaker(
        {
            turn: Spoken(one.body, model=receipts[turn].answered, stop=receipts[turn].stop, absent=one.absent, usd=0.0)
            for turn, one in said.items()
        },
        source,
    )


def of_script(path: Path) -> ReplaySpeaker:
    """A YAML file of turn ids with their replies; `absent: why` is a seat that does not speak."""
    try:
        keys = markdown.load_yaml(path.read_text("utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as bad:
        raise UsageError(f"{path}: cannot be read: {bad}") from None
    if not isinstance(keys, dict) or not all(isinstance(reply, str) for reply in keys.values()):
        raise UsageError(f"{path}: a script is a list of turns with their replies, as in 01-positions/architect: |")
    return ReplaySpeaker({turn: _spoken(reply) for turn, reply in keys.items()}, path.name)


def _spoken(reply: str) -> Spoken:
    if reply.startswith(ABSENT):
        return Spoken("", absent=reply.removeprefix(ABSENT).strip() or "no reason given", usd=0.0)
    return Spoken(reply, usage=Usage(), usd=0.0)
