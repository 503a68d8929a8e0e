"""Limits on calls and money: a call that could exceed one is not made. Calls in progress count at their maximum."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from council.checks.cost import BYTES_A_TOKEN
from council.errors import Paused
from council.speakers import registry
from council.speakers.base import Brief, Usage, cost


@dataclass
class Budget:
    """`calls` and `usd` are what the session has used so far, including earlier runs."""

    max_calls: int | None = None
    max_usd: float | None = None
    calls: int = 0
    usd: float = 0.0
    reserved: float = 0.0
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    @asynccontextmanager
    async def call(self, speaker: str, brief: Brief) -> AsyncIterator[None]:
        """Room for one call. If only calls in progress leave too little, it waits for them to end."""
        most = 0.0 if self.max_usd is None or registry.describe(speaker).free else most_usd(brief)
        async with self.changed:
            await self.changed.wait_for(lambda: self.fits(most) or not self.reserved)
            if self.max_calls is not None and self.calls >= self.max_calls:
                raise Paused(f"--max-calls {self.max_calls} is reached; continue with a higher limit")
            if not self.fits(most):
                raise Paused(
                    f"the next call could exceed --max-cost {self.max_usd:g}: ${self.usd:.4f} spent, and it may cost "
                    f"${most:.4f}; continue with a higher limit"
                )
            self.calls += 1
            self.reserved += most
        try:
            yield
        finally:
            async with self.changed:
                self.reserved = max(0.0, self.reserved - most)
                self.changed.notify_all()

    def fits(self, most: float) -> bool:
        return self.max_usd is None or self.usd + self.reserved + most <= self.max_usd


def most_usd(brief: Brief) -> float:
    """The most a call can cost: none of its prompt cached, and the longest reply allowed."""
    if brief.model.price is None:
        raise Paused(f"--max-cost needs the price of {brief.model.name}; add it to prices in your Config.md")
    prompt = int(len(brief.text.encode("utf-8", "replace")) / BYTES_A_TOKEN)
    usual = cost(brief.model.price, Usage(input=prompt, output=brief.model.max_tokens)) or 0.0
    written = cost(brief.model.price, Usage(cache_write=prompt, output=brief.model.max_tokens)) or 0.0
    return max(usual, written)
