"""What one session learned helps another: with the lesson one attempt is enough, without it three are needed."""

from __future__ import annotations

from pathlib import Path

import pytest
from bubblewrap import needs_sandbox

from tests.cross_learning import PAIRS, solve
from tests.helpers import User
from tests.learned import lessons_of

pytestmark = needs_sandbox
PAIR = PAIRS[0]


def test_the_lesson_of_one_session_saves_another_two_attempts(tmp_path: Path) -> None:
    user, stranger = User(tmp_path / "user"), User(tmp_path / "stranger")
    attempts, first = solve(user, PAIR, PAIR.first, exam=False)
    (lesson,) = lessons_of(user).read_all(pytest.fail)
    assert (attempts, lesson.session, lesson.change) == (3, first.id, PAIR.lesson)
    assert (lesson.before, lesson.after) == ("fail, 0 of 1", "pass, 1 of 1")
    attempts, second = solve(user, PAIR, PAIR.second, exam=False)
    assert attempts == 1
    assert PAIR.lesson in second.said["01-recall/shelf"].body
    assert (lessons_of(user).find(lesson.id).uses, lessons_of(user).find(lesson.id).wins) == (1, 1)
    attempts, _ = solve(stranger, PAIR, PAIR.second, exam=False)
    assert attempts == 3
