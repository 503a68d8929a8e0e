"""Runs tests with `node --test` and `go test`. Canaries show whether their reports can be believed.

The tests are in the process of the candidate, as always, and there is no guard in it as there is for Python:
docs/benches.md says what is not held.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from council.config.benches import Bench
from council.errors import UsageError
from council.sandbox import tools
from council.sandbox.model import FAIL, PASS, TAMPERED, TIMEOUT, UNKNOWN, Job, Ran, Trial, Tried
from council.sandbox.programs import PATH, mount
from council.sandbox.reports import give_bounds, make_receipt, read_report
from council.sandbox.run import run
from council.sandbox.suites import read_harness, start

REPORTER = "/harness/reporter.mjs"
GO = "/usr/local/go/bin"
NODE_TEST = re.compile(r"(^|/)(test/.*|test|test-[^/]*|[^/]*[.\-_]test)\.[cm]?js$")
MODULE = re.compile(r"^\s*(import|export)\b(?!\s*\()", re.M)
GO_TEST, GO_PACKAGE = re.compile(r"^func (Test\w*)\(\w+ \*testing\.T\)", re.M), re.compile(r"^package (\w+)", re.M)
GO_MODULE = re.compile(rb"^module\s+(\S+)", re.M)
TEXT = 20_000
PASSED, FAILED = "passed", "failed"


@dataclass
class Suite:
    """What is run. `canaries` are tests that must fail, by id; `expected` are tests that must run."""

    argv: list[str]
    files: dict[str, bytes]
    canaries: dict[str, str]
    expected: set[str] = field(default_factory=set)
    secret: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Results:
    outcomes: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)  # files or packages that failed as a whole

    def add(self, test: str, outcome: str, text: str = "") -> None:
        if self.outcomes.get(test) != FAILED:
            self.outcomes[test] = outcome
        if outcome == FAILED:
            self.texts[test] = text[-TEXT:]


def try_out(bench: Bench, trial: Trial) -> Tried:
    python = tools.equip(bench.kind)
    suite = (_prepare_node if bench.kind == "node" else _prepare_go)(bench, trial)
    plan = {
        "places": ["."], "files": [], "argv": suite.argv, "input": suite.secret, "variables": dict(suite.variables)
    }  # fmt: skip
    modules = [(trial.env, "/job/node_modules")] if trial.env and trial.env.name == "node_modules" else []
    job = Job(
        argv=start("check", python.program),
        tree={at: data for at, data in trial.tree.items() if at not in suite.files},
        files={**{f"/job/{at}": data for at, data in suite.files.items()}, **_read_reporter(), **read_harness()},
        mounts=(*python.mounts, *mount(bench.folders), *modules), path=_find_path(bench),
        stdin=json.dumps(plan).encode(), bounds=give_bounds(bench), report=True,
        executable=trial.executable,
    )  # fmt: skip
    ran = run(job)
    said = read_report(ran).get(".", {})
    reader = _read_node if bench.kind == "node" else _read_go
    results = reader(str(said.get("printed", "")), suite)
    return _judge(results, suite, trial, ran, make_receipt(bench, job, ran, identify(bench)))


def _judge(results: Results, suite: Suite, trial: Trial, ran: Ran, receipt: dict[str, Any]) -> Tried:
    canaries = {test: results.outcomes.pop(test, "") for test in suite.canaries}
    green = [suite.canaries[test] for test, end in canaries.items() if end == PASSED]
    strange = [f"a test that must fail in {place or '.'} did not" for place in green]
    silent = [place for test, place in suite.canaries.items() if not canaries[test] and place not in results.broken]
    missing = suite.expected - results.outcomes.keys() - set(suite.canaries)
    missing = {test for test in missing if test.rpartition("::")[0] not in results.broken}
    counted = {test: end for test, end in results.outcomes.items() if test not in trial.void}
    passed = tuple(test for test, end in counted.items() if end == PASSED)
    failed = (*(test for test, end in counted.items() if end == FAILED), *results.broken, *sorted(missing))
    if ran.stopped:
        verdict = TIMEOUT if ran.stopped == "seconds" else UNKNOWN
    elif strange:
        verdict = TAMPERED
    elif silent:
        verdict, strange = UNKNOWN, [f"the tests of {place} came to no end" for place in silent]
    else:
        verdict = FAIL if failed or not passed else PASS
    texts = [f"{test}\n{text}".strip() for test, text in results.texts.items() if test not in suite.canaries]
    output = [] if verdict == PASS else [ran.output.decode("utf-8", "replace")]
    log = "\n\n".join(part for part in (*strange, *texts, *output) if part.strip())
    return Tried(verdict, passed, tuple(dict.fromkeys(failed)), log.strip(), receipt=receipt)


def identify(bench: Bench) -> dict[str, str]:
    """The version of the program that runs the tests, if that is not Python."""
    return {bench.kind: _read_version(bench.kind, _find_path(bench))} if bench.kind in ("node", "go") else {}


def _find_path(bench: Bench) -> tuple[str, ...]:
    return (*(str(folder / "bin") for folder in bench.folders), GO, *PATH)


@lru_cache
def _read_version(program: str, path: tuple[str, ...]) -> str:
    found = shutil.which(program, path=os.pathsep.join(path))
    if found is None:
        raise UsageError(
            f"{program} is not installed below /usr, so this bench cannot be used: install it, or define a bench with "
            "its folder under `folders` in your own Config.md"
        )
    words = [found, "version"] if program == "go" else [found, "--version"]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()


def _make_name() -> str:
    return os.urandom(6).hex()


# ---- node ----


def _prepare_node(bench: Bench, trial: Trial) -> Suite:
    del bench
    wanted = trial.run or tuple(sorted(path for path in trial.tests if NODE_TEST.search(path)))
    suite = Suite([], dict(trial.tests), {}, secret=_make_name())
    for path in wanted:
        name = _make_name()
        suite.canaries[f"{path}::{name}"] = path
        suite.files[path] = trial.tests[path] + _write_node_canary(path, trial.tests[path], name)
    suite.argv = [
        "node", "--test", f"--test-reporter={REPORTER}", "--test-reporter-destination=stdout",
        *(f"/job/{path}" for path in wanted),
    ]  # fmt: skip
    return suite


def _write_node_canary(path: str, data: bytes, name: str) -> bytes:
    is_module = path.endswith(".mjs") or (
        not path.endswith(".cjs") and MODULE.search(data.decode("utf-8", "replace")) is not None
    )
    if is_module:
        code = f"import {{ test as t{name} }} from 'node:test';\nimport a{name} from 'node:assert';\n"
        return f"\n;{code}t{name}('{name}', () => {{ a{name}.strictEqual(1, 2); }});\n".encode()
    return f"\n;require('node:test').test('{name}', () => {{ require('node:assert').strictEqual(1, 2); }});\n".encode()


def _read_reporter() -> dict[str, bytes]:
    return {REPORTER: (Path(__file__).parent / "harness" / "reporter.mjs").read_bytes()}


def _read_node(printed: str, suite: Suite) -> Results:
    results, printed_by = Results(), dict[str, str]()
    for one in _read_lines(printed):
        if one.get("secret") != suite.secret:
            continue
        path, name = (str(one.get(key) or "").removeprefix("/job/") for key in ("file", "name"))
        text = str(one.get("error") or "")
        if one["type"] == "test:stderr":
            printed_by[path] = (printed_by.get(path, "") + text)[-TEXT:]
            continue
        if name in suite.canaries.values():  # a file that has no tests, or could not be loaded
            if one["type"] == "test:fail":
                results.broken.append(name)
                results.texts[name] = printed_by.get(name, text)
            continue
        if one.get("kind") == "suite":
            continue
        ended = PASSED if one["type"] == "test:pass" else FAILED
        outcome = "skipped" if one.get("skip") or one.get("todo") else ended
        results.add(f"{path}::{name}", outcome, text)
    return results


def _read_lines(printed: str) -> Iterator[dict[str, Any]]:
    for line in printed.splitlines():
        try:
            one = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(one, dict):
            yield one


# ---- go ----


def _prepare_go(bench: Bench, trial: Trial) -> Suite:
    """Each package with tests gets a canary in a file of its own; only what the test files have is run."""
    wanted = trial.run or tuple(sorted(path for path in trial.tests if path.endswith("_test.go")))
    settings = {"go.mod": trial.tree["go.mod"]} if "go.mod" in trial.tree else {}
    suite, names = Suite([], {**settings, **trial.tests}, {}), set[str]()
    for path in wanted:
        source = trial.tests[path].decode("utf-8", "replace")
        folder = os.path.dirname(path)  # noqa: PTH120 - a path in the tree
        found = set(GO_TEST.findall(source))
        suite.expected |= {f"{folder}::{name}" for name in found}
        names |= found
        if folder not in suite.canaries.values() and (package := GO_PACKAGE.search(source)):
            name = f"Test{_make_name().upper()}"
            code = f'package {package[1]}\nimport "testing"\nfunc {name}(t *testing.T) {{ t.Fatal("as it must") }}\n'
            suite.files[f"{folder}/z{_make_name()}_test.go".lstrip("/")] = code.encode()
            suite.canaries[f"{folder}::{name}"] = folder
            names.add(name)
    pattern = f"^({'|'.join(sorted(names))})$"
    folders = [f"./{folder}" for folder in dict.fromkeys(suite.canaries.values())]
    suite.argv = ["go", "test", "-json", "-count=1", "-run", pattern, *folders]
    modules = [folder / "pkg" / "mod" for folder in bench.folders if (folder / "pkg" / "mod").is_dir()]
    cache = modules[0] if modules else "/tmp/go/mod"
    suite.variables = {
        "GOCACHE": "/tmp/gocache", "GOPATH": "/tmp/go", "GOMODCACHE": str(cache), "GOPROXY": "off",
        "GOTOOLCHAIN": "path", "GOFLAGS": "-buildvcs=false", "CGO_ENABLED": "0", "GOTELEMETRY": "off",
    }  # fmt: skip
    return suite


def _read_go(printed: str, suite: Suite) -> Results:
    results, module = Results(), GO_MODULE.search(suite.files.get("go.mod", b""))
    top = module[1].decode("utf-8", "replace") if module else ""
    said: dict[str, str] = {}
    for one in _read_lines(printed):
        folder = str(one.get("Package", "")).removeprefix(top).lstrip("/")
        test = f"{folder}::{one.get('Test', '')}"
        if one.get("Action") == "output":
            said[test] = said.get(test, "") + str(one.get("Output", ""))
        elif one.get("Test") and one.get("Action") in ("pass", "fail", "skip"):
            outcome = {"pass": PASSED, "fail": FAILED, "skip": "skipped"}[one["Action"]]
            results.add(test, outcome, said.get(test, ""))
        elif one.get("Action") == "fail" and not any(known.startswith(f"{folder}::") for known in results.outcomes):
            results.broken.append(folder)
            results.texts[folder or "."] = said.get(test, "")[-TEXT:]
    return results
