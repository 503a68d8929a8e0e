"""Limits on calls and money: a call that could exceed one is not made. Calls in progress count at their maximum."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from council.checks.sizes import bound_any_tokens
from council.config.settings import Config
from council.errors import OverBudget, Paused
from council.speakers import registry, select
from council.speakers.base import Brief, Usage, cost
from council.workflow.model import Cast, Seat, Workflow


@dataclass
class Charge:
    """What a call costs: at most `most`, None if that cannot be known. `usd` is None as long as nobody knows."""

    most: float | None
    usd: float | None = None


@dataclass
class Budget:
    """`calls` and `usd` are what the session has used so far, including earlier runs. What a call cost that nobody
    knows counts at its maximum.
    """

    max_calls: int | None = None
    max_usd: float | None = None
    calls: int = 0
    usd: float = 0.0
    calls_set_by: str = "--max-calls"
    usd_set_by: str = "--max-cost"
    reserved: float = 0.0
    running: int = 0
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    @asynccontextmanager
    async def call(self, speaker: str, brief: Brief) -> AsyncIterator[Charge]:
        """Room for one call; a machine needs none. If only calls in progress leave too little, it waits for them."""
        if registry.describe(speaker).machine:
            yield Charge(0.0, 0.0)
            return
        charge = Charge(0.0, 0.0) if registry.describe(speaker).free else Charge(bound_usd(brief))
        most = charge.most or 0.0
        if self.max_usd is not None and charge.most is None:
            raise Paused(explain_unpriced(brief.model.name, self.usd_set_by))
        async with self.changed:
            await self.changed.wait_for(lambda: self.fits(most) or not self.running)
            if self.max_calls is not None and self.calls >= self.max_calls:
                calls = f"{self.max_calls} call{'s' if self.max_calls != 1 else ''}"
                raise OverBudget(f"the limit of {calls} is reached ({self.calls_set_by}); continue with a higher one")
            if not self.fits(most):
                raise OverBudget(
                    f"the next call could exceed the limit of ${self.max_usd:g} ({self.usd_set_by}): ${self.usd:.4f} "
                    f"spent, and it may cost ${most:.4f}; continue with a higher one"
                )
            self.calls += 1
            self.running += 1
            self.reserved += most
        try:
            yield charge
        finally:
            self.usd += most if charge.usd is None else charge.usd
            async with self.changed:
                self.running -= 1
                # Sums of floats leave a rest, which must not keep anybody waiting.
                self.reserved = max(0.0, self.reserved - most) if self.running else 0.0
                self.changed.notify_all()

    def fits(self, most: float) -> bool:
        return self.max_usd is None or self.usd + self.reserved + most <= self.max_usd


def bound_usd(brief: Brief) -> float | None:
    """The most a call can cost: none of its prompt cached, and the longest reply allowed. None without a price."""
    prompt = bound_any_tokens(brief.text)
    usual = cost(brief.model.price, Usage(input=prompt, output=brief.model.max_tokens))
    written = cost(brief.model.price, Usage(cache_write=prompt, output=brief.model.max_tokens))
    return None if usual is None or written is None else max(usual, written)


def find_unpriced(
    workflow: Workflow, settings: Config, tiers: Mapping[str, Mapping[str, str]], speaker: str
) -> str | None:
    """A model that the debate may call and whose price is not known; None if there is none."""
    for _, step in workflow.steps():
        seats = [*workflow.seats(name for name in step.seats if isinstance(name, str))]
        seats += [Seat("cast", "")] * any(isinstance(one, Cast) for one in step.seats)
        for seat in seats:
            who, tier = select.speaker_of(seat, speaker), str(seat.attributes.get("tier") or step.tier)
            frozen = tiers.get(tier) or {}
            model = who.own_model() or settings.model(tier, frozen.get("endpoint"), frozen.get("model")).name
            if who.costs and not seat.is_person and model not in settings.prices:
                return model
    return None


def explain_unpriced(model: str, limit: str = "--max-cost") -> str:
    return f"{limit} needs the price of {model}; add it to prices in your Config.md"
