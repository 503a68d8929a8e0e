"""Limits on money and calls hold, whatever fails, and what may have been billed is never forgotten."""

from __future__ import annotations

import asyncio
import math
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from council.next.engine.planner import Plan
from council.next.errors import Paused
from council.next.prompts.brief import Brief
from council.next.record.session import Session
from council.next.runner.budget import Budget
from council.next.runner.calls import Limiter, describe_wait
from council.next.runner.loop import Run, hold
from council.next.speakers.base import CallFailed, Spoken
from tests.next.runner.debating import Scripted, begun, held, settings, until, usual_reply


@pytest.mark.parametrize(("cap", "turns"), [(0.09, 9), (0.089, 8), (0.04, 4), (0.039, 3), (0.01, 1), (0.009, 0)])
def test_no_call_begins_that_could_pass_the_cap(tmp_path: Path, cap: float, turns: int) -> None:
    with begun(tmp_path) as session:
        ended = held(Run(session, Scripted(settings(tmp_path), most=0.01), settings(tmp_path), Budget(max_cost=cap)))
    assert len(session.said) == turns
    assert Budget.of(session).spent <= cap + 1e-9
    assert isinstance(ended, Plan if turns == 9 else Paused)
    if turns < 9:
        assert f"--max-cost {cap:g}" in str(ended)
        assert "give a higher" in str(ended)


def test_calls_at_once_reserve_the_most_and_free_what_they_did_not_use(tmp_path: Path) -> None:
    """Four calls may cost 1.00 each and cost 0.01: under a cap of 1.50 they go one after the other, and all of them."""
    under_way, most_at_once = 0, 0

    class Counted(Scripted):
        async def speak(self, brief: Brief, began: object) -> Spoken:
            nonlocal under_way, most_at_once
            under_way += 1
            most_at_once = max(most_at_once, under_way)
            for _ in range(5):
                await asyncio.sleep(0)
            under_way -= 1
            return Spoken(usual_reply(brief), usd=0.01)

    with begun(tmp_path) as session:
        speaker = Counted(settings(tmp_path), most=1.0)
        assert isinstance(held(Run(session, speaker, settings(tmp_path), Budget(max_cost=1.5))), Plan)
    assert most_at_once == 1
    assert Budget.of(session).spent == pytest.approx(0.09)


def test_an_unknown_price_stops_a_capped_run_before_its_first_call(tmp_path: Path) -> None:
    with begun(tmp_path) as session:
        speaker = Scripted(settings(tmp_path), most=None)
        ended = held(Run(session, speaker, settings(tmp_path), Budget(max_cost=1.0)))
    assert isinstance(ended, Paused)
    assert "price of the next call is unknown" in str(ended)
    assert speaker.asked == []


def test_unknown_usage_counts_at_its_most_and_stays_unknown(tmp_path: Path) -> None:
    def broken(brief: Brief) -> BaseException | None:
        first = brief.due.id == "01-positions/engineer" and not failed
        failed.append(brief.due.id) if first else None
        return CallFailed("cut off", again=True, wait=0.001, usd=None) if first else None

    failed: list[str] = []
    with begun(tmp_path) as session:
        speaker = Scripted(settings(tmp_path), broken, most=0.01)
        assert isinstance(held(Run(session, speaker, settings(tmp_path))), Plan)
    budget = Budget.of(session)
    assert (budget.calls, budget.unknown) == (10, True)
    assert budget.spent == pytest.approx(0.10)
    assert session.receipts["01-positions/engineer"].attempts == 2


def test_a_call_that_a_signal_ended_counts_at_its_most(tmp_path: Path) -> None:
    async def endless(brief: Brief) -> None:
        await asyncio.Event().wait()

    async def cancelled(session: Session) -> None:
        speaker = Scripted(settings(tmp_path), endless, most=0.01)
        run = asyncio.create_task(hold(Run(session, speaker, settings(tmp_path))))
        await until(lambda: len(session.attempts()) == 4)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    with begun(tmp_path) as session:
        asyncio.run(cancelled(session))
    budget = Budget.of(session)
    assert (budget.calls, budget.spent, budget.unknown) == (4, pytest.approx(0.04), True)


def test_a_failure_counts_though_the_note_of_its_call_was_removed_meanwhile(tmp_path: Path) -> None:
    def remove(brief: Brief) -> BaseException | None:
        shutil.rmtree(brief.session.folder / "attempts")
        return CallFailed("cut off", again=False, usd=None)

    with begun(tmp_path) as session:
        ended = held(Run(session, Scripted(settings(tmp_path), remove, most=0.01), settings(tmp_path)))
    assert str(ended).endswith("did not answer: cut off")
    budget = Budget.of(session)
    assert (budget.calls, budget.unknown) == (len(session.attempts()), True)
    assert budget.spent == pytest.approx(0.01 * budget.calls)
    assert budget.calls


def test_speakers_that_cost_nothing_make_no_attempts_and_no_calls(tmp_path: Path) -> None:
    with begun(tmp_path) as session:
        run = Run(session, Scripted(settings(tmp_path)), settings(tmp_path), Budget(max_calls=0, max_cost=0.0))
        assert isinstance(held(run), Plan)
    assert session.attempts() == []
    assert Budget.of(session).calls == 0


def test_sessions_share_a_budget(tmp_path: Path) -> None:
    with begun(tmp_path) as one:
        assert isinstance(held(Run(one, Scripted(settings(tmp_path), most=0.01), settings(tmp_path))), Plan)
    with begun(tmp_path) as two:
        shared = Budget.of(one, max_cost=0.12)
        ended = held(Run(two, Scripted(settings(tmp_path), most=0.01), settings(tmp_path), shared))
    assert isinstance(ended, Paused)
    assert len(two.said) == 3


def test_debates_in_one_loop_share_a_cap_and_the_places_of_calls(tmp_path: Path) -> None:
    """Three at once. No more calls are under way than one place takes, and together they stay below the cap."""
    under_way, most_at_once = 0, 0

    class Counted(Scripted):
        async def speak(self, brief: Brief, began: Callable[[str], None]) -> Spoken:
            nonlocal under_way, most_at_once
            under_way += 1
            most_at_once = max(most_at_once, under_way)
            await asyncio.sleep(0)
            under_way -= 1
            return await super().speak(brief, began)

    given = settings(tmp_path, concurrency=2)
    with ExitStack() as stack:
        sessions = [stack.enter_context(begun(tmp_path, id=f"debate-{number}")) for number in range(3)]
        speaker, budget, limiters = Counted(given, most=0.01), Budget(max_cost=0.2), dict[str, Limiter]()
        runs = [Run(one, speaker, given, budget, limiters=limiters) for one in sessions]

        async def together() -> list[Plan | BaseException]:
            return await asyncio.gather(*map(hold, runs), return_exceptions=True)

        ended = asyncio.run(together())
        assert {type(one) for one in ended} <= {Plan, Paused}
        assert most_at_once == 2
        assert sum(len(one.said) for one in sessions) == len(speaker.asked) == budget.calls == 20
        assert Budget.of(*sessions).spent == pytest.approx(budget.spent) == pytest.approx(0.2)
        for one in sessions:
            assert isinstance(held(Run(one, speaker, given)), Plan)
    assert len(speaker.asked) == 27, "nobody was asked twice"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(90, "It asks to wait until "), (400 * 86_400, "-"), (math.inf, "Waiting does not help")],
)
def test_a_wait_is_told_as_a_time(seconds: float, words: str) -> None:
    assert words in describe_wait(seconds)
