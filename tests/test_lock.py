"""The lock of a session: one process at a time, and none where that cannot be ensured."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from council.record import lock

ROOT = Path(__file__).parent.parent
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


def test_two_processes_never_hold_a_session_at_the_same_time(tmp_path: Path) -> None:
    """Each takes the lock and gives it back again and again; a third only looks whether it is held."""
    command = [sys.executable, "-c", WORKER, str(tmp_path), str(TIMES)]
    with subprocess.Popen([sys.executable, "-c", LOOKER, str(tmp_path)], cwd=ROOT) as looking:
        workers = [subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) for _ in range(2)]
        told = [worker.communicate(timeout=120)[1] for worker in workers]
        looking.kill()
    assert [(worker.returncode, text) for worker, text in zip(workers, told, strict=True)] == [(0, "")] * 2


def test_the_lock_file_stays_where_it_is(tmp_path: Path) -> None:
    """If it were deleted, one process could hold the deleted file while another holds the new one."""
    files = []
    for _ in range(3):
        with lock.hold(tmp_path):
            files.append((tmp_path / lock.LOCK).stat().st_ino)
        assert (tmp_path / lock.LOCK).stat().st_ino == files[0]
    assert len(set(files)) == 1
