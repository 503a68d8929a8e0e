"""Files in a session's folder that an editor, a stranger or council itself wrote."""

from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path
from typing import Any

import pytest

from council.next.record.session import Session
from tests.helpers import picture
from tests.next.cli.users import User
from tests.next.protocols.held import KIT
from tests.next.record.sessions import contents

Q = "Redis or PostgreSQL?"
LOOKS = (("list",), ("status", "ours"), ("show", "ours"), ("show", "ours", "--html"), ("verify", "ours"))


def edit(session: Path, name: str, **facts: Any) -> None:
    path = session / name
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **facts}), "utf-8")


def modes(folder: Path) -> set[int]:
    return {stat.S_IMODE(path.lstat().st_mode) for path in folder.rglob("*")}


def test_every_file_is_the_users_alone_whatever_the_umask(user: User, agreed: Path) -> None:
    before = os.umask(0)
    try:
        assert user.replay(agreed, "--id", "ours", "--gate", "positions", Q).code == 8
        assert user.council("answer", "--answer", "gate=approve").code == 0
        assert user.council("recover", "--speaker", "replay", "--from", agreed).code == 0
        page = user.work / "page.html"
        assert user.council("show", "ours", "--html", "-o", page).code == 0
        assert user.council("show", "ours", "-o", user.work / "debate.md").code == 0
    finally:
        os.umask(before)
    assert modes(user.home) == {0o600, 0o700}
    assert modes(user.work) == {0o600}


def test_a_session_holds_these_files(user: User, agreed: Path, written: Path) -> None:
    fixed = {"metadata.json", "workflow.md", "topic.md", "program.json", "briefs", "turns", ".lock"}
    derived = {"state.json", "convergence.json", "synthesis.md", "transcript.md", "round-1.md", "round-2.md"}
    assert user.replay(agreed, "--id", "two", Q).code == 0
    two = user.session
    assert {path.name for path in two.iterdir()} == fixed | derived
    assert user.replay(written / "dissent.yaml", "--id", "three", Q).code == 0
    three = two.parent / "three"
    assert {path.name for path in three.iterdir()} == fixed | derived | {"round-3.md"}
    facts = json.loads((three / "metadata.json").read_text())
    assert {"session_id", "topic", "started_at", "members", "output_mode", "rounds_planned"} <= {*facts}
    assert {"completed_at", "rounds_completed", "archived_to", "usd"} <= {*facts}
    found = json.loads((three / "convergence.json").read_text())
    assert (found["converged"], found["proceed_to_round3"]) == (False, True)
    assert found["reason"]


def test_metadata_is_merged_and_never_overwritten(user: User, agreed: Path) -> None:
    assert user.council("start", "--id", "ours", Q).code == 0
    edit(user.session, "metadata.json", mine={"a": [1]})
    assert user.council("recover", "ours", "--speaker", "replay", "--from", agreed).code == 0
    facts = json.loads((user.session / "metadata.json").read_text())
    assert (facts["mine"], facts["rounds_completed"]) == ({"a": [1]}, 2)


@pytest.mark.parametrize("value", [5, None, "x", [], {}, [{"a": 1}], ["../../x"], True, 10**30, "\x1b[2J"], ids=str)
@pytest.mark.parametrize("key", ["members", "started_at", "output_mode", "rounds_planned", "workflow", "topic"])
def test_facts_of_other_types_are_an_error_at_most(user: User, key: str, value: Any) -> None:
    """Nothing was said yet, so every hash is right."""
    assert user.council("start", "--id", "ours", Q).code == 0
    edit(user.session, "metadata.json", **{key: value})
    before = picture(user.session)
    for words in LOOKS:
        ended = user.council(*words)
        assert ended.code in (0, 1, 5), ended
        assert "--debug" not in ended.err
        assert "\x1b" not in ended.text
    assert picture(user.session) == before


@pytest.mark.parametrize("value", ["~nosuchuser/x", "a\0b", 5, None, [1], "/nowhere/at/all.md", "\x1b[2J"], ids=repr)
def test_an_archive_path_that_leads_nowhere_is_no_crash(user: User, agreed: Path, value: Any) -> None:
    assert user.replay(agreed, "--id", "ours", Q).code == 0
    edit(user.session, "metadata.json", archived_to=value)
    for words in (*LOOKS, ("recover", "ours"), ("build", "ours"), ("archive", "ours")):
        ended = user.council(*words)
        assert (ended.code, "--debug" in ended.err, "\x1b" in ended.text) == (0, False, False), ended


def test_what_is_not_over_is_not_archived(user: User) -> None:
    assert user.council("start", "--id", "ours", Q).code == 0
    ended = user.council("archive", "ours")
    assert (ended.code, "is not over" in ended.err) == (2, True)
    assert not [*user.home.glob("RESEARCH/*/*")]


@pytest.mark.parametrize("data", [b"caf\xe9", b"\xff\xfe", "\ud800".encode("utf-8", "surrogatepass")])
def test_a_reply_that_is_no_text_is_refused(user: User, data: bytes) -> None:
    assert user.council("start", "--id", "ours", Q).code == 0
    before = contents(user.session)
    for words in (("--file", user.write("reply.md", data)), ()):
        ended = user.council("record", "ours", "01-positions/engineer", *words, stdin=data)
        assert (ended.code, "is not UTF-8" in ended.err) == (2, True)
    assert contents(user.session) == before


@pytest.mark.parametrize("change", [lambda text: "\ufeff" + text, lambda text: text.replace("\n", "\r\n")])
def test_a_filed_document_that_an_editor_saved_is_still_known(user: User, agreed: Path, change: Any) -> None:
    assert user.replay(agreed, "--id", "ours", Q).code == 0
    assert user.council("decision", "ours", "--to", "adr").code == 0
    (filed,) = (user.work / "adr").iterdir()
    saved = change(filed.read_text("utf-8"))
    filed.write_bytes(saved.encode())
    assert user.council("decision", "ours", "--to", "adr").code == 0
    assert [*(user.work / "adr").iterdir()] == [filed], "there is no second one"
    assert filed.read_bytes() == saved.encode(), "and what somebody saved stays"


# ---- the frozen program ----


def write_own(user: User) -> Path:
    """A project with a workflow and templates of its own."""
    folder = user.work / ".council"
    for name in ("Workflows", "templates"):
        (folder / name).mkdir(parents=True)
    text = (KIT / "Debate.md").read_text("utf-8").replace("name: debate", "name: ours", 1)
    (folder / "Workflows" / "Ours.md").write_text(text, "utf-8")
    for name in ("positions", "challenges"):
        kit = (KIT.parent / "templates" / f"{name}.md.j2").read_text("utf-8")
        (folder / "templates" / f"{name}.md.j2").write_text(f"Our own words.\n{kit}", "utf-8")
    return folder


@pytest.mark.parametrize("act", ["", "edited", "broken", "gone"])
def test_a_session_is_finished_by_the_program_that_it_began_with(user: User, agreed: Path, act: str) -> None:
    """Whatever becomes of the workflow and its templates."""
    own = write_own(user)
    assert user.council("start", "--id", "ours", "-w", "ours", "--overlays", Q).code == 0
    for path in own.rglob("*.*"):
        if act == "edited":
            path.write_text(path.read_text("utf-8").replace("Our own words", "Other words"), "utf-8")
        elif act == "broken":
            path.write_text("{% for x in %}")
    if act == "gone":
        shutil.rmtree(own)
    done = user.council("recover", "ours", "--speaker", "replay", "--from", agreed)
    assert done.code == 0, done.err
    brief = Session(user.session).brief("02-challenges/engineer").decode()
    assert "Our own words" in brief
    assert "Other words" not in brief
    assert user.council("verify", "ours").code == 0


def test_a_replay_takes_the_program_of_its_source(user: User, agreed: Path) -> None:
    own = write_own(user)
    words = ("run", "--id", "first", "-w", "ours", "--overlays", "--speaker", "replay", "--from", agreed, Q)
    assert user.council(*words).code == 0
    shutil.rmtree(own)
    again = user.council("run", "--id", "second", "--speaker", "replay", "--from", "first")
    assert again.code == 0, again.err
    first, second = (Session(user.sessions[0].parent / id) for id in ("first", "second"))
    assert second.program["templates"] == first.program["templates"]
    assert {id: said.body for id, said in second.said.items()} == {id: said.body for id, said in first.said.items()}


# ---- strangers ----


def test_a_strangers_session_in_a_project_is_never_picked_by_chance(user: User, agreed: Path, tmp_path: Path) -> None:
    """It is found by its whole id alone, and is listed apart from one's own."""
    stranger = User(tmp_path / "stranger")
    assert stranger.replay(agreed, "--id", "20260101-120000-deadbeef", "--gate", "positions", Q).code == 8
    (user.work / ".git").mkdir()
    place = user.work / ".council" / "sessions"
    shutil.copytree(stranger.session.parent, place)
    for words in (("answer", "--answer", "gate=approve"), ("recover",), ("show",), ("status",), ("status", "deadbeef")):
        ended = user.council(*words, CI="")
        assert ended.code == 2, ended
    assert [row["in_project"] for row in user.council("list", "--json", "--all").json] == [True]
    whole = user.council("status", "20260101-120000-deadbeef")
    assert whole.code == 0
    assert user.council("verify", "20260101-120000-deadbeef").code == 0
    assert user.replay(agreed, "--id", "mine", "--gate", "positions", Q).code == 8
    assert user.council("answer", "--answer", "gate=approve").code == 0
    assert (user.session / "turns" / "01-positions-gate" / "human.md").exists()
    assert not (place / "20260101-120000-deadbeef" / "turns" / "01-positions-gate").exists()


def test_a_session_of_another_schema_is_refused_with_the_path_of_its_transcript(user: User, agreed: Path) -> None:
    assert user.replay(agreed, "--id", "ours", Q).code == 0
    edit(user.session, "program.json", schema=2)
    before = picture(user.session)
    sentence = f"ours was written by another version of council; read {user.session / 'transcript.md'}"
    for words in (
        ("show",),
        ("recover",),
        ("next",),
        ("build",),
        ("archive",),
        ("decision",),
        ("run", "--from", "ours", Q),
    ):
        ended = user.council(*words)
        assert (ended.code, sentence in ended.err) == (2, True), ended
    assert sentence in user.council("verify").out
    assert user.council("list").code == 0
    assert picture(user.session) == before
