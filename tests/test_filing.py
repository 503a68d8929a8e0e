"""The document that a debate ends in: derived in the session, filed once, and from then on the project's own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers import CODE, PROGRAM, User, derived_of, script

WORKFLOW = """---
name: small
seats: {{members: [engineer, writer], chair: chair}}
options: {{document: {kind}}}
phases:
  - {{name: positions, sees: nothing}}
  - {{name: synthesis, seats: chair}}
---
"""
WORDS = {"01-positions/engineer": "Go.", "01-positions/writer": "Stay.", "02-synthesis/chair": "We go."}


@pytest.fixture
def user(tmp_path: Path) -> User:
    made = User(tmp_path)
    script(made, WORDS)
    return made


def held(user: User, kind: str = "adr", topic: str = "Shall we go?") -> Path:
    """A debate that ends in such a document, begun where the user works; the session's folder."""
    user.write(".council/Workflows/Small.md", WORKFLOW.format(kind=kind))
    before = set(user.sessions)
    ended = user.council("run", "-w", "small", topic, "--speaker", "replay", "--from", user.work / "script.yaml")
    assert ended.code == 0, ended.err
    (session,) = set(user.sessions) - before
    return session


def filed(user: User) -> list[str]:
    folder = user.work / "docs" / "decisions"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_an_adr_takes_the_next_free_number(user):
    for name in ("adr-0003-older.md", "adr-0041-newest.md", "2026-11-18-not-one.md", "adr-none.md"):
        user.write(f"docs/decisions/{name}", "x")
    session = held(user)
    assert "adr-0042-shall-we-go.md" in filed(user)
    text = (user.work / "docs/decisions/adr-0042-shall-we-go.md").read_text("utf-8")
    assert text.startswith("# ADR-0042: Shall we go?")
    assert text == (session / "decision.md").read_text("utf-8").replace("ADR-NNNN", "ADR-0042", 1)
    held(user, topic="And how?")
    assert "adr-0043-and-how.md" in filed(user)


def test_a_decision_is_named_by_its_day(user):
    session = held(user, "decision")
    day = json.loads((session / "metadata.json").read_text("utf-8"))["completed_at"][:10]
    assert filed(user) == [f"{day}-shall-we-go.md"]
    other = held(user, "decision")
    assert filed(user) == sorted([f"{day}-shall-we-go.md", f"{day}-shall-we-go-{other.name[-8:]}.md"])


def test_it_is_filed_once_and_what_people_make_of_it_stays(user):
    session = held(user)
    path = user.work / "docs/decisions/adr-0001-shall-we-go.md"
    path = path.rename(path.with_name("adr-0001-we-go.md"))
    path.write_text(path.read_text("utf-8") + "\nAccepted by all of us.\n", "utf-8")
    for command in (("recover",), ("archive",), ("decision",), ("build",)):
        assert user.council(*command, session.name).code == 0
    assert filed(user) == ["adr-0001-we-go.md"]
    assert path.read_text("utf-8").endswith("Accepted by all of us.\n")
    assert "decision: " in user.council("next", session.name).out


def test_what_is_derived_comes_back_byte_for_byte(user):
    session = held(user)
    before = derived_of(session)
    assert "decision.md" in before
    (session / "decision.md").unlink()
    assert user.council("verify").code == 5
    assert user.council("build").code == 0
    assert derived_of(session) == before
    assert user.council("verify").code == 0


def test_without_a_project_it_stays_in_the_session_until_somebody_says_where(user, tmp_path):
    session = held(user)
    elsewhere = User(tmp_path / "elsewhere", env={"COUNCIL_HOME": str(user.home)})
    told = elsewhere.council("next", session.name).out
    assert f"not in a project; `council decision {session.name} --to FOLDER` files it" in told
    assert elsewhere.council("decision", session.name).code == 2
    assert elsewhere.council("decision", session.name, "--to", "adrs").out.endswith("adrs/adr-0001-shall-we-go.md\n")
    assert [path.name for path in (elsewhere.work / "adrs").iterdir()] == ["adr-0001-shall-we-go.md"]


@pytest.mark.parametrize("kind", ["none", "decision"])
def test_there_is_none_before_the_end_and_none_where_none_is_wanted(kind, user):
    user.write(".council/Workflows/Small.md", WORKFLOW.format(kind=kind))
    assert user.council("start", "-w", "small", "Shall we?").code == 0
    assert user.council("next").code == 0
    assert not (user.session / "decision.md").exists()
    refused = user.council("decision")
    assert (refused.code, "has no document" in refused.err) == (2, True)
    assert filed(user) == []


def test_a_kind_that_there_is_not_is_refused(user):
    user.write(".council/Workflows/Small.md", WORKFLOW.format(kind="adr"))
    refused = user.council("start", "-w", "small", "-o", "document=ard", "Shall we?")
    assert (refused.code, 'there is no "ard"; did you mean "adr"?' in refused.err) == (2, True)
    assert user.sessions == []


def test_a_folder_that_cannot_be_written_loses_nothing(user):
    user.write("docs/decisions", "a file where a folder should be")
    user.write(".council/Workflows/Small.md", WORKFLOW.format(kind="adr"))
    ended = user.council("run", "-w", "small", "Q?", "--speaker", "replay", "--from", user.work / "script.yaml")
    assert (ended.code, "Traceback" in ended.text) == (6, False)
    assert json.loads((user.session / "metadata.json").read_text("utf-8"))["completed_at"]
    (user.work / "docs/decisions").unlink()
    assert user.council("decision").code == 0
    assert filed(user) == ["adr-0001-q.md"]


def test_writers_at_once_take_numbers_of_their_own(user):
    sessions = [held(user, topic=f"Question {number}?").name for number in range(6)]
    for path in (user.work / "docs/decisions").iterdir():
        path.unlink()
    env = {**user.environment, "PYTHONPATH": str(CODE)}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, "decision", one], cwd=user.work, env=env, stdout=subprocess.PIPE
        )
        for one in sessions
    ]
    assert [child.communicate(timeout=60) and child.returncode for child in running] == [0] * len(sessions)
    numbers = [name[:8] for name in filed(user)]
    assert numbers == [f"adr-{number:04}" for number in range(1, len(sessions) + 1)]
