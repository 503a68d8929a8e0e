"""What is billed is on record and counts: a sample of `scripts/prove trust`, part `attempts`."""

from __future__ import annotations

import pytest

from tests import billing, kills
from tests.faults import Nursery

KINDS = [*billing.KINDS][::4]


def check(accounts: list[billing.Account]) -> None:
    assert accounts
    assert [what for one in accounts for what in one.wrong] == []


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_an_api_does_the_totals_are_exact_or_unknown(kind, tmp_path):
    check(billing.try_kind(kind, tmp_path))


FOR_EVER = [kind for kind in billing.KINDS if "for ever" in kind]


@pytest.mark.parametrize("kind", FOR_EVER[::3])
def test_whatever_an_api_does_the_limit_of_money_holds(kind, tmp_path):
    check(billing.try_kind(kind, tmp_path, billing.CAP))


def test_calls_that_a_kill_interrupts_are_on_record_run_after_run(tmp_path):
    accounts = billing.kill_in_a_call(tmp_path, runs=2)
    check(accounts)
    assert [one.calls for one in accounts] == [4, 8, 17]
    assert not any(one.exact for one in accounts), "nobody knows what the interrupted calls cost"


@pytest.mark.parametrize("kind", ["before", "after", "half"])
def test_a_kill_at_any_call_of_the_file_system_loses_no_attempt(kind):
    with kills.in_memory() as ground, Nursery() as nursery:
        found = billing.kill_at_calls(ground, nursery, kind, every=120, first=7)
    assert found.points >= 2
    assert found.wrong == []


def test_debates_at_once_in_one_process(tmp_path):
    fault = billing.Answer(billing.HALF, chunks=4, fault="cut", after=2)
    accounts = billing.hold_at_once(tmp_path, 3, [fault, fault])
    check(accounts)
    assert sum(one.calls for one in accounts) == 3 * 9 + 2
    assert sum(one.exact for one in accounts) < 3
