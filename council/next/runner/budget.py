"""Limits on money and calls that hold: a call under way counts with all that it can cost."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from council.next.config.settings import Settings
from council.next.errors import Paused
from council.next.record.session import Session
from council.next.reports.state import fruitless

ROUNDING = 1e-9  # US dollars: sums of fractions are never exact


@dataclass(frozen=True)
class Limits:
    """What a run may take, and without how many members it goes on. `yes` agrees to any likely price."""

    max_cost: float | None = None
    max_calls: int | None = None
    quorum: int | None = None
    wait: bool = False
    yes: bool = False


@dataclass
class Budget:
    """What a run may take. `spent` and `calls` begin with what the session took before. `unknown` says that a part of
    `spent` is the most that calls can have cost."""

    max_cost: float | None = None
    max_calls: int | None = None
    spent: float = 0.0
    calls: int = 0
    unknown: bool = False
    _reserved: list[float] = field(default_factory=list)
    _settled: asyncio.Event = field(default_factory=asyncio.Event)

    @classmethod
    def of(cls, *sessions: Session, max_cost: float | None = None, max_calls: int | None = None) -> Budget:
        """A budget in which everything counts that these sessions have taken: failed calls, too."""
        budget = cls(max_cost, max_calls)
        for session in sessions:
            for usd, most in costs(session):
                budget.calls += 1
                budget._add(usd, most)
        return budget

    @classmethod
    def within(cls, limits: Limits, settings: Settings, session: Session) -> Budget:
        """The budget of one session. Settings only lower what is asked for."""
        lowest: dict[str, Any] = {}
        for name in ("max_cost", "max_calls"):
            known = [one for one in (getattr(limits, name), settings.limits.get(name)) if one is not None]
            lowest[name] = min(known, default=None)
        return cls.of(session, **lowest)

    async def reserve(self, most: float | None) -> None:
        """Set the most that a call can cost aside, once there is room. Raises Paused where there will be none."""
        if self.max_calls is not None and self.calls >= self.max_calls:
            raise Paused(f"the limit of {self.max_calls} calls is reached; give a higher --max-calls to go on")
        if self.max_cost is not None and most is None:
            raise Paused("the price of the next call is unknown, so --max-cost cannot hold; put it into Config.md")
        while not self._fits(most or 0.0, sum(self._reserved)):
            if not self._fits(most or 0.0, 0.0):
                raise Paused(
                    f"${self.spent:.4f} of --max-cost {self.max_cost:g} is spent, and the next call can cost "
                    f"${most:.4f}; give a higher --max-cost to go on"
                )
            self._settled.clear()
            await self._settled.wait()
        self.calls += 1
        self._reserved.append(most or 0.0)

    def settle(self, usd: float | None, most: float | None) -> None:
        """Count what a call cost in place of what was set aside for it."""
        self._reserved.remove(most or 0.0)
        self._add(usd, most)
        self._settled.set()

    def _add(self, usd: float | None, most: float | None) -> None:
        self.spent += (most or 0.0) if usd is None else usd
        self.unknown |= usd is None

    def _fits(self, most: float, reserved: float) -> bool:
        return self.max_cost is None or self.spent + reserved + most <= self.max_cost + ROUNDING


def costs(session: Session) -> Iterator[tuple[float | None, float | None]]:
    """What each call of council's cost, and the most that it can have cost where that is unknown."""
    yield from ((one.usd, one.most) for one in session.receipts.values() if one.attempts)
    yield from ((one.get("usd"), one.get("most")) for one in fruitless(session))
