"""The lock of a session: one process at a time, and none where that cannot be ensured."""

from __future__ import annotations

import errno
import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from council.errors import Busy
from council.record import lock
from tests import flocks, warm
from tests.helpers import User

TIMES = 40
WORKER = """
import os, sys, time
from pathlib import Path
from council.errors import Busy
from council.record import lock

folder, times, held = Path(sys.argv[1]), int(sys.argv[2]), 0
inside = folder / "inside"
while held < times:
    try:
        with lock.hold(folder):
            os.close(os.open(inside, os.O_CREAT | os.O_EXCL))  # fails if somebody else is inside
            time.sleep(0.002)
            inside.unlink()
            held += 1
    except Busy:
        continue
"""

LOOKER = """
import sys
from pathlib import Path
from council.record import lock

while True:
    lock.is_held(Path(sys.argv[1]))
"""

BY_HAND = """
import sys, time
from pathlib import Path
from council.record import lock

with lock.hold(Path(sys.argv[1])):
    time.sleep(0.1)
"""

SHARING = """
import asyncio, os, sys
from pathlib import Path
from council.record import lock

async def main():
    folders = sorted(Path(sys.argv[1]).iterdir())
    while left := [folder for folder in folders if not (folder / "done").exists()]:
        for folder in left:
            with lock.try_hold(folder) as held:
                if held and not (folder / "done").exists():
                    os.close(os.open(folder / "inside", os.O_CREAT | os.O_EXCL))  # fails if somebody else is inside
                    await asyncio.sleep(0.002)
                    (folder / "inside").unlink()
                    (folder / "done").touch()
        await asyncio.sleep(0)

asyncio.run(main())
"""


def test_two_processes_never_hold_a_session_at_the_same_time(tmp_path: Path) -> None:
    """Each takes the lock and gives it back again and again; a third only looks whether it is held."""
    with warm.python(LOOKER, tmp_path) as looking:
        workers = [warm.python(WORKER, tmp_path, TIMES, stderr=subprocess.PIPE) for _ in range(2)]
        told = [worker.communicate(timeout=120)[1] for worker in workers]
        looking.kill()
    assert [(worker.returncode, text) for worker, text in zip(workers, told, strict=True)] == [(0, b"")] * 2


def test_the_lock_file_stays_where_it_is(tmp_path: Path) -> None:
    """If it were deleted, one process could hold the deleted file while another holds the new one."""
    files = []
    for _ in range(3):
        with lock.hold(tmp_path):
            files.append((tmp_path / lock.LOCK).stat().st_ino)
        assert (tmp_path / lock.LOCK).stat().st_ino == files[0]
    assert len(set(files)) == 1


def test_commands_by_hand_wait_for_one_another(tmp_path: Path) -> None:
    """Members that store their answers at the same time all succeed: no answer is lost to a lock."""
    children = [warm.python(BY_HAND, tmp_path, stderr=subprocess.PIPE) for _ in range(10)]
    assert [child.communicate(timeout=120)[1] for child in children] == [b""] * 10


def test_nobody_waits_for_a_run(tmp_path: Path) -> None:
    """A run says in its note that it has the session, and may have it for minutes."""
    with lock.hold(tmp_path) as held:
        held.note()
        began = time.monotonic()
        with pytest.raises(Busy, match=f"pid {os.getpid()}"), lock.hold(tmp_path):
            pass
        assert time.monotonic() - began < lock.LONGEST_WAIT


def test_a_claim_that_does_not_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the session is taken it says so at once, so that an event loop may ask."""
    monkeypatch.delattr(lock.time, "sleep")
    with lock.hold(tmp_path):
        with lock.try_hold(tmp_path) as second:
            assert second is None
        assert lock.is_held(tmp_path)
    with lock.try_hold(tmp_path) as held:
        assert held is not None
        held.check()
    assert not lock.is_held(tmp_path)


def test_workers_that_do_not_wait_each_get_every_session_once(tmp_path: Path) -> None:
    """Four workers in one event loop each share twenty sessions: none is held twice, none is left."""
    folders = [tmp_path / f"{number:02}" for number in range(20)]
    for folder in folders:
        folder.mkdir()
    workers = [warm.python(SHARING, tmp_path) for _ in range(4)]
    assert [worker.wait(timeout=120) for worker in workers] == [0] * 4
    assert sorted(path.parent.name for path in tmp_path.glob("*/done")) == [folder.name for folder in folders]


@pytest.mark.skipif(platform.machine() not in flocks.NUMBERS, reason="the number of flock is not known here")
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has filters for system calls")
@pytest.mark.parametrize("failure", [0, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK])
def test_a_file_system_without_honest_locks_is_refused(tmp_path: Path, failure: int) -> None:
    """The kernel refuses flock, or (0) says yes to everybody and locks nothing. Nothing is left, nothing was spent."""
    user = User(tmp_path)
    begun = user.process(failure, "start", "Shall we?", program=flocks.program())
    assert begun.code == 6
    assert re.search("this file system has no working (file )?locks", begun.err)
    assert "Warning" not in begun.err
    assert re.search("(move COUNCIL_HOME to a local disk|use a local COUNCIL_HOME)", begun.err)
    assert user.sessions == []
    assert user.council("start", "Shall we?").code == 0
    assert user.process(failure, "next", program=flocks.program()).code == 6
    assert user.process(failure, "status", program=flocks.program()).out.startswith(f"{user.session.name}: ")
