"""The choice of a speaker when the user named none, and who speaks for each seat."""

from __future__ import annotations

import importlib
import os
import threading
from collections.abc import Iterator, Mapping

from council.config.settings import Config
from council.errors import Denied, UsageError
from council.speakers import AUTO, registry
from council.speakers.base import Setup, Speaker, SpeakerType
from council.speakers.human import at_a_terminal
from council.workflow.model import Seat


def choose(wanted: str, config: Config, env: Mapping[str, str] = os.environ) -> str:
    """The name of the speaker: the one asked for, or for `auto` the first that is available here."""
    if wanted != AUTO:
        return registry.find(wanted).name
    last, why = "", "none can be called automatically"
    for candidate in registry.automatic():
        last, why = candidate.name, candidate.obstacle(config, env)
        if not why:
            return last
    raise Denied(f"no speaker is available: {why}; or {', or '.join(_remedies(last))}")


def unavailable() -> str:
    """What to do where there is no speaker, as a list."""
    remedies = ";\n".join(f"  - {remedy}" for remedy in _remedies())
    return f"no speaker is available. Do one of these, then run it again:\n{remedies}."


def _remedies(but: str = "") -> Iterator[str]:
    yield from (one.setup for one in registry.all_types() if one.setup and one.name != but)


def warm_up(name: str) -> None:
    """Import what is heavy beside the work that comes before the first call. Who needs it sooner waits for it."""
    for module in registry.find(name).imports:
        threading.Thread(target=importlib.import_module, args=(module,), daemon=True).start()


def speaker_of(seat: Seat, everybody: str) -> SpeakerType:
    """Who speaks for a seat in a session of that speaker: the one that the seat names goes first."""
    usual = registry.describe(everybody)
    return usual if usual.speaks_for_all or not seat.speaker else registry.describe(seat.speaker)


class Voices:
    """The speaker for each seat, made once, when it is first needed. Persons are asked at the terminal unless `ask`
    is False.
    """

    def __init__(self, name: str, setup: Setup, ask: bool = True) -> None:
        self.name = name
        self.setup = setup
        self.ask = ask
        self.made: dict[str, Speaker] = {}

    def __call__(self, seat: Seat) -> Speaker | None:
        """None if nobody can be asked from here: the turn is recorded by hand."""
        who = speaker_of(seat, self.name)
        if who.manual or (who.is_person and not (self.ask and at_a_terminal())):
            return None
        if who.name not in self.made:
            if who.make is None:
                raise UsageError(f'speaker "{who.name}" cannot be called automatically')
            self.made[who.name] = who.make(self.setup)
        return self.made[who.name]

    async def close(self) -> None:
        for speaker in self.made.values():
            await speaker.close()
