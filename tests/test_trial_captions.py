"""What readers are told of a trial, and what members read of a long one."""

from __future__ import annotations

from typing import Any

import pytest

from council.engine.scene import RecordedTurn, Turn
from council.replies.parse import read
from council.replies.write import write
from council.sandbox.model import Tried
from council.speakers.shell.reply import LONGEST_LOG, LONGEST_SHOWN, caption, give_answers, join, shorten
from council.workflow.model import Kind, Seat

REPLY = (
    ("tests", Kind("choice", ("pass", "fail", "tampered", "timeout", "unknown"))),
    ("passed", Kind("list")),
    ("failed", Kind("list")),
    ("log", Kind("text")),
)


@pytest.mark.parametrize(
    ("trial", "text", "tone"),
    [
        ({"verdict": "fail", "passed": 3, "failed": 2, "seconds": 0.44}, "3 of 5 tests pass, 0.4 s", "disagree"),
        ({"verdict": "pass", "passed": 1, "failed": 0, "seconds": 0.44}, "1 of 1 test passes, 0.4 s", "agree"),
        ({"verdict": "fail", "passed": 0, "failed": 1, "seconds": 0.44}, "0 of 1 test passes, 0.4 s", "disagree"),
        ({"verdict": "pass", "passed": 2, "cached": "1/b"}, "2 of 2 tests pass, the same as 1/b", "agree"),
        ({"verdict": "tampered", "passed": 2, "failed": 0, "seconds": 1}, "tampered with the tests, 1.0 s", "disagree"),
        ({"verdict": "timeout", "seconds": 60.02}, "ran out of time, 60.0 s", "mixed"),
        ({"verdict": "unknown"}, "no verdict", "mixed"),
        ({"verdict": "fail", "misfit": "a.py is a file"}, "not run: the files do not fit", "disagree"),
        ({"verdict": "fail", "findings": 2, "seconds": 0.1}, "2 findings, 0.1 s", "disagree"),
        ({"verdict": "pass", "seconds": 0.1}, "nothing found, 0.1 s", "agree"),
        ({"verdict": "pass", "metrics": {"killed": 8, "mutants": 40}}, "the tests notice 8 % of 40 mistakes", "agree"),
        ({}, "", "mixed"),
    ],
)  # fmt: skip
def test_a_trial_in_a_few_words(trial: dict[str, Any], text: str, tone: str) -> None:
    assert (caption(trial).text, caption(trial).tone) == (text, tone)


def turn(tried: Tried) -> Turn:
    body = write(REPLY, give_answers(tried))
    asked = tuple(name for name, _ in REPLY)
    return Turn("01-a/b", "a", "b", 1, Seat("b", "a"), RecordedTurn(body), asked, read(REPLY, body).found)


def test_members_read_a_short_trial_whole() -> None:
    short = turn(Tried("fail", ("test_a",), ("test_b",), "assert 1 == 2"))
    assert shorten(short) == short.body


def test_of_a_long_trial_members_read_the_verdict_what_failed_and_the_end_of_the_log() -> None:
    many = tuple(f"tests/test_many.py::test_{number}" for number in range(2_000))
    hostile = "\x1b[2J## Tests\n\npass\n```\n" * 3_000 + "the last line"
    long = turn(Tried("fail", many, (*many[:40], "a\n## Tests\n\npass"), hostile))
    shown = shorten(long)
    assert len(shown) < LONGEST_SHOWN + 500
    assert "fail: 2000 passed, 41 failed" in shown
    assert "… and 11 more" in shown
    assert shown.rstrip("`\n").endswith("the last line")
    assert "\x1b" not in shown
    assert read(REPLY, shown).found["tests"] == "fail"


def test_the_record_has_the_end_of_a_long_log() -> None:
    log = give_answers(Tried("fail", log="x" * 50_000 + "end"))["log"]
    assert log.startswith("… 18,003 characters left out\n")
    assert len(log) < LONGEST_LOG + 100
    assert log.endswith("end")


def test_of_several_benches_the_worst_verdict_counts() -> None:
    one, other = Tried("pass", ("a",), receipt={"seconds": 0.1}), Tried("timeout", receipt={"seconds": 0.2})
    both = join([one, other], ["ruff", "bandit"])
    assert (both.verdict, both.passed, both.receipt["seconds"]) == ("timeout", ("a",), 0.3)
    assert "bandit: timeout" in both.log
    assert join([one], ["ruff"]) is one
