"""`council lessons`: list, show and forget, on a terminal and in a pipe, whatever lies in the folder."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest

from council.errors import Damaged, StorageError
from council.lessons.lesson import Lesson
from council.lessons.store import CAPACITY, Lessons
from tests.helpers import Ended, User, no_escapes, no_traceback
from tests.terminal import Shell, Shown

EMPTY = Lesson(
    "When a list may be empty.", "The mean divides by its length.", "Return early for an empty list.",
    "20260101-000000-aaaaaaaa", "03-reflect-r01/author", "2026-01-01T10:00:00+00:00", ("01-draft-r01/author",),
    ("mean", "numbers"), "python", "pytest", "fail, 1 of 3", "pass, 3 of 3", uses=6, wins=2,
)  # fmt: skip
ROUNDING = dataclasses.replace(
    EMPTY, applies="", cause="", change="Round money once, at the end.", made="2026-01-02T10:00:00+00:00", wins=0
)


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


@pytest.fixture
def store(user: User) -> Lessons:
    lessons = Lessons(user.home / "LESSONS")
    keep(lessons, EMPTY, ROUNDING)
    return lessons


def keep(store: Lessons, *lessons: Lesson) -> None:
    with store.hold():
        store.add(lessons, CAPACITY)


def council(user: User, *words: str) -> Ended:
    ended = user.council("lessons", *words)
    no_traceback(ended)
    no_escapes(ended)
    return ended


def test_without_lessons_it_says_so(user: User) -> None:
    ended = council(user)
    assert (ended.code, ended.out, ended.err) == (0, "", "no lessons yet\n")
    assert council(user, "--json").json == []
    assert not (user.home / "LESSONS").exists()


def test_the_newest_come_first_and_the_nearest_where_words_are_given(user: User, store: Lessons) -> None:
    newest, oldest = council(user, "list").out.splitlines()[1:]
    assert newest.split() == [ROUNDING.id, "2026-01-02", "0", "of", "6,", "sunk", *ROUNDING.change.split()]
    assert oldest.startswith(f"{EMPTY.id}  2026-01-01  2 of 6        When a list may be empty. The mean divides")
    assert [one["id"] for one in council(user, "list", "empty", "list", "--json").json] == [EMPTY.id]
    assert council(user, "list", "volcano").err == "none of your 2 lessons is near these words\n"
    assert [one["id"] for one in council(user, "list", "-n", "1", "--json").json] == [ROUNDING.id]


def test_one_is_shown_with_where_it_comes_from(user: User, store: Lessons) -> None:
    out = council(user, "show", EMPTY.id[:5]).out
    for text in (
        f"lesson {EMPTY.id}\n\nWhen: When a list may be empty.\nCause: The mean divides by its length.\n",
        "What to change: Return early for an empty list.\n",
        "from: 20260101-000000-aaaaaaaa, 03-reflect-r01/author, 2026-01-01T10:00:00+00:00\n",
        "tests: fail, 1 of 3; then pass, 3 of 3 (python, pytest)\n",
        "shown in 6 sessions, 2 of them with green tests in the end\n",
    ):
        assert text in out
    (shown,) = council(user, "show", EMPTY.id, "--json").json
    assert shown["episode"] == ["01-draft-r01/author"]
    assert Lesson(**{name: tuple(value) if isinstance(value, list) else value for name, value in shown.items()
                     if name not in ("id", "sunk")}) == EMPTY  # fmt: skip
    unknown = council(user, "show", "beef")
    assert (unknown.code, unknown.err.startswith('council: there is no lesson "beef"')) == (2, True)
    assert council(user, "show").code == council(user, "--yes").code == council(user, "burn").code == 2


def test_nothing_is_forgotten_unless_somebody_says_so(user: User, store: Lessons) -> None:
    refused = council(user, "forget", EMPTY.id)
    assert (refused.code, "add --yes" in refused.err) == (2, True)
    with Shell(user, XDG_CACHE_HOME=str(user.root)) as shell:
        for answer, what in (("n", "you said no"), ("", "you said no"), ("y", f"forgotten: {EMPTY.id}")):
            shell.type(f"./council lessons forget {EMPTY.id[:6]}\n")
            assert EMPTY.change in shell.until(r"permanently\? \[y/N\]: ")
            shell.type(f"{answer}\n")
            shell.until(what)
    assert store.read_all() == [ROUNDING]


def test_what_was_forgotten_does_not_come_back(user: User, store: Lessons) -> None:
    assert council(user, "forget", EMPTY.id, ROUNDING.id[:8], "--yes", "--json").json == [EMPTY.id, ROUNDING.id]
    assert council(user).err == "no lessons yet\n"
    keep(store, EMPTY, dataclasses.replace(ROUNDING, session="another"), dataclasses.replace(EMPTY, change="New."))
    assert [one.change for one in store.read_all()] == ["New."]


HOSTILE = {
    "escape sequences": "20260101\x1b]0;owned\x07\x1b[2J",
    "text that runs backwards": "\u202e evil \u2066",
    "lines of our own": "x\n\nlesson 0000\nforgotten: all",
    "a surrogate": "\ud800",
    "very long": "y" * 1_500,
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_words_are_harmless_on_a_terminal(what: str, user: User) -> None:
    """A body with such words is refused as damaged, so only the frontmatter can hold them."""
    store = Lessons(user.home / "LESSONS")
    planted = dataclasses.replace(EMPTY, session=HOSTILE[what], turn=HOSTILE[what], made=HOSTILE[what])
    keep(store, planted, ROUNDING)
    for words in ([], ["list", "empty", "list"], ["show", EMPTY.id], ["list", "--json"]):
        ended = council(user, *words)
        assert ended.code == 0
        assert [line for line in ended.out.splitlines() if line.startswith(("lesson 0000", "forgotten"))] == []
    shown = Shown(user, ("lessons",), 60, 20)
    assert shown.code == 0
    assert max(map(len, shown.screen.text.splitlines())) <= 60


def test_a_lesson_on_a_narrow_terminal_is_cut(user: User, store: Lessons) -> None:
    text = Shown(user, ("lessons",), 80, 20).screen.text
    assert [line[-1] for line in text.splitlines()[1:]] == [".", "…"]


def test_damaged_files_are_named_and_can_be_forgotten(user: User, store: Lessons) -> None:
    path = store.folder / f"{EMPTY.id}.md"
    path.write_bytes(path.read_bytes()[:-9])
    os.mkfifo(store.folder / "0123456789abcdef.md")
    ended = council(user)
    assert (ended.code, len(ended.out.splitlines()), ended.err.count("skipped: ")) == (0, 2, 2)
    assert council(user, "show", EMPTY.id).code == Damaged.code
    assert council(user, "forget", EMPTY.id, "0123", "--yes").code == 0
    assert council(user).err == ""
    (store.folder / "fedcba9876543210.md").mkdir()
    assert "fedcba9876543210.md: Is a directory" in council(user, "forget", "fedc", "--yes").err


def test_a_folder_that_is_none_gives_a_sentence(user: User) -> None:
    user.home.mkdir()
    (user.home / "LESSONS").write_text("mine")
    for words in ([], ["list", "empty", "list"], ["show", "abcd"]):
        ended = council(user, *words)
        assert (ended.code, "LESSONS" in ended.err) == (StorageError.code, True)
