"""Benches: what tries a candidate, by name, and its verdict."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from council.errors import UsageError
from council.sandbox.model import TIMEOUT, UNKNOWN, VERDICTS, Bounds, Job, Ran, Trial, Tried
from council.sandbox.run import run
from council.text import did_you_mean

HARNESS = "/harness/council/sandbox/harness"


@dataclass(frozen=True)
class Bench:
    """`kind` is what it does: run the tests with `pytest` or `unittest`."""

    name: str
    kind: str
    bounds: Bounds = field(default_factory=Bounds)


def load(settings: object = None) -> dict[str, Bench]:
    del settings
    return {name: Bench(name, name) for name in ("pytest", "unittest")}


def try_out(trial: Trial, benches: Mapping[str, Bench]) -> Tried:
    """Run a candidate's tests in the sandbox. What they say of themselves decides, and never an exit code."""
    if trial.bench not in benches:
        raise UsageError(f'there is no bench "{trial.bench}"; {did_you_mean(trial.bench, benches)}')
    bench = benches[trial.bench]
    job = _compose(bench, trial)
    ran = run(job)
    return _conclude(bench, job, ran)


def _compose(bench: Bench, trial: Trial) -> Job:
    from council.sandbox import tools

    python = tools.find(trial.env)
    wanted = trial.run or tuple(sorted(path for path in trial.tests if _is_test_file(path)))
    plan = {
        "runner": bench.kind, "run": wanted, "void": trial.void, "options": [], "tools": python.site,
        "tests": {path: base64.b64encode(data).decode() for path, data in trial.tests.items()},
    }  # fmt: skip
    files = {f"/job/{path}": b"" if path in wanted else data for path, data in trial.tests.items()}
    harness = Path(__file__).parent / "harness"
    files |= {f"{HARNESS}/{path.name}": path.read_bytes() for path in harness.glob("*.py")}
    files |= {f"/harness/{name}/__init__.py": b"" for name in ("council", "council/sandbox")}
    return Job(
        argv=(python.program, "-I", "-B", f"{HARNESS}/run.py"),
        tree={path: data for path, data in trial.tree.items() if path not in trial.tests and not _is_steering(path)},
        files=files, mounts=python.mounts, stdin=json.dumps(plan).encode(), bounds=bench.bounds, report=True,
    )  # fmt: skip


def _is_test_file(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.endswith(".py") and (name.startswith("test") or name.endswith("_test.py"))


def _is_steering(path: str) -> bool:
    """Whether a file would choose for the test runner. Those of the tests themselves are laid over the tree."""
    name = path.rpartition("/")[2]
    return name in ("conftest.py", "pytest.ini", ".pytest.ini", "tox.ini", "sitecustomize.py", "usercustomize.py") or (
        name.endswith((".pth", ".pyc"))
    )


def _conclude(bench: Bench, job: Job, ran: Ran) -> Tried:
    try:
        said: dict[str, Any] = json.loads(ran.report)
    except ValueError:
        said = {}
    verdict = said.get("verdict", TIMEOUT if ran.stopped == "seconds" else UNKNOWN)
    assert verdict in VERDICTS
    parts = [*said.get("strange", ()), said.get("ended", ""), said.get("log", "")]
    parts += [f"{test}\n{text}".strip() for test, text in said.get("texts", ())]
    log = "\n\n".join(part for part in parts if part)
    if not said or verdict == UNKNOWN:
        log += "\n" + ran.output.decode("utf-8", "replace")
    receipt = {
        "bench": bench.name, "argv": job.argv, "exit": ran.exit, "signal": ran.signal, "seconds": round(ran.seconds, 3),
        "peak": ran.peak, "level": ran.level, "stopped": ran.stopped,
        "report": hashlib.sha256(ran.report).hexdigest(), "bounds": {"seconds": bench.bounds.seconds},
    }  # fmt: skip
    return Tried(verdict, tuple(said.get("passed", ())), tuple(said.get("failed", ())), log.strip(), receipt=receipt)
