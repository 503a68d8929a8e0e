"""Retries: a call that failed for now is repeated, visibly, within a budget, and all calls share one back-off."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from council.config.settings import Retry
from council.errors import CallFailed, Denied, RateLimited
from council.runner.limiter import Limiter

T = TypeVar("T")

MOST_FAILURES = 20
MINUTE, DAY, YEAR = 60, 86_400, 366 * 86_400


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
    limited: RateLimited | None = None  # the run pauses: no further call begins

    async def call(
        self, limiter: Limiter, attempt: Callable[[], Awaitable[T]], tell: Callable[[str, float], None]
    ) -> T:
        """The result, or CallFailed once the budget is used up; RateLimited if the API asks for a longer wait than is
        left of it. `tell` is called before every wait.
        """
        failures = lasting = 0
        while True:
            async with limiter.slot(self.slots):
                while (left := limiter.wait()) > 0 and self.limited is None:
                    if self.denied is not None:
                        raise CallFailed(f"given up because another call was denied: {self.denied}")
                    await asyncio.sleep(min(left, 0.2))
                if self.limited is not None:
                    raise self.limited
                try:
                    return await attempt()
                except Denied as denied:
                    self.denied = denied
                    raise
                except CallFailed as failure:
                    failures, lasting = failures + 1, lasting + (failure.retries is not None)
                    if failure.retries is not None and lasting > failure.retries:
                        tried = f"; tried {failures} times" if failures > 1 else ""
                        raise CallFailed(f"{failure}{tried}") from failure
                    wait = self._back_off(failure, failures)
                    limiter.close_for(wait)
                    tell(str(failure), wait)

    def _back_off(self, failure: CallFailed, failures: int) -> float:
        """The seconds to wait, or CallFailed if the budget is used up. Whatever the API asks for, there is a wait."""
        now, asked = time.monotonic(), failure.retry_after
        tried = (
            f"{failure}; tried {failures} times, waited {self.spent:.0f} s in total" if failures > 1 else str(failure)
        )
        if asked is not None and now + asked - max(self.until, now) > self.retry.budget - self.spent:
            self.limited = explain_limit(tried, asked)
            raise self.limited from failure
        wanted = asked if asked is not None else self.retry.first_wait * 2 ** (failures - 1)
        wait = min(max(self.retry.first_wait, wanted), self.retry.most_wait)
        added = max(0.0, now + wait - max(self.until, now))
        if self.spent + added > self.retry.budget or failures > MOST_FAILURES:
            raise CallFailed(tried) from failure
        self.spent += added
        self.until = max(self.until, now + wait)
        return wait


def explain_limit(failure: str, seconds: float) -> RateLimited:
    """The pause. Its end is a whole minute, rounded up, so that a recovery at that time is not too early."""
    why = f"{failure.rstrip('.')}. It asks to wait {format_wait(seconds)}"
    if seconds > YEAR:
        return RateLimited(why, None)
    end = datetime.now(UTC) + timedelta(seconds=seconds)
    whole = end.replace(second=0, microsecond=0)
    return RateLimited(why, (whole + timedelta(minutes=end > whole)).astimezone())


def format_wait(seconds: float) -> str:
    """`45 s`, `13 min`, `1 h 30 min` or `3 days`, rounded up."""
    if seconds < MINUTE:
        return f"{math.ceil(seconds)} s"
    if seconds < 2 * DAY:
        hours, minutes = divmod(math.ceil(seconds / MINUTE), 60)
        return " ".join([f"{hours} h"] * (hours > 0) + [f"{minutes} min"] * (minutes > 0))
    return f"{math.ceil(seconds / DAY)} days" if seconds <= YEAR else "for more than a year"
