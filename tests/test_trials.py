"""A test run is a turn: a bench's seat is spoken for by the sandbox, by hand and in a run."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from bubblewrap import needs_sandbox

from council.candidates.base import Base
from council.record import turn_file
from council.record.turn_file import Receipt
from tests import coding
from tests.helpers import PATIENCE, User

pytestmark = needs_sandbox
SEATS = ("architect", "engineer")
CLASSES = b"""from unittest import TestCase
from add import add


class TestAdd(TestCase):
    def test_small(self):
        self.assertEqual(add(1, 2), 3)
"""
FIRST = "01-loop-r01-1-draft"
ENGINEER = {f"{FIRST}/engineer": coding.RIGHT}


def trial_of(session: Path, turn: str) -> tuple[Receipt, dict[str, Any], str]:
    path = session / "turns" / f"{turn}.md"
    receipt, body = turn_file.decode(path.read_bytes(), path)
    assert receipt.trial is not None
    return receipt, receipt.trial, body


def test_a_debate_by_hand_runs_its_trials_itself(tmp_path: Path) -> None:
    user = User(tmp_path)
    session = coding.start(user)
    assert coding.record_all(user) == list(coding.DRAFTS)
    _, trial, body = trial_of(session, "01-loop-r01-2-trial/tester-architect")
    assert body.startswith("## Tests\n\nfail\n\n## Passed\n\n```\n- test_add.py::test_nothing\n```\n\n## Failed\n\n")
    assert {name: trial[name] for name in ("verdict", "passed", "failed", "candidate", "version")} == {
        "verdict": "fail", "passed": 1, "failed": 1,
        "candidate": "architect", "version": "01-loop-r01-1-draft/architect",
    }  # fmt: skip
    assert {"argv", "exit", "signal", "seconds", "peak", "bounds", "level", "report", "tree", "rig"} <= {*trial}
    ended = user.council("verify")
    assert ended.code == 0, ended.text
    assert user.council("status").out.endswith("complete (green)\n")
    assert "1 of 2 tests passes" in user.council("show").out


def test_no_reply_is_taken_for_a_machine(tmp_path: Path) -> None:
    user = User(tmp_path)
    coding.start(user)
    user.council("record", "last", f"{FIRST}/architect", stdin=coding.WRONG)
    with mock.patch("council.runner.machines.run_due"):
        user.council("record", "last", f"{FIRST}/engineer", stdin=coding.RIGHT)
    for words in (["--absent", "no"], ["--answer", "tests=pass"], []):
        ended = user.council("record", "last", "01-loop-r01-2-trial/tester-engineer", *words, stdin="## Tests\npass\n")
        assert ended.code == 2, ended.text
        assert "is not for a member: council makes it itself" in ended.err


def test_the_same_trial_is_made_once(tmp_path: Path) -> None:
    """Two candidates with the same files, and then a candidate that did not change."""
    user = User(tmp_path)
    session = coding.start(user, coding.WORKFLOW.replace("rounds: [1, 3]", "rounds: 2"))
    coding.record_all(user, {f"01-loop-r0{round}-1-draft/{seat}": coding.WRONG for round in (1, 2) for seat in SEATS})
    steps = ("01-loop-r01-2-trial", "01-loop-r02-2-trial")
    turns = [f"{step}/tester-{seat}" for step in steps for seat in SEATS]
    trials = {turn: trial_of(session, turn) for turn in turns}
    (made,) = (turn for turn, (_, trial, _) in trials.items() if "cached" not in trial)
    assert made.startswith(steps[0])
    assert [trial["cached"] for turn, (_, trial, _) in trials.items() if turn != made] == [made] * 3
    assert len({body for _, _, body in trials.values()}) == 1
    assert f"the same as {made}" in user.council("show").out


@pytest.mark.parametrize("run", ["touch /tmp/x", "/bin/sh", "mine", "[pytest, mine]", "{command: [touch, x]}"])
@pytest.mark.parametrize("defined", ["", "benches: {mine: {kind: command, argv: [touch, x]}}"])
def test_a_project_cannot_say_what_is_run(run: str, defined: str, tmp_path: Path) -> None:
    user = User(tmp_path)
    user.write(".council/Workflows/sums.md", coding.WORKFLOW.replace("run: pytest", f"run: {run}"))
    user.write(".council/Config.md", f"---\n{defined}\n---\n")
    ended = user.council("start", "--workflow", "sums", "Write add.")
    assert ended.code == 2, ended.text
    assert "bench" in ended.err
    assert not user.sessions


def test_files_that_do_not_fit_are_red_and_nothing_is_run(tmp_path: Path) -> None:
    user = User(tmp_path)
    session = coding.start(user)
    wrong = "README.md/add.py\n```python\ndef add(a, b):\n    return a + b\n```\n"
    coding.record_all(user, {**coding.DRAFTS, f"{FIRST}/architect": wrong})
    _, trial, body = trial_of(session, "01-loop-r01-2-trial/tester-architect")
    assert trial["verdict"] == "fail"
    assert "argv" not in trial
    assert f"because the files do not fit: {trial['misfit']}." in body


def test_files_for_which_there_is_no_room_cost_their_candidate_alone(tmp_path: Path) -> None:
    user = User(tmp_path)
    user.configure("benches:\n  small: {kind: pytest, scratch: 2}")
    large = Base({**coding.BASE.tree, "data.txt": b"x" * 1_500_000}, coding.BASE.visible)
    session = coding.start(user, coding.WORKFLOW.replace("run: pytest", "run: small"), large)
    more = f"more.txt\n```\n{'x' * 900_000}\n```\n{coding.RIGHT}"
    coding.record_all(user, {**{f"01-loop-r0{round}-1-draft/architect": more for round in (1, 2, 3)}, **ENGINEER})
    _, trial, body = trial_of(session, "01-loop-r01-2-trial/tester-architect")
    assert trial["verdict"] == "unknown"
    assert "Nothing was run, because the files cannot be laid out: the tree takes more than the 2,000,000 bytes" in body
    assert trial_of(session, "01-loop-r01-2-trial/tester-engineer")[1]["verdict"] == "pass"


def test_what_the_project_itself_replaces_is_known_to_every_trial(tmp_path: Path) -> None:
    user = User(tmp_path)
    tests = b"import random\nfrom add import add\ndef test_add():\n    assert add(1, 2) == random.choice([3])\n"
    replacing = coding.RIGHT.replace("def add", "import random\nrandom.choice = lambda many: many[0]\ndef add")
    verdicts = {}
    for replaced in ([], ["random.choice"]):
        session = coding.start(user, base=Base(visible={"test_add.py": tests}, facts={"replaced": replaced}))
        for seat in SEATS:
            assert user.council("record", "last", f"{FIRST}/{seat}", stdin=replacing).code == 0
        verdicts[len(replaced)] = trial_of(session, "01-loop-r01-2-trial/tester-engineer")[1]["verdict"]
    assert verdicts == {0: "tampered", 1: "pass"}


def test_an_option_may_name_several_benches(tmp_path: Path) -> None:
    user = User(tmp_path)
    chosen = coding.WORKFLOW.replace("run: pytest", "run: chosen")
    chosen = chosen.replace("phases:", 'options: {chosen: "pytest, unittest"}\nphases:')
    session = coding.start(user, chosen, Base(visible={"test_add.py": CLASSES}))
    coding.record_all(user, {f"{FIRST}/{seat}": coding.RIGHT for seat in SEATS})
    _, trial, body = trial_of(session, "01-loop-r01-2-trial/tester-engineer")
    assert [one["bench"] for one in trial["runs"]] == ["pytest", "unittest"]
    assert "pytest: pass" in body


def test_a_checker_says_what_is_new_by_the_settings_of_the_project(tmp_path: Path) -> None:
    """The candidate's own settings would say that nothing is wrong."""
    user = User(tmp_path)
    bench, trial = "of: team, speaker: shell, run: pytest}}", "      - {name: trial,"
    check = f"seats: checker, sees: nothing, reply: {coding.REPLY.replace('passed: list, failed', 'findings')}"
    workflow = coding.WORKFLOW.replace(
        bench, f"{bench}\n  checker: {{checker: {{of: team, speaker: shell, run: ruff}}}}"
    )
    workflow = workflow.replace(trial, f"      - {{name: check, {check}}}\n{trial}")
    session = coding.start(user, workflow, Base({**coding.BASE.tree, "old.py": b"import os\n"}, coding.BASE.visible))
    settings = "ruff.toml\n```toml\nlint.ignore = ['F401']\n```\n"
    draft = settings + coding.RIGHT.replace("def", "import sys\n\n\ndef")
    coding.record_all(user, {f"{FIRST}/{seat}": draft for seat in SEATS})
    _, found, body = trial_of(session, "01-loop-r01-2-check/checker-engineer")
    assert (found["verdict"], found["findings"]) == ("fail", 1)
    assert "- add.py:1: ruff/F401 (medium): " in body
    assert user.council("status").out.endswith("complete (green)\n"), "a checker makes nothing red"
    assert "- engineer, version 1: ruff: fail (1 finding, " in (session / "result.md").read_text()
    (version,) = json.loads((session / "metrics.json").read_text())["candidates"]["engineer"]
    assert [(one["bench"], one["kind"]) for one in version["trials"]] == [("ruff", "check"), ("pytest", "visible")]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_is_ended_leaves_no_trial_running(number: int, tmp_path: Path) -> None:
    user = User(tmp_path)
    endless = Base(visible={"test_a.py": b"def test_a():\n    while True:\n        pass\n"}, facts=coding.BASE.facts)
    session = coding.start(user, base=endless)
    for seat in SEATS:
        with mock.patch("council.runner.machines.run_due"):
            user.council("record", "last", f"{FIRST}/{seat}", stdin=f"{coding.RIGHT}# {seat}")
    with user.spawn("next") as process:
        left = coding.interrupt_trial(process, number)
        process.communicate(timeout=PATIENCE)
    assert coding.wait_until(lambda: not any(map(coding.is_alive, left)))
    assert not list((session / "turns").glob("*trial/*"))
