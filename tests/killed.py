"""Processes that die at the nth change they make to a session, while a person's answer is on its way into it."""

from __future__ import annotations

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from council.errors import CouncilError
from tests import gates
from tests.gates import GATE, waiting
from tests.helpers import CODE, PATIENCE, User

OK = "recorded"
DIES = """
import os, signal, sys
CHANGES = {"open", "os.link", "os.rename", "os.remove", "os.mkdir", "os.rmdir"}
LOOKS = {"os.scandir", "os.listdir"} if READS else set()
left = [int(sys.argv.pop(1))]
def watch(event, arguments):
    if event not in CHANGES | LOOKS or not any(mark in str(arguments[0]) for mark in MARKS):
        return
    if event == "open" and not READS and not arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        return
    left[0] -= 1
    if left[0] < 0:
        os.kill(os.getpid(), signal.SIGKILL)
"""
ANSWER = (
    'MARKS = ("council-sessions/2",)\n'
    + DIES
    + """
from pathlib import Path
from council.config import settings
from council.runner import answering
config = settings.load()
sys.addaudithook(watch)
done = answering.answer(Path(sys.argv[1]), config, sys.argv[2], (("decision", "approve"), ("reason", "Tested.")), "Ada")
print(done.by)
"""
)
RUN = (
    'READS, MARKS = False, ("/desk", "/turns/")'
    + DIES
    + """
from council.cli import main
sys.addaudithook(watch)
sys.exit(main())
"""
)


def answer_and_die(user: User, point: int, reads: bool = False) -> tuple[str | None, bool]:
    """What the answering process said, and whether it came to its end. Nobody holds the session. It dies at the nth
    change, or also at files and folders that it `reads`."""
    user.council("run", "-w", "gated", "Shall we?")
    return _answer(user, point, reads)


def answer_a_run_and_die(user: User, point: int) -> tuple[str | None, bool]:
    """The same while a run waits for the answer."""
    with waiting(user):
        return _answer(user, point)


def _answer(user: User, changes: int, reads: bool = False) -> tuple[str | None, bool]:
    done = _spawn(user, f"READS = {reads}\n{ANSWER}", str(changes), str(user.session), GATE)
    out, err = done.communicate(timeout=PATIENCE)
    assert done.returncode in (0, -signal.SIGKILL), err
    return (OK if b"Ada" in out else None), done.returncode == 0


def run_and_die(user: User, point: int) -> tuple[str | None, bool]:
    """What an answer from elsewhere came to while the run that waits for it dies, and whether it did not."""
    with _spawn(user, RUN, str(point), *gates.RUN) as run, ThreadPoolExecutor(1) as pool:
        gates.wait_for(user, run)
        if run.poll() is not None:
            return None, False
        try:
            pool.submit(gates.answer, user, by="Ada").result()
        except CouncilError:
            return None, run.poll() is None
        finally:
            survived = run.poll() is None
            with suppress(ProcessLookupError):
                run.kill()
    return OK, survived


def _spawn(user: User, program: str, *words: str) -> subprocess.Popen[bytes]:
    env = {**user.environment, "PYTHONPATH": str(CODE)}
    command = [sys.executable, "-c", program, *words]
    return subprocess.Popen(
        command, cwd=user.work, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
