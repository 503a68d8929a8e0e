"""How long a sandbox takes to start, next to bubblewrap alone in the same run, and what its runner needs."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from council.sandbox.model import Job
from council.sandbox.run import run
from tests.helpers import CODE

BARE = ("bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin",
        "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev",
        "true")  # fmt: skip
ENDLESS = """
import resource
from council.sandbox.model import Bounds, Job
from council.sandbox.run import run
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
ran = run(Job(("/bin/sh", "-c", "yes | tr -d '\\\\n' & yes 'another line'"), bounds=Bounds(seconds={seconds})))
assert ran.stopped == "seconds" and len(ran.output) == 128_000, ran
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, len(ran.output) + ran.cut)
"""


@dataclass(frozen=True)
class Starts:
    """Milliseconds, each of as many starts: bubblewrap alone, and a trial with what watches it."""

    bare: list[float]
    ours: list[float]

    def over(self, percent: int) -> float:
        """How much more a trial takes than bubblewrap alone."""
        return at(self.ours, percent) - at(self.bare, percent)


def at(values: list[float], percent: int) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


def measure_starts(count: int, cgroups: bool) -> Starts:
    """In turns, so that whatever else the machine does slows down both."""
    job = Job(("true",))

    def start_ours() -> None:
        assert run(job, cgroups=cgroups).exit == 0

    def start_bare() -> None:
        subprocess.run(BARE, check=True, env={"PATH": os.defpath})

    start_ours()
    found = [(take(start_bare), take(start_ours)) for _ in range(count)]
    return Starts([bare for bare, _ in found], [ours for _, ours in found])


def take(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def measure_endless_output(seconds: float) -> tuple[int, int]:
    """The most memory of a process that runs one job with endless output, and how many bytes that printed."""
    words = [sys.executable, "-c", ENDLESS.format(seconds=seconds)]
    env = {"PYTHONPATH": str(CODE), "PATH": os.defpath}
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=True)
    memory, printed = map(int, done.stdout.split())
    return memory, printed
