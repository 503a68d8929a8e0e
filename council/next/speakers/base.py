"""What every speaker is: it takes a brief and gives a reply, or says why there is none. The runner decides the rest.

Each speaker is one module or package in this folder, or in an optional room, and nothing else names it: `speakers`
finds it by the name that it registers. Heavy imports are inside the functions that need them.
"""

from __future__ import annotations

import asyncio
import importlib
import pkgutil
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, ClassVar, TypeVar, cast

from council.next import speakers as package
from council.next.config.settings import Settings
from council.next.engine.planner import Due
from council.next.engine.registry import Registry
from council.next.errors import CouncilError, UsageError
from council.next.prompts.brief import Brief
from council.next.record.session import Session
from council.next.workflow.model import Workflow

PASSING = {408, 409, 425, 429, 499}  # any other 4xx would fail again


def using(settings: Settings, word: str) -> Settings:
    """The settings with the model that this word names in every tier: what `--seat` and a chosen endpoint say."""
    tiers = {
        tier: {**one, "model": settings.named(word, tier).full_name} for tier, one in settings.values["tiers"].items()
    }
    return replace(settings, values={**settings.values, "tiers": tiers})


@dataclass(frozen=True)
class Spoken:
    """A reply, and what it took. None is unknown: of tokens, and of `usd`, which `most` then bounds."""

    body: str
    asked: str | None = None
    answered: str | None = None
    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    usd: float | None = None
    most: float | None = None
    stop: str | None = None
    call: str | None = None
    by: str | None = None
    via: str | None = None
    replayed: str | None = None
    absent: str | None = None
    machine: Mapping[str, Any] | None = None

    @property
    def is_swapped(self) -> bool:
        """Whether another model answered than the one that was asked. A dated name of the same model is no other."""
        return bool(self.asked and self.answered and not is_same_model(self.asked, self.answered))


def is_same_model(asked: str, answered: str) -> bool:
    """`claude-opus-5-5` is the same as `us.anthropic.claude-opus-5-5-20260901-v1:0`; `gpt-5` is not `gpt-5-mini`."""
    names = (name.casefold().rpartition("/")[2].removesuffix("-latest") for name in (asked, answered))
    shorter, longer = sorted((name.rpartition("anthropic.")[2] for name in names), key=len)
    rest, _, version = longer.removeprefix(shorter).partition("-v")
    first, *others = rest[1:].split("-")  # of a date, as in -2512, @20260901 or -2025-08-07
    dated = rest[:1] in ("-", "@") and len(first) >= 4 and "".join((first, *others)).isdigit()
    return longer.startswith(shorter) and (dated or not rest) and {*version} <= {*"0123456789:."}


class CallFailed(CouncilError):
    """A call gave no reply. `again` says whether another try may help, `wait` what the other side asked for, in
    seconds. `usd` is what it cost; None is unknown, and counts as the most that it can have cost. `tries` is how many
    more make sense, where that is known; None leaves it to the runner.
    """

    def __init__(
        self, reason: str, again: bool, wait: float | None = None, usd: float | None = 0.0, tries: int | None = None
    ) -> None:
        super().__init__(reason)
        self.reason, self.again, self.wait, self.usd, self.tries = reason, again, wait, usd, tries


class Refused(CallFailed):
    """The model does not want to answer this. A member that refuses is absent; the others go on."""

    def __init__(self, reason: str, usd: float | None) -> None:
        super().__init__(reason, again=False, usd=usd)


class Rank(IntEnum):
    """What `auto` takes first."""

    CONFIGURED, KEY, PROGRAM, SERVER, EMBEDDED = range(5)


@dataclass(frozen=True)
class Offer:
    """A speaker that `auto` may choose: of the lowest rank, the first without an obstacle. One without a `speaker` is
    only listed, with the `words` that choose it. Before one with a `question` is chosen, a person must agree.
    """

    rank: Rank
    words: str
    why: str
    speaker: Speaker | None = None
    question: str = ""


class Speaker:
    name: ClassVar[str] = ""
    machine: ClassVar[bool] = False  # council itself: free, no call, speaks only for seats that name it
    by_hand: ClassVar[bool] = False  # nobody is called: replies are recorded by `council record`
    replays: ClassVar[bool] = False  # its words were spoken elsewhere, for every seat: what `--from` names
    calls_models: ClassVar[bool] = False  # the one for models by their names
    source = ""  # what a replay takes its words from: the id of a session, or the whole path of a script

    def __init__(self, settings: Settings, source: str = "") -> None:
        """`source` is what `--from` names."""
        if source and not self.replays:
            raise UsageError(f"--from is for a replay, and {self.name} is none")
        self.settings = settings

    @classmethod
    def offers(cls, settings: Settings, terminal: bool) -> Iterator[Offer]:  # noqa: ARG003
        """What `auto` may choose of this kind. Servers on this machine are looked for only at a terminal."""
        yield from ()

    def voice(self, due: Due, named: Speaker | None = None) -> Speaker | None:  # noqa: ARG002
        """Who really speaks for this turn: whom the workflow names for its seat, if it does. None where it is spoken by
        hand."""
        return None if self.by_hand else named or self

    def obstacle(self) -> str:
        """Why it cannot speak here, and what to do; or empty. Asked before anything is written, and by doctor."""
        return ""

    def price(self) -> str:
        """What its calls cost, in a few words for a person. Empty if there is nothing to say."""
        return ""

    def problems(self, workflow: Workflow) -> Iterator[str]:  # noqa: ARG002
        """What lint says of a workflow that seats this speaker."""
        yield from ()

    def place(self, brief: Brief) -> str:  # noqa: ARG002
        """Where a call goes. Calls to one place share a limit, and wait together."""
        return self.name

    def price_limit(self, brief: Brief) -> float | None:  # noqa: ARG002
        """The most that one call can cost. None if that is unknown."""
        return 0.0

    def brief(self, session: Session, due: Due) -> str:
        """Machines only, in place of a template: what was asked, as names and hashes."""
        raise NotImplementedError

    async def speak(self, brief: Brief, began: Callable[[str], None]) -> Spoken:
        """The reply. `began` is called with each piece of text as it arrives, and first of all, perhaps with an empty
        one, when the answer has begun. Raises CallFailed; AuthError if a key or a login was refused; UsageError for a
        request that can never work.
        """
        raise NotImplementedError

    async def close(self) -> None:
        """Close connections and files. The code that made the speaker calls it once."""


@asynccontextmanager
async def deadline(settings: Settings, name: str) -> AsyncIterator[None]:
    """The time that a whole call may take. What it cost until then is unknown."""
    try:
        async with asyncio.timeout(settings.deadline) as clock:
            yield
    except TimeoutError:
        if not clock.expired():
            raise
        why = f"{name} gave no whole answer within the deadline of {settings.deadline:g} s"
        raise CallFailed(why, True, usd=None) from None


# ---- finding them ----

Type = TypeVar("Type", bound=type[Speaker])


class Speakers(Registry):
    """Every speaker by its names: those of the modules beside this one, and those of optional rooms."""

    def register(self, speaker_: Type) -> Type:  # type: ignore[override]  # classes, which know their names
        self[speaker_.name] = speaker_
        return speaker_

    def types(self) -> list[type[Speaker]]:
        """Every speaker of the core, and those of rooms that were loaded. An alias is not listed again."""
        for one in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            importlib.import_module(one.name)
        return [*dict.fromkeys(cast("Iterable[type[Speaker]]", self.values()))]

    def knows(self, name: str) -> bool:
        return name in self or bool(self.types() and super().knows(name))


speakers = Speakers("speaker", 1)
speaker = speakers.register


# ---- what a debate is given to read ----


@dataclass(frozen=True)
class Attachment:
    """A document under the name by which members may cite it."""

    name: str
    text: str


sources = Registry("source", 2)  # of rooms; files are read by the runner
source = sources.register
