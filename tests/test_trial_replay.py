"""A session with trials: begun by hand and finished by a run, replayed and built again where no sandbox is."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from bubblewrap import needs_sandbox

from council.record import session as record
from council.record import turn_file
from tests import coding
from tests.fakeapi import FakeApi
from tests.helpers import CODE, PATIENCE, Table, User
from tests.mcp_client import serving

pytestmark = needs_sandbox
WITHOUT = "import sys; sys.modules['council.sandbox.run'] = None; from council.cli import main; sys.exit(main())"

RECORD = (*record.RECORD, "base.json", "base.tar", "turns", "briefs", "attempts", ".lock")
RECALLED = """---
name: sums
description: The shelf speaks, then two members.
seats: {team: [architect, engineer], shelf: {shelf: {speaker: shelf}}}
phases:
  - {name: recall, seats: shelf, sees: nothing, reply: {lessons: list}}
  - {name: positions, sees: nothing}
---
"""
BY_HAND = b"\n*(entered by hand (no API receipt))*\n"


def council_without_sandbox(user: User, *words: str | Path, code: int = 0) -> str:
    """One command in a process that cannot run anything in a sandbox."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, *map(str, words)], cwd=user.work, capture_output=True, text=True,
        env={**user.environment, "PYTHONPATH": str(CODE), "PATH": "/nowhere"}, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    return done.stdout


def derived(session: Path) -> dict[str, bytes]:
    """Every derived file by its path."""
    paths = [path.relative_to(session) for path in session.rglob("*") if path.is_file()]
    return {str(path): (session / path).read_bytes() for path in paths if path.parts[0] not in RECORD}


def without_ids(data: bytes) -> bytes:
    return re.sub(rb"\d{8}-\d{6}-[0-9a-f]{8}", b"<id>", data)


def test_begun_by_hand_finished_by_a_run_and_replayed_where_no_sandbox_is(tmp_path: Path) -> None:
    user = User(tmp_path)
    session = coding.start(user)
    for turn in list(coding.DRAFTS)[:2]:
        assert user.council("record", "last", turn, stdin=coding.DRAFTS[turn]).code == 0
    assert (session / "turns/01-loop-r01-2-trial/tester-architect.md").exists()
    table = Table(user, coding.DRAFTS)
    with FakeApi(table) as api:
        user.configure(f"endpoints: {{anthropic: {{base_url: {api.url}}}}}")
        ended = replace(user, env={"ANTHROPIC_API_KEY": "k"}).council("recover", "last", "--speaker", "anthropic")
    assert (ended.code, "no vote chose one of them" in ended.err) == (5, True), ended.err
    assert table.asked == list(coding.DRAFTS)[2:]
    whole = derived(session)
    assert "candidates/architect/v2-from-v1.patch" in whole
    council_without_sandbox(user, "run", "--speaker", "replay", "--from", session.name, code=5)
    again = derived(next(path for path in user.sessions if path != session))
    assert again.keys() == whole.keys()
    for name in whole.keys() - {"transcript.md"}:
        assert without_ids(again[name]) == without_ids(whole[name].replace(BY_HAND, b"")), name
    for path in whole:
        (session / path).unlink()
    council_without_sandbox(user, "build", session.name)
    assert derived(session) == whole
    assert council_without_sandbox(user, "verify", session.name)


def test_over_mcp_council_runs_the_trials_and_takes_no_reply_for_them(tmp_path: Path) -> None:
    user = User(tmp_path)
    session = coding.start(user)
    with serving(user) as server:
        for turn in list(coding.DRAFTS)[:2]:
            server.told("record", session=session.name, turn=turn, reply=coding.DRAFTS[turn])
        assert (session / "turns/01-loop-r01-2-trial/tester-architect.md").exists()
        trial = "01-loop-r02-2-trial/tester-architect"
        assert trial in server.refused("record", session=session.name, turn=trial, reply="## Tests\npass\n")
        told = server.told("record", session=session.name, turn=list(coding.DRAFTS)[2], reply=coding.RIGHT)
    assert told["outcome"] == "green"
    assert user.council("verify").code == 0


def test_what_a_machine_has_to_do_first_is_done_when_a_session_is_begun(tmp_path: Path) -> None:
    """The shelf speaks before any member, and needs no project."""
    user = User(tmp_path)
    coding.write_workflow(user, RECALLED)
    ended = user.council("start", "--workflow", "sums", "Write add.")
    assert ended.code == 0, ended.err
    assert "2 turns are due" in ended.out
    _, body = turn_file.decode((path := user.session / "turns/01-recall/shelf.md").read_bytes(), path)
    assert body.startswith("## Lessons\n\nnone")
