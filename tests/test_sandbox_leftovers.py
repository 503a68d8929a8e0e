"""Nothing is left of a sandbox, whatever becomes of its runner, and many run at once."""

from __future__ import annotations

import os
import signal
import subprocess

import pytest

from council.sandbox import cgroup
from council.sandbox import leftovers as killed
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
def test_many_at_once_do_not_meet(cgroups: bool) -> None:
    assert leftovers.run_many(6, cgroups) == []
