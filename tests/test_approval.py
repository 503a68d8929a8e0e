"""What a person approved: exactly the files whose hash the brief named, and nothing by silence."""

from __future__ import annotations

import json

from council.candidates.approval import Approval, describe_refusal, find_approval
from council.candidates.base import EMPTY, hash_files
from council.candidates.versions import follow, lay
from council.engine.contributions import exhibit
from council.engine.facts import PromptContext
from council.engine.planner import plan
from council.engine.scene import RecordedTurn, Scene
from council.prompts import for_humans
from council.prompts.question import Question, as_json
from council.workflow.loader import load
from tests.code_sessions import MEND, RIGHT, verdict, write_file

TREE = hash_files({"src/app.py": RIGHT})
OTHER = hash_files({"src/app.py": RIGHT + b"\n"})
YES, NO = "## Approval\napprove\n## Reason\nnone\n", "## Approval\nreject\n## Reason\nToo slow.\n"


def hear(answer: RecordedTurn) -> Scene:
    """One seat writes files that pass, and then a person answers."""
    workflow = load(MEND, "mend").with_options({"gate": True})
    said = {
        "01-loop-r01-1-draft/engineer": RecordedTurn(write_file("src/app.py", RIGHT)),
        "01-loop-r01-2-trial/tester-engineer": RecordedTurn(verdict("pass")),
        "02-approve/human": answer,
    }
    found = plan(workflow, said, "seed")
    assert found.done
    return found.scene


def decide(answer: RecordedTurn, tree: str = TREE) -> Approval:
    """The approval of what stands in the end."""
    scene = hear(answer)
    standing = follow(scene).standing("engineer")
    assert standing
    assert hash_files(lay(standing, EMPTY)) == TREE
    approval = find_approval(scene, standing, tree)
    assert approval
    return approval


def test_an_approval_is_for_the_files_that_the_person_saw() -> None:
    answer = RecordedTurn(YES, f"- engineer: its tests pass; src/app.py; tree {TREE}")
    assert (decide(answer).given, decide(answer).covers) == (True, True)
    assert not decide(answer, OTHER).covers, "other files need another approval"


def test_a_brief_without_the_hash_of_these_files_is_no_approval_of_them() -> None:
    assert not decide(RecordedTurn(YES, f"tree {OTHER}")).covers
    assert not decide(RecordedTurn(YES)).covers


def test_neither_a_rejection_nor_silence_approves() -> None:
    brief = f"tree {TREE}"
    assert not decide(RecordedTurn(NO, brief)).given
    assert not decide(RecordedTurn("", brief, absent="no answer in 1800 s")).given


def test_a_rejection_has_its_reason_and_silence_is_not_called_one() -> None:
    assert describe_refusal(hear(RecordedTurn(YES))) == ""
    assert describe_refusal(hear(RecordedTurn(NO))) == "Human rejected the candidates: “Too slow.”"
    assert describe_refusal(hear(RecordedTurn(NO.replace("Too slow.", "none")))) == "Human rejected the candidates"
    silent = describe_refusal(hear(RecordedTurn("", absent="no answer in 1800 s")))
    assert silent == "nobody answered at the gate (Human: no answer in 1800 s)"


SCORED = "  - {name: score, seats: judge, prompt: positions, reply: {correctness: 0-1, evidence: list}}\n"
JUDGED = (
    MEND.replace("failed: list,", "failed: list, coverage: 0-100,", 1)
    .replace("  - {name: approve,", f"{SCORED}  - {{name: approve,")
    .replace("  benches:", "  each: {judge: {of: team}}\n  benches:")
)


def test_an_approval_shows_what_was_tested_and_measured_and_what_the_judge_said() -> None:
    code = b"def add(a, b):\n    return a + b if a else b\n"
    red = verdict("fail", 2, 1).replace("f0", "tests/test_a.py::test_\x1b[2Jb")
    said = {
        "02-score/judge-engineer": "## Correctness\n0.9\n## Evidence\nnone\n",
        **{f"01-loop-r0{at}-1-draft/engineer": write_file("src/app.py", code) for at in (1, 2, 3)},
        **{f"01-loop-r0{at}-2-trial/tester-engineer": red + "## Coverage\n87.5\n" for at in (1, 2, 3)},
    }
    workflow = load(JUDGED, "mend").with_options({"gate": True})
    (due,) = plan(workflow, {turn: RecordedTurn(body) for turn, body in said.items()}, "seed").due
    (shown,) = exhibit.known["standing_candidates"](PromptContext(due, workflow, "Mend it.", lambda *_: "key"))
    assert (shown.tests, shown.failing) == ({"passed": 2, "failed": 1}, ("tests/test_a.py::test_\x1b[2Jb",))
    assert shown.scores == {"coverage": 87.5, "complexity": 2, "judged correctness": 0.9}
    asked = Question("s", due.id, "approval", "X", "", "", (), (), (), (shown,))
    text = for_humans.fit(asked, 140)
    assert "tests: 2 passed, 1 failed: tests/test_a.py::test_" in text
    assert "scores: coverage 87.5, complexity 2, judged correctness 0.9" in text
    assert "\x1b" not in text
    assert json.loads(json.dumps(as_json(asked)))["artifacts"][0]["scores"] == shown.scores


def test_a_person_who_is_to_approve_is_shown_each_candidate_with_its_change_and_its_hash() -> None:
    workflow = load(MEND, "mend").with_options({"gate": True})
    said = {
        "01-loop-r01-1-draft/engineer": RecordedTurn(write_file("src/app.py", RIGHT)),
        "01-loop-r01-2-trial/tester-engineer": RecordedTurn(verdict("pass")),
    }
    (due,) = plan(workflow, said, "seed").due
    (shown,) = exhibit.known["standing_candidates"](PromptContext(due, workflow, "Mend it.", lambda *_: "key"))
    assert (shown.title, shown.state, shown.hash) == ("engineer", "its tests pass", TREE)
    assert shown.paths == ("src/app.py",)
    assert "+++ b/src/app.py" in shown.diff
    assert (shown.tests, shown.failing, shown.scores) == ({"passed": 1, "failed": 0}, (), {"complexity": 1})
