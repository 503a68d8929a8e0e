"""Options of a code session that are `auto`: what decides them, and that nothing else changes."""

from __future__ import annotations

import pytest

from council.candidates.base import EMPTY, Base
from council.workflow.opening import Opening, settle

AUTO = {"clarify": "auto", "hidden": "auto", "planning": "auto"}
TREE = {f"src/{number}.py": b"" for number in range(21)}


def opening(words: int = 10, base: Base = EMPTY, seats: int = 3) -> Opening:
    return Opening("word " * words, base.encode(), seats)


@pytest.mark.parametrize(
    ("opening", "clarify"),
    [
        (opening(), "off"),
        (opening(words=80), "off"),
        (opening(words=81), "on"),
        (opening(base=Base(tree=dict(list(TREE.items())[:20]))), "off"),
        (opening(base=Base(tree=TREE)), "on"),
        (opening(seats=6), "off"),
        (opening(seats=7), "on"),
    ],
)
def test_large_tasks_are_clarified(opening: Opening, clarify: str) -> None:
    assert settle(AUTO, opening)["clarify"] == clarify


def test_the_other_options_follow_the_task_too() -> None:
    assert settle(AUTO, opening(seats=5)) == {"clarify": "off", "hidden": "off", "planning": "decentral"}
    tests = Base(hidden={"tests/test_a.py": b"x"})
    assert settle(AUTO, opening(seats=6, base=tests)) == {
        "clarify": "off", "hidden": "on", "planning": "central"
    }  # fmt: skip


def test_what_the_user_said_stays() -> None:
    assert settle({"clarify": "on", "hidden": "off", "words": "auto"}, opening()) == {}
