"""The index finds sessions and says nothing of them that their files do not confirm."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from council.errors import UsageError
from council.index import facts, query, schema
from council.index.query import Filters, Index, open_index
from council.record import catalog, metadata
from tests.helpers import User, agreed, script

TWO = ("architect", "engineer")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> User:
    """Two sessions that are complete, and one that has just begun."""
    user = User(tmp_path_factory.mktemp("made"))
    words = ("--only", "architect,engineer", "--speaker", "replay", "--from", script(user, agreed(TWO)))
    for id, topic in (("first", "Redis or a table for the queue?"), ("second", "Ein größeres Café für 数据库?")):
        assert user.council("run", "--id", id, *words, topic).code == 0
    assert user.council("start", "--id", "third", "-w", "quick", "Shall the queue stay?").code == 0
    return user


@pytest.fixture
def root(made: User, tmp_path: Path) -> Path:
    shutil.copytree(made.home / "STATE" / "council-sessions", tmp_path / "sessions")
    return tmp_path / "sessions"


@pytest.fixture
def index(root: Path, tmp_path: Path) -> Iterator[Index]:
    index = open_index([root], tmp_path / "cache" / "index.sqlite")
    index.refresh()
    yield index
    index.close()


def ids(index: Index, q: str = "", **filters: str) -> list[str]:
    return [row["session_id"] for row in index.page(Filters(q, **filters)).rows]


def test_sessions_are_listed_newest_first_page_by_page(index: Index) -> None:
    page = index.page(limit=2)
    assert [(row["session_id"], row["state"]) for row in page.rows] == [("third", "waiting"), ("second", "complete")]
    last = index.page(before=page.next, limit=2)
    assert ([row["session_id"] for row in last.rows], last.next) == (["first"], None)


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"workflow": "quick"}, ["third"]),
        ({"workflow": "debate"}, ["second", "first"]),
        ({"outcome": "agreed"}, ["second", "first"]),
        ({"state": "complete"}, ["second", "first"]),
        ({"state": "waiting"}, ["third"]),
        ({"state": "running"}, []),
        ({"state": "unfinished"}, ["third"]),
        ({"workflow": "quick", "state": "complete"}, []),
    ],
)
def test_filters(index: Index, filters: dict[str, str], found: list[str]) -> None:
    assert ids(index, **filters) == found


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("queue", {"first", "third"}),
        ("QUEUE table", {"first"}),
        ("que*", {"first", "third"}),
        ('"the queue"', {"first", "third"}),
        ('"queue the"', set()),
        ("cafe grosseres", set()),
        ("cafe größeres", {"second"}),
        ("数据", {"second"}),
        ("据数", set()),
        ("queue OR café", set()),
        ("nothingofthesort", set()),
        ("-- ' \" ) NEAR( {topic} : *", set()),
    ],
)
def test_words_are_found_and_never_operators(index: Index, typed: str, found: set[str]) -> None:
    assert set(ids(index, typed)) == found


def test_what_has_no_word_in_it_counts_nothing(index: Index) -> None:
    assert (ids(index, "( -"), index.facets(Filters("( -"))["total"]) == ([], 0)
    assert index.facets(Filters(" "))["total"] == 3


def test_the_words_may_be_wanted_in_one_place(index: Index) -> None:
    assert ids(index, "database", place="topics") == []
    assert set(ids(index, "database", place="decisions")) == {"first", "second"}
    with pytest.raises(UsageError, match="known: topics, turns"):
        ids(index, "database", place="replies")


def test_a_hit_is_read_from_its_file(index: Index, root: Path) -> None:
    (row,) = index.page(Filters("redis")).rows
    (hit,) = row["hits"]
    assert hit == {
        "turn": None, "kind": "topic", "snippet": "Redis or a table for the queue?", "marks": [[0, 5]],
    }  # fmt: skip
    (root / "first" / "topic.md").write_text("Something else")
    assert ids(index, "redis") == []


def test_a_cursor_that_nobody_made_is_refused(index: Index) -> None:
    huge, halved = (query._encode(["a", number, text]) for number, text in ((10**30, "b"), (1, "\ud800")))
    for cursor in ("x", "WzFd", "", "é", "[" * 5000, huge, halved):
        with pytest.raises(UsageError, match="not the cursor"):
            index.page(before=cursor)


def test_a_filter_that_is_no_text_finds_nothing(index: Index) -> None:
    assert index.page(Filters(workflow="caf\udce9")).rows == []
    assert index.facets(Filters("redis", outcome="\ud800"))["total"] == 0


def test_what_is_new_is_found_and_what_is_gone_is_not(index: Index, root: Path) -> None:
    shutil.rmtree(root / "first")
    (root / "second").rename(root / "moved")
    index.refresh()
    assert ids(index, "queue") == ["third"]
    assert [(row["session_id"], row["state"]) for row in index.page().rows] == [("third", "waiting")]


def replace_folder(make: Callable[[Path, Path], object]) -> Callable[[Path], object]:
    """Move the session away, and put something else in its place."""

    def spoil(first: Path) -> None:
        elsewhere = first.parent.parent / "elsewhere"
        first.rename(elsewhere)
        make(first, elsewhere)

    return spoil


def replace_file(name: str, make: Callable[[Path, bytes], object]) -> Callable[[Path], object]:
    def spoil(first: Path) -> None:
        data = (first / name).read_bytes()
        (first / name).unlink()
        make(first / name, data)

    return spoil


def link_turns(first: Path) -> None:
    (first / "turns").rename(first.parent.parent / "turns")
    (first / "turns").symlink_to(first.parent.parent / "turns")


def say(**facts: Any) -> Callable[[Path], object]:
    """Metadata that are sealed and say something else."""

    def spoil(first: Path) -> None:
        known = json.loads((first / "metadata.json").read_bytes())
        (first / "metadata.json").write_bytes(metadata.seal(known | facts))

    return spoil


def conclude(text: str) -> Callable[[Path], object]:
    return lambda first: (first / "convergence.json").write_text(text)


META, A_TURN = "metadata.json", "turns/01-positions/architect.md"
HOSTILE: dict[str, Callable[[Path], object]] = {
    "a link to a session": replace_folder(lambda path, other: path.symlink_to(other)),
    "a link to a folder": replace_folder(lambda path, other: path.symlink_to(other.parent)),
    "a fifo": replace_folder(lambda path, _: os.mkfifo(path)),
    "a file": replace_folder(lambda path, _: path.write_text("")),
    "a name that is none": replace_folder(lambda path, other: other.rename(path.with_name("fir\nst\x1b[2J"))),
    "no metadata": replace_file(META, lambda _, data: data),
    "metadata that are a fifo": replace_file(META, lambda path, _: os.mkfifo(path)),
    "another schema": replace_file(META, lambda path, data: path.write_bytes(data.replace(b'ma": 2', b'ma": 99'))),
    "a clock in the future": replace_file(
        META, lambda path, data: path.write_bytes(data.replace(b'at": "2', b'at": "9'))
    ),
    "a turn that is a fifo": replace_file(A_TURN, lambda path, _: os.mkfifo(path)),
    "a turn that is huge": replace_file(A_TURN, lambda path, _: (path.touch(), os.truncate(path, 1 << 40))),
    "a turn that is a folder": replace_file(A_TURN, lambda path, _: path.mkdir()),
    "a turn that was edited": replace_file(A_TURN, lambda path, data: path.write_bytes(data[:-3] + b"xyz")),
    "turns that are a link": link_turns,
    "half a letter": say(topic="a\ud800b", outcome="\ud800"),
    "a number that is too large": say(rounds_completed=10**30),
    "no numbers as scores": conclude('{"scores": {"architect": NaN}}'),
    "a score that is too large": conclude(f'{{"scores": {{"architect": 1{"0" * 400}}}}}'),
    "half a letter as the reason": conclude('{"reason": "\\ud800"}'),
    "changes of mind that are none": conclude('{"flips": ["x", null, {"seat": {}}]}'),
}


@pytest.mark.parametrize("trouble", HOSTILE)
def test_a_folder_that_is_no_whole_session_hides_no_other(root: Path, tmp_path: Path, trouble: str) -> None:
    HOSTILE[trouble](root / "first")
    index = open_index([root], tmp_path / "cache" / "index.sqlite")
    for _ in range(2):
        index.refresh()
        rows = {row["session_id"]: row["state"] for row in index.page().rows}
        assert (rows["second"], rows["third"]) == ("complete", "waiting")
        assert rows.get("first") != "complete"
        assert "second" in {row["session_id"] for row in index.page(Filters("database")).rows}
        assert index.facets()["total"] >= 2
        assert index.remarks == []
        for view in re.findall(r"CREATE VIEW (\w+)", schema.VIEWS):
            index.store.rows(f"SELECT * FROM {view}")
    index.close()


def test_a_file_from_the_year_three_million_hides_nothing(
    index: Index, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some file systems hold such a time, as one with a broken clock wrote it."""
    monkeypatch.setattr(catalog, "_written", lambda _: 10**23)
    (root / "first" / "metadata.json").write_text("{")
    index.refresh()
    assert ids(index) == ["third", "second", "first"]
    assert catalog.all_ids(root) == ["third", "second", "first"]


def test_a_session_may_go_while_it_is_read(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between a look at the folder and at its files, and between a hit and its passage."""
    read = facts.read_session

    def gone(place: Path, id: str, *rest: Any) -> Any:
        if id == "first":
            shutil.rmtree(place / id, ignore_errors=True)
        return read(place, id, *rest)

    monkeypatch.setattr(facts, "read_session", gone)
    index = open_index([root], tmp_path / "cache" / "index.sqlite")
    index.refresh()
    assert ids(index) == ["third", "second"]
    shutil.rmtree(root / "second")
    assert ids(index, "database") == []
    assert [row["state"] for row in index.page().rows] == ["waiting", "damaged"], "not until the next refresh"
    index.close()


def test_a_session_that_is_damaged_later_is_not_believed(index: Index, root: Path) -> None:
    assert ids(index, state="complete") == ["second", "first"]
    turn = root / "first" / "turns" / "01-positions" / "architect.md"
    turn.write_bytes(turn.read_bytes().replace(b"architect would", b"architect might"))
    assert ids(index, state="complete") == ["second"]
    assert "first" not in ids(index, "architect", place="turns")[1:]


def test_rows_that_would_take_too_long_come_without_a_state(index: Index) -> None:
    rows = index.page(patience=-1.0).rows
    assert {row["state"] for row in rows} == {None}
    assert [row["session_id"] for row in rows] == ["third", "second", "first"]
    index.page()
    assert {row["state"] for row in index.page(patience=-1.0).rows if row["session_id"] != "third"} <= {
        "complete",
        None,
    }


def test_new_turns_of_an_unfinished_session_are_added(made: User, root: Path, index: Index) -> None:
    before = index.store.rows("SELECT number, turn FROM turn ORDER BY number")
    home = made.root / "again"
    shutil.copytree(made.home, home)
    user = User(made.root, {"COUNCIL_HOME": str(home)})
    done = user.council("record", "third", "01-positions/architect", stdin="A zebra knows.")
    assert done.code == 0, done.err
    shutil.copytree(home / "STATE" / "council-sessions" / "third", root / "third", dirs_exist_ok=True)
    assert index.refresh().read == 1
    assert ids(index, "zebra") == ["third"]
    assert index.store.rows("SELECT number, turn FROM turn ORDER BY number")[: len(before)] == before
