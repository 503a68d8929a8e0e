"""Retries: a call that failed for now is repeated, visibly, within a budget, and all calls share one back-off."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from council.config.settings import Retry
from council.errors import CallFailed, Denied
from council.runner.limiter import Limiter

T = TypeVar("T")

MOST_FAILURES = 20


@dataclass
class RetryPolicy:
    """The retries of one run. `spent` are the seconds that it has waited; calls that wait at the same time count once.

    A call that gets one of the `slots` checks the back-off again: it may have begun while the call was queued.
    """

    retry: Retry
    slots: int
    spent: float = 0.0
    until: float = 0.0
    denied: Denied | None = None

    async def call(
        self, limiter: Limiter, attempt: Callable[[], Awaitable[T]], tell: Callable[[str, float], None]
    ) -> T:
        """The result, or CallFailed once the budget is used up. `tell` is called before every wait."""
        failures = lasting = 0
        while True:
            async with limiter.slot(self.slots):
                while (left := limiter.wait()) > 0:
                    if self.denied is not None:
                        raise CallFailed(f"given up because another call was denied: {self.denied}")
                    await asyncio.sleep(min(left, 0.2))
                try:
                    return await attempt()
                except Denied as denied:
                    self.denied = denied
                    raise
                except CallFailed as failure:
                    failures, lasting = failures + 1, lasting + (failure.retries is not None)
                    if failure.retries is not None and lasting > failure.retries:
                        raise CallFailed(
                            f"{failure}; tried {failures} times" if failures > 1 else str(failure)
                        ) from None
                    wait = self._back_off(failure, failures)
                    limiter.close_for(wait)
                    tell(str(failure), wait)

    def _back_off(self, failure: CallFailed, failures: int) -> float:
        """The seconds to wait, or CallFailed if the budget is used up. Whatever the API asks for, there is a wait."""
        wanted = failure.retry_after if failure.retry_after is not None else self.retry.first_wait * 2 ** (failures - 1)
        wait = min(max(self.retry.first_wait, wanted), self.retry.most_wait)
        now = time.monotonic()
        added = max(0.0, now + wait - max(self.until, now))
        if self.spent + added > self.retry.budget or failures > MOST_FAILURES:
            raise CallFailed(f"{failure}; tried {failures} times, waited {self.spent:.0f} s in total") from failure
        self.spent += added
        self.until = max(self.until, now + wait)
        return wait
