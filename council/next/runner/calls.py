"""One turn's calls: limited, on record before they are made, and tried again where that can help."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count

from council.next.config.settings import Settings
from council.next.errors import AuthError, Paused, UsageError
from council.next.prompts.brief import Brief
from council.next.record import desk
from council.next.record.session import Session, now
from council.next.record.turn_file import Receipt
from council.next.runner.budget import Budget
from council.next.speakers.base import CallFailed, Speaker

MOST_TRIES = 20
A_YEAR = 366 * 86_400.0


class Limiter:
    """Caps concurrent calls to one place, and holds new ones back after it asked for that. Calls under way go on, and
    waits that overlap are counted once."""

    def __init__(self, slots: int) -> None:
        self._slots = asyncio.Semaphore(slots)
        self._free_at = 0.0

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """A place among the calls under way, once nothing holds them back."""
        async with self._slots:
            while (left := self._free_at - time.monotonic()) > 0:  # noqa: ASYNC110 (others may put it off meanwhile)
                await asyncio.sleep(left)
            yield

    def hold_back(self, seconds: float) -> float:
        """Begin no call for so long. Returns by how much that is longer than before."""
        now = time.monotonic()
        before = max(self._free_at, now)
        self._free_at = max(before, now + seconds)
        return self._free_at - before


@dataclass
class Caller:
    """The calls of one run. What they wait, they wait together, and one message says why."""

    session: Session
    settings: Settings
    budget: Budget
    say: Callable[[str], None]
    limiters: dict[str, Limiter]  # by the place where calls go
    waited: float = 0.0
    ends: bool = False  # nothing is tried again any more
    calling: set[str] = field(default_factory=set)  # the turns whose calls are under way, and may be billed
    swapped: set[tuple[str | None, str | None]] = field(default_factory=set)  # models, and those that answered for them

    async def call(self, speaker: Speaker, brief: Brief, began: Callable[[str], None]) -> tuple[Receipt, str]:
        """The reply with its receipt. Raises CallFailed where no other try can help, and Paused where waiting is
        too long."""
        place = speaker.place(brief)
        limiter = self.limiters.setdefault(place, Limiter(self.settings.concurrency))
        for tried in count(1):
            try:
                async with limiter.slot():
                    return await self._attempt(speaker, brief, began)
            except CallFailed as failed:
                if not failed.again or self.ends:
                    raise
                seconds = self._wait_after(failed, tried)
                desk.drop_words(self.session.folder, brief.due.id)  # the next try begins again
                if limiter.hold_back(seconds) > seconds / 2:  # otherwise another call has said so already
                    self.waited += seconds
                    self.say(f"{failed.reason}; trying again in {math.ceil(seconds)} s")
        raise AssertionError

    async def _attempt(self, speaker: Speaker, brief: Brief, began: Callable[[str], None]) -> tuple[Receipt, str]:
        """One call. It is on record before it is made, and stays there if it fails."""
        due, most = brief.due, speaker.price_limit(brief)
        costs = most != 0.0
        if costs:
            await self.budget.reserve(most)
        usd: float | None = None
        attempt, number = None, 0
        started, clock = now(), time.monotonic()
        self.calling.add(due.id)
        try:
            if costs:
                attempt = self.session.begin_attempt(due.id, speaker=speaker.name, most=most)
                number = int(attempt.stem.rpartition("~")[2])
            spoken = await speaker.speak(brief, began)
            usd = spoken.usd
            if spoken.is_swapped and (spoken.asked, spoken.answered) not in self.swapped:
                self.swapped.add((spoken.asked, spoken.answered))
                self.say(f"{spoken.asked} was asked, and {spoken.answered} answered")
            facts = {name: value for name, value in vars(spoken).items() if name != "body"}
            facts["most"] = spoken.most if usd is None else None
            seconds = round(time.monotonic() - clock, 3)
            given = {"speaker": speaker.name, "brief": brief.hash, "started": started, "attempts": number}
            return Receipt.of(due, seconds=seconds, **given, **facts), spoken.body
        except (CallFailed, AuthError, UsageError) as failed:
            usd = failed.usd if isinstance(failed, CallFailed) else 0.0
            if attempt:
                self.session.end_attempt(attempt, usd=usd, most=most, failed=str(failed))
            raise
        finally:
            self.calling.discard(due.id)
            if costs:
                self.budget.settle(usd, most)

    def _wait_after(self, failed: CallFailed, tried: int) -> float:
        """How long to wait: as long as the API asks, else twice as long each time. Raises Paused if it is too long."""
        retry = self.settings.retry
        if failed.wait is not None and failed.wait > max(retry.most_wait, retry.budget - self.waited):
            raise Paused(f"{failed.reason}. {describe_wait(failed.wait)}")
        wanted = failed.wait if failed.wait is not None else retry.first_wait * 2 ** (tried - 1)
        seconds = min(max(retry.first_wait, wanted), retry.most_wait)
        if self.waited + seconds > retry.budget or tried > min(failed.tries or MOST_TRIES, MOST_TRIES):
            raise Paused(f"{failed.reason}; tried {tried} times, and waited {self.waited:.0f} s in all")
        return seconds


def describe_wait(seconds: float) -> str:
    """When it makes sense to go on: a whole minute, rounded up, so that a recovery then is not too early."""
    if math.isinf(seconds):
        return "Waiting does not help: fix that, then run `council recover`"
    if seconds > A_YEAR:  # no calendar may have such a day
        return "It asks to wait for more than a year: ask its operator, or go on with another --speaker or --model"
    end = datetime.now().astimezone() + timedelta(seconds=seconds)
    end += timedelta(minutes=bool(end.second or end.microsecond))
    day = "" if end.date() == datetime.now().astimezone().date() else f"{end:%Y-%m-%d} "
    return f"It asks to wait until {day}{end:%H:%M}: run `council recover` then"
