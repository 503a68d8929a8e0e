"""An endpoint, a model and its price: what a tier such as `sonnet` means on this machine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens. The `long` prices hold for prompts of more than `long_over` tokens."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None
    long_over: float = float("inf")
    long_input: float = 0.0
    long_output: float = 0.0


@dataclass(frozen=True)
class Endpoint:
    """An address that speaks one dialect. `key` names the variable that holds the key, never the key itself."""

    name: str
    base_url: str
    dialect: str = "messages"  # or chat
    client: str = "own"  # or sdk
    key: str = ""
    key_command: tuple[str, ...] = ()  # a command that prints the key


@dataclass(frozen=True)
class Model:
    """What a tier means: a model at an endpoint. `price` is None where it is unknown."""

    tier: str
    endpoint: Endpoint
    name: str
    max_tokens: int = 8000
    effort: str = "none"
    price: Price | None = None
