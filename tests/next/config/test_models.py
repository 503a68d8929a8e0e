"""What a call costs, and what it can cost at most."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from council.next.config import settings
from council.next.config.models import Price

HAIKU = Price(0.10, 0.50, 0.01, 0.125, long_over=100_000, long_input=0.50, long_output=2.50)
FULL = Price(2, 10, 0.1, 2.5, 1000, 4, 15, 0.2, 5)


def test_each_kind_of_token_has_its_price() -> None:
    assert HAIKU.usd(50_000, 1_000) == 0.0055
    assert HAIKU.usd(10_000, 1_000, cache_read=20_000, cache_write=30_000) == 0.00545
    assert FULL.usd(1_000_000, 1_000_000) == 19


def test_a_long_prompt_pays_the_long_prices_for_the_whole_call() -> None:
    assert HAIKU.usd(100_000, 0) == 0.01
    assert HAIKU.usd(100_001, 0) == 0.0500005
    assert FULL.usd(500, 0, cache_read=500) == 0.00105
    assert FULL.usd(500, 0, cache_read=501) == 0.0021002  # cached tokens make a prompt long, too


def test_what_is_unknown_stays_unknown() -> None:
    assert HAIKU.usd(50_000, 100, cache_read=60_000) is None  # the long price of the cache
    assert Price(1, 2).usd(10, 10, cache_write=1) is None
    assert Price(1, 2).usd(10, 10) == 0.00003
    assert Price(1, 2, long_over=100).usd(101, 1) is None
    assert Price(1, 2, long_over=100).bound(101, 1) is None
    assert Price(1, 2, long_over=100).bound(100, 1) is not None


def test_small_sums_are_neither_lost_nor_padded() -> None:
    assert HAIKU.usd(1, 0) == 1e-7
    assert Price(0.1, 0).usd(3, 0) == 3e-7
    assert Price(0, 0).usd(10, 10, 0, 0) == 0


@given(
    price=st.sampled_from([HAIKU, FULL, Price(3, 15), Price(1, 1, 0, 1.25), Price(1, 1, 5, 0)]),
    tokens=st.tuples(*[st.integers(0, 300_000)] * 4),
)
def test_no_call_costs_more_than_its_bound(price: Price, tokens: tuple[int, int, int, int]) -> None:
    uncached, output, read, write = tokens
    usd = price.usd(uncached, output, read, write)
    bound = price.bound(uncached + read + write, output)
    assert bound is not None
    assert usd is None or usd <= bound + 1e-9


def test_a_price_that_has_run_out_is_unknown() -> None:
    today = time.strftime("%Y-%m-%d")
    assert Price(1, 1, until=today).holds()
    assert not Price(1, 1, until="2026-01-31").holds()
    assert Price(1, 1, until="9999-12-31").holds()


def test_every_price_of_the_kit_belongs_to_a_model_and_has_a_date() -> None:
    found = settings.load()
    models = {f"{one.name}/{model}" for one in found.endpoints.values() for model in one.models.values()}
    assert {*found.prices} <= models
    for name, price in found.prices.items():
        assert time.strptime(price.date, "%Y-%m-%d"), name
        assert price.output >= price.input > 0, name
        assert (price.long_input or price.input) >= price.input, name
    assert all(found.prices.get(f"anthropic/{found.model(tier).name}") for tier in found.tiers)
