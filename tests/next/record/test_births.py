"""Names and births: what a start takes, what it leaves alone, and how a session is found again."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from pathlib import Path

import pytest

from council.next.errors import UsageError
from council.next.record import catalog, files, lock
from council.next.record import create as births
from tests.next.record.sessions import ID, birth, born


def left_by_a_kill(root: Path, number: int, age: float, *names: str) -> Path:
    folder = root / f".{ID}.{number:08}{files.TEMP}"
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).write_text("x")
    os.utime(folder, (time.time() - age, time.time() - age))
    return folder


def test_a_birth_that_may_still_go_on_is_left_alone(tmp_path: Path) -> None:
    """For an hour in any case, and for as long as its creator lives."""
    young = left_by_a_kill(tmp_path, 1, 60, "topic.md")
    old = left_by_a_kill(tmp_path, 2, 3_700, "topic.md", "workflow.md", ".lock")
    alive = left_by_a_kill(tmp_path, 3, 3_700, "topic.md")
    future = left_by_a_kill(tmp_path, 4, -(10**9), "topic.md")
    with lock.hold(alive):
        os.utime(alive, (1.0, 1.0))
        with born(tmp_path):
            pass
        assert {young, alive, future} == {path for path in tmp_path.iterdir() if path.name != ID}
    assert not old.exists()


def test_many_sweep_the_same_leftovers_at_once(tmp_path: Path) -> None:
    for number in range(30):
        left_by_a_kill(tmp_path, number, 9_999, "topic.md", ".lock", "program.json")
    kept = left_by_a_kill(tmp_path, 77, 9_999, "topic.md", "notes.txt")
    with_folder = left_by_a_kill(tmp_path, 78, 9_999, "topic.md")
    (with_folder / "turns").mkdir()
    os.utime(with_folder, (1.0, 1.0))
    failures: list[BaseException] = []

    def sweep() -> None:
        try:
            births.sweep(tmp_path)
        except BaseException as failure:  # noqa: BLE001 (it is what the test looks for)
            failures.append(failure)

    threads = [threading.Thread(target=sweep) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert {*tmp_path.iterdir()} == {kept, with_folder}


def test_an_id_is_the_time_in_utc_and_eight_digits(tmp_path: Path) -> None:
    with births.create(tmp_path, birth()) as session:
        assert re.fullmatch(r"\d{8}-\d{6}-[0-9a-f]{8}", session.id)
        moment = session.metadata["started_at"]
        assert session.id[:13] == moment[:16].replace("-", "").replace("T", "-").replace(":", "")


@pytest.mark.parametrize("taken", ["file", "folder", "link", "dead link", "link to itself"])
def test_a_name_that_anything_has_is_refused(tmp_path: Path, taken: str) -> None:
    place = tmp_path / ID
    if taken == "file":
        place.write_text("mine")
    elif taken == "folder":
        (place / "mine").mkdir(parents=True)
    else:
        place.symlink_to({"link": "/etc", "dead link": "/nowhere", "link to itself": ID}[taken])
    before = place.lstat()
    with pytest.raises(UsageError, match="already; choose another id"), born(tmp_path):
        pass
    assert [path.name for path in tmp_path.iterdir()] == [ID]
    assert place.lstat() == before


def test_what_fits_several_names_them_and_their_number(tmp_path: Path) -> None:
    ids = [f"2026-{number:03}" for number in range(14)]
    for id in ids:
        with born(tmp_path, id):
            pass
    with pytest.raises(UsageError) as refused:
        catalog.find_folder(tmp_path, "2026")
    assert '"2026" fits 14 sessions: 2026-000' in str(refused.value)
    assert str(refused.value).endswith(" and 4 more")
    assert catalog.find_folder(tmp_path, "2026-007").name == "2026-007"
    assert catalog.find_folder(tmp_path, "-013").name == "2026-013"
    with pytest.raises(UsageError, match="no session is called"):
        catalog.find_folder(tmp_path, "007")


def test_the_last_is_the_one_that_began_last_in_one_second_too(tmp_path: Path) -> None:
    for number, id in enumerate(("zz", "mm", "aa", "kk")):
        with born(tmp_path, id) as session:
            pass
        path = session.folder / "metadata.json"
        began = f"2026-01-01T00:00:00.{number:06}Z"
        path.write_text(json.dumps({**json.loads(path.read_bytes()), "started_at": began}))
    assert [id for id, _ in catalog.rows(tmp_path)] == ["zz", "mm", "aa", "kk"]
    assert catalog.find_folder(tmp_path, "last").name == catalog.find_folder(tmp_path, "latest").name == "kk"


def test_a_session_that_lost_a_file_is_one_and_a_folder_without_any_is_not(tmp_path: Path) -> None:
    for id, lost in (("whole", ""), ("no-program", "program.json"), ("no-facts", "metadata.json")):
        with born(tmp_path, id):
            pass
        if lost:
            (tmp_path / id / lost).unlink()
    (tmp_path / "20260101-120000-bbbbbbbb" / "turns").mkdir(parents=True)
    with born(tmp_path, "another"):
        pass
    assert sorted(id for id, _ in catalog.rows(tmp_path)) == ["another", "no-facts", "no-program", "whole"]
    assert (tmp_path / "20260101-120000-bbbbbbbb" / "turns").is_dir(), "it may be somebody's"
