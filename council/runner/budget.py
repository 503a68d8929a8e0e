"""Limits on what a debate may take: a call that could pass one is not begun. Calls that are under way count in full."""

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
    """`calls` and `usd` are what the session has taken so far, in earlier runs too."""

    max_calls: int | None = None
    max_usd: float | None = None
    calls: int = 0
    usd: float = 0.0
    reserved: float = 0.0
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    @asynccontextmanager
    async def call(self, speaker: str, brief: Brief) -> AsyncIterator[None]:
        """Room for one call. Who comes when only the calls under way stand in the way waits for them to end."""
        most = 0.0 if self.max_usd is None or registry.describe(speaker).free else most_usd(brief)
        async with self.changed:
            await self.changed.wait_for(lambda: self.fits(most) or not self.reserved)
            self.check(most)
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

    def check(self, most: float) -> None:
        if self.max_calls is not None and self.calls >= self.max_calls:
            raise Paused(f"--max-calls {self.max_calls} is reached; go on with a higher one")
        if not self.fits(most):
            raise Paused(
                f"--max-cost {self.max_usd:g} could be passed by the next call: ${self.usd:.4f} spent, "
                f"and it may cost ${most:.4f}; go on with a higher one"
            )

    def paid(self, usd: float | None) -> None:
        self.usd += usd or 0.0


def most_usd(brief: Brief) -> float:
    """What a call can cost at the most: all of its prompt new, and every token that the reply may take."""
    if brief.model.price is None:
        raise Paused(f"--max-cost needs the price of {brief.model.name}; add it to prices in your Config.md")
    prompt = int(len(brief.text.encode("utf-8", "replace")) / BYTES_A_TOKEN)
    usual = cost(brief.model.price, Usage(input=prompt, output=brief.model.max_tokens)) or 0.0
    written = cost(brief.model.price, Usage(cache_write=prompt, output=brief.model.max_tokens)) or 0.0
    return max(usual, written)
