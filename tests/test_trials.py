"""A test run is a turn: a bench's seat is spoken for by the sandbox, by hand and in a run."""

from __future__ import annotations

from pathlib import Path

from bubblewrap import needs_sandbox

from council.record import turn_file
from tests import coding
from tests.helpers import User

pytestmark = needs_sandbox


def test_a_debate_by_hand_runs_its_trials_itself(tmp_path: Path) -> None:
    user = User(tmp_path)
    session = coding.start(user)
    assert coding.record_all(user) == list(coding.DRAFTS)
    path = session / "turns/01-loop-r01-2-trial/tester-architect.md"
    receipt, body = turn_file.decode(path.read_bytes(), path)
    assert body.startswith("## Tests\n\nfail\n\n## Passed\n\n```\n- test_add.py::test_nothing\n```\n\n## Failed\n\n")
    assert receipt.trial is not None
    assert {name: receipt.trial[name] for name in ("verdict", "passed", "failed", "candidate", "version")} == {
        "verdict": "fail", "passed": 1, "failed": 1,
        "candidate": "architect", "version": "01-loop-r01-1-draft/architect",
    }  # fmt: skip
    ended = user.council("verify")
    assert ended.code == 0, ended.text
    assert user.council("status").out.endswith("complete (green)\n")
