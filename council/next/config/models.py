"""An endpoint, a model and its price: what a tier such as `sonnet` means on this machine."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

MILLION = 1_000_000
MOST_FOR_CACHING = 2.0  # no vendor asks for more than twice its price of input to write to a cache


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens. The `long` prices hold for prompts of more than `long_over` tokens, for the whole
    call. None is unknown: never free, and never the price of a short prompt. `date` is the day it was looked up;
    after the day `until` it is unknown.
    """

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None
    long_over: float = float("inf")
    long_input: float | None = None
    long_output: float | None = None
    long_cache_read: float | None = None
    long_cache_write: float | None = None
    date: str = ""
    until: str = ""

    def holds(self) -> bool:
        return not self.until or time.strftime("%Y-%m-%d") <= self.until

    def rates(self, prompt: int) -> tuple[float | None, ...]:
        """The prices of input, output, reading and writing a cache, for a prompt of this many tokens."""
        if prompt > self.long_over:
            return self.long_input, self.long_output, self.long_cache_read, self.long_cache_write
        return self.input, self.output, self.cache_read, self.cache_write

    def usd(self, uncached: int, output: int, cache_read: int = 0, cache_write: int = 0) -> float | None:
        """What a call costs. `uncached` are the tokens of the prompt that no cache had anything to do with. None if a
        price that it needs is unknown."""
        tokens = (uncached, output, cache_read, cache_write)
        rates = self.rates(uncached + cache_read + cache_write)
        if any(count and rate is None for count, rate in zip(tokens, rates, strict=True)):
            return None
        return round(sum(count * (rate or 0.0) for count, rate in zip(tokens, rates, strict=True)) / MILLION, 9)

    def bound(self, input_bytes: int, max_tokens: int) -> float | None:
        """The most that a call can cost: each byte of the prompt is a token, and is written to a cache. None if it is
        unknown."""
        most = 0.0
        for into, output, read, write in (self.rates(0), self.rates(input_bytes)):  # it may have far fewer tokens
            if into is None or output is None:
                return None
            dearest = max(into, read or 0.0, MOST_FOR_CACHING * into if write is None else write)
            most = max(most, input_bytes * dearest + max_tokens * output)
        return most / MILLION


@dataclass(frozen=True)
class Endpoint:
    """An address that speaks one dialect. `key` names the variable that holds the key, never the key itself."""

    name: str
    base_url: str = ""
    dialect: str = "messages"  # or chat
    client: str = "own"  # or sdk, or one of the logins that the SDK finds
    key: str = ""
    token: str = ""  # the variable that holds a bearer token, for where the key is not set
    key_command: tuple[str, ...] = ()  # a command that prints the key
    address: str = ""  # the variable whose value takes the place of base_url
    address_path: str = ""  # what is added to that value
    effort: bool = False  # whether its models know the parameter
    models: Mapping[str, str] = field(default_factory=dict, compare=False)  # the model of each tier, by the tier


@dataclass(frozen=True)
class Model:
    """What a tier means: a model at an endpoint. `price` is None where it is unknown."""

    tier: str
    endpoint: Endpoint
    name: str
    max_tokens: int = 8000
    effort: str = "none"
    price: Price | None = None

    @property
    def full_name(self) -> str:
        """What `--model` and `--seat` take, and what a session freezes."""
        return f"{self.endpoint.name}/{self.name}"
