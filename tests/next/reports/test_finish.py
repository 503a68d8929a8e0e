"""A debate that is over: its facts, one copy in the archive, and what a list and a check say of it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from council.next.errors import Damaged
from council.next.record import files, lock
from council.next.record.session import Session
from council.next.reports import listing
from council.next.reports.build import build
from council.next.reports.finish import finish
from council.next.reports.state import totals
from council.next.reports.verify import verify
from council.next.runner.budget import Budget
from tests.next.protocols.held import signs
from tests.next.record.sessions import ID, receipt
from tests.next.reports import goldens
from tests.next.reports.debates import begin, contents, held, hold, real

MEMBERS = ["architect", "designer", "engineer", "researcher"]


def finished(session: Session, archive: Path) -> dict[str, Any]:
    with session.hold():
        finish(session, archive.parent)
    return session.metadata


# ---- the end ----


def test_a_debate_is_completed_and_archived_once(tmp_path: Path) -> None:
    session = real(tmp_path / "home", "jobs")
    archive = tmp_path / "RESEARCH"
    metadata = finished(session, archive)
    (copy,) = archive.rglob("*.md")
    day = metadata["completed_at"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", day)
    stamp = f"{day[:10]}-{day[11:19].replace(':', '')}"
    assert copy == archive / stamp[:7] / f"{stamp}_COUNCIL_where-do-our-background-jobs-live.md"
    assert copy.read_bytes() == (session.folder / "transcript.md").read_bytes()
    assert metadata["archived_to"] == str(copy)
    assert (metadata["rounds_completed"], metadata["calls"], metadata["usd"]) == (3, 0, 0.0)
    again = finished(Session(session.folder), archive)
    assert again == metadata
    assert [*archive.rglob("*.md")] == [copy]


def test_a_copy_that_a_kill_left_is_taken_and_another_debates_is_not(tmp_path: Path) -> None:
    archive = tmp_path / "RESEARCH"
    session = real(tmp_path / "home", "jobs")
    with session.hold():
        session.merge_metadata(completed_at="2026-11-18T13:00:00Z")
    first = finished(session, archive)
    path = session.folder / "metadata.json"  # as a kill leaves it between the copy and the note of it
    path.write_text(json.dumps({key: one for key, one in first.items() if key != "archived_to"}), "utf-8")
    assert finished(Session(session.folder), archive) == first
    other = real(tmp_path / "home", "jobs", "second")
    with other.hold():
        other.merge_metadata(completed_at="2026-11-18T13:00:00Z")
    assert finished(other, archive)["archived_to"].endswith("-second.md")
    assert len([*archive.rglob("*.md")]) == 2


def test_a_time_that_is_a_path_leads_to_no_other_folder(tmp_path: Path) -> None:
    archive = tmp_path / "a/b/c/RESEARCH"
    session = real(tmp_path / "home", "jobs")
    with session.hold():
        session.merge_metadata(completed_at="../../../x/../../y")
    assert Path(finished(session, archive)["archived_to"]).is_relative_to(archive)
    assert ".." not in session.metadata["archived_to"]


def test_a_debate_that_goes_on_is_built_and_not_archived(tmp_path: Path) -> None:
    session = begin(tmp_path / "home", "Debate", MEMBERS)
    hold(session, held(session), most=5)
    metadata = finished(session, tmp_path / "RESEARCH")
    assert not {"completed_at", "archived_to", "rounds_completed"} & {*metadata}
    assert not (tmp_path / "RESEARCH").exists()
    assert "none yet" in (session.folder / "transcript.md").read_text("utf-8")


def test_letters_of_every_script_stay_in_the_name_of_a_copy(tmp_path: Path) -> None:
    session = begin(tmp_path / "home", "Debate", MEMBERS, "会议重命名: Größe?\n")
    hold(session, held(session, challenges={"all": signs("R1")}))
    assert "_COUNCIL_会议重命名-grosse.md" in finished(session, tmp_path)["archived_to"]


def test_calls_that_gave_no_turn_count_and_an_unknown_price_stays_unknown(tmp_path: Path) -> None:
    session = begin(tmp_path, "Debate", MEMBERS)
    speak = held(session)
    with session.hold():
        one, other = session.plan.due[:2]
        failed = session.begin_attempt(one.id)
        session.end_attempt(failed, usd=0.5)
        session.begin_attempt(one.id)  # its reply was recorded, and a kill came before its end was
        more = {"usd": 0.25, "input": 7, "output": 5, "attempts": 2}
        session.record(replace(receipt(one, **more), speaker="api"), speak(one).body.encode())
        session.advance()
        assert totals(session) == {"calls": 2, "tokens": 12, "usd": 0.75}
        session.begin_attempt(other.id)  # killed: nobody knows what it cost
        assert totals(session) == {"calls": 3, "tokens": 12, "usd": None}


def test_a_failed_call_is_not_forgotten_where_somebody_then_answered_by_hand(tmp_path: Path) -> None:
    session = begin(tmp_path, "Debate", MEMBERS)
    speak = held(session)
    with session.hold():
        one = session.plan.due[0]
        session.end_attempt(session.begin_attempt(one.id), usd=0.5)
        session.record(replace(receipt(one, usd=0.0), speaker="assistant"), speak(one).body.encode())
        session.advance()
        assert totals(session) == {"calls": 2, "tokens": 0, "usd": 0.5}
    assert Budget.of(session).spent == 0.5


# ---- derived files ----


@pytest.mark.parametrize("name", goldens.SESSIONS)
def test_derived_files_are_made_again_byte_for_byte(name: str, tmp_path: Path) -> None:
    session = goldens.SESSIONS[name](tmp_path)
    build(session)
    before = contents(session.folder)
    for file in before:
        (session.folder / file).unlink()
    code = (
        "import sys; from pathlib import Path; from council.next.record.session import Session; "
        "from council.next.reports.build import build; build(Session(Path(sys.argv[1])))"
    )
    env = {"PYTHONHASHSEED": "77", "PYTHONPATH": ".", "TZ": "Pacific/Apia", "LANG": "C"}
    subprocess.run([sys.executable, "-c", code, str(session.folder)], env=env, check=True)
    assert contents(session.folder) == before
    rounds = [one for one in before if one.startswith("round-")]
    assert len(rounds) == session.outcome.rounds


def test_files_that_no_longer_follow_are_removed(tmp_path: Path) -> None:
    session = begin(tmp_path, "Debate", MEMBERS)
    hold(session, held(session), most=4)
    for stray in ("round-9.md", "synthesis.md", "round-x.md", "notes.md"):
        (session.folder / stray).write_text("old")
    build(session)
    left = {path.name for path in session.folder.glob("*.md")}
    assert left == {"round-1.md", "round-x.md", "notes.md", "topic.md", "workflow.md", "transcript.md"}


@pytest.mark.parametrize("inside", [False, True])
def test_no_file_is_removed_behind_a_link_that_a_session_brought(inside: bool, tmp_path: Path) -> None:
    """state.json names what was derived before. In a session from elsewhere, it may name anything."""
    session = hold(begin(tmp_path, "Debate", MEMBERS), held(begin(tmp_path, "Debate", MEMBERS, id="b")), most=4)
    build(session)
    mine = session.folder / "turns/01-positions" if inside else tmp_path / "mine"
    mine.mkdir(exist_ok=True)
    (mine / "engineer.md").touch()
    (session.folder / "docs").symlink_to(mine.parent)
    state = json.loads((session.folder / "state.json").read_text("utf-8"))
    state["files"] = [f"docs/{mine.name}/engineer.md"]
    (session.folder / "state.json").write_text(json.dumps(state))
    with pytest.raises(Damaged, match=r"docs/.*link"):
        build(session)
    assert (mine / "engineer.md").exists()


# ---- verify ----


def test_a_whole_record_is_sound_and_says_what_is_proven(tmp_path: Path) -> None:
    session = real(tmp_path, "jobs")
    report = verify(session)
    assert (report.problems, report.turns) == ((), len(session.said))
    assert "Without a head that you noted, this cannot find" in " ".join(report.sentences)
    noted = verify(Session(session.folder), report.head.upper() + "\n")
    assert not noted.problems
    assert f"up to the turn number {len(session.said)}." in " ".join(noted.sentences)
    middle = session.heads[1]
    assert "up to the turn number 4." in " ".join(verify(session, middle).sentences)
    assert "17 turns are not covered by that head yet." in " ".join(verify(session, middle).sentences)


def test_what_was_changed_is_named(tmp_path: Path) -> None:
    session = real(tmp_path, "jobs")
    head = session.head
    path = session.folder / "turns/01-positions/engineer.md"
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"idempotency", b"IDEMPOTENCY", 1) if b"idempotency" in whole else whole + b"x")
    report = verify(Session(session.folder))
    assert "turns/02-challenges/" in report.problems[0]
    assert verify(Session(session.folder), head).problems
    path.write_bytes(b"torn")
    report = verify(Session(session.folder), head)
    assert report.head == ""
    assert str(path) in report.problems[0]
    path.write_bytes(whole)
    stray = session.folder / "turns/09-later/engineer.md"
    stray.parent.mkdir()
    stray.write_bytes(whole.replace(b"01-positions/engineer", b"09-later/engineer"))
    assert "turns/09-later/engineer.md" in verify(Session(session.folder), head).problems[0]


def test_a_brief_that_was_changed_is_named(tmp_path: Path) -> None:
    session = begin(tmp_path, "Debate", MEMBERS)
    speak = held(session)
    with session.hold():
        for due in session.plan.due:
            sha = session.write_brief(due.id, "shared\n", f"own of {due.seat.name}\n")
            session.record(receipt(due, brief=sha), speak(due).body.encode())
        session.advance()
    assert not verify(session).problems
    (session.folder / "briefs/01-positions/designer.md").write_text("another question\n")
    (problem,) = verify(Session(session.folder), session.head).problems
    assert "designer.md: this is not the brief that was answered" in problem


# ---- lists ----


def test_a_list_says_where_each_session_is(tmp_path: Path) -> None:
    over = real(tmp_path, "jobs")
    build(over)
    row = listing.status(over.folder)
    assert (row["session_id"], row["status"], row["kind"], row["usd"]) == (ID, "complete", "agreed on conditions", 0.0)
    assert row["topic"].startswith("Where do our background jobs live?")
    begun = begin(tmp_path, "Debate", MEMBERS, id="begun", gates=["positions"])
    assert listing.status(begun.folder)["status"] == "interrupted"
    hold(begun, held(begun), most=4)
    assert listing.status(begun.folder)["is_stale"]
    build(begun)
    row = listing.status(begun.folder)
    assert (row["status"], row["waits_for"], row["kind"]) == ("waiting", ["01-positions-gate/human"], None)
    with begun.hold():
        assert listing.status(begun.folder)["status"] == "running"
    (begun.folder / "state.json").write_text("[")
    assert (listing.status(begun.folder)["status"], listing.status(begun.folder)["problem"]) == ("interrupted", None)
    assert [row["session_id"] for row in listing.rows(tmp_path)] == [ID, "begun"]
    assert [row["session_id"] for row in listing.rows(tmp_path, newest=1)] == ["begun"]


def test_a_list_sees_that_a_turn_was_edited_and_that_a_copy_is_none(tmp_path: Path) -> None:
    whole = real(tmp_path, "jobs")
    build(whole)
    first, last = (whole.folder / f"turns/{id}.md" for id in (whole.plan.batches[0][0], whole.plan.batches[-1][-1]))
    later = whole.folder.joinpath("state.json").stat().st_mtime + 60
    for path in (first, last):
        data = path.read_bytes()
        os.utime(path, (later, later))
        assert listing.status(whole.folder)["kind"] == "agreed on conditions", "a copy"
        path.write_bytes(data[:-2] + b"." + data[-1:])
        os.utime(path, (later, later))
        row = listing.status(whole.folder)
        assert (row["kind"], row["status"] == "damaged", row["is_stale"]) == (None, path is first, path is last)
        assert path is last or row["problem"].startswith("turns/02-challenges/")
        path.write_bytes(data)
    assert [row["status"] for row in listing.rows(tmp_path)] == ["complete"]


@pytest.mark.parametrize(
    "damage", ["", "[]", '{"topic": [1]}', '{"session_id": "begun", "topic": 3, "started_at": "x"}', "{" * 99_999]
)
def test_a_damaged_session_is_listed_as_damaged(damage: str, tmp_path: Path) -> None:
    session = begin(tmp_path, "Debate", MEMBERS, id="begun")
    (session.folder / "metadata.json").write_text(damage)
    (row,) = listing.rows(tmp_path)
    assert (row["session_id"], row["status"]) == ("begun", "damaged")
    assert "metadata.json" in row["problem"]


FITS = {"schema": 1, "debate_id": "begun", "outcome": {}, "totals": {}, "waits_for": [], "turns_of": 0}


@pytest.mark.parametrize(
    "state",
    [
        *(FITS, {}, None, {**FITS, "outcome": 3}, {**FITS, "totals": {"usd": "x"}}, {**FITS, "totals": {"calls": [1]}}),
        *({**FITS, "waits_for": one} for one in (5, "all", {"a": 1}, [1])),
        *({**FITS, "outcome": {name: {"a": 1}}} for name in ("kind", "standing")),
    ],
)
def test_a_state_of_other_values_stops_no_list(state: Any, tmp_path: Path) -> None:
    session = begin(tmp_path, "Debate", MEMBERS, id="begun")
    (session.folder / "state.json").write_text(json.dumps(state))
    (row,) = listing.rows(tmp_path)
    assert (row["status"], row["kind"], row["usd"], row["waits_for"]) == ("interrupted", None, None, [])


def test_a_process_that_died_does_not_run(tmp_path: Path) -> None:
    session = begin(tmp_path, "Debate", MEMBERS, id="begun")
    code = (
        "import sys, time; from pathlib import Path; from council.next.record.session import Session\n"
        "with Session(Path(sys.argv[1])).hold(): print('held', flush=True); time.sleep(60)"
    )
    child = subprocess.Popen([sys.executable, "-c", code, str(session.folder)], stdout=subprocess.PIPE)
    assert child.stdout
    assert child.stdout.readline() == b"held\n"
    assert listing.status(session.folder)["status"] == "running"
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    child.stdout.close()
    assert (session.folder / lock.NOTE).exists()
    assert listing.status(session.folder)["status"] == "interrupted"


def test_five_hundred_sessions_are_listed_without_planning_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = real(tmp_path / "one", "jobs")
    build(whole)
    for number in range(500):
        folder = tmp_path / f"many/s{number:03}"
        folder.mkdir(parents=True)
        for name in ("metadata.json", "state.json"):
            text = (whole.folder / name).read_text("utf-8").replace(ID, folder.name)
            (folder / name).write_text(text, "utf-8")
        (folder / "program.json").write_text("{}")
        (folder / "turns").symlink_to(whole.folder / "turns")
    reads: list[Path] = []
    read = files.read
    monkeypatch.setattr(files, "read", lambda path, *more: reads.append(path) or read(path, *more))
    began = time.process_time()
    rows = listing.rows(tmp_path / "many")
    spent = time.process_time() - began
    assert [row["status"] for row in rows] == ["complete"] * 500
    assert sorted({path.name for path in reads}) == ["metadata.json", "state.json"]
    assert len(reads) == 1000
    print(f"{spent:.3f} s for 500 sessions")
