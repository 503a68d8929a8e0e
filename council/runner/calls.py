"""One call to a speaker: within the budget, on record before it is made, and its end on record if it failed."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from council.errors import CallFailed, Denied
from council.record.attempts import Attempt
from council.record.session import Session
from council.runner.budget import Budget
from council.speakers.base import Brief, Speaker, Spoken, used
from council.speakers.registry import describe


@dataclass(frozen=True)
class CallResult:
    """A reply, and the call that brought it. `number` is its number among the attempts on record, None if it is free
    and so not on record.
    """

    spoken: Spoken
    started: datetime
    seconds: float
    most: float | None = None
    number: int | None = None


async def make_call(
    session: Session,
    budget: Budget,
    disk: Callable[[Callable[[], Any]], Awaitable[Any]],
    speaker: Speaker,
    brief: Brief,
    tell: Callable[[str], None],
) -> CallResult:
    """Make the call. If it is cancelled, its attempt stays on record without an end: nobody knows what it cost."""
    who = describe(speaker.name)
    async with budget.call(speaker.name, brief) as charge:
        started, number = datetime.now(UTC), None
        if not who.free:
            attempt = Attempt(started.isoformat(timespec="milliseconds"), speaker.name, brief.model.name, charge.most)
            charge.usd = 0.0  # until it is on record, it is not made
            number = await disk(partial(session.begin_attempt, brief.turn, attempt))
            charge.usd = None
        clock = time.monotonic()
        try:
            spoken = await speaker.speak(brief, tell)
            if spoken.absent and brief.writes:
                raise CallFailed(spoken.absent, retries=0, used=used(spoken.usage, who.usd(spoken, brief.model.price)))
        except (CallFailed, Denied) as failure:
            if number is not None:
                charge.usd = failure.used["usd"]
                took: dict[str, Any] = {**failure.used}
                ended = replace(attempt, why=str(failure), seconds=round(time.monotonic() - clock, 3), **took)
                await disk(partial(session.end_attempt, brief.turn, number, ended))
            raise
        charge.usd = who.usd(spoken, brief.model.price)
        return CallResult(spoken, started, time.monotonic() - clock, charge.most, number)
