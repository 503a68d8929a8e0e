"""Looks at a candidate's code without running it: linters, types, security, format.

A checker sees the candidate's Python files, and every other file as it was before: what steers a checker is the
project's own. Comments that would silence it are not heard. What it found on the base already does not count.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from council.config.benches import Bench
from council.sandbox import tools
from council.sandbox.model import FAIL, PASS, TIMEOUT, UNKNOWN, Job, Trial, Tried
from council.sandbox.reports import give_bounds, make_receipt, read_report
from council.sandbox.run import run
from council.sandbox.suites import read_harness, start
from council.text import one_line

AFTER, BEFORE = "after", "before"
HIGH, MEDIUM, LOW = "high", "medium", "low"
MOST = 400  # findings that are kept
PROJECT = "pyproject.toml"
PLUGINS = re.compile(rb"^([ \t]*)plugins([ \t]*=)", re.M)
SETTINGS = (PROJECT, "mypy.ini", ".mypy.ini", "setup.cfg")
SILENCERS = re.compile(rb"#([ \t]*)(type:[ \t]*ignore|mypy:|fmt:|yapf:)")
Finding = dict[str, Any]


def try_out(bench: Bench, trial: Trial) -> Tried:
    python = tools.equip(bench.kind, trial.env)
    files = _find_changed(trial)
    if not files:
        return Tried(PASS, log="no Python file differs from the base", metrics={"lint": 0})
    after = {path: data for path, data in trial.tree.items() if _is_python(path)}
    others = {path: data for path, data in (trial.base or trial.tree).items() if not _is_python(path)}
    trees = {AFTER: after | others, BEFORE: dict(trial.base)}
    plan = {
        "places": [*trees], "argv": _compose(bench.kind, python, trial),
        "files": [] if bench.kind == "mypy" else files,
    }  # fmt: skip
    job = Job(
        argv=start("check", python.program), mounts=python.mounts, report=True,
        tree={f"{place}/{path}": _hush(path, data) for place, tree in trees.items() for path, data in tree.items()},
        files=read_harness(), stdin=json.dumps(plan).encode(), bounds=give_bounds(bench),
    )  # fmt: skip
    ran = run(job)
    receipt = make_receipt(bench, job, ran, python.facts)
    said = read_report(ran)
    try:
        found = {place: [*READERS[bench.kind](said[place]["printed"])] for place in trees}
        broken = any(said[place]["exit"] and not found[place] for place in trees)
    except (LookupError, ValueError, TypeError, RecursionError):
        broken = True
    if broken:
        log = f"{said.get(AFTER, {}).get('printed', '')}\n{ran.output.decode('utf-8', 'replace')}".strip()
        return Tried(TIMEOUT if ran.stopped == "seconds" else UNKNOWN, log=log or ran.stopped, receipt=receipt)
    new = [{"tool": bench.kind, **one} for one in _subtract(found, trees)]
    log = "\n".join(f"{one['path']}:{one['line']}: {one['rule']}: {one['message']}" for one in new[:MOST])
    return Tried(
        FAIL if new else PASS, log=log or "nothing new was found", findings=tuple(new[:MOST]), receipt=receipt,
        metrics={"lint": len(new), "lint_before": len(found[BEFORE])},
    )  # fmt: skip


def _find_changed(trial: Trial) -> list[str]:
    return sorted(path for path, data in trial.tree.items() if _is_python(path) and trial.base.get(path) != data)


def _is_python(path: str) -> bool:
    return path.endswith((".py", ".pyi"))


def _hush(path: str, data: bytes) -> bytes:
    """The file with the same lines and columns, and without what would silence a checker or be run by it."""
    if path in SETTINGS:
        return PLUGINS.sub(rb"\1plugins_not_run\2", data)
    return SILENCERS.sub(lambda found: b"#" + found[1] + found[2].swapcase(), data) if _is_python(path) else data


def _compose(kind: str, python: tools.Python, trial: Trial) -> list[str]:
    module = [python.program, "-I", "-m"]
    match kind:
        case "ruff":
            words = ["check", "--ignore-noqa", "--output-format", "json", "--no-cache", "--force-exclude", "--no-fix"]
            return [*module, "ruff", *words, "--"]
        case "ruff-format":
            words = ["format", "--check", "--output-format", "json", "--no-cache", "--force-exclude"]
            return [*module, "ruff", *words, "--"]
        case "bandit":
            has_settings = "bandit" in _read_project(trial.base)
            return [*module, "bandit", "-f", "json", "-q", "--ignore-nosec", *(["-c", PROJECT] if has_settings else [])]
    words = ["--output", "json", "--cache-dir", "/tmp/mypy", "--no-error-summary"]
    packages = ["--python-executable", str(trial.env / "bin" / "python")] if trial.env else []
    return [*module, "mypy", *words, *packages, *_aim_mypy(trial)]


def _aim_mypy(trial: Trial) -> list[str]:
    """All files, unless the project's own settings say which. Plugins are code, and are not run."""
    settings = _read_project(trial.base).get("mypy", {})
    if isinstance(settings, dict) and {"files", "packages", "modules"} & settings.keys():
        return []
    return ["--explicit-package-bases", "--namespace-packages", "."]


def _read_project(base: Mapping[str, bytes]) -> dict[str, Any]:
    try:
        found = tomllib.loads(base.get(PROJECT, b"").decode()).get("tool", {})
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _subtract(found: Mapping[str, Sequence[Finding]], trees: Mapping[str, Mapping[str, bytes]]) -> list[Finding]:
    """What was found after and not before. The same finding may have moved to another line."""

    def identify(place: str, one: Finding) -> tuple[str, str, str, bytes]:
        lines = trees[place].get(one["path"], b"").splitlines()
        text = lines[one["line"] - 1].strip() if 0 < one["line"] <= len(lines) else b""
        return one["rule"], one["path"], re.sub(r"\d+", "", one["message"]), text

    known = Counter(identify(BEFORE, one) for one in found[BEFORE])
    new = []
    for one in found[AFTER]:
        key = identify(AFTER, one)
        if known[key]:
            known[key] -= 1
        else:
            new.append(one)
    return new


# ---- what they print ----


def _make(rule: str, path: str, line: Any, severity: str, message: str) -> Finding:
    """In the words of a review."""
    path = re.sub(rf"^(/job/({AFTER}|{BEFORE})/|\./)", "", path)
    return {
        "rule": rule, "path": path, "line": int(line or 1), "severity": severity, "message": one_line(message, 400),
    }  # fmt: skip


def _read_ruff(printed: str) -> Iterator[Finding]:
    for one in json.loads(printed or "[]"):
        rule = one["code"] or "invalid-syntax"
        severity = HIGH if rule == "invalid-syntax" else MEDIUM if rule[:1] in "FSBE" else LOW
        yield _make(rule, one["filename"], one["location"]["row"], severity, one["message"])


def _read_format(printed: str) -> Iterator[Finding]:
    seen = set()
    for one in json.loads(printed or "[]"):
        if one["filename"] not in seen:
            seen.add(one["filename"])
            severity = HIGH if one["code"] == "invalid-syntax" else LOW
            yield _make(one["code"], one["filename"], 1, severity, one["message"])


def _read_mypy(printed: str) -> Iterator[Finding]:
    for line in printed.splitlines():
        one = json.loads(line)
        if one["severity"] == "error":
            severity = HIGH if one["code"] == "syntax" else MEDIUM
            yield _make(one["code"] or "error", one["file"], max(one["line"], 1), severity, one["message"])


def _read_bandit(printed: str) -> Iterator[Finding]:
    said = json.loads(printed) if printed else {"errors": (), "results": ()}
    for one in said["errors"]:
        yield _make("invalid-syntax", one["filename"], 1, HIGH, one["reason"])
    for one in said["results"]:
        severity = {"HIGH": HIGH, "MEDIUM": MEDIUM}.get(one["issue_severity"], LOW)
        yield _make(one["test_id"], one["filename"], one["line_number"], severity, one["issue_text"])


READERS = {"ruff": _read_ruff, "ruff-format": _read_format, "mypy": _read_mypy, "bandit": _read_bandit}
