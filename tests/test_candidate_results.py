"""What is derived from candidates: a patch of each version, the numbers, the winner. Nothing is run for it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from council.candidates.artifacts import candidate_files
from council.candidates.base import Base, hash_files
from council.candidates.results import explain_no_winner, find_winner
from council.candidates.versions import follow
from council.engine.contributions import Record
from council.engine.planner import Due, Plan, plan
from council.engine.scene import RecordedTurn
from council.workflow.loader import load
from tests.code_sessions import LOOP
from tests.repositories import git, lay, read_files

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
PROJECT = Base(
    tree={"src/app.py": b"def add(a, b):\n    return a - b\n", "run.sh": b"#!/bin/sh\n"},
    visible={"tests/test_app.py": b"def test_add(): ...\n"},
    facts={"executable": ["run.sh"], "hash": "sha1"},
)
TESTS_FIRST = """---
name: first
description: Tests first.
seats:
  coder: engineer
  author: architect
  benches: [{ground: {speaker: shell, run: pytest}}, {tester: {of: coder, speaker: shell, run: pytest}}]
phases:
  - {name: suite, seats: author, reply: {suite: files}}
  - {name: unchanged, seats: ground, reply: {tests: pass | fail, passed: list, failed: list}}
  - {name: draft, seats: coder, reply: {solution: files}}
  - {name: trial, seats: tester, reply: {tests: pass | fail, passed: list, failed: list}}
  - {name: again, seats: tester, reply: {tests: pass | fail, passed: list, failed: list}}
---
"""
RIGHT = "def add(a, b):\n    if a and b:\n        return a + b\n    return a or b\n"


def draft(due: Due) -> str:
    """The engineer gets it right at once. The architect needs two attempts, and tries to change the test."""
    if due.seat.name == "engineer" or due.round > 1:
        return f"src/app.py\n```python\n{RIGHT}```\n\nrun.sh\n```\n#!/bin/sh\necho {due.seat.name}\n```\n"
    return "src/app.py\n```python\ndef add(:\n```\n\ntests/test_app.py\n```python\npass\n```\n"


def trial(due: Due) -> str:
    passed = due.seat.about == "engineer" or due.round > 1
    verdict, one, other = ("pass", "- a\n- b\n- c", "none") if passed else ("fail", "- a", "- b\n- c")
    return f"## Tests\n{verdict}\n## Passed\n{one}\n## Failed\n{other}\n"


def hold(only: str = "") -> tuple[Plan, Record]:
    text = LOOP.replace("[architect, engineer]", f"[{only}]") if only else LOOP
    workflow, said = load(text.replace("seats: architect, sees", "seats: engineer, sees"), "loop"), {}
    while (now := plan(workflow, said, "seed")).due:
        said |= {
            due.id: RecordedTurn({"draft": draft, "trial": trial}.get(due.step.name, lambda _: "It works.")(due))
            for due in now.due
        }
    return now, Record(workflow, now, frozen=PROJECT.encode())


def test_every_version_has_its_patches_and_its_numbers() -> None:
    made = candidate_files(hold()[1])
    assert sorted(made) == [
        "candidates/architect/v1.patch", "candidates/architect/v2-from-v1.patch", "candidates/architect/v2.patch",
        "candidates/engineer/v1.patch", "metrics.json",
    ]  # fmt: skip
    assert b"test_app.py" not in b"".join(made.values())
    metrics = json.loads(made["metrics.json"])
    first, second = metrics["candidates"]["architect"]
    assert (first["green"], first["current"], first["complexity"]) == (False, False, None)
    assert first["trials"] == [
        {"turn": "01-loop-r01-2-trial/tester-architect", "bench": "pytest", "kind": "visible", "tests": "fail",
         "passed": 1, "failed": 2, "pass_rate": 0.3333},
    ]  # fmt: skip
    assert (second["green"], second["current"], second["on"], second["files"], second["complexity"]) == (
        True, True, 1, 2, 4,
    )  # fmt: skip
    assert metrics["winner"] is None  # two are green, and nobody chose
    ledger = follow(hold()[0].scene)
    assert explain_no_winner(ledger) == "the tests of architect and engineer pass, and no vote chose one of them"


def test_the_only_candidate_wins_and_its_tree_is_known() -> None:
    now, record = hold("engineer")
    winner = find_winner(now.scene, follow(now.scene))
    assert winner is not None
    assert (winner.version.candidate, winner.why, winner.green) == ("engineer", "the only candidate", True)
    made = candidate_files(record)
    assert made["result.patch"] == made["candidates/engineer/v1.patch"]
    tree = {"src/app.py": RIGHT.encode(), "run.sh": b"#!/bin/sh\necho engineer\n"}
    assert json.loads(made["metrics.json"])["candidates"]["engineer"][0]["tree"] == hash_files(tree)


@pytest.mark.parametrize("last", ["pass", "fail"])
def test_the_tests_of_the_session_are_in_the_result_if_the_winner_passes_them(last: str) -> None:
    """And never in place of the project's own."""
    replies = {
        "suite": "tests/test_more.py\n```python\ndef test_more(): 1\n```\n\ntests/test_app.py\n```python\npass\n```\n",
        "unchanged": "## Tests\nfail\n## Passed\nnone\n## Failed\n- tests/test_more.py::test_more\n",
        "draft": f"src/app.py\n```python\n{RIGHT}```\n",
        "trial": "## Tests\npass\n## Passed\n- tests/test_more.py::test_more\n## Failed\nnone\n",
        "again": f"## Tests\n{last}\n## Passed\nnone\n## Failed\nnone\n",
    }
    workflow, said = load(TESTS_FIRST, "first"), dict[str, RecordedTurn]()
    while (now := plan(workflow, said, "seed")).due:
        said |= {due.id: RecordedTurn(replies[due.step.name]) for due in now.due}
    result = candidate_files(Record(workflow, now, frozen=PROJECT.encode()))["result.patch"]
    assert b"src/app.py" in result
    assert (b"tests/test_more.py" in result, b"tests/test_app.py" in result) == (last == "pass", False)


@needs_git
def test_git_takes_the_patches(tmp_path: Path) -> None:
    made = candidate_files(hold()[1])
    git(tmp_path, "init", "-q")
    lay(tmp_path, {**PROJECT.tree, **PROJECT.visible})
    (tmp_path / "run.sh").chmod(0o755)
    git(tmp_path, "add", "-A")
    for name in ("v1", "v2-from-v1"):
        git(tmp_path, "apply", "--check", "--index", stdin=made[f"candidates/architect/{name}.patch"])
        git(tmp_path, "apply", "--index", stdin=made[f"candidates/architect/{name}.patch"])
    assert read_files(tmp_path) == {
        "src/app.py": RIGHT.encode(), "run.sh": b"#!/bin/sh\necho architect\n", **PROJECT.visible,
    }  # fmt: skip
