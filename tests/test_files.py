"""Durable files, and what is said of whoever holds a session."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from council.errors import StorageError
from council.record import desk, files, lock
from tests.helpers import User

NOW = "2026-01-01T00:00:00+00:00"


def test_whoever_links_a_name_first_has_it(tmp_path: Path) -> None:
    path, temp = tmp_path / "archived.md", tmp_path / f".mine{files.TEMP}"
    assert files.claim(path, b"mine", temp)
    assert files.claim(path, b"mine", temp), "the same again is no other's"
    assert not files.claim(path, b"another's", temp)
    assert path.read_bytes() == b"mine"
    assert [found.name for found in tmp_path.iterdir()] == ["archived.md"]


def test_what_a_killed_writer_left_is_no_obstacle(tmp_path: Path) -> None:
    temp = tmp_path / f".mine{files.TEMP}"
    temp.write_bytes(b"half")
    assert files.claim(tmp_path / "archived.md", b"whole", temp)
    assert not temp.exists()


def test_a_folder_that_disappears_does_not_end_a_walk(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
        files.create(tmp_path / name / "turn.md", b"x")
    walk = files.walk(tmp_path)
    first = next(walk)
    (tmp_path / "b" / "turn.md").unlink()
    (tmp_path / "b").rmdir()
    assert [first, *walk] == [tmp_path / "a" / "turn.md", tmp_path / "c" / "turn.md"]


def test_nobody_who_looks_at_a_desk_is_disturbed_when_it_is_cleared(tmp_path: Path) -> None:
    for name in ("01-gate", "02-gate"):
        assert desk.Desk(tmp_path, f"{name}/human").put(desk.DeskAnswer("yes", "me", desk.RECORD, NOW, "a" * 16))
    found = desk.find(tmp_path)
    assert next(found).turn == "01-gate/human"
    for name in ("01-gate", "02-gate"):
        desk.Desk(tmp_path, f"{name}/human").clear()
    assert list(found) == []
    assert list(desk.find(tmp_path)) == []


def test_a_file_is_created_once(tmp_path: Path) -> None:
    files.create(tmp_path / "turn.md", b"first")
    with pytest.raises(StorageError, match="never overwritten"):
        files.create(tmp_path / "turn.md", b"second")
    assert (tmp_path / "turn.md").read_bytes() == b"first"


def test_the_note_of_the_dead_is_not_believed() -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    here = {"host": socket.gethostname(), "boot": lock.boot_id(), "since": "2026-01-01T00:00:00+00:00"}
    assert lock.describe({**here, "pid": dead.pid}) == "another process"
    assert lock.describe({**here, "pid": os.getpid()}).startswith(f"pid {os.getpid()} on {socket.gethostname()}")
    assert lock.describe({**here, "host": "elsewhere", "pid": dead.pid}).startswith(f"pid {dead.pid} on elsewhere")


def test_what_a_killed_writer_left_outside_a_session_is_removed_by_the_next(tmp_path: Path) -> None:
    (tmp_path / f".out.md{files.TEMP}").write_text("half a fi")
    files.export(tmp_path / "out.md", b"whole")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"out.md": b"whole"}


def test_a_page_is_for_this_user_alone_whatever_the_umask(tmp_path: Path) -> None:
    user = User(tmp_path)
    assert user.council("start", "Shall we?").code == 0
    before = os.umask(0)
    try:
        assert user.council("show", "--html", "-o", "page.html").code == 0
    finally:
        os.umask(before)
    assert (user.work / "page.html").stat().st_mode & 0o777 == 0o600
