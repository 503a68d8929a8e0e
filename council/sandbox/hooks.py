"""What this room adds when a session begins: commands whose output is evidence run in the sandbox."""

from __future__ import annotations

from pathlib import Path

from council.errors import UsageError
from council.workflow.opening import CommandRan, runs_commands


@runs_commands
def run_for_evidence(words: tuple[str, ...], folder: Path) -> CommandRan:
    """Run a command on a copy of the folder, and say how it ended."""
    from council.sandbox import probe
    from council.sandbox.model import MEGABYTE, WHY_STOPPED, Bounds, Job
    from council.sandbox.run import SandboxError, run

    if obstacle := probe.find_obstacle():
        raise UsageError(f"--evidence-command needs the sandbox: {obstacle}")
    bounds = Bounds(seconds=120.0, cpu=120, memory=2000 * MEGABYTE, processes=512, scratch=500 * MEGABYTE)
    try:
        ran = run(Job(words, folder, bounds=bounds))
    except SandboxError as failure:
        raise UsageError(f"--evidence-command: {failure}") from None
    if ran.stopped:
        ended = f"stopped: {WHY_STOPPED[ran.stopped]}"
    else:
        ended = f"exit {ran.exit}" if ran.signal is None else f"ended by signal {ran.signal}"
    return CommandRan(ran.exit, ended, ran.output, ran.cut)
