"""Runs one command in a sandbox, and keeps its bounds."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time

from council.errors import CouncilError
from council.sandbox import bubblewrap, watch
from council.sandbox.archive import pack
from council.sandbox.model import Job, Ran
from council.sandbox.output import Kept
from council.sandbox.pipes import Pipes

LOOK = 0.05  # seconds between two looks at what the processes use
PATIENCE = 10.0  # seconds that killed processes may take to be gone


class SandboxError(CouncilError):
    """The sandbox itself did not work, so nothing was run."""

    advice = "`council doctor` says whether the sandbox works here"


def run(job: Job, cancel: threading.Event | None = None) -> Ran:
    """Run a job and wait for its end. Call it from any thread, also many at once; `cancel` ends it early.

    When it returns or raises, no process of the job is left.
    """
    with Pipes() as pipes:
        running = Running(job, pipes)
        try:
            running.follow(cancel or threading.Event())
        finally:
            running.end()
        return running.tell()


class Running:
    """A job from its start to its end."""

    def __init__(self, job: Job, pipes: Pipes) -> None:
        self._bounds, self._pipes = job.bounds, pipes
        self._output, self._report, self._status = Kept(job.bounds.output), bytearray(), bytearray()
        self._first, self._peak, self._seconds, self._stopped = 0, 0, 0.0, ""
        tree, output = pipes.send(pack(job.tree)), pipes.hear(self._output.add)
        status = pipes.hear(self._learn)
        report = pipes.hear(self._take_report) if job.report else None
        files = {place: pipes.lend(data) for place, data in {bubblewrap.INPUT: job.stdin, **job.files}.items()}
        job, first = bubblewrap.become_nobody(job) if os.geteuid() == 0 else (job, ())
        words = bubblewrap.compose(job, files, status, report)
        self._began = time.monotonic()
        self._process = subprocess.Popen(
            [*first, *words],
            stdin=tree, stdout=output, stderr=output, cwd="/", env={"PATH": os.defpath}, start_new_session=True,
            pass_fds=[status, *files.values(), *([report] if report is not None else [])],
        )  # fmt: skip
        pipes.hand_over()
        pipes.await_end(self._process.pid, self._note_end)
        self._ended = False

    def follow(self, cancel: threading.Event) -> None:
        """Until the command has ended, or something ends it."""
        look, latest = self._began, self._began + self._bounds.seconds
        while not self._ended and not self._stopped:
            self._pipes.serve(min(look, latest) - time.monotonic())
            now = time.monotonic()
            if cancel.is_set():
                self._stopped = "cancelled"
            elif now >= latest:
                self._stopped = "seconds"
            elif now >= look:
                look = now + LOOK
                self._look()

    def end(self) -> None:
        """Kill what is left, wait until all of it is gone, and read what it had still printed."""
        self._seconds = time.monotonic() - self._began
        latest = time.monotonic() + PATIENCE
        while not self._first and not self._ended and time.monotonic() < latest:
            self._pipes.serve(LOOK)  # to kill bubblewrap before it knows its child would leave the child waiting
        self._process.kill()
        self._process.wait()
        while not self._pipes.idle and time.monotonic() < latest:
            self._pipes.serve(LOOK)

    def tell(self) -> Ran:
        said = [json.loads(line) for line in self._status.splitlines()]
        code = next((one["exit-code"] for one in said if "exit-code" in one), None)
        output = self._output.read()
        if code is None and not self._stopped:
            raise SandboxError(f"the sandbox could not start: {output.decode('utf-8', 'replace').strip()[-500:]}")
        code = None if self._stopped else code
        by_signal = code is not None and code > 128
        return Ran(
            exit=None if by_signal else code,
            signal=code - 128 if code is not None and by_signal else None,
            seconds=self._seconds, peak=self._peak or None, output=output, cut=self._output.cut, stopped=self._stopped,
            level="watchdog", report=bytes(self._report) if len(self._report) <= self._bounds.report else b"",
        )  # fmt: skip

    def _note_end(self) -> None:
        self._ended = True

    def _look(self) -> None:
        usage = watch.measure(self._first) if self._first else watch.InUse()
        self._peak = max(self._peak, usage.memory)
        if usage.memory > self._bounds.memory:
            self._stopped = "memory"
        elif usage.cpu > self._bounds.cpu:
            self._stopped = "cpu"

    def _learn(self, data: bytes) -> None:
        """What bubblewrap says: the first process of the sandbox, later the exit code."""
        self._status += data
        if not self._first and b"\n" in self._status:
            self._first = json.loads(self._status.splitlines()[0])["child-pid"]
            self._pipes.await_end(self._first, lambda: None)

    def _take_report(self, data: bytes) -> None:
        self._report += data
        del self._report[self._bounds.report + 1 :]
