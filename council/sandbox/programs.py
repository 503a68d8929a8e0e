"""Runs the user's own commands on a candidate. An exit code is all that they say, so it is believed."""

from __future__ import annotations

from pathlib import Path

from council.config.benches import Bench
from council.sandbox import tools
from council.sandbox.model import FAIL, PASS, TIMEOUT, UNKNOWN, Job, Trial, Tried
from council.sandbox.reports import give_bounds, make_receipt
from council.sandbox.run import run

PATH = ("/usr/local/bin", "/usr/bin")


def try_out(bench: Bench, trial: Trial) -> Tried:
    """The command starts in the tree, with the tests laid over it. Exit code 0 passes."""
    python = tools.equip(bench.kind, trial.env)
    own = [folder / "bin" for folder in bench.folders] + ([trial.env / "bin"] if trial.env else [])
    job = Job(
        argv=bench.argv, tree={path: data for path, data in trial.tree.items() if path not in trial.tests},
        files={f"/job/{path}": data for path, data in trial.tests.items()}, path=(*map(str, own), *PATH),
        mounts=(*python.mounts, *mount(bench.folders)), bounds=give_bounds(bench),
        executable=trial.executable,
    )  # fmt: skip
    ran = run(job)
    verdict = TIMEOUT if ran.stopped == "seconds" else UNKNOWN if ran.stopped else PASS if ran.exit == 0 else FAIL
    ended = f"stopped: {ran.stopped}" if ran.stopped else f"exit code {ran.exit}" if ran.exit else ""
    log = "\n\n".join(part for part in (ran.output.decode("utf-8", "replace").strip(), ended) if part)
    return Tried(verdict, log=log, receipt=make_receipt(bench, job, ran, python.facts))


def mount(folders: tuple[Path, ...]) -> list[tuple[Path, str]]:
    return [(folder.resolve(), str(folder)) for folder in folders]
