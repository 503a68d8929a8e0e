"""Runs one command in a sandbox, and keeps its bounds."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from pathlib import Path

from council.errors import CouncilError
from council.sandbox import bubblewrap, cgroup, leftovers, seccomp, watch
from council.sandbox.archive import fits, pack
from council.sandbox.model import Job, Ran
from council.sandbox.output import Kept
from council.sandbox.pipes import Pipes

LOOK = 0.05  # seconds between two looks at what the processes use; fewer at first, and when much is used
PATIENCE = 10.0  # seconds that killed processes may take to be gone
FILTERED = "\nSeccomp:\t2"


_cancel: ContextVar[threading.Event | None] = ContextVar("cancel", default=None)


class SandboxError(CouncilError):
    """The sandbox did not work, so nothing was run."""

    advice = "`council doctor` says whether the sandbox works here"


class TreeError(SandboxError):
    """The sandbox works, and the tree cannot be laid out in it."""


@contextmanager
def until(cancel: threading.Event) -> Iterator[None]:
    """Whatever this thread runs meanwhile is ended early by the event."""
    before = _cancel.set(cancel)
    try:
        yield
    finally:
        _cancel.reset(before)


def run(job: Job, cancel: threading.Event | None = None, cgroups: bool = True) -> Ran:
    """Run a job and wait for its end. Call it from any thread, also many at once; `cancel` ends it early.

    When it returns or raises, no process of the job is left. The bounds of all processes together are kept by a control
    group if this process can make one, or else, and without `cgroups`, by a watchdog.
    """
    if not fits(job.tree, job.bounds.scratch):
        raise TreeError(f"the tree takes more than the {job.bounds.scratch:,} bytes that fit into the sandbox")
    leftovers.sweep()
    group = cgroup.make(job.bounds) if cgroups else None
    try:
        with Pipes() as pipes:
            try:
                running = Running(job, pipes, group)
            except OSError as failure:
                raise SandboxError(f"the sandbox did not start: {failure}") from failure
            try:
                running.follow(cancel or _cancel.get() or threading.Event())
            except OSError as failure:
                raise SandboxError(f"the sandbox could not be followed: {failure}") from failure
            finally:
                running.end()
            return running.tell()
    finally:
        if group:
            group.remove()


class Running:
    """A job from its start to its end."""

    def __init__(self, job: Job, pipes: Pipes, group: cgroup.ControlGroup | None) -> None:
        self._bounds, self._pipes, self._group = job.bounds, pipes, group
        self._output, self._report = Kept(job.bounds.output), bytearray()
        self._head, self._first, self._sent, self._ended = b"", 0, False, False
        self._peak, self._seconds, self._stopped = 0, 0.0, ""
        tree, self._send = pipes.send(pack(job.tree, job.executable))
        output = pipes.hear(self._hear)
        # Not a pipe: if we are killed while bubblewrap starts, a broken one would kill only half of it.
        status, self._read_status = pipes.note()
        given = bubblewrap.Descriptors(
            {place: pipes.lend(data) for place, data in bubblewrap.list_files(job).items()},
            status, pipes.lend(seccomp.compile_filter()),
            pipes.hear(self._take_report) if job.report else None,
        )  # fmt: skip
        prefix, mounts = bubblewrap.stage(job)
        options = pipes.lend(bubblewrap.write_options(job, mounts, given))
        words = bubblewrap.compose(job, prefix, options, bubblewrap.limit(job.bounds, alone=group is None))
        self._began = time.monotonic()
        self._process = subprocess.Popen(
            [*group.prefix, *words] if group else words, stdin=tree, stdout=output, stderr=output,
            pass_fds=[*given.list(), options], cwd="/",
            env={"PATH": os.defpath, leftovers.WORD: leftovers.identify()}, start_new_session=True,
        )  # fmt: skip
        self._kill_first: Callable[[], None] = lambda: None
        try:
            pipes.hand_over()
            pipes.await_end(self._process.pid, self._note_end)
        except BaseException:
            pipes.close()  # without a tree, or anybody who hears it, the sandbox ends by itself
            self._process.wait()
            raise

    def follow(self, cancel: threading.Event) -> None:
        """Until the command has ended, or something ends it."""
        look, latest = self._began, self._began + self._bounds.seconds
        while not self._ended and not self._stopped:
            self._pipes.serve(min(look, latest) - time.monotonic())
            now = time.monotonic()
            if self._first and self._head and not self._sent:
                self._let_start()
            if cancel.is_set():
                self._stopped = "cancelled"
            elif now >= latest:
                self._stopped = "seconds"
            elif now >= look:
                hurry = self._look() or now - self._began < LOOK
                look = now + (LOOK / 5 if hurry else LOOK)

    def end(self) -> None:
        """Kill what is left, wait until all of it is gone, and read what it had still printed."""
        self._seconds = time.monotonic() - self._began
        latest = time.monotonic() + PATIENCE
        while not self._first and not self._ended and time.monotonic() < latest:
            self._pipes.serve(LOOK / 5)  # without bubblewrap, a first process not yet known would wait for ever
            self._learn()
        self._process.kill()
        with suppress(ProcessLookupError):
            self._kill_first()
        self._process.wait()
        while not self._pipes.is_idle and time.monotonic() < latest:
            self._pipes.serve(LOOK)
        if self._group and self._group.is_out_of_memory:
            self._stopped = self._stopped or "memory"

    def tell(self) -> Ran:
        said = [json.loads(line) for line in self._read_status().splitlines()]
        code = next((one["exit-code"] for one in said if "exit-code" in one), None)
        output = self._output.read()
        if not self._stopped and (code is None or self._head != bubblewrap.STARTED):
            failure = TreeError if code is not None and self._head == bubblewrap.STARTED[:1] else SandboxError
            raise failure(f"the sandbox did not start: {output.decode('utf-8', 'replace').strip()[-500:]}")
        code = None if self._stopped else code
        by_signal = code is not None and 128 < code <= 128 + signal.SIGRTMAX
        peak = (self._group.peak if self._group else None) or self._peak  # older kernels do not tell a group's
        return Ran(
            exit=None if by_signal else code, signal=code - 128 if code is not None and by_signal else None,
            seconds=self._seconds, peak=peak or None, output=output, cut=self._output.cut, stopped=self._stopped,
            level="cgroup" if self._group else "watchdog",
            report=bytes(self._report) if len(self._report) <= self._bounds.report else b"",
        )  # fmt: skip

    def _note_end(self) -> None:
        self._ended = True

    def _let_start(self) -> None:
        """Send the tree once the first process will die with bubblewrap: it sees to that before it loads its filter."""
        status, latest = Path(f"/proc/{self._first}/status"), time.monotonic() + 1
        with suppress(OSError):  # it has ended
            while time.monotonic() < latest and FILTERED not in status.read_text("utf-8", "replace"):
                time.sleep(0.0005)
        self._sent = True
        self._send()

    def _look(self) -> bool:
        """Look at what the processes use; say whether to look again soon."""
        used = watch.measure(self._first) if self._sent else watch.InUse()
        self._peak = max(self._peak, used.memory)
        if used.cpu > self._bounds.cpu:
            self._stopped = "cpu"
        elif self._group:
            self._stopped = "memory" if self._group.is_out_of_memory else ""
        elif used.memory > self._bounds.memory and watch.measure(self._first, exact=True).memory > self._bounds.memory:
            self._stopped = "memory"
        return used.memory > self._bounds.memory // 2

    def _hear(self, data: bytes) -> None:
        while self._head != bubblewrap.STARTED and not self._output.size and data.startswith(b"\n"):
            self._head, data = self._head + data[:1], data[1:]
        self._output.add(data)
        self._learn()

    def _learn(self) -> None:
        """Which process is the first of the sandbox: bubblewrap has said so before that one says anything."""
        if not self._first and b"\n" in (status := self._read_status()):
            self._first = json.loads(status.splitlines()[0])["child-pid"]
            self._kill_first = partial(os.kill, self._first, signal.SIGKILL)  # if it cannot be followed
            try:
                self._kill_first = self._pipes.await_end(self._first)
            except ProcessLookupError:  # it has ended, as when a folder cannot be mounted
                self._kill_first = lambda: None

    def _take_report(self, data: bytes) -> None:
        self._report += data
        del self._report[self._bounds.report + 1 :]
