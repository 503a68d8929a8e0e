"""The document that a debate ends in: derived in the session, filed once, and from then on the project's own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from council.record import chain
from council.record import session as session_
from council.record.metadata import read_metadata, seal
from council.reports import filing, totals, transcript
from council.speakers.local import download
from tests.debates import bare
from tests.fakeapi import Answer, FakeApi
from tests.helpers import CODE, PROGRAM, Table, User, derived_of, script

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
    others = ("adr-0003-older.md", "ADR-0041-newest.md", "0007-x.md", "2026-11-18-not-one.md", "adr-none.md")
    for name in others:
        user.write(f"docs/decisions/{name}", "x")
    session = held(user)
    assert "adr-0042-shall-we-go.md" in filed(user)
    text = (user.work / "docs/decisions/adr-0042-shall-we-go.md").read_text("utf-8")
    assert bare(text).startswith("# ADR-0042: Shall we go?")
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
    path = user.write("small.md", WORKFLOW.format(kind="adr"))
    user.write(".config/council/Workflows/Small.md", WORKFLOW.format(kind="adr"))
    ended = user.council("run", "-w", path, "Shall we go?", "--speaker", "replay", "--from", user.work / "script.yaml")
    told = f"the debate did not begin in a project; `council decision {user.session.name} --to FOLDER` files it"
    assert (ended.code, told in ended.text) == (0, True), ended.text
    project = User(tmp_path / "elsewhere", env={"COUNCIL_HOME": str(user.home)})
    project.write(".council/README.md", "")
    assert project.council("recover", user.session.name).code == 0
    refused = project.council("decision", user.session.name)
    assert (refused.code, "did not begin in a project; choose a folder with --to" in refused.err) == (2, True)
    assert filed(project) == []
    assert project.council("decision", user.session.name, "--to", "adrs").out.endswith("adrs/adr-0001-shall-we-go.md\n")
    assert [path.name for path in (project.work / "adrs").iterdir()] == ["adr-0001-shall-we-go.md"]


def test_it_goes_to_the_project_in_which_the_debate_began(user, tmp_path):
    user.write(".council/Workflows/Small.md", WORKFLOW.format(kind="adr"))
    assert user.council("start", "-w", "small", "Shall we go?").code == 0
    other = User(tmp_path / "other", env={"COUNCIL_HOME": str(user.home)})
    other.write(".council/README.md", "")
    ended = other.council("recover", "--speaker", "replay", "--from", user.work / "script.yaml")
    assert (ended.code, filed(other)) == (0, []), ended.err
    assert filed(user) == ["adr-0001-shall-we-go.md"]
    assert f"decision: {user.work}/docs/decisions/adr-0001-shall-we-go.md" in ended.text
    assert str(user.work) not in (user.work / "docs/decisions/adr-0001-shall-we-go.md").read_text("utf-8")


@pytest.mark.parametrize("named", ["{0}/other", "{0}/work/../other", "{0}/work/link"])
def test_a_session_that_a_project_brought_writes_into_no_other(named, user):
    """Its metadata name a folder: whoever made the session chose it."""
    user.write(".council/Workflows/Small.md", WORKFLOW.format(kind="adr"))
    other = user.root / "other"
    shutil.copytree(user.work / ".council", other / ".council")
    (user.work / "link").symlink_to(other)
    assert user.council("start", "-w", "small", "--id", "brought", "Shall we?").code == 0
    brought = user.work / ".council" / "sessions" / "brought"
    brought.parent.mkdir()
    user.session.rename(brought)
    facts = {**read_metadata(brought), "project": named.format(user.root)}
    (brought / "metadata.json").write_bytes(seal(facts))
    ended = user.council("recover", "brought", "--speaker", "replay", "--from", user.work / "script.yaml")
    assert (ended.code, filed(user)) == (0, ["adr-0001-shall-we.md"]), ended.err
    assert not (other / "docs").exists()


def test_if_that_project_is_gone_it_says_so_and_files_nothing(user, tmp_path):
    user.write(".council/Workflows/Small.md", WORKFLOW.format(kind="adr"))
    assert user.council("start", "-w", "small", "Shall we go?").code == 0
    gone = user.work.rename(user.work.with_name("moved"))
    other = User(tmp_path / "other", env={"COUNCIL_HOME": str(user.home)})
    other.write(".council/README.md", "")
    ended = other.council("recover", "--speaker", "replay", "--from", gone / "script.yaml")
    told = f"(the project in which the debate began is gone: {user.work}; `council decision {user.session.name} --to"
    assert (ended.code, told in ended.text, filed(other)) == (0, True, []), ended.text
    assert not user.work.exists()
    refused = other.council("decision")
    assert (refused.code, "is gone" in refused.err) == (2, True)


def test_a_folder_that_leads_out_of_the_project_gets_nothing(user, tmp_path):
    """A repository brings its links along; `--to` names a folder outside."""
    (tmp_path / "elsewhere").mkdir()
    (user.work / "docs").symlink_to(tmp_path / "elsewhere")
    session = held(user)
    assert list((tmp_path / "elsewhere").iterdir()) == []
    told = user.council("decision", session.name)
    assert (told.code, "docs/decisions leads out of the project" in told.err) == (2, True), told.text
    assert user.council("decision", session.name, "--to", "docs/decisions").code == 0
    assert filed(user) == ["adr-0001-shall-we-go.md"]


def test_a_huge_file_beside_the_decisions_is_not_read_whole(user):
    huge = user.write("docs/decisions/huge.md", "")
    os.truncate(huge, 10**13)
    assert held(user).is_dir()
    assert filed(user) == ["adr-0001-shall-we-go.md", "huge.md"]


def test_a_topic_of_several_lines_gives_a_title_of_its_first(user):
    session = held(user, topic="# Add an endpoint\n\nContext: three services.\n- out by May")
    assert filed(user) == ["adr-0001-add-an-endpoint.md"]
    assert "\n# ADR-NNNN: Add an endpoint\n" in (session / "decision.md").read_text("utf-8")


# ---- how it came about ----


def test_the_front_matter_says_how_it_came_about_and_a_replay_is_marked(user):
    session = held(user)
    text = (session / "decision.md").read_text("utf-8")
    matter = yaml.safe_load(text.split("---\n")[1])
    found = session_.open_(session)
    found.read_turns()
    assert matter == {
        "date": f"{totals.ended_at(found):%Y-%m-%d}", "session": session.name, "head": chain.head(found),
        "workflow": "small", "outcome": "insufficient", "models": [], "calls": 3, "cost_usd": 0.0,
        "replay_of": "script.yaml",
    }  # fmt: skip
    notes = text.partition("\n# ADR-NNNN: Shall we go?\n\n")[2].partition("\n\n**Status:** ")[0].split("\n>\n")
    assert notes == [
        "> **Overlays:** project (Workflows/Small.md)",
        "> **Replay of:** script.yaml (recorded replies, not a new debate)",
    ]


def test_who_was_absent_and_what_is_not_known_is_said(user):
    words = {**WORDS, "01-positions/writer": "absent: ill"}
    user.env["ANTHROPIC_API_KEY"] = "sk-ant-of-the-tests"
    user.write(".council/Workflows/Small.md", WORKFLOW.format(kind="adr"))
    with FakeApi(Table(user, words, {"01-positions/writer": [Answer("", stop="refusal")]})) as api:
        user.configure(f"endpoints: {{anthropic: {{base_url: {api.url}}}}}\nretry: {{budget: 0}}")
        ended = user.council("run", "-w", "small", "Shall we go?", "--speaker", "anthropic")
    assert ended.code == 0, ended.err
    text = (user.session / "decision.md").read_text("utf-8")
    matter = yaml.safe_load(text.split("---\n")[1])
    assert [name.partition(" (")[0] for name in matter["absent"]] == ["Writer"]
    assert "\n> **Degraded:** absent: Writer (" in text
    assert matter["models"] == ["claude-haiku-5-5", "claude-sonnet-5-5"]
    assert "replay_of" not in matter


def test_a_debate_that_was_finished_by_a_replay_is_marked(user):
    user.write(".council/Workflows/Small.md", WORKFLOW.format(kind="adr"))
    assert user.council("start", "-w", "small", "Shall we go?").code == 0
    assert user.council("record", "last", "01-positions/engineer", stdin="Go.").code == 0
    assert user.council("recover", "--speaker", "replay", "--from", user.work / "script.yaml").code == 0
    text = (user.session / "decision.md").read_text("utf-8")
    assert "\n> **Replayed:** 2 of 3 turns (recorded replies, not spoken in this debate)\n" in text
    assert yaml.safe_load(text.split("---\n")[1])["replayed"] == "2 of 3 turns"


def test_the_embedded_model_is_marked(user):
    found = session_.open_(held(user))
    found.read_turns()
    found.receipts = {
        turn: replace(receipt, speaker="local", answered=download.NAME) for turn, receipt in found.receipts.items()
    }
    plan = found.plan()
    text = filing.derive(transcript.compose(found, plan), found, plan)["decision.md"]
    assert yaml.safe_load(text.split("---\n")[1])["embedded_model"] == [download.NAME]
    assert f"\n> **Model:** {download.SMALL_PRINT}\n" in text


def test_front_matter_of_a_template_stays_and_comes_first(user):
    user.write(
        ".council/templates/documents/adr.md.j2", "---\nstatus: mine\ndate: today\n---\n# {{ title }}\n\nWords.\n"
    )
    text = (held(user) / "decision.md").read_text("utf-8")
    matter = yaml.safe_load(text.split("---\n")[1])
    assert (list(matter)[:2], matter["status"], matter["date"]) == (["status", "date"], "mine", "today")
    assert matter["replay_of"] == "script.yaml"
    assert text.split("---\n")[2].startswith("\n# Shall we go?\n\n> **Overlays:** ")


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
