"""What a speaker is: it is given a brief and gives back what was said. It knows nothing of sessions or plans."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from council.config.models import Model, Price
from council.workflow.model import Reply


@dataclass(frozen=True)
class Shown:
    """What a person reads in place of the brief: where the debate stands, the turns spoken last by id, and the task."""

    heading: str
    turns: tuple[tuple[str, str], ...]
    task: str


@dataclass(frozen=True)
class Brief:
    """The prompt that a turn is given: `shared` is the same for every seat of a batch, `own` is this seat's.

    `marks` are the offsets into `shared` up to which later briefs may say the same: ends of prefixes worth caching.
    `keep` are the offsets up to which this call asks the API to keep it.
    `reply`, `openings` and `casts` are for a speaker that can hold its model to them: the answers that the prompt asks
    for, how the seat begins its sentences, and of an answer that names seats, those that are known. `person` says that
    no model may speak here, and `shown` is for whoever types.
    """

    turn: str
    seat: str
    shared: str
    own: str
    model: Model
    deadline: float = 300.0
    reply: Reply = ()
    openings: tuple[str, ...] = ()
    marks: tuple[int, ...] = ()
    keep: tuple[int, ...] = ()
    person: bool = False
    shown: Shown | None = None
    casts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return self.shared + self.own


@dataclass(frozen=True)
class Usage:
    """Tokens as the API counted them. `input` are those neither read from nor written to the cache."""

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(**{name: getattr(self, name) + getattr(other, name) for name in COUNTS})


COUNTS = {  # ours, and what the Messages API calls them
    "input": "input_tokens",
    "cache_read": "cache_read_input_tokens",
    "cache_write": "cache_creation_input_tokens",
    "output": "output_tokens",
}


def counted(usage: Mapping[str, Any]) -> Usage:
    """The counts of the API's own words; what is not told is none."""
    return Usage(**{ours: int(usage.get(theirs) or 0) for ours, theirs in COUNTS.items()})


@dataclass(frozen=True)
class Spoken:
    """What came back. `model` is the one that really answered, and `call` its own name for the answer; None where
    nobody says.
    """

    body: str
    model: str | None = None
    stop: str = "end_turn"
    usage: Usage = field(default_factory=Usage)
    usd: float | None = None
    absent: str | None = None
    call: str | None = None


class Speaker(Protocol):
    """Raises CallFailed where trying again may help, Denied where it cannot."""

    name: str

    @property
    def model(self) -> str | None:
        """The one that it always speaks with; None where the tiers say which."""
        ...

    async def speak(self, brief: Brief, tell: Callable[[str], None]) -> Spoken:
        """Have the brief answered; `tell` is called with pieces of the text as they come, where they come in pieces.

        An empty piece says that the answer has begun.
        """
        ...

    async def close(self) -> None: ...


def cost(price: Price | None, usage: Usage) -> float | None:
    """The price of one call in US dollars, None where the model's price is unknown."""
    if price is None:
        return None
    prompt = usage.input + usage.cache_read + usage.cache_write
    long = price.long_over is not None and prompt > price.long_over
    per_input, per_output = (price.long_input, price.long_output) if long else (price.input, price.output)
    total = (
        usage.input * per_input
        + usage.output * per_output
        + usage.cache_read * price.cache_read
        + usage.cache_write * price.cache_write
    )
    return total / 1_000_000
