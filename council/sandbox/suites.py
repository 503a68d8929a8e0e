"""Runs Python tests on a candidate. The harness decides, and makes it hard for the candidate to reach it."""

from __future__ import annotations

import base64
import json
import marshal
import sys
from collections.abc import Mapping
from functools import cache
from importlib.util import MAGIC_NUMBER
from pathlib import Path

from council.candidates.steering import is_steering
from council.config.benches import Bench
from council.sandbox import tools
from council.sandbox.model import Job, Trial, Tried
from council.sandbox.reports import conclude, give_bounds

TOP = "/harness"
HARNESS = f"{TOP}/council/sandbox/harness"
UNCHECKED = (1).to_bytes(4, "little")  # a compiled file that is believed without a look at its source


def try_out(bench: Bench, trial: Trial) -> Tried:
    python = tools.equip(bench.kind, trial.env)
    tests = {**{path: data for path, data in trial.base.items() if is_steering(path)}, **trial.tests}
    wanted = trial.run or tuple(sorted(path for path in trial.tests if is_test_file(path)))
    measured = find_measured(trial) if bench.kind == "coverage" else []
    plan = {
        "runner": "pytest" if bench.kind == "coverage" else bench.kind, "run": wanted, "void": trial.void,
        "allowed": trial.allowed, "shadows": sorted(list_own(trial)), "options": [], "tools": python.site,
        "measure": {path: trial.tree[path].decode("utf-8", "replace") for path in measured},
        "tests": {path: base64.b64encode(data).decode() for path, data in tests.items()},
    }  # fmt: skip
    files = {f"/job/{path}": b"" if path in wanted else data for path, data in tests.items()}
    job = Job(
        argv=start("run", python.program), tree=lay(trial, tests),
        files={**files, **read_harness()}, mounts=python.mounts, stdin=json.dumps(plan).encode(),
        bounds=give_bounds(bench), report=True, executable=trial.executable,
    )  # fmt: skip
    return conclude(bench, job, python.facts)


def list_own(trial: Trial) -> set[str]:
    """What the project and the tests import by a name that Python's own library has as well."""
    parts = (path.removeprefix("src/").partition("/") for path in (*trial.base, *trial.tests))
    return {first if rest else first.removesuffix(".py") for first, _, rest in parts}


def lay(trial: Trial, tests: Mapping[str, bytes]) -> dict[str, bytes]:
    """The candidate's files, but for those that the tests replace. Of files that steer the test runner, only those of
    the base are run; no session has a candidate with others."""
    return {path: data for path, data in trial.tree.items() if path not in tests and not is_steering(path)}


def find_measured(trial: Trial) -> list[str]:
    """The Python files that the candidate wrote; without a base, all but the tests."""
    code = [path for path in trial.tree if path.endswith(".py") and path not in trial.tests and not is_test_file(path)]
    return [path for path in code if trial.base.get(path) != trial.tree[path] and not is_steering(path)]


def start(module: str, program: str) -> tuple[str, ...]:
    """The words that run a module of the harness."""
    code = f"import sys; sys.path.insert(0, {TOP!r}); from council.sandbox.harness import {module}; {module}.main()"
    return program, "-I", "-B", "-c", code


@cache
def read_harness() -> Mapping[str, bytes]:
    """The harness's files, and the same compiled for this version of Python, which is the usual one of a trial."""
    files = {f"{TOP}/{name}/__init__.py": b"" for name in ("council", "council/sandbox")}
    for path in (Path(__file__).parent / "harness").glob("*.py"):
        place = f"{HARNESS}/{path.name}"
        files[place] = path.read_bytes()
        code = compile(files[place], place, "exec", dont_inherit=True)
        compiled = f"{HARNESS}/__pycache__/{path.stem}.{sys.implementation.cache_tag}.pyc"
        files[compiled] = MAGIC_NUMBER + UNCHECKED + bytes(8) + marshal.dumps(code)
    return files


def is_test_file(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.endswith(".py") and (name.startswith("test") or name.endswith("_test.py"))
