"""Benches that look at code: what is new counts, and a candidate neither silences a checker nor is run by it.

The tools are those of the locked environment, installed once on a machine as a user's first `council code` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from bubblewrap import needs_sandbox

from council.sandbox import benches, tools
from council.sandbox.model import Trial, Tried

pytestmark = needs_sandbox
OLD = "import os\ndef f(x: int) -> int:\n    return x\n"
BASE = {"a.py": OLD, "pyproject.toml": "[tool.mypy]\nstrict = true\nplugins = ['plug']\n"}
# Each makes the checker find one thing in a file that it knows already, unless something silences it.
FAULTS = {
    "ruff": (OLD + "import sys\n", "F401", "medium"),
    "mypy": (OLD + "y: str = f(1)\n", "assignment", "medium"),
    "bandit": (OLD + "import subprocess\nsubprocess.call(input(), shell=True)\n", "B602", "high"),
}
SILENT = {
    "ruff": OLD + "import sys  # noqa\n",
    "mypy": "# mypy: ignore-errors\n" + OLD + "y: str = f(1)  # type: ignore\n",
    "bandit": OLD + "import subprocess  # nosec\nsubprocess.call(input(), shell=True)  # nosec\n",
}
SETTINGS = {
    "pyproject.toml": "[tool.ruff]\nexclude = ['*']\n[tool.mypy]\nignore_errors = true\nplugins = ['plug']\n"
    "[tool.bandit]\nexclude_dirs = ['.']\n",
    "ruff.toml": "exclude = ['*']\n", ".bandit": "[bandit]\nskips = B602,B404,B607\n", ".gitignore": "*\n",
    "mypy.ini": "[mypy]\nignore_errors = true\n",
    "plug.py": "open('/tmp/ran', 'w')\nraise SystemExit(0)\n", "sitecustomize.py": "raise SystemExit(0)\n",
    "json.py": "raise SystemExit(0)\n", "ast.py": "raise SystemExit(0)\n",
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def installed() -> None:
    try:
        tools.provide(print)
    except tools.ToolsMissing as missing:
        pytest.skip(f"the tools cannot be installed here: {missing}")


def check(bench: str, tree: Mapping[str, str], base: Mapping[str, str] = BASE) -> Tried:
    after, before = ({path: text.encode() for path, text in files.items()} for files in (tree, base))
    return benches.try_out(Trial(bench, after, base=before), benches.load())


@pytest.mark.parametrize("bench", FAULTS)
def test_what_is_new_is_found_and_what_was_there_is_not(bench: str) -> None:
    code, rule, severity = FAULTS[bench]
    tried = check(bench, {**BASE, "a.py": code})
    assert tried.verdict == "fail", tried.log
    found = [(one["rule"], one["path"], one["severity"]) for one in tried.findings]
    assert (rule, "a.py", severity) in found
    assert tried.metrics["lint"] == len(found)
    assert not {"F821", "I001"} & {name for name, _, _ in found}
    assert all(one["line"] > 3 and one["message"] for one in tried.findings)
    same = check(bench, {**BASE, "a.py": f"# one line more\n{OLD}"})
    assert (same.verdict, same.findings) == ("pass", ()), same.log


@pytest.mark.parametrize("bench", FAULTS)
def test_no_file_and_no_comment_of_a_candidate_silences_a_checker(bench: str) -> None:
    tried = check(bench, {**BASE, **SETTINGS, "a.py": SILENT[bench]})
    assert FAULTS[bench][1] in [one["rule"] for one in tried.findings if one["path"] == "a.py"], tried.log


def test_the_projects_own_settings_count() -> None:
    base = {**BASE, "pyproject.toml": "[tool.ruff.lint]\nignore = ['F401']\n"}
    assert check("ruff", {**base, "a.py": FAULTS["ruff"][0]}, base).verdict == "pass"


def test_code_that_is_not_formatted_is_a_finding_of_low_severity() -> None:
    formatted = "x = 1\n"
    tried = check("ruff-format", {"a.py": "x  =  1\n"}, {"a.py": formatted})
    assert [(one["rule"], one["severity"]) for one in tried.findings] == [("unformatted", "low")]
    assert check("ruff-format", {"a.py": "y = 2\n"}, {"a.py": formatted}).verdict == "pass"


def test_a_file_that_is_no_python_is_a_grave_finding() -> None:
    for bench in ("ruff", "ruff-format", "mypy", "bandit"):
        tried = check(bench, {**BASE, "b.py": "def (:\n"})
        assert {"high"} <= {one["severity"] for one in tried.findings}, (bench, tried.log)


def test_coverage_says_which_lines_no_test_runs() -> None:
    code = b"def f(x):\n    if x:\n        return 1\n    return 2\n\n\ndef g():\n    return 3  # pragma: no cover\n"
    tests = {"test_a.py": b"import pytest, a\ndef test_f(tmp_path):\n    assert a.f(1) == 1\n"}
    tried = benches.try_out(Trial("coverage", {"a.py": code}, tests), benches.load())
    assert tried.verdict == "pass", tried.log
    assert tried.metrics == {"coverage": 66.7}
    assert "a.py: not run: lines 4, 8" in tried.log


def test_own_commands_pass_with_exit_code_0(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "council").mkdir()
    (tmp_path / "tool" / "bin").mkdir(parents=True)
    program = tmp_path / "tool" / "bin" / "look"
    program.write_text('#!/bin/sh\ngrep -r "$1" . && test ! -e .council && cat t.txt\n')
    program.chmod(0o755)
    (tmp_path / "council" / "Config.md").write_text(
        f"---\nbenches: {{look: {{kind: command, argv: [look, 'a; exit 0'], folders: ['{tmp_path / 'tool'}']}}}}\n---\n"
    )
    known = benches.load()
    right = benches.try_out(Trial("look", {"a": b"a; exit 0", "t.txt": b"mine"}, {"t.txt": b"theirs"}), known)
    assert (right.verdict, right.log) == ("pass", "./a:a; exit 0\ntheirs")
    wrong = benches.try_out(Trial("look", {"a": b"b"}), known)
    assert (wrong.verdict, wrong.log) == ("fail", "exit code 1")
