"""A sample of the forgeries that `scripts/prove trust` tries: a head finds each, and the program says the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import forgeries
from tests.forgeries import SESSIONS, Copy, Found

EVERY = 9  # more than half of the kinds, in three seconds


@pytest.mark.parametrize("name", SESSIONS)
def test_a_head_finds_every_forgery(name: str, tmp_path: Path) -> None:
    original = forgeries.prepare(name, tmp_path / "original")
    assert forgeries.examine(Copy(original.user), original) == Found(alone=False, by_head=False, by_signature=False)
    missed = []
    for number, forgery in enumerate(forgeries.forgeries(original)[::EVERY]):
        found = forgeries.examine(forgeries.attempt(forgery, original, tmp_path / str(number)), original)
        missed += [] if found.by_head and found.by_signature else [(forgery.kind, forgery.what)]
    assert missed == []


@pytest.mark.parametrize("name", SESSIONS)
def test_the_command_line_says_what_the_examination_found(name: str, tmp_path: Path) -> None:
    original = forgeries.prepare(name, tmp_path / "original")
    for number, forgery in enumerate(forgeries.forgeries(original)[::50]):
        copy = forgeries.attempt(forgery, original, tmp_path / str(number))
        assert forgeries.ask(copy, original, copy.user.council) == forgeries.examine(copy, original), forgery.kind


def test_there_are_more_than_five_hundred(tmp_path: Path) -> None:
    made = [forgeries.forgeries(forgeries.prepare(name, tmp_path / name)) for name in SESSIONS]
    assert sum(map(len, made)) > 500
    for some in made:
        assert len({(forgery.kind, forgery.what) for forgery in some}) > 0.8 * len(some)
