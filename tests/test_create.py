"""Sessions are created whole, by many processes and threads at once, and what a killed one leaves is removed later."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import council
from council.record import catalog, create, lock
from tests.helpers import User, agreed, script

QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
LONG_AGO = 2 * create.OLD
NAME = ".20260101-000000-00000000.0a1b2c3d.new"
FILES = ("workflow.md", "topic.md", "program.json")


def leave(root: Path, *names: str, age: float = LONG_AGO, name: str = NAME) -> Path:
    """What a process that was killed while it made a session leaves."""
    folder = root / name
    folder.mkdir()
    for one in names:
        (folder / one).write_text("half a fi")
    os.utime(folder, (time.time() - age,) * 2)
    return folder


def at_once(work: Callable[[int], object], count: int) -> list[BaseException]:
    """Do it in this many threads, and say what failed."""
    failures: list[BaseException] = []

    def one(number: int) -> None:
        try:
            work(number)
        except (council.CouncilError, OSError) as failure:
            failures.append(failure)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures


@pytest.mark.parametrize("names", [(), (lock.LOCK,), (lock.LOCK, *FILES), (lock.LOCK, *FILES, "metadata.json")])
def test_what_a_killed_process_left_is_removed_an_hour_later(tmp_path: Path, names: tuple[str, ...]) -> None:
    young, old = leave(tmp_path, *names, age=create.OLD / 2, name=NAME.replace("0a", "00")), leave(tmp_path, *names)
    assert catalog.all_ids(tmp_path) == []
    create.remove_leftovers(tmp_path)
    assert young.exists()
    assert not old.exists()


def test_a_session_that_is_being_created_is_not_removed(tmp_path: Path) -> None:
    """However long it takes: its creator holds the lock."""
    folder = leave(tmp_path, lock.LOCK, *FILES)
    with lock.hold(folder):
        create.remove_leftovers(tmp_path)
        assert (folder / "topic.md").exists()
    create.remove_leftovers(tmp_path)
    assert not folder.exists()


@pytest.mark.parametrize("name", ["notes.txt", "turns"])
def test_a_folder_with_other_files_is_not_removed(tmp_path: Path, name: str) -> None:
    folder = leave(tmp_path, lock.LOCK, name)
    create.remove_leftovers(tmp_path)
    assert (folder / name).exists()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    elsewhere = leave(tmp_path, lock.LOCK, *FILES, name="elsewhere")
    (tmp_path / NAME).symlink_to(elsewhere)
    create.remove_leftovers(tmp_path)
    assert len(list(elsewhere.iterdir())) == 4


def test_many_processes_remove_the_same_leftovers(tmp_path: Path) -> None:
    for number in range(40):
        leave(tmp_path, lock.LOCK, *FILES, name=NAME.replace("0a1b2c3d", f"{number:08x}"))
    assert at_once(lambda _: create.remove_leftovers(tmp_path), 4) == []
    assert list(tmp_path.iterdir()) == []


def test_many_debates_begin_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user = User(tmp_path)
    source = script(user, agreed(("architect", "engineer")))
    for name, value in user.environment.items():
        monkeypatch.setenv(name, value)
    members = ["architect", "engineer"]
    failures = at_once(lambda _: council.run("Shall we?", only_members=members, speaker="replay", source=source), 12)
    assert failures == []
    complete = [json.loads((one / "metadata.json").read_text("utf-8"))["completed_at"] for one in user.sessions]
    assert len(complete) == 12


def test_many_processes_start_at_once_while_others_list(tmp_path: Path) -> None:
    """Each start that exits 0 is a session that is there afterwards, and none is refused."""
    user = User(tmp_path)
    starts = [user.spawn("start", "--json", f"Question {number}?") for number in range(10)]
    others = [user.spawn("list", "--json", **QUIET) for _ in range(2)]
    ended = [(process.communicate(), process.returncode) for process in starts]
    assert [code for _, code in ended] == [0] * len(starts), ended
    begun = {json.loads(out)["session_id"] for (out, _), _ in ended}
    assert {path.name for path in user.sessions} == begun
    assert [process.wait() for process in others] == [0] * len(others)
