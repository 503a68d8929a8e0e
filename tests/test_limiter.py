"""One limiter for a process and an endpoint: debates in several threads and loops share its slots and its back-off."""

from __future__ import annotations

import asyncio
import math
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from council.config.models import Endpoint
from council.config.settings import Retry
from council.errors import CallFailed, RateLimited
from council.runner.limiter import Limiter, Limiters
from council.runner.retry import RetryPolicy
from tests import billing
from tests.fakeapi import Answer, FakeApi, Request
from tests.helpers import Table, agreed


def test_threads_with_loops_of_their_own_share_the_slots():
    limiter, busy, most, lock = Limiter(), [0], [0], threading.Lock()

    async def call() -> None:
        async with limiter.slot(3):
            with lock:
                busy[0] += 1
                most[0] = max(most[0], busy[0])
            await asyncio.sleep(0.001)
            with lock:
                busy[0] -= 1

    async def calls() -> None:
        await asyncio.gather(*(call() for _ in range(20)))

    with ThreadPoolExecutor(6) as threads:
        for done in [threads.submit(asyncio.run, calls()) for _ in range(6)]:
            done.result(timeout=60)
    assert (most[0], limiter.busy, len(limiter.queue)) == (3, 0, 0)


def test_calls_that_are_cancelled_give_their_places_back():
    limiter = Limiter()

    async def call() -> None:
        async with limiter.slot(1):
            await asyncio.sleep(0)

    async def cancelled() -> None:
        async with limiter.slot(1):
            waiting = [asyncio.create_task(call()) for _ in range(9)]
            await asyncio.sleep(0)
            for task in waiting[::2]:
                task.cancel()
        waiting[1].cancel()  # its place was given to it in this very moment
        await asyncio.gather(*waiting, return_exceptions=True)
        await asyncio.wait_for(call(), 10)

    asyncio.run(cancelled())
    assert (limiter.busy, len(limiter.queue)) == (0, 0)


def test_each_endpoint_has_a_limiter():
    limiters, here, there = Limiters(), Endpoint("here", "http://1"), Endpoint("there", "http://2")
    assert limiters.find("anthropic", here) is limiters.find("anthropic", Endpoint("here", "http://1"))
    assert limiters.find("anthropic", here) is not limiters.find("anthropic", there)
    assert limiters.find("anthropic", here) is not limiters.find("claude", here)


def test_a_speaker_that_answers_one_call_at_a_time_has_one_slot_for_all_endpoints():
    limiters, began = Limiters(), []
    here, there = (limiters.find("local", Endpoint(name, f"http://{name}")) for name in ("here", "there"))
    assert here is there

    async def call(number: int) -> None:
        async with here.slot(4):
            began.append(number)
            await asyncio.sleep(0)
            assert began[-1] == number, "nobody began before this one had ended"

    async def three() -> None:
        await asyncio.gather(*map(call, range(3)))

    asyncio.run(three())
    assert began == [0, 1, 2]


def test_debates_at_once_never_have_more_calls_under_way_than_one_may(tmp_path):
    """Five debates of four members, in threads of one process, at an API that counts."""
    busy, most, lock = [0], [0], threading.Lock()
    user = billing.user_in(tmp_path)
    table = Table(user, agreed())

    def count(request: Request) -> Answer:
        with lock:
            busy[0] += 1
            most[0] = max(most[0], busy[0])

        def ends() -> bool:
            with lock:
                busy[0] -= 1
            return True

        return Answer(table(request).text, latency=0.02, once=ends)

    with FakeApi(count) as api:
        accounts = billing.hold_with(user, api, 5)
        assert len(api.prompts) == 45
    assert len(accounts) == 5
    assert 4 < most[0] <= 8


@pytest.mark.parametrize("asked", [0.0, -5.0, math.nan, None])
def test_whatever_the_api_asks_for_there_is_a_wait(asked):
    waits: list[float] = []

    async def fails() -> None:
        raise CallFailed("busy", asked)

    policy = RetryPolicy(Retry(first_wait=0.01, most_wait=0.02, budget=1), 8)
    with pytest.raises(CallFailed, match="busy; tried 21 times"):
        asyncio.run(policy.call(Limiter(), fails, lambda _, seconds: waits.append(seconds)))
    assert len(waits) == 20
    assert all(0.01 <= seconds <= 0.02 for seconds in waits)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (601.0, "11 min"), (3600.0, "1 h"), (5400.0, "1 h 30 min"), (86_400.0, "24 h"), (259_200.0, "3 days"),
        (1e300, "for more than a year"), (math.inf, "for more than a year"),
    ],
)  # fmt: skip
def test_a_longer_wait_than_is_left_pauses_at_once(asked, said):
    policy = RetryPolicy(Retry(first_wait=1, most_wait=60, budget=600), 8)
    with pytest.raises(RateLimited, match=rf"busy\. It asks to wait {said}: paused") as caught:
        policy._back_off(CallFailed("busy.", asked), 1)
    until = caught.value.until
    if until is not None:
        early = until - datetime.now(UTC) - timedelta(seconds=asked)
        assert timedelta(seconds=-1) < early <= timedelta(minutes=1), "a recovery at that minute is not too early"
    assert "trying" not in str(caught.value)


def test_what_is_left_counts_and_not_the_whole_budget():
    """A wait that others wait for already takes nothing from it."""
    policy = RetryPolicy(Retry(first_wait=1, most_wait=60, budget=600), 8, spent=550)
    assert policy._back_off(CallFailed("busy", 40), 1) == 40
    with pytest.raises(RateLimited, match=r"busy; tried 2 times, waited 590 s in total\. It asks to wait 1 min"):
        policy._back_off(CallFailed("busy", 60), 2)


def test_no_call_begins_after_the_pause_was_decided():
    """Those that wait or are queued give up; a call that is under way ends by itself."""
    asked: list[str] = []

    async def limited() -> None:
        asked.append("limited")
        raise CallFailed("busy", 3600)

    async def queued() -> None:
        asked.append("queued")

    async def both() -> None:
        policy, limiter = RetryPolicy(Retry(first_wait=1, most_wait=60, budget=600), 1), Limiter()
        calls = (policy.call(limiter, one, lambda *_: None) for one in (limited, queued))
        ended = await asyncio.gather(*calls, return_exceptions=True)
        assert all(isinstance(one, RateLimited) for one in ended)
        assert limiter.wait() <= 0, "a later run of this process asks the API again"

    asyncio.run(both())
    assert asked == ["limited"]


@pytest.mark.parametrize(("day", "shown"), [(0, r"until \d\d:\d\d,"), (1, r"until \d{4}-\d\d-\d\d \d\d:\d\d,")])
def test_a_time_on_another_day_has_its_date(day, shown):
    """So has every time that is read later, in the session's state."""
    noon = datetime.now().astimezone().replace(hour=12, minute=0) + timedelta(days=day)
    limited = RateLimited("busy", noon)
    assert re.search(shown, str(limited))
    assert f"until {noon:%Y-%m-%d %H:%M}, nothing is lost; then run `council recover`" in limited.on_record


def test_what_one_debate_is_told_the_others_wait_for():
    """The back-off belongs to the endpoint, and its budget to each debate."""
    limiter = Limiter()
    one, other = (RetryPolicy(Retry(first_wait=0.05, most_wait=0.05, budget=1), 8) for _ in range(2))
    began: list[float] = []

    async def busy() -> None:
        if not began:
            began.append(asyncio.get_running_loop().time())
            raise CallFailed("busy")

    async def well() -> None:
        began.append(asyncio.get_running_loop().time())

    async def both() -> None:
        failed = asyncio.Event()
        first = asyncio.create_task(one.call(limiter, busy, lambda *_: failed.set()))
        await failed.wait()
        await other.call(limiter, well, lambda *_: None)
        await first

    asyncio.run(both())
    assert began[1] - began[0] >= 0.049
    assert other.spent == 0.0
