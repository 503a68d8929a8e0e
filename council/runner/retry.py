"""Retries: a call that failed for now is repeated, visibly, within a budget, and all calls share one back-off."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from council.config.settings import Retry
from council.errors import CallFailed, Denied

T = TypeVar("T")


@dataclass
class RetryPolicy:
    """`spent` are the seconds that this run has waited. Calls that wait at the same time count once.

    A call that gets one of the `slots` checks the back-off again: it may have begun while the call was queued.
    """

    retry: Retry
    slots: asyncio.Semaphore
    spent: float = 0.0
    open_at: float = 0.0
    denied: Denied | None = field(default=None)

    async def call(self, attempt: Callable[[], Awaitable[T]], tell: Callable[[str, float], None]) -> T:
        """The result, or CallFailed once the budget is used up. `tell` is called before every wait."""
        failures = 0
        while True:
            async with self.slots:
                while (left := self.open_at - asyncio.get_running_loop().time()) > 0:
                    if self.denied is not None:
                        raise CallFailed(f"given up because another call was denied: {self.denied}")
                    await asyncio.sleep(min(left, 0.2))
                try:
                    return await attempt()
                except Denied as denied:
                    self.denied = denied
                    raise
                except CallFailed as failure:
                    failures += 1
                    tell(str(failure), self._back_off(failure, failures))

    def _back_off(self, failure: CallFailed, failures: int) -> float:
        """Extend the shared back-off and return the seconds to wait, or raise CallFailed if the budget is used up."""
        wanted = failure.retry_after if failure.retry_after is not None else self.retry.first_wait * 2 ** (failures - 1)
        wait = min(wanted, self.retry.most_wait)
        now = asyncio.get_running_loop().time()
        added = max(0.0, now + wait - max(self.open_at, now))
        if self.spent + added > self.retry.budget or failures > MOST_FAILURES:
            raise CallFailed(f"{failure}; tried {failures} times, waited {self.spent:.0f} s in total") from failure
        self.spent += added
        self.open_at = max(self.open_at, now + wait)
        return wait


MOST_FAILURES = 20
