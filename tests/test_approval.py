"""What a person approved: exactly the files whose hash the brief named, and nothing by silence."""

from __future__ import annotations

from council.candidates.approval import Approval, describe_refusal, find_approval
from council.candidates.base import hash_files
from council.candidates.versions import follow, lay
from council.engine.planner import plan
from council.engine.scene import RecordedTurn, Scene
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
    assert hash_files(lay(standing, {})) == TREE
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
