"""`council list` checks a session again when one of its files has changed, and only then."""

from __future__ import annotations

import os
import shutil
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from council.index import confirm, place
from council.reports import summary
from tests.helpers import User, agreed, script

TWO = ("architect", "engineer")
FILES = (
    "metadata.json", "workflow.md", "topic.md", "program.json", "transcript.md", "convergence.json", "synthesis.md",
    "round-1.md", "turns/01-positions/architect.md", "briefs/01-positions/architect.md",
)  # fmt: skip


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> User:
    """Two sessions that are complete, and one that has just begun."""
    user = User(tmp_path_factory.mktemp("three"))
    words = ("--only", "architect,engineer", "--speaker", "replay", "--from", script(user, agreed(TWO)))
    for id in ("first", "second"):
        assert user.council("run", "--id", id, *words, f"The {id}?").code == 0
    assert user.council("start", "--id", "third", "The third?").code == 0
    return user


@pytest.fixture
def user(three: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> User:
    """A copy of them, whose files count as settled at once."""
    monkeypatch.setattr(confirm, "SETTLED", -3600.0)
    shutil.copytree(three.root, tmp_path / "user")
    return User(tmp_path / "user")


def root_of(user: User) -> Path:
    return user.home / "STATE" / "council-sessions"


def rows(user: User) -> list[dict[str, Any]]:
    """What is listed, without what differs from one second to the next."""
    listed = user.council("list", "--json")
    assert listed.code == 0, listed.err
    return [{key: value for key, value in row.items() if key != "age"} for row in listed.json]


def index_of(user: User) -> Path:
    return place.locate(root_of(user), user.environment)


def from_scratch(user: User) -> list[dict[str, Any]]:
    for name in place.BESIDE:
        Path(f"{index_of(user)}{name}").unlink(missing_ok=True)
    return rows(user)


def refuse_to_check(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(folder: Path, known: Any = None) -> Any:
        if known is not None and known.session:
            raise AssertionError(f"{folder.name} was checked again")
        return summary.DebateResult(folder.name, folder, "damaged", "checked again", datetime.now(UTC))

    monkeypatch.setattr(summary, "summarize", refuse)


def test_what_did_not_change_is_not_checked_again(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    before = from_scratch(user)
    assert [row["state"] for row in before] == ["waiting", "complete", "complete"]
    refuse_to_check(monkeypatch)
    assert rows(user) == before


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("how", ["edited in its place", "deleted", "replaced by a copy"])
def test_a_session_with_a_changed_file_is_checked_again(user: User, name: str, how: str) -> None:
    """Also if the file has the size and the time that it had before."""
    from_scratch(user)
    path = root_of(user) / "first" / name
    about, data = path.stat(), path.read_bytes()
    if how == "edited in its place":
        path.write_bytes(data[:-2] + bytes([data[-2] ^ 1]) + data[-1:])
    else:
        path.unlink()
    if how == "replaced by a copy":
        path.write_bytes(data)
    if path.exists():
        os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    listed = rows(user)
    assert listed == from_scratch(user)
    assert (listed[2]["state"] == "complete") is (how == "replaced by a copy")
    assert [row["state"] for row in listed[:2]] == ["waiting", "complete"]


@pytest.mark.parametrize("name", ["turns/01-positions/intern.md", "round-9.md", "decision.md", "turns/99-x/y.md"])
def test_a_session_with_a_folder_in_place_of_a_file_is_not_complete(user: User, name: str) -> None:
    path = root_of(user) / "first" / name
    path.parent.mkdir(exist_ok=True)
    from_scratch(user)
    path.mkdir()
    listed = rows(user)
    assert listed[2]["state"] == "damaged"
    assert listed == from_scratch(user)


@pytest.mark.parametrize("name", ["first", "first/.lock"])
def test_a_session_behind_a_link_is_not_complete(user: User, name: str) -> None:
    from_scratch(user)
    path = root_of(user) / name
    path.rename(user.root / "moved")
    path.symlink_to(user.root / "moved")
    listed = rows(user)
    assert listed[2]["state"] == "damaged"
    assert listed == from_scratch(user)


def test_a_session_that_goes_on_is_checked_again(user: User) -> None:
    from_scratch(user)
    position = "The architect would keep one database."
    assert user.council("record", "third", "01-positions/architect", stdin=position).code == 0
    listed = rows(user)
    assert listed == from_scratch(user)
    assert listed[0]["turns"] == 1


def test_a_session_that_is_held_is_running(user: User) -> None:
    """No file says so: only the lock does."""
    from council.record import lock

    from_scratch(user)
    with lock.hold(root_of(user) / "third"):
        assert rows(user)[0]["state"] == "running"
    assert rows(user)[0]["state"] == "waiting"


def test_a_file_that_changed_a_moment_ago_is_not_trusted(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its time may be the same after the next change."""
    monkeypatch.setattr(confirm, "SETTLED", 3600.0)
    from_scratch(user)
    refuse_to_check(monkeypatch)
    assert {row["state"] for row in rows(user)} == {"damaged"}, "each was checked again, and could not be"


@pytest.mark.parametrize("damage", ["emptied", "cut", "edited", "fifo", "folder", "link", "another home"])
def test_what_was_kept_may_be_damaged(user: User, damage: str, tmp_path: Path) -> None:
    before = from_scratch(user)
    path = index_of(user)
    data = path.read_bytes()
    if damage == "another home":
        shutil.copytree(user.root, tmp_path / "moved")
        moved = rows(User(tmp_path / "moved"))
        assert {Path(row["folder"]).parent for row in moved} == {root_of(User(tmp_path / "moved"))}
        return
    path.unlink()
    if damage in ("emptied", "cut", "edited"):
        made = {"emptied": b"", "cut": data[:-9], "edited": data.replace(b"complete", b"damaged!")}
        path.write_bytes(made[damage])
    elif damage == "fifo":
        os.mkfifo(path)
    elif damage == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero")
    assert rows(user) == before


def test_a_mistake_of_ours_hides_one_session_only(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    real = summary.summarize

    def stumble(folder: Path, known: Any = None) -> Any:
        if folder.name == "second" and known is not None and known.session:
            raise KeyError("a mistake")
        return real(folder, known)

    monkeypatch.setattr(summary, "summarize", stumble)
    listed = from_scratch(user)
    assert [row["state"] for row in listed] == ["waiting", "damaged", "complete"]
    assert "KeyError" in listed[1]["why"]
    monkeypatch.undo()
    assert [row["state"] for row in rows(user)] == ["waiting", "complete", "complete"]


def test_sessions_that_are_gone_are_forgotten(user: User) -> None:
    from_scratch(user)
    shutil.rmtree(root_of(user) / "first")
    assert [row["session_id"] for row in rows(user)] == ["third", "second"]
    with sqlite3.connect(index_of(user)) as db:
        assert {id for (id,) in db.execute("SELECT id FROM confirmed")} == {"second", "third"}


def test_what_an_earlier_version_kept_beside_the_sessions_is_removed(user: User) -> None:
    kept = root_of(user) / ".list.json"
    kept.write_text("{}")
    rows(user)
    assert not kept.exists()
