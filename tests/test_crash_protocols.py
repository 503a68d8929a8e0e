"""Each protocol may die at any call that changes a file, also while it waits for a person: all of it comes back.

As for the debate in `test_crash.py`: real processes, real kills. A person's words are recorded where they are due.
Here it dies at every few calls, and always at the last of a command; `scripts/prove kill-points` has it die at each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.faults import Nursery
from tests.kills import in_memory
from tests.kills_of_protocols import DEBATES, Whole, hold_whole, sweep

EVERY = {"before": 199, "full once": 397}


@pytest.fixture(scope="module")
def ground() -> Iterator[Path]:
    with in_memory() as folder:
        yield folder


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with Nursery() as made:
        yield made


@pytest.fixture(scope="module")
def hold(ground: Path, nursery: Nursery) -> Callable[[str], Whole]:
    return cache(lambda name: hold_whole(name, ground, nursery))


@pytest.mark.slow
@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("name", DEBATES)
def test_every_call_of_every_command_may_be_the_last(name: str, kind: str, hold: Callable[[str], Whole]) -> None:
    whole = hold(name)
    assert whole.calls > 200
    wrong = sweep(whole, kind, EVERY[kind])
    print(f"{name}, {kind}: {len(wrong)} points of {whole.calls} calls")
    assert len(wrong) >= whole.calls / EVERY[kind]
    told = [f"{where}: {what}" for where, all_ in wrong.items() for what in all_]
    assert not told, "\n".join(told[:20])
