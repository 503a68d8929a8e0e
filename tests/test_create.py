"""Sessions are created and the remains of interrupted ones removed by many processes and threads at once."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import council
from council.record import create, lock
from tests.helpers import User, agreed, script


def test_a_session_that_is_being_created_is_not_removed(tmp_path: Path) -> None:
    """Its metadata is written while another process waits for the lock to remove what looks unfinished."""
    folder = tmp_path / "20260101-000000-00000000"
    folder.mkdir()
    with lock.hold(folder):
        (folder / "topic.md").write_text("Shall we?")
        other = threading.Thread(target=create.remove_unfinished, args=(tmp_path,))
        other.start()
        time.sleep(0.1)
        (folder / "metadata.json").write_text("{}")
    other.join()
    assert sorted(path.name for path in folder.iterdir()) == [lock.LOCK, "metadata.json", "topic.md"]


def test_many_debates_begin_at_once(tmp_path: Path, monkeypatch) -> None:
    user = User(tmp_path)
    source = script(user, agreed(("architect", "engineer")))
    for name, value in user.environment.items():
        monkeypatch.setenv(name, value)
    failures: list[Exception] = []

    def debate() -> None:
        try:
            council.run("Shall we?", only_members=["architect", "engineer"], speaker="replay", source=source)
        except (council.CouncilError, OSError) as failure:
            failures.append(failure)

    threads = [threading.Thread(target=debate) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    complete = [json.loads((one / "metadata.json").read_text("utf-8"))["completed_at"] for one in user.sessions]
    assert len(complete) == 12
