"""`sandbox`: run one command as a bench runs its own, and say how it ended and what bounded it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from council.cli.command import command
from council.cli.context import Stopped
from council.cli.options import Amount
from council.errors import CouncilError
from council.sandbox import probe
from council.sandbox.model import MEGABYTE, WHY_STOPPED, Bounds, Job, Ran
from council.sandbox.run import SandboxError, run
from council.terminal.output import echo, print_json

LONGEST = 3600.0  # seconds
CODES = {"seconds": 124, "cpu": 152, "memory": 137}  # as `timeout`, SIGXCPU and SIGKILL have them
KEPT = {
    "cgroup": "a control group bounds memory and processes",
    "watchdog": "a watchdog bounds memory; no control group can be made here",
}


class NothingRun(CouncilError):
    """The sandbox did not work, so nothing was run. No command could have ended like this by chance."""

    code = 125
    advice = "nothing was run; `council doctor` says whether the sandbox works here"


@command(context_settings={"allow_interspersed_args": False})
@click.option(
    "--tree", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="DIR",
    help="Copy this folder into the sandbox, where the command starts in it. Nothing comes back.",
)  # fmt: skip
@click.option(
    "--seconds", type=Amount(0, LONGEST, min_open=True), default=Bounds.seconds, metavar="N",
    help=f"Stop the command after this time (default: {Bounds.seconds:g}).",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the output and the receipt as one JSON object.")
@click.argument("command", nargs=-1, required=True, metavar="-- COMMAND")
def sandbox(tree: Path | None, seconds: float, as_json: bool, command: tuple[str, ...]) -> int:
    """Run a command in the sandbox, exactly as tests of members' code are run.

    It has no network and no home, sees only the system's programs and a copy of --tree, and is bounded in time, memory,
    processes and output. Its output goes to standard output, a receipt to standard error.

    The exit code is the command's own, or 128 and the number of the signal that ended it. 124: it took too long. 152:
    it used too much processor time. 137: it used too much memory. 125: the sandbox does not work, and nothing was
    run.
    """
    if obstacle := probe.find_obstacle():
        raise NothingRun(obstacle)
    job = Job(command, tree, bounds=Bounds(seconds=seconds))
    try:
        ran, stopped = run_until_stopped(job)
    except SandboxError as failure:
        raise NothingRun(str(failure)) from failure
    receipt = describe(job, ran)
    if as_json:
        print_json({**receipt, "output": ran.output.decode("utf-8", "replace")})
    else:
        if ran.output:
            echo(show_output(ran, job.bounds).removesuffix("\n"))
        sys.stdout.flush()  # the receipt comes last where both go to one place
        print(show_receipt(receipt), file=sys.stderr)
    if stopped:
        raise stopped
    own = ran.exit if ran.signal is None else 128 + ran.signal
    return CODES[ran.stopped] if own is None else own


def run_until_stopped(job: Job) -> tuple[Ran, Stopped | None]:
    """Run it, and end it at Ctrl-C. What it had printed until then is told like any other output."""
    cancel = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run, job, cancel)
        try:
            return running.result(), None
        except Stopped as stopped:
            cancel.set()
            return running.result(), stopped
        finally:
            cancel.set()  # a second Ctrl-C


def describe(job: Job, ran: Ran) -> dict[str, Any]:
    """The receipt of a run."""
    return {
        "argv": list(job.argv), "exit": ran.exit, "signal": ran.signal, "stopped": ran.stopped,
        "seconds": round(ran.seconds, 3), "peak": ran.peak, "cut": ran.cut, "level": ran.level,
        "bounds": asdict(job.bounds),
    }  # fmt: skip


def show_output(ran: Ran, bounds: Bounds) -> str:
    """What it printed, with a line where the middle was left out."""
    half = bounds.output // 2
    pieces = [ran.output[:half], f"\n[{ran.cut:,} bytes were left out]\n".encode(), ran.output[half:]]
    return (b"".join(pieces) if ran.cut else ran.output).decode("utf-8", "replace")


def show_receipt(receipt: Mapping[str, Any]) -> str:
    """The receipt in four lines for people."""
    bounds = receipt["bounds"]
    if receipt["stopped"]:
        end = f"stopped: {WHY_STOPPED[receipt['stopped']]}"
    else:
        end = f"exit {receipt['exit']}" if receipt["signal"] is None else f"ended by signal {receipt['signal']}"
    peak = "unknown" if receipt["peak"] is None else f"{receipt['peak'] / MEGABYTE:.1f} MB"
    cut = f", {receipt['cut']:,} bytes of output left out" if receipt["cut"] else ""
    return (
        f"sandbox: {end}; {receipt['seconds']:.2f} s, memory at most {peak}{cut}\n"
        f"limits:  {bounds['seconds']:g} s, {bounds['cpu']} s of processor time, {bounds['memory'] // MEGABYTE} MB of "
        f"memory, {bounds['processes']} processes,\n"
        f"         {bounds['scratch'] // MEGABYTE} MB each in /job, /tmp and /dev/shm, "
        f"{bounds['open_files']} open files, {bounds['output'] // 1000} kB of output\n"
        f"kept by: {KEPT[receipt['level']]}"
    )
