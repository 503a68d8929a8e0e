"""What a session leaves when it ends: lessons from red to green, once, and only if it is the user's own."""

from __future__ import annotations

import os
import re
import shutil
import signal
from collections import Counter
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from unittest import mock

import pytest

from council.config import settings
from council.lessons import learning
from council.record import session as sessions
from council.record.session import Session
from tests.helpers import User, derived_of, no_traceback
from tests.learned import (
    GREEN,
    LESSON,
    RED,
    SAID,
    WORKFLOW,
    brief_of,
    carry_on,
    draft,
    hold,
    lessons_of,
    start,
    verdict,
)

ONCE = {"02-loop-r01-1-draft/engineer": draft(1), "02-loop-r01-2-trial/tester-engineer": verdict(GREEN),
        "03-teach/researcher": LESSON, "05-exam/examiner-engineer": verdict(GREEN)}  # fmt: skip
NEVER = {
    **SAID, "02-loop-r02-2-trial/tester-engineer": verdict(RED),
    "02-loop-r02-3-reflect/engineer": "## Change next\n\nTry again.\n",
    "02-loop-r03-1-draft/engineer": draft(3), "02-loop-r03-2-trial/tester-engineer": verdict(RED),
    "05-exam/examiner-engineer": verdict(RED),
}  # fmt: skip


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


def test_a_repair_leaves_a_lesson_with_where_it_came_from(user: User) -> None:
    session = hold(user)
    (lesson,) = lessons_of(user).read_all(pytest.fail)
    assert (lesson.applies, lesson.cause) == ("When a list may be empty.", "The divisor was the length.")
    assert lesson.change == "Return early for an empty list."
    assert (lesson.session, lesson.turn) == (session.id, "03-teach/researcher")
    assert lesson.episode == tuple(turn for turn in SAID if turn[:2] == "02")
    assert (lesson.before, lesson.after, lesson.bench, lesson.language) == (
        "fail, 0 of 1",
        "pass, 1 of 1",
        "pytest",
        "python",
    )
    assert lesson.words == ("write", "mean", "list", "numbers")


def lesson_of(text: str) -> str:
    return f"## Applies\n\nnone\n\n## Cause\n\nnone\n\n## Lesson\n\n{text}\n"


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (ONCE, "green at once"),
        (NEVER, "never green"),
        ({**SAID, "03-teach/researcher": lesson_of("none")}, "no lesson drawn"),
        ({**SAID, "03-teach/researcher": lesson_of("None.")}, "no lesson drawn, in other words"),
        ({**SAID, "03-teach/researcher": lesson_of("In mean.py, divide.")}, "about this task alone"),
        (
            {**SAID, "03-teach/researcher": lesson_of("Let mean([7, 8, 9]) == 8 hold, as test_secret says.")},
            "hidden tests",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_nothing_else_leaves_one(said: dict[str, str], why: str, user: User) -> None:
    hold(user, said)
    assert lessons_of(user).read_all(pytest.fail) == [], why


def test_only_a_bench_is_believed(user: User) -> None:
    """The same words, in a record that no bench wrote."""
    session = start(user)
    with mock.patch("tests.learned.BENCH_RECEIPT", None):
        carry_on(user, session)
    assert lessons_of(user).read_all(pytest.fail) == []


def test_who_saw_a_hidden_trial_teaches_nothing(user: User) -> None:
    (exam,) = re.findall(r"^  - \{name: exam, .*\n", WORKFLOW, re.M)
    workflow = WORKFLOW.replace(exam, "").replace("  - name: teach\n", f"{exam}  - name: teach\n")
    workflow = workflow.replace("sees: [recall, loop]", "sees: [recall, loop, exam]")
    said = {turn.replace("05-exam", "03-exam").replace("03-teach", "04-teach"): words for turn, words in SAID.items()}
    assert hold(user, said, workflow).plan().done
    assert lessons_of(user).read_all(pytest.fail) == []


# ---- whose sessions ----


def test_a_replay_teaches_nothing(user: User) -> None:
    session = hold(user)
    shutil.rmtree(lessons_of(user).folder)
    ended = user.council("run", "--speaker", "replay", "--from", session.id)
    assert ended.code == 0, ended.text
    assert lessons_of(user).read_all(pytest.fail) == []


def test_a_session_from_elsewhere_teaches_nothing(user: User, tmp_path: Path) -> None:
    """It was copied in before its end."""
    other = User(tmp_path / "other")
    session = start(other, id="same-name")
    carry_on(other, session, {turn: words for turn, words in SAID.items() if not turn.startswith("05")})
    for mine in (None, start(user, id="same-name")):  # with no ticket, then with that of another session of this name
        there = user.home / "STATE" / "council-sessions" / session.id
        shutil.rmtree(mine.folder if mine else there, ignore_errors=True)
        shutil.copytree(session.folder, there)
        carry_on(user, open_again(user, session.id))
        assert "complete" in user.council("status", session.id).out
    assert lessons_of(user).read_all(pytest.fail) == []
    carry_on(other, session)
    assert len(lessons_of(other).read_all(pytest.fail)) == 1


def open_again(user: User, id: str) -> Session:
    with mock.patch.dict(os.environ, user.environment, clear=True):
        return sessions.open_(settings.load().sessions / id)


def test_a_session_in_a_project_teaches_nothing(user: User) -> None:
    session = start(user)
    there = user.work / ".council" / "sessions" / session.id
    there.parent.mkdir(parents=True)
    shutil.move(session.folder, there)
    with mock.patch.dict(os.environ, user.environment, clear=True):
        moved = sessions.open_(there)
    carry_on(user, moved)
    assert moved.plan().done
    assert lessons_of(user).read_all(pytest.fail) == []


def test_a_session_teaches_once(user: User) -> None:
    """Finished again, after its lesson was forgotten, and after a kill before the ticket was used up."""
    session = hold(user)
    (lesson,) = lessons_of(user).read_all(pytest.fail)
    assert list((lessons_of(user).folder / learning.TICKETS).iterdir()) == []
    assert user.council("lessons", "forget", lesson.id, "--yes").code == 0
    assert user.council("archive", session.id).code == 0
    assert lessons_of(user).read_all(pytest.fail) == []
    with mock.patch.dict(os.environ, user.environment, clear=True):
        learning.open_ticket(session)
    assert user.council("archive", session.id).code == 0
    assert lessons_of(user).read_all(pytest.fail) == []


def test_tickets_of_removed_sessions_are_swept(user: User) -> None:
    gone = start(user)
    shutil.rmtree(gone.folder)
    tickets = lessons_of(user).folder / learning.TICKETS
    (tickets / "a-folder").mkdir()
    kept = start(user)
    session = hold(user)
    assert sorted(path.name for path in tickets.iterdir()) == sorted([kept.id, "a-folder"])
    assert session.notices == []


# ---- counts ----


def test_lessons_count_the_sessions_that_they_were_shown_in(user: User) -> None:
    hold(user)
    (lesson,) = lessons_of(user).read_all()
    for said, counts in (
        (ONCE, (1, 1)),
        (NEVER, (2, 1)),
        ({**SAID, "05-exam/examiner-engineer": verdict(RED)}, (3, 1)),
    ):
        session = hold(user, said)
        assert f"[{lesson.id}] When a list may be empty." in session.said["01-recall/shelf"].body
        after = lessons_of(user).find(lesson.id)
        assert (after.uses, after.wins) == counts


# ---- when something is in the way ----


def test_a_debate_is_complete_even_if_its_lessons_cannot_be_kept(user: User) -> None:
    session = start(user)
    folder = lessons_of(user).folder
    (folder / ".lock").mkdir()
    carry_on(user, session)
    assert "complete" in user.council("status", session.id).out
    (notice,) = session.notices
    assert notice.startswith("the lessons of this session were not kept: ")
    ended = user.council("archive", session.id)
    assert (ended.code, notice.partition(":")[0] in ended.err) == (0, True)
    (folder / ".lock").rmdir()
    assert user.council("archive", session.id).err == ""
    assert len(lessons_of(user).read_all(pytest.fail)) == 1


def end_one(user: User, folder: Path) -> None:
    carry_on(user, open_again(user, folder.name))


def test_two_sessions_that_end_at_once_lose_nothing(user: User) -> None:
    hold(user)
    (shown,) = lessons_of(user).read_all()
    begun = [start(user) for _ in range(3)]
    context = get_context("fork")
    for number, session in enumerate(begun):
        own = {**SAID, "03-teach/researcher": lesson_of(f"Think of case {'abc'[number]} first.")}
        carry_on(user, session, {turn: words for turn, words in own.items() if turn[:2] != "05"})
    running = [context.Process(target=end_one, args=(user, session.folder)) for session in begun]
    for process in running:
        process.start()
    for process in running:
        process.join()
    assert [process.exitcode for process in running] == [0, 0, 0]
    kept = lessons_of(user).read_all(pytest.fail)
    assert len(kept) == 4
    assert (lessons_of(user).find(shown.id).uses, lessons_of(user).find(shown.id).wins) == (3, 3)


def end_until_killed(user: User, folder: Path, calls: int) -> None:
    """Die at one of the calls that change the folder of lessons."""
    left = [calls]

    def deadly(name: str) -> Callable[..., None]:
        real = getattr(os, name)

        def call(path: Path, *words: object, **how: object) -> None:
            left[0] -= "LESSONS" in str(path)
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            real(path, *words, **how)

        return call

    with mock.patch.multiple(os, rename=deadly("rename"), unlink=deadly("unlink")):
        end_one(user, folder)


def test_a_kill_at_the_end_loses_nothing_and_repeats_nothing(user: User) -> None:
    hold(user)
    shown, ended, kills = Counter[str](), False, 0
    while not ended:
        session = start(user)
        own = {**SAID, "03-teach/researcher": lesson_of(f"Think of case {'abcdefgh'[kills]} first.")}
        carry_on(user, session, {turn: words for turn, words in own.items() if turn[:2] != "05"})
        shown.update((session.receipts["01-recall/shelf"].trial or {})["shown"])
        process = get_context("fork").Process(target=end_until_killed, args=(user, session.folder, kills))
        process.start()
        process.join()
        ended, kills = process.exitcode == 0, kills + 1
        carry_on(user, open_again(user, session.id))
        assert "complete" in user.council("status", session.id).out
        kept = lessons_of(user).read_all(pytest.fail)
        assert len(kept) == kills + 1
        assert {one.id: one.uses for one in kept if one.uses} == shown
    assert kills > 3


# ---- old sessions ----


def test_a_session_reads_the_same_whatever_is_learned_or_forgotten_later(user: User) -> None:
    hold(user)
    (first,) = lessons_of(user).read_all()
    session = hold(user)
    before = derived_of(session.folder)
    assert first.change in session.said["01-recall/shelf"].body
    hold(user, {**SAID, "03-teach/researcher": lesson_of("For a mean of numbers, use the module statistics.")})
    assert user.council("lessons", "forget", first.id, "--yes").code == 0
    for name in before:
        (session.folder / name).unlink()
    assert user.council("build", session.id).code == 0
    assert derived_of(session.folder) == before
    assert user.council("verify", session.id).code == 0
    replayed = user.council("run", "--speaker", "replay", "--from", session.id, "--id", "again")
    assert replayed.code == 0, replayed.text
    again = open_again(user, "again")
    assert words_of(again) == words_of(session)
    assert first.change in brief_of(again, "02-loop-r01-1-draft/engineer")
    assert first.change not in brief_of(start_and_draft(user), "02-loop-r01-1-draft/engineer")


def start_and_draft(user: User) -> Session:
    session = start(user)
    carry_on(user, session, {"02-loop-r01-1-draft/engineer": draft(1)})
    no_traceback(user.council("status", session.id))
    return session


def words_of(session: Session) -> dict[str, str]:
    session.read_turns()
    return {turn: said.body for turn, said in session.said.items()}
