"""Nothing is left of a sandbox, whatever becomes of its runner, and many run at once."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
from pathlib import Path

import pytest

from council.sandbox import cgroup
from council.sandbox import leftovers as killed
from council.sandbox.model import Job
from council.sandbox.run import Running, SandboxError, run
from tests import leftovers
from tests.bubblewrap import needs_sandbox

pytestmark = needs_sandbox


@pytest.mark.parametrize("cgroups", [True, False])
@pytest.mark.parametrize("after", [None, 0.004])
def test_a_killed_runner_leaves_no_process_and_no_file(cgroups: bool, after: float | None) -> None:
    assert leftovers.kill_runner(cgroups, after) == []


@pytest.mark.skipif(not cgroup.find_home(), reason="no control group can be made here")
def test_the_next_run_removes_the_empty_groups_of_killed_runners() -> None:
    assert leftovers.kill_runner(cgroups=True) == []
    assert leftovers.sweep() == []


def test_the_next_run_ends_a_process_that_waits_for_a_bubblewrap_that_is_gone() -> None:
    with subprocess.Popen(["/usr/bin/sleep", "0"]) as gone:
        space, _, _ = killed.identify().split("-")
    left = leftovers.orphan(f"{space}-{gone.pid}-1")
    ours = leftovers.orphan(killed.identify())
    try:
        leftovers.sweep()
        assert leftovers.wait_for(lambda: not leftovers.never_began(left))
        assert leftovers.never_began(ours), "its runner lives"
    finally:
        os.kill(ours, signal.SIGKILL)


@pytest.mark.parametrize("cgroups", [True, False])
@pytest.mark.parametrize(("at", "why"), [(1, "did not start"), (2, "could not be followed")])
def test_a_runner_without_a_descriptor_left_leaves_nothing(
    at: int, why: str, cgroups: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bubblewrap has begun, or the sandbox in it, and can no longer be followed."""
    begun, follow = list[int](), os.pidfd_open

    def refuse(process: int) -> int:
        begun.append(process)
        if len(begun) == at:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return follow(process)

    monkeypatch.setattr(os, "pidfd_open", refuse)
    with pytest.raises(SandboxError, match=f"{why}: .*Too many open files"):
        run(Job(("sleep", "30")), cgroups=cgroups)
    with pytest.raises(ChildProcessError):
        os.waitpid(begun[0], 0)
    assert all(leftovers.wait_for(lambda process=process: leftovers.is_over(process)) for process in begun)


@pytest.mark.parametrize("cgroups", [True, False])
def test_a_sandbox_that_ends_before_it_is_looked_at_says_why(cgroups: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine comes to it late: its first process is gone by then."""
    learn = Running._learn

    def learn_late(self: Running) -> None:
        self._process.wait()
        learn(self)

    monkeypatch.setattr(Running, "_learn", learn_late)
    with pytest.raises(SandboxError, match="did not start: bwrap: Can't mkdir"):
        run(Job(("true",), mounts=((Path("/usr"), "/proc/x/y"),)), cgroups=cgroups)


@pytest.mark.parametrize("cgroups", [True, False])
def test_many_at_once_do_not_meet(cgroups: bool) -> None:
    assert leftovers.run_many(6, cgroups) == []
