"""Runs Python tests on a candidate. The harness decides, of which the candidate sees nothing."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from council.config.benches import Bench
from council.sandbox import tools
from council.sandbox.model import Job, Trial, Tried
from council.sandbox.reports import conclude, give_bounds

HARNESS = "/harness/council/sandbox/harness"
NEEDS = {"pytest": "pytest", "unittest": ""}
STEERING = ("conftest.py", "pytest.ini", ".pytest.ini", "tox.ini", "sitecustomize.py", "usercustomize.py")


def try_out(bench: Bench, trial: Trial) -> Tried:
    python = tools.find(trial.env, NEEDS[bench.kind])
    wanted = trial.run or tuple(sorted(path for path in trial.tests if is_test_file(path)))
    plan = {
        "runner": bench.kind, "run": wanted, "void": trial.void, "options": [], "tools": python.site,
        "tests": {path: base64.b64encode(data).decode() for path, data in trial.tests.items()},
    }  # fmt: skip
    files = {f"/job/{path}": b"" if path in wanted else data for path, data in trial.tests.items()}
    job = Job(
        argv=(python.program, "-I", "-B", f"{HARNESS}/run.py"),
        tree=dict(without_steering(trial.tree, trial.tests)), files={**files, **read_harness()}, mounts=python.mounts,
        stdin=json.dumps(plan).encode(), bounds=give_bounds(bench), report=True,
    )  # fmt: skip
    return conclude(bench, job, python.facts)


@cache
def read_harness() -> Mapping[str, bytes]:
    files = {f"{HARNESS}/{path.name}": path.read_bytes() for path in (Path(__file__).parent / "harness").glob("*.py")}
    return files | {f"/harness/{name}/__init__.py": b"" for name in ("council", "council/sandbox")}


def is_test_file(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.endswith(".py") and (name.startswith("test") or name.endswith("_test.py"))


def without_steering(tree: Mapping[str, bytes], tests: Mapping[str, bytes]) -> Iterable[tuple[str, Any]]:
    """The candidate's files, but for those that would choose for the test runner, and those that the tests replace."""
    for path, data in tree.items():
        name = path.rpartition("/")[2]
        if path not in tests and name not in STEERING and not name.endswith((".pth", ".pyc")):
            yield path, data
