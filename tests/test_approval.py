"""What a person approved: exactly the files whose hash the brief named, and nothing by silence."""

from __future__ import annotations

from council.candidates.approval import Approval, find_approval
from council.candidates.base import hash_files
from council.candidates.versions import follow, lay
from council.engine.planner import plan
from council.engine.scene import RecordedTurn
from council.workflow.loader import load
from tests.code_sessions import MEND, RIGHT, verdict, write_file

TREE = hash_files({"src/app.py": RIGHT})
OTHER = hash_files({"src/app.py": RIGHT + b"\n"})
YES, NO = "## Approval\napprove\n## Reason\nnone\n", "## Approval\nreject\n## Reason\nToo slow.\n"


def decide(answer: RecordedTurn, tree: str = TREE) -> Approval:
    """One seat writes files that pass, and then a person answers. The approval of what stands in the end."""
    workflow = load(MEND, "mend").with_options({"gate": True})
    said = {
        "01-loop-r01-1-draft/engineer": RecordedTurn(write_file("src/app.py", RIGHT)),
        "01-loop-r01-2-trial/tester-engineer": RecordedTurn(verdict("pass")),
        "02-approve/human": answer,
    }
    found = plan(workflow, said, "seed")
    assert found.done
    standing = follow(found.scene).standing("engineer")
    assert standing
    assert hash_files(lay(standing, {})) == TREE
    approval = find_approval(found.scene, standing, tree)
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
