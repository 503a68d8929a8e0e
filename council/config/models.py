"""The model of a tier: at which endpoint, and at which price."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Endpoint:
    """An address that speaks the Messages API. `key` is the name of the variable that holds the key, never the key."""

    name: str
    base_url: str | None = None
    key: str | None = None


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens. Prompts longer than `long_over` tokens pay the long prices for the whole call."""

    input: float
    output: float
    cache_read: float = 0.0
    cache_write: float = 0.0
    long_over: int | None = None
    long_input: float = 0.0
    long_output: float = 0.0


# Tokens that a model may think before it writes, by effort. An endpoint counts them toward the maximum of a call.
THINKING = {"low": 4000, "medium": 8000, "high": 16_000}


@dataclass(frozen=True)
class Model:
    """The model of a tier, and how to call it."""

    tier: str
    endpoint: Endpoint
    name: str
    max_tokens: int = 8000
    effort: str | None = "low"
    price: Price | None = None

    def limit(self, share: int | None) -> int:
        """The maximum tokens of a call whose reply may have this many: what it thinks does not use them up."""
        return limit_tokens(share, self.max_tokens, self.effort)


def limit_tokens(share: int | None, most: int, effort: str | None) -> int:
    thinking = THINKING.get(effort, max(THINKING.values())) if effort else 0
    return most if share is None else min(most, share + thinking)
