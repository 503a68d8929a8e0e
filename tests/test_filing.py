"""The document that a debate ends in: derived in the session, filed once, and from then on the project's own."""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from council.config import overlays
from council.errors import UsageError
from council.record import chain
from council.record import session as session_
from council.record.metadata import read_metadata, seal
from council.replies.parse import format_heading
from council.reports import front_matter, numbering, produce, totals, transcript
from council.speakers.local import download
from council.workflow import declare
from council.workflow.loader import load
from tests.debates import bare
from tests.fakeapi import Answer, FakeApi
from tests.helpers import Table, User, derived_of, script

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


def unsigned(text: str) -> str:
    """A filed document without the hash of itself."""
    assert front_matter.is_as_written(text)
    return re.sub(r'^written_sha256: "\w+"\n', "", text, flags=re.M)


def filed(user: User) -> list[str]:
    folder = user.work / "docs" / "decisions"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_an_adr_takes_the_next_free_number(user):
    others = ("adr-0003-older.md", "ADR-0041-newest.md", "0007-x.md", "2026-11-18-not-one.md", "adr-none.md")
    for name in others:
        user.write(f"docs/decisions/{name}", "x")
    session = held(user)
    assert "ADR-0042-shall-we-go.md" in filed(user)
    text = (user.work / "docs/decisions/ADR-0042-shall-we-go.md").read_text("utf-8")
    assert bare(text).startswith("# ADR-0042: Shall we go?")
    assert unsigned(text) == (session / "decision.md").read_text("utf-8").replace("ADR-NNNN", "ADR-0042", 1)
    held(user, topic="And how?")
    assert "ADR-0043-and-how.md" in filed(user)


@pytest.mark.parametrize(
    ("there", "name"),
    [
        ((), "adr-0001-x"),
        (("0001-a.md", "0007-b.md"), "0008-x"),
        (("ADR-0042-a.md", "0007-b.md"), "ADR-0043-x"),
        (("adr-003-a.md", "adr-0002-b.md"), "adr-004-x"),
        (("adr_0099_a.md",), "adr_0100_x"),
        (("ADR 12 a.md",), "ADR 13 x"),
        (("ADR0009.md",), "ADR0010-x"),
        (("009.a.md",), "010.x"),
        (("2026-11-18-a.md", "404-page.md", "adr-none.md", "adr-7th.md"), "adr-0001-x"),
        (("adr-9999-a.md",), "adr-10000-x"),
    ],
)
def test_the_next_name_follows_the_style_of_the_newest(there, name):
    assert numbering.next_name(there, "x") == name
    assert numbering.read_number(name) == max((numbering.read_number(one) or 0 for one in there), default=0) + 1


@pytest.mark.parametrize(
    ("topic", "title", "stem"),
    [
        ("Shall we go?\n\nContext: none.", "Shall we go?", "shall-we-go"),
        ("## We go.\n", "We go", "we-go"),
        (f"We go. {'And so on ' * 20}", "We go", "we-go"),
        (f"At 3.5 ms. {'And so on ' * 20}", "At 3.5 ms", "at-3-5-ms"),
        ("word " * 40, f"{'word ' * 20}".rstrip() + "…", "word-word-word-word-word-word-word-word-word-word"),
        ("wörd" * 40, "wörd" * 25 + "…", ("word" * 13)[:50]),
        ("数据", "数据", ""),
        ("...", "…", ""),
    ],
)
def test_a_title_is_a_line_or_a_sentence_and_a_name_is_cut_between_words(topic, title, stem):
    assert (numbering.find_title(topic), numbering.shorten(topic)) == (title, stem)


def test_another_kind_is_shown_with_its_place_and_filed_beside_the_first(user):
    session = held(user)
    shown = user.council("decision", session.name, "--as", "decision", "--dry-run")
    assert (shown.code, filed(user)) == (0, ["adr-0001-shall-we-go.md"]), shown.err
    (place,) = re.findall(r"^# (.+/docs/decisions/\d{4}-\d\d-\d\d-shall-we-go\.md)$", shown.err, re.M)
    assert user.council("decision", session.name, "--as", "decision").out == f"{place}\n"
    assert Path(place).read_text("utf-8") == shown.out.removesuffix("\n")
    assert len(filed(user)) == 2
    refused = user.council("decision", session.name, "--as", "ard")
    assert (refused.code, '"ard" is not a kind of document; did you mean "adr"?' in refused.err) == (2, True)


def test_what_is_put_to_a_seat_is_no_kind_of_document():
    with pytest.raises(UsageError, match=r'"propose" is not a kind .+ known: adr, decision, madr, plan, spec$'):
        produce.check_kind("propose", load(*overlays.workflow_text("consensus")))


@pytest.mark.parametrize("kind", ["adr", "madr", "spec", "plan"])
def test_no_kind_of_record_loses_a_part(kind, user):
    raw = {part: f"The {part} of it." for part in declare.document.known[kind].parts if part != "confidence"}
    said = "We go.\n\n" + "\n\n".join(f"### {format_heading(part)}\n\n{text}" for part, text in raw.items())
    script(user, {**WORDS, "02-synthesis/chair": f"## Overview\n\n{said}"})
    user.write(
        ".council/Workflows/Small.md",
        WORKFLOW.format(kind=kind).replace("chair}\n---", "chair, reply: {overview: text}}\n---"),
    )
    replay = ("--speaker", "replay", "--from", user.work / "script.yaml")
    assert user.council("run", "-w", "small", "Q?", *replay).code == 0
    (session,) = user.sessions
    made = user.council("decision", session.name, "--as", kind, "--dry-run")
    assert made.code == 0, made.err
    assert [text for text in raw.values() if made.out.count(text) != 1] == []


@pytest.mark.parametrize("change", [lambda data: data.replace(b"\n", b"\r\n"), lambda data: b"\xef\xbb\xbf" + data])
def test_a_document_that_an_editor_saved_in_its_own_way_is_still_the_debates(change, user):
    session = held(user)
    path = user.work / "docs/decisions/adr-0001-shall-we-go.md"
    path.write_bytes(saved := change(path.read_bytes()))
    again = user.council("decision", session.name)
    assert (again.code, "somebody has changed it" in again.err) == (0, True)
    assert (filed(user), path.read_bytes()) == ([path.name], saved)


def test_an_adr_comes_from_a_debate_that_ends_in_none(user):
    session = held(user, "none")
    refused = user.council("decision", session.name)
    assert (refused.code, "`--as adr` makes one" in refused.err, filed(user)) == (2, True, [])
    assert user.council("decision", session.name, "--as", "adr").code == 0
    assert filed(user) == ["adr-0001-shall-we-go.md"]


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
    for name in ("huge.md", "other.record/README.md"):
        os.truncate(user.write(f"docs/decisions/{name}", ""), 10**13)
    session = held(user)
    assert filed(user) == ["adr-0001-shall-we-go.md", "huge.md", "other.record"]
    os.truncate(user.write("docs/decisions/adr-0001-shall-we-go.record/topic.md", ""), 10**13)
    refused = user.council("decision", session.name, "--with-record")
    assert (refused.code, "holds something else; move it away first" in refused.err) == (6, True), refused.text


def test_a_link_in_place_of_an_unfinished_record_leads_nowhere(user, tmp_path):
    """Anybody who has read a filed document knows the session, and with it the name of what a killed process leaves."""
    session = held(user)
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "turns").mkdir(parents=True)
    (elsewhere / "README.md").write_text("mine", "utf-8")
    folder = user.work / "docs" / "decisions"
    (folder / f".{session.name}.folder").symlink_to(elsewhere)
    assert user.council("decision", session.name, "--with-record").code == 0
    record = folder / "adr-0001-shall-we-go.record"
    assert ((record / "README.md").is_file(), record.is_symlink()) == (True, False)
    assert sorted(path.name for path in elsewhere.rglob("*")) == ["README.md", "turns"]
    assert (elsewhere / "README.md").read_text("utf-8") == "mine"


def test_a_topic_of_several_lines_gives_a_title_of_its_first(user):
    session = held(user, topic="# Add an endpoint\n\nContext: three services.\n- out by May")
    assert filed(user) == ["adr-0001-add-an-endpoint.md"]
    assert "\n# ADR-NNNN: Add an endpoint\n" in (session / "decision.md").read_text("utf-8")


# ---- filed again, and with its record ----


def test_the_record_is_filed_beside_it_and_every_link_leads_to_a_turn(user):
    session = held(user)
    folder = user.work / "docs" / "decisions"
    path, record = folder / "adr-0001-shall-we-go.md", folder / "adr-0001-shall-we-go.record"
    assert "](" not in path.read_text("utf-8")
    assert user.council("decision", session.name, "--with-record").code == 0
    text = path.read_text("utf-8")
    links = re.findall(r"\[([^]]*)\]\(([^)]*)\)", text)
    assert ("Chair, synthesis", "adr-0001-shall-we-go.record/turns/02-synthesis/chair.md") in links
    assert all((folder / target).is_file() for _, target in links)
    names = sorted(one.relative_to(record).as_posix() for one in record.rglob("*.md"))
    assert names == [
        *("README.md", "synthesis.md", "topic.md", "transcript.md"),
        *(f"turns/{turn}.md" for turn in ("01-positions/engineer", "01-positions/writer", "02-synthesis/chair")),
        "workflow.md",
    ]
    for name in names[2:]:
        assert (record / name).read_bytes() == (session / name).read_bytes()
    seed = read_metadata(session)["seed"]
    assert all(seed not in one.read_text("utf-8") for one in record.rglob("*.md"))
    assert user.council("decision", session.name).code == 0
    assert path.read_text("utf-8") == text


def test_a_record_whose_document_was_never_written_gets_it(user):
    """As a process leaves it that is killed between the two."""
    session = held(user)
    folder = user.work / "docs" / "decisions"
    assert user.council("decision", session.name, "--with-record").code == 0
    text = (folder / "adr-0001-shall-we-go.md").read_text("utf-8")
    (folder / "adr-0001-shall-we-go.md").unlink()
    assert user.council("decision", session.name, "--with-record").code == 0
    assert filed(user) == ["adr-0001-shall-we-go.md", "adr-0001-shall-we-go.record"]
    assert (folder / "adr-0001-shall-we-go.md").read_text("utf-8") == text


def test_another_record_in_its_place_is_refused_and_stays(user):
    session = held(user)
    user.write("docs/decisions/adr-0001-shall-we-go.record/topic.md", "theirs")
    path = user.work / "docs/decisions/adr-0001-shall-we-go.md"
    before = path.read_bytes()
    refused = user.council("decision", session.name, "--with-record")
    assert (refused.code, "holds something else; move it away first" in refused.err) == (6, True), refused.text
    assert filed(user) == ["adr-0001-shall-we-go.md", "adr-0001-shall-we-go.record"]
    assert path.read_bytes() == before


def test_a_document_that_somebody_changed_is_never_written_again(user):
    session = held(user)
    path = user.work / "docs/decisions/adr-0001-shall-we-go.md"
    path.write_text(path.read_text("utf-8").replace("We go.", "We went."), "utf-8")
    before = path.read_bytes()
    kept = user.council("decision", session.name, "--with-record")
    assert (kept.code, "somebody has changed it, so it stays; --new" in kept.err) == (0, True)
    assert path.read_bytes() == before
    assert user.council("decision", session.name, "--new").out.endswith("adr-0002-shall-we-go.md\n")
    assert path.read_bytes() == before


# ---- how it came about ----


def test_the_front_matter_says_how_it_came_about_and_a_replay_is_marked(user):
    session = held(user)
    text = (session / "decision.md").read_text("utf-8")
    matter = yaml.safe_load(text.split("---\n")[1])
    found = session_.open_(session)
    found.read_turns()
    assert matter == {
        "date": f"{totals.ended_at(found):%Y-%m-%d}", "kind": "adr", "session": session.name, "head": chain.head(found),
        "workflow": "small", "outcome": "answered", "models": [], "calls": 3, "cost_usd": 0.0,
        "replay_of": "script.yaml",
    }  # fmt: skip
    notes = text.partition("\n# ADR-NNNN: Shall we go?\n\n")[2].partition("\n\n**Status:** ")[0].split("\n>\n")
    assert notes == [
        "> **Overlays:** project (Workflows/Small.md): files that were used in place of council's own",
        "> **Replay of:** script.yaml (recorded replies, not a new debate)",
    ]


def test_who_was_absent_and_what_is_not_known_is_said(user):
    words = {**WORDS, "01-positions/writer": "absent: ill"}
    user.env["ANTHROPIC_API_KEY"] = "sk-ant-of-the-tests"
    user.write(".council/Workflows/Small.md", WORKFLOW.format(kind="adr"))
    with FakeApi(Table(user, words, {"01-positions/writer": [Answer("", stop="refusal")]})) as api:
        user.configure(f"endpoints: {{anthropic: {{base_url: {api.url}}}}}\nretry: {{budget: 0}}")
        ended = user.council("run", "-w", "small", "Shall we go?", "--speaker", "anthropic")
    assert (ended.code, "only 1 of 2 members were heard" in ended.err) == (3, True), ended.err
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
    text = produce.derive(transcript.compose(found, plan), found, plan)["decision.md"]
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
    assert (refused.code, '"ard" is not a kind of document; did you mean "adr"?' in refused.err) == (2, True)
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
    running = [user.spawn("decision", one) for one in sessions]
    assert [child.communicate(timeout=60) and child.returncode for child in running] == [0] * len(sessions)
    numbers = [name[:8] for name in filed(user)]
    assert numbers == [f"adr-{number:04}" for number in range(1, len(sessions) + 1)]
