"""What one session learned saves the next one its mistakes: scripted pairs of sessions, trials in the real sandbox."""

from __future__ import annotations

import dataclasses
import random
import tempfile
from pathlib import Path

from prove import Outcome

from council.lessons.lesson import Lesson
from tests.cross_learning import PAIRS, solve
from tests.helpers import User
from tests.learned import lessons_of

OTHERS = 500
PROMISE = "lessons cross sessions"


def parts() -> list[str]:
    return ["pairs of sessions"]


def prove(_: str) -> Outcome:
    """Each pair in a home of its own, among lessons of other tasks."""
    counts: dict[str, list[int]] = {"first": [], "with": [], "without": [], "forgotten": []}
    helped, exams = 0, 0
    for pair in PAIRS:
        with tempfile.TemporaryDirectory() as folder:
            user, stranger = User(Path(folder, "user")), User(Path(folder, "stranger"))
            crowd(user)
            crowd(stranger)
            counts["first"].append(solve(user, pair, pair.first)[0])
            (lesson,) = (one for one in lessons_of(user).read_all() if one.change == pair.lesson)
            attempts, session = solve(user, pair, pair.second)
            counts["with"].append(attempts)
            exams += session.plan().scene.turns[-1].answers.get("tests") == "pass"
            helped += lessons_of(user).find(lesson.id).wins == 1
            counts["without"].append(solve(stranger, pair, pair.second)[0])
            lessons_of(user).forget([known.id for known in lessons_of(user).read_all() if pair.lesson in known.change])
            counts["forgotten"].append(solve(user, pair, pair.second)[0])
    return describe(counts, helped, exams)


def describe(counts: dict[str, list[int]], helped: int, exams: int) -> Outcome:
    rows = [
        row("the first task of a pair, no lesson yet", 3, counts["first"]),
        row("the second task, with the lesson of the first", 1, counts["with"]),
        row("the second task, in a home without that lesson", 3, counts["without"]),
        row("the second task, after the lesson was forgotten", 3, counts["forgotten"]),
        (PROMISE, "hidden tests of the second task, with the lesson", "pass", f"{exams} pass", len(PAIRS), exams),
        (PROMISE, "the lesson counts a use and a win", "1 of 1", f"{helped} lessons", len(PAIRS), helped),
    ]
    note = (
        f"Learning: the model is a script that falls into the trap of {len(PAIRS)} pairs of tasks until its brief "
        f"holds the lesson, among {OTHERS} others. Whether a real model heeds a lesson is not shown by this."
    )
    return Outcome(rows, [], [note])


def row(what: str, expected: int, attempts: list[int]) -> tuple[str | int, ...]:
    seen = ", ".join(str(one) for one in sorted(set(attempts)))
    return PROMISE, what, f"attempts: {expected}", f"attempts: {seen}", len(attempts), attempts.count(expected)


def crowd(user: User) -> None:
    """Lessons of other tasks, some with a word or two in common with these."""
    rng, words = random.Random(5), "list numbers words dict file socket thread cache parser token page".split()
    one = Lesson("", "", "", "another-session", "04-teach/teacher", "2025-01-01T00:00:00+00:00")
    made = [
        dataclasses.replace(one, change=f"Other rule {number}: mind the {' and the '.join(rng.sample(words, 3))}.")
        for number in range(OTHERS)
    ]
    with lessons_of(user).hold():
        lessons_of(user).add(made)
