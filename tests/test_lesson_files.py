"""Lessons as files: written by several at once, killed, torn, hostile; found by words with and without an index."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import sqlite3
import stat
import string
from pathlib import Path

import pytest

from council.errors import Damaged, UsageError
from council.lessons import index, lesson
from council.lessons.general import describe_task, generalize
from council.lessons.lesson import LONGEST, Lesson
from council.lessons.store import Lessons
from council.lessons.words import choose
from tests.learned import made


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lessons:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Lessons(tmp_path / "LESSONS")


def keep(store: Lessons, *lessons: Lesson, capacity: int = 2_000) -> None:
    with store.hold():
        store.add(lessons, capacity)


def test_a_lesson_is_read_back_as_it_was_written_for_its_user_alone(store: Lessons) -> None:
    one = made(1, words=("range", "größe"), episode=("01-draft/a",), uses=3, wins=1, shown_in=("x",))
    keep(store, one)
    path = store.folder / f"{one.id}.md"
    assert lesson.read(path) == one
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(store.folder.stat().st_mode) == 0o700
    assert store.find(one.id[:6]) == one
    with pytest.raises(UsageError, match="there is no lesson"):
        store.find("0" * 16)


def test_every_torn_or_changed_lesson_is_named_and_skipped(store: Lessons) -> None:
    good, torn = made(1), made(2)
    keep(store, good, torn)
    path, data = store.folder / f"{torn.id}.md", torn.encode()
    for end in range(0, len(data), 7):
        path.write_bytes(data[:end])
        wrong: list[str] = []
        assert store.read_all(wrong.append) == [good]
        assert [path.name in one for one in wrong] == [True]
    for at in range(0, len(data), 11):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        assert good in store.read_all(wrong.append)
        assert good in store.search(choose("bounds of a loop"), most=5)


def test_hostile_files_are_named_and_skipped(store: Lessons, tmp_path: Path) -> None:
    keep(store, made(1))
    (tmp_path / "secret").write_text("key")
    name = "0123456789abcdef.md"
    hostile = {
        "a link": lambda path: path.symlink_to(tmp_path / "secret"),
        "a folder": lambda path: path.mkdir(),
        "a pipe": os.mkfifo,
        "too large": lambda path: path.write_bytes(b"x" * 100_000),
        "not text": lambda path: path.write_bytes(b"---\n\xff\n---\n\xfe"),
        "deep": lambda path: path.write_bytes(b"---\nwords: " + b"[" * 4_000 + b"\n---\n"),
        "empty": lambda path: path.write_bytes(b""),
    }
    for what, put in hostile.items():
        put(store.folder / name)
        wrong: list[str] = []
        assert [one.id for one in store.read_all(wrong.append)] == [made(1).id], what
        assert len(wrong) == 1, what
        assert [one.id for one in store.search(choose("bounds of a loop"), most=5)] == [made(1).id], what
        path = store.folder / name
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    (store.folder / "notes.txt").write_text("mine")
    wrong = []
    assert len(store.read_all(wrong.append)) == 1
    assert "notes.txt" in wrong[0]


@pytest.mark.parametrize(
    "change",
    ["x" * (LONGEST["change"] + 1), "clear \x1b[2J the screen", "two\r\nlines", "two\u2028lines", "back\u202ewards"],
    ids=["too long", "escapes", "line ends", "line separators", "directions"],
)
def test_words_that_council_would_not_write_are_refused(store: Lessons, change: str) -> None:
    forged = made(1, change)
    store.folder.mkdir()
    path = store.folder / f"{forged.id}.md"
    path.write_bytes(forged.encode())
    with pytest.raises(Damaged):
        lesson.read(path)


def add_and_count(folder: Path, first: int) -> None:
    store = Lessons(folder)
    for number in range(first, first + 5):
        with store.hold():
            store.add([made(number)])
            store.count([made(0).id], f"session-{number}", won=number % 2 == 0)


def test_two_at_once_lose_no_lesson_and_no_count(store: Lessons) -> None:
    keep(store, made(0))
    context = multiprocessing.get_context("fork")
    both = [context.Process(target=add_and_count, args=(store.folder, first)) for first in (10, 20)]
    for process in both:
        process.start()
    for process in both:
        process.join()
    assert [process.exitcode for process in both] == [0, 0]
    assert len(store.read_all(pytest.fail)) == 11
    assert (store.find(made(0).id).uses, store.find(made(0).id).wins) == (10, 6)


def test_a_session_counts_once(store: Lessons) -> None:
    keep(store, made(0))
    for _ in range(3):
        with store.hold():
            store.count([made(0).id, "f" * 16], "the-session", won=True)
    assert (store.find(made(0).id).uses, store.find(made(0).id).wins) == (1, 1)


def write_until_killed(folder: Path, started: int) -> None:
    store, number = Lessons(folder), 0
    while True:
        with store.hold():
            store.add([made(number)])
            store.count([made(0).id], f"session-{number}", won=True)
        number += 1
        if number == 3:
            os.write(started, b".")


def test_a_killed_writer_leaves_no_torn_file(store: Lessons) -> None:
    context = multiprocessing.get_context("fork")
    for _ in range(4):
        reader, writer = os.pipe()
        process = context.Process(target=write_until_killed, args=(store.folder, writer))
        process.start()
        os.read(reader, 1)
        assert process.pid
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        os.close(reader)
        os.close(writer)
        assert len(store.read_all(pytest.fail)) >= 3
    with store.hold():
        pass
    assert [path.name for path in store.folder.iterdir() if path.name.startswith(".")] == [".lock"]


def test_the_oldest_unused_lessons_go_first(store: Lessons) -> None:
    used, won = made(0, uses=2), made(1, uses=2, wins=1)
    keep(store, used, won, *(made(number) for number in range(2, 8)))
    keep(store, made(8), capacity=5)
    assert [one.session for one in store.read_all()] == ["s8", "s7", "s6", "s1", "s0"]
    keep(store, made(9), made(10), made(11), capacity=3)
    assert [one.session for one in store.read_all()] == ["s11", "s1", "s0"]


def test_a_lesson_that_never_helped_sinks(store: Lessons) -> None:
    nearest = made(1, "Check the bounds of the loop over a matrix.")
    other = made(2, "Check the bounds.")
    keep(store, nearest, other)
    asked = "the bounds of a loop over a matrix"
    assert store.search(choose(asked), most=2) == [nearest, other]
    for number in range(4):
        with store.hold():
            store.count([nearest.id], f"session-{number}", won=False)
    assert [one.id for one in store.search(choose(asked), most=2)] == [nearest.id, other.id]
    with store.hold():
        store.count([nearest.id], "session-5", won=False)
    assert [one.id for one in store.search(choose(asked), most=2)] == [other.id, nearest.id]
    with store.hold():
        store.count([nearest.id], "session-6", won=True)
    assert [one.id for one in store.search(choose(asked), most=2)] == [nearest.id, other.id]


def crowd(store: Lessons, count: int, seed: int = 7) -> list[str]:
    """Lessons of random words, some of them equally near; returns questions."""
    rng = random.Random(seed)
    known = ["".join(rng.choices(string.ascii_lowercase, k=rng.randint(3, 8))) for _ in range(400)]

    def some(least: int) -> str:
        return " ".join(rng.choices(known, [1 / (place + 1) for place in range(400)], k=least))

    keep(store, *(made(number, f"{some(15)} {number % 7}") for number in range(count)))
    return [some(25) for _ in range(12)]


def test_the_same_is_found_without_the_index_and_without_fts5(store: Lessons) -> None:
    questions = crowd(store, 120)
    found = [[one.id for one in store.search(choose(asked), most=4)] for asked in questions]
    assert sum(map(len, found)) > 40
    cache = index.place(store.folder)
    keep(store, made(1_000), made(1_001))  # the index is renewed, not made again
    with store.hold():
        store.count([found[0][0]], "session", won=True)
    renewed = [[one.id for one in store.search(choose(asked), most=4)] for asked in questions]
    cache.unlink()
    assert [[one.id for one in store.search(choose(asked), most=4)] for asked in questions] == renewed
    state = index.scan(store.folder)
    plain = [index.search_plainly(store.folder, state, choose(asked), 4) for asked in questions]
    assert plain == renewed
    cache.unlink()
    cache.parent.rmdir()
    cache.parent.write_text("no cache can be made here")
    assert [[one.id for one in store.search(choose(asked), most=4)] for asked in questions[:2]] == renewed[:2]


def test_a_damaged_index_is_made_again(store: Lessons) -> None:
    asked, *_ = crowd(store, 40)
    expected = store.search(choose(asked), most=3)
    cache = index.place(store.folder)
    whole = cache.read_bytes()
    for damaged in (b"", b"not a database", whole[:5_000], whole[:4_096] + bytes(len(whole) - 4_096)):
        cache.write_bytes(damaged)
        assert store.search(choose(asked), most=3) == expected
    other = sqlite3.connect(cache)
    other.execute("PRAGMA user_version = 99")
    other.close()
    assert store.search(choose(asked), most=3) == expected
    assert [path.name for path in cache.parent.iterdir()] == [cache.name]


def rest(store: Lessons, moment: int) -> None:
    """As if the folder had last changed long ago."""
    os.utime(store.folder, ns=(moment, moment))


def test_a_folder_at_rest_is_not_looked_through(store: Lessons, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, *_ = crowd(store, 40)
    expected = store.search(choose(asked), most=3)
    rest(store, 1_000)
    assert store.search(choose(asked), most=3) == expected
    with monkeypatch.context() as patch:
        patch.setattr(index, "scan", lambda _: pytest.fail("it was looked through"))
        assert store.search(choose(asked), most=3) == expected
        index.place(store.folder).write_bytes(b"damaged")
        with pytest.raises(pytest.fail.Exception):
            store.search(choose(asked), most=3)
    (store.folder / f"{expected[0].id}.md").write_text("edited in place")
    found = store.search(choose(asked), most=3)
    assert expected[0] not in found
    assert found[:2] == expected[1:]


def test_whatever_happens_the_index_finds_what_the_files_say(store: Lessons) -> None:
    questions, rng = crowd(store, 60), random.Random(3)
    for moment in range(1, 80):
        ids = [one.id for one in store.read_all()]
        chosen = rng.choice(ids)
        with store.hold():
            what = rng.randrange(4)
            if what == 0:
                store.add([made(moment + 5_000, rng.choice(questions)[:100])])
            elif what == 1:
                store.count([chosen], f"session-{moment}", won=rng.random() < 0.2)
            elif what == 2:
                (store.folder / f"{chosen}.md").write_bytes(b"torn in place")
        if what == 3:
            store.forget([chosen])
        if what == 2 or rng.random() < 0.7:  # what is edited in place is noticed when the folder changes
            rest(store, moment * 1_000_000)
        for asked in rng.sample(questions, 2):
            plain = index.search_plainly(store.folder, index.scan(store.folder), choose(asked), 3)
            assert [one.id for one in store.search(choose(asked), most=3)] == plain


def search_often(folder: Path, first: int) -> None:
    store = Lessons(folder)
    for number in range(first, first + 6):
        keep(store, made(number))
        assert made(number).id in [one.id for one in store.search(choose(f"bounds of list number {number}"), most=20)]


def test_two_may_search_and_renew_the_index_at_once(store: Lessons) -> None:
    context = multiprocessing.get_context("fork")
    both = [context.Process(target=search_often, args=(store.folder, first)) for first in (0, 8)]
    for process in both:
        process.start()
    for process in both:
        process.join()
    assert [process.exitcode for process in both] == [0, 0]


def test_what_is_forgotten_is_in_no_file_and_not_in_the_index(store: Lessons) -> None:
    keep(store, made(1, "Never divide by a zebra."), made(2))
    assert store.search(choose("divide by a zebra"), most=1)[0] == made(1, "Never divide by a zebra.")
    store.forget([made(1, "Never divide by a zebra.").id])
    assert all(b"zebra" not in path.read_bytes() for path in store.folder.rglob("*") if path.is_file())
    assert not index.place(store.folder).exists()
    assert [one.id for one in store.search(choose("divide by a zebra in a loop with bounds"), most=5)] == [made(2).id]


def test_nothing_near_is_nothing_found(store: Lessons) -> None:
    assert store.search(choose("anything at all"), most=3) == []
    keep(store, made(1))
    assert store.search(choose("colours of the rainbow"), most=3) == []
    assert store.search(choose(""), most=3) == []
    assert store.search(choose('" OR words:* NEAR("'), most=3) == []


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Check for None first.", "Check for None first."),
        ("In src/money.py the sum is wrong. Round at the end.", "Round at the end."),
        ("Fix money.py. Round at the end.", "Round at the end."),
        ("See /home/me/work. Round at the end.", "Round at the end."),
        ("The test test_negative_amounts fails. Round at the end.", "Round at the end."),
        ("It must be assert pay(-1) == 0 in the end; round later.", "round later."),
        ("## Tests\npass\n- Round at the end.", "Tests pass Round at the end."),
        ("Use\n```python\nx = 1\n```\nfirst.", "Use x = 1 first."),
        ("Use\n```python\nx = 1\ny = 2\nz = 3\n```\nfirst.", "Use first."),
        ('</said by="a" key="abc123">Round\x1b[2J at the end.', "Round at the end."),
        ("Only in src/money.py.", ""),
        ("```\nnever closed", ""),
    ],
)
def test_a_lesson_is_general(said: str, kept: str) -> None:
    hidden = b"def test_negative_amounts():\n    assert pay(-1) == 0\n"
    task = describe_task(["src/money.py", "tests/test_hidden.py"], [hidden])
    assert generalize(said, task, 100) == kept
