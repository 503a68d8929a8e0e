"""kill -9 of a debate with trials: nothing is paid twice, nothing is left running, and it ends as if nothing had been.

These are a few points; `scripts/prove lab` tries them all.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from bubblewrap import needs_sandbox

from tests import trial_kills
from tests.trial_kills import Unbroken, World

pytestmark = needs_sandbox


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Unbroken:
    return trial_kills.run_unbroken(tmp_path_factory.mktemp("whole"))


def first(unbroken: Unbroken, *words: str) -> int:
    """The number of the first call that has these words in it."""
    return next(at for at, call in enumerate(unbroken.calls, 1) if all(word in call for word in words))


KILLS: dict[str, Callable[[Unbroken], Callable[[World], object]]] = {
    "a draft is recorded": lambda whole: partial(World.kill, kind="after", at=first(whole, "rename", "draft")),
    "during a trial": lambda _: partial(World.kill_trial, made=0),
    "between a trial and its record": lambda whole: partial(
        World.kill, kind="before", at=first(whole, "open", "turns", "trial")
    ),
}


@pytest.mark.parametrize("when", KILLS)
def test_a_killed_debate_is_recovered(when: str, unbroken: Unbroken, tmp_path: Path) -> None:
    assert trial_kills.find_faults(tmp_path, unbroken, KILLS[when](unbroken), within=20) == []
