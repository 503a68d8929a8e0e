"""Limits on calls and money: a call that could pass one is not begun, and the debate can go on with a higher one."""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import replace

import pytest

from council.config.models import Endpoint, Model, Price
from council.errors import CallFailed, Paused
from council.runner.budget import Budget, bound_usd
from council.speakers.base import Brief
from tests.fakeapi import FakeApi
from tests.helpers import MEMBERS, Table, User, agreed

PRICE = Price(input=2.0, output=10.0, cache_read=0.1, cache_write=2.5)
MODEL = Model("sonnet", Endpoint("anthropic"), "one", max_tokens=1000, price=PRICE)
BRIEF = Brief("01-positions/engineer", "engineer", "x" * 2500, "", MODEL)
MOST = 1000 * 10 / 1e6 + 1000 * 2.5 / 1e6


def called(budget: Budget, times: int = 1, usd: float | None = 0.001, speaker: str = "anthropic") -> int:
    """How many of these calls were let through, one after the other."""

    async def one() -> None:
        async with budget.call(speaker, BRIEF) as charge:
            charge.usd = usd

    async def all_() -> int:
        for number in range(times):
            try:
                await one()
            except Paused:
                return number
        return times

    return asyncio.run(all_())


# ---- one call after the other ----


def test_a_call_costs_at_the_most_its_prompt_written_and_all_its_tokens():
    assert bound_usd(BRIEF) == pytest.approx(MOST)


@pytest.mark.parametrize("text", ["3141592653", "数据库应该迁移吗", "🙂🙃", "ቋንቋ", "{[(;:,.)]}"])
def test_of_what_is_no_prose_each_byte_may_be_a_token(text):
    brief = replace(BRIEF, shared=text * 1000)
    least = 1000 * len(text.encode()) * 2.5 / 1e6 + 1000 * 10 / 1e6
    bound = bound_usd(brief)
    assert bound is not None
    assert round(bound, 9) >= round(least, 9)


def test_so_many_calls_and_no_more():
    assert called(Budget(max_calls=3), 5) == 3


def test_what_earlier_runs_took_counts():
    assert called(Budget(max_calls=3, calls=2), 5) == 1
    assert called(Budget(max_usd=MOST, usd=MOST / 2)) == 0


def test_a_call_that_could_pass_the_limit_is_not_begun():
    assert called(Budget(max_usd=MOST * 0.99)) == 0
    assert called(Budget(max_usd=MOST + 0.0025), 5) == 3, "only what was paid stays in the sum"


def test_without_limits_nothing_is_counted_against_anybody():
    unpriced = replace(BRIEF, model=replace(MODEL, price=None))

    async def one() -> None:
        async with Budget().call("anthropic", unpriced):
            pass

    asyncio.run(one())
    assert called(Budget(), 5, None) == 5


def test_a_model_without_a_price_is_refused_in_a_sentence():
    unpriced = replace(BRIEF, model=replace(MODEL, price=None))

    async def one() -> None:
        async with Budget(max_usd=9.0).call("anthropic", unpriced):
            pass

    assert bound_usd(unpriced) is None
    with pytest.raises(Paused, match="--max-cost needs the price of one; add it to prices"):
        asyncio.run(one())


@pytest.mark.parametrize("speaker", ["local", "replay", "human"])
def test_who_takes_no_money_has_no_limit_of_money(speaker):
    assert called(Budget(max_usd=0.0), 5, 0.0, speaker) == 5
    assert called(Budget(max_calls=2), 5, 0.0, speaker) == 2


# ---- calls at once ----


def test_who_comes_while_calls_are_under_way_waits_for_what_they_leave():
    """There is room for one at its most, and for many at their real price."""
    budget, under_way, most = Budget(max_usd=MOST + 0.01), [0], [0]

    async def one() -> None:
        async with budget.call("anthropic", BRIEF) as charge:
            under_way[0] += 1
            most[0] = max(most[0], under_way[0])
            await asyncio.sleep(0)
            charge.usd = 0.001
            under_way[0] -= 1

    async def many() -> None:
        await asyncio.gather(*(one() for _ in range(5)))

    asyncio.run(many())
    assert (most[0], budget.calls, budget.reserved) == (1, 5, 0.0)
    assert budget.usd == pytest.approx(0.005)


@pytest.mark.parametrize(("usd", "spent"), [(0.0, 0.0), (0.003, 0.003), (None, MOST)])
def test_a_call_that_fails_counts_what_it_cost_or_can_have_cost(usd, spent):
    budget = Budget(max_usd=MOST)

    async def fails() -> None:
        async with budget.call("anthropic", BRIEF) as charge:
            charge.usd = usd
            raise CallFailed("down")

    with pytest.raises(CallFailed):
        asyncio.run(fails())
    assert (budget.reserved, budget.usd, budget.calls) == (0.0, pytest.approx(spent), 1)
    assert called(budget) == (not spent)


def test_what_floats_leave_over_keeps_nobody_waiting():
    """Two calls whose maxima leave a rest when they are added and subtracted use up the limit; a third is refused."""
    briefs = [replace(BRIEF, own="x" * 250 * number) for number in range(40)]
    one, other = next(
        (one, other)
        for one in briefs
        for other in briefs
        if (bound_usd(one) or 0) + (bound_usd(other) or 0) - (bound_usd(one) or 0) - (bound_usd(other) or 0) > 0
    )
    budget = Budget(max_usd=(bound_usd(one) or 0) + (bound_usd(other) or 0) + MOST / 2)

    async def three() -> None:
        async with asyncio.timeout(20):
            async with contextlib.AsyncExitStack() as second, budget.call("anthropic", one):
                await second.enter_async_context(budget.call("anthropic", other))
            async with budget.call("anthropic", BRIEF):
                pass

    with pytest.raises(Paused, match="could exceed"):
        asyncio.run(three())


# ---- end to end ----


@pytest.fixture
def user(tmp_path) -> User:
    return User(tmp_path, {"ANTHROPIC_API_KEY": "k"})


def test_a_debate_stops_before_the_limit_and_goes_on_with_a_higher_one(user):
    table = Table(user, agreed(), latency=0.05)
    with FakeApi(table) as api:
        user.configure(f"endpoints: {{anthropic: {{base_url: {api.url}}}}}")
        ended = user.council("run", "Shall we?", "--speaker", "anthropic", "--max-calls", "2")
        assert (ended.code, len(api.prompts)) == (3, 2)
        assert "the limit of 2 calls is reached (--max-calls)" in ended.err
        assert f"kept: 2 turns in {user.session}".replace(str(user.root), "~") in ended.last, (
            "those under way came home"
        )
        again = user.council("recover", "--max-calls", "2")
        assert (again.code, len(api.prompts)) == (3, 2), "the limit holds for all runs together"
        again = user.council("recover", "--max-calls", "5")
        assert (again.code, len(api.prompts)) == (3, 5)
        assert user.council("recover", "--max-calls", "9").code == 0
    assert sorted(table.asked) == sorted(agreed()), "nobody was asked twice"


def test_a_limit_of_money(user):
    """At the most a call costs eight cents by its tokens; what it takes is a fraction of a cent."""
    with FakeApi(Table(user, agreed(), latency=0.01)) as api:
        user.configure(f"endpoints: {{anthropic: {{base_url: {api.url}}}}}")
        ended = user.council("run", "Shall we?", "--speaker", "anthropic", "--max-cost", "0.05")
        assert (ended.code, len(api.prompts)) == (3, 0)
        assert "the next call could exceed the limit of $0.05 (--max-cost)" in ended.err
        done = user.council("recover", "--max-cost", "0.2", "--json")
        assert done.code == 0, done.err
    assert 0 < json.loads(done.out)["totals"]["usd"] < 0.2


@pytest.mark.parametrize("tier", ["sonnet", "haiku"])
def test_a_price_that_nobody_knows_is_asked_for_before_the_session_begins(tier, user):
    with FakeApi(Table(user, agreed())) as api:
        user.configure(f"endpoints: {{anthropic: {{base_url: {api.url}}}}}\ntiers: {{{tier}: {{model: unpriced}}}}")
        ended = user.council("run", "Shall we?", "--speaker", "anthropic", "--max-cost", "9")
        assert (ended.code, api.prompts, user.sessions) == (2, [], [])
        assert "--max-cost needs the price of unpriced" in ended.err
        assert user.council("run", "Shall we?", "--speaker", "anthropic", "--max-calls", "4").code == 3
        recovered = user.council("recover", "--max-cost", "9")
    assert (recovered.code, len(api.prompts)) == (3, 4), "a model of a later phase is refused before the first call"
    assert "--max-cost needs the price of unpriced" in recovered.err


def test_calls_of_which_nobody_knows_what_they_cost_count_at_their_maximum_in_the_next_run(user):
    """A call of the first phase costs eight cents at most, and usage is never reported."""
    table = Table(user, agreed(), usage={})
    with FakeApi(table) as api:
        user.configure(f"endpoints: {{anthropic: {{base_url: {api.url}}}}}")
        assert user.council("run", "Shall we?", "--speaker", "anthropic", "--max-calls", "4").code == 3
        ended = user.council("recover", "--max-cost", "0.32")
        assert (ended.code, len(api.prompts)) == (3, 4), "no money is left"
        row = user.council("list", "--json").json[0]
        assert user.council("recover", "--max-cost", "1").code == 0
    assert (row["usd"], row["totals"]["input_tokens"], row["totals"]["usd_at_least"]) == (None, None, 0.0)


def test_a_replay_has_no_limit_of_money(user):
    script = user.write("script.yaml", json.dumps(agreed(MEMBERS)))
    assert user.council("run", "Shall we?", "--speaker", "replay", "--from", script, "--max-cost", "0").code == 0
