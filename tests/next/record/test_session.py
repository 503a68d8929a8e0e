"""A session's files: what is kept, what is refused, what counts as damage, and what a head proves."""

from __future__ import annotations

import json
import os
import shutil
import stat
import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from council.next.errors import Busy, CouncilError, Damaged, StorageError, UsageError
from council.next.record import catalog, desk, files, lock, turn_file
from council.next.record import create as births
from council.next.record.session import Session
from council.next.record.turn_file import Receipt
from council.next.text import encode
from tests.next.debates import facts
from tests.next.protocols.held import Held, kit
from tests.next.record.sessions import ID, MEMBERS, born, contents, hold, receipt, speak


@pytest.fixture
def session(tmp_path: Path) -> Session:
    with born(tmp_path):
        pass
    return Session(tmp_path / ID)


@pytest.fixture
def whole(session: Session) -> Session:
    hold(session)
    return Session(session.folder)


# ---- birth ----


def test_a_session_is_born_with_everything_that_is_fixed(session: Session) -> None:
    names = {"workflow.md", "topic.md", "program.json", "metadata.json", ".lock"}
    assert {path.name for path in session.folder.iterdir()} == names | {"attached", "frozen"}
    assert session.topic == "Redis or not?\n"
    assert session.attached == {"docs/spec.md": "# Spec\r\n\r\n"}
    assert session.read_frozen("src/a.py") == b"x = 1\n"
    assert [seat.name for seat in session.workflow.members] == MEMBERS
    assert session.metadata["session_id"] == ID
    assert {stat.S_IMODE(path.stat().st_mode) for path in session.folder.rglob("*")} == {0o600, 0o700}


@pytest.mark.parametrize(
    "name", ["$(touch P).md", '" key="x">', "\x1b[2J", "a\nb.md", "../../etc/passwd", "💥", "a\0b", "x" * 300]
)
def test_a_document_may_have_any_name(name: str, tmp_path: Path) -> None:
    with born(tmp_path, attached={name: b"words"}) as session:
        assert session.attached == {name: "words"}
    (document,) = (tmp_path / ID / "attached").iterdir()
    assert document.read_bytes() == b"words"


def test_of_many_who_want_one_id_one_gets_it(tmp_path: Path) -> None:
    got: list[str] = []

    def begin() -> None:
        try:
            with born(tmp_path):
                got.append("born")
        except UsageError as refused:
            got.append(str(refused)[:22])

    threads = [threading.Thread(target=begin) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got.count("born") == 1
    assert {*got} == {"born", 'there is a session "20'}
    assert [path.name for path in tmp_path.iterdir()] == [ID]


def test_a_session_is_held_from_its_birth_on(tmp_path: Path) -> None:
    with born(tmp_path):
        assert lock.is_held(tmp_path / ID)
        with pytest.raises(Busy, match=f"{ID} is in use by process {os.getpid()} on"), Session(tmp_path / ID).hold(0):
            pass
        assert lock.read_holder(tmp_path / ID)["pid"] == os.getpid()
    assert not lock.is_held(tmp_path / ID)
    assert lock.read_holder(tmp_path / ID) == {}


def test_only_what_a_killed_birth_left_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "OLD", -1.0)

    def hidden(number: int, *names: str) -> Path:
        folder = tmp_path / f".{ID}.0000000{number}{files.TEMP}"
        folder.mkdir()
        for name in names:
            (folder / name).write_text("x")
        return folder

    empty, some = hidden(1), hidden(2, "topic.md", ".lock")
    foreign, held = hidden(3, "topic.md", "notes.txt"), hidden(4, "topic.md")
    link = tmp_path / f".{ID}.00000005{files.TEMP}"
    link.symlink_to(some)
    with lock.hold(held):
        births.sweep(tmp_path)
        assert set(tmp_path.iterdir()) == {foreign, held, link}
    assert not empty.exists()


def test_an_error_of_whoever_began_it_is_not_the_disks(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), born(tmp_path):
        raise FileNotFoundError("mine")
    assert Session(tmp_path / ID).plan.due


# ---- turns ----

BODIES = ["", " \n\n a \r\n", "---\nx\n---\n", "漢字 😀\u2028\t\x1b[31m", "a\0b", "x" * 70_000, "\ufeffBOM"]


@pytest.mark.parametrize("body", BODIES, ids=lambda body: repr(body[:12]))
def test_a_reply_is_kept_byte_for_byte(session: Session, body: str) -> None:
    with session.hold():
        due = session.plan.due[0]
        assert session.record(receipt(due), body.encode())
        assert not session.record(receipt(due), b"another")
    again = Session(session.folder)
    assert again.plan.scene.turns == []
    assert again.said[due.id].body.encode() == body.encode()
    assert (session.folder / f"turns/{due.id}.md").read_bytes().endswith(body.encode())


def test_nobody_writes_without_holding_the_session(session: Session) -> None:
    with session.hold():
        session.merge_metadata(held="once")
    due = session.plan.due[0]
    for write in (
        lambda: session.record(receipt(due), b"x"),
        lambda: session.merge_metadata(a=1),
        lambda: session.write_brief(due.id, "", ""),
    ):
        with pytest.raises(RuntimeError, match="hold the session"):
            write()


def test_a_lock_that_is_taken_away_stops_the_writer(session: Session) -> None:
    with session.hold():
        due = session.plan.due[0]
        (session.folder / ".lock").unlink()
        with pytest.raises(StorageError, match="was removed or replaced"):
            session.record(receipt(due), b"x")
        (session.folder / ".lock").write_text("")
        with pytest.raises(StorageError, match="was removed or replaced"):
            session.record(receipt(due), b"x")
    assert not (session.folder / "turns").exists()


@pytest.mark.parametrize(
    "name", [".DS_Store", ".engineer.md.swp", "engineer.md~", "Thumbs.db", ".nfs000123", ".engineer.md.aa.council-temp"]
)
def test_what_editors_and_systems_leave_stops_nothing(whole: Session, name: str) -> None:
    (whole.folder / "turns/01-positions" / name).write_bytes(b"\0")
    assert Session(whole.folder).plan.done


@pytest.mark.parametrize(
    "place", ["turns/note.txt", "turns/01-positions/note.txt", "turns/01-positions/x/y.md", "turns/01-positions/ada.md"]
)
def test_what_is_no_turn_is_named(whole: Session, place: str) -> None:
    path = whole.folder / place
    path.parent.mkdir(exist_ok=True)
    path.write_text("words")
    with pytest.raises(Damaged):
        Session(whole.folder).plan  # noqa: B018


def damage(path: Path, how: str) -> None:
    data = path.read_bytes()
    path.unlink()
    if how == "emptied":
        path.write_bytes(b"")
    elif how == "cut":
        path.write_bytes(data[: len(data) // 3])
    elif how == "link":
        path.symlink_to("/etc/passwd")
    elif how == "pipe":
        os.mkfifo(path)
    elif how == "folder":
        path.mkdir()
    elif how == "huge":
        path.touch()
        os.truncate(path, files.LARGEST + 1)
    elif how == "brackets":
        path.write_bytes(b"[" * 100_000)
    elif how == "not text":
        path.write_bytes(b"\xff\xfe" + data)


HOW = ("emptied", "cut", "link", "pipe", "folder", "huge", "brackets", "not text")


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("name", ["program.json", "workflow.md", "turns/01-positions/engineer.md"])
def test_a_damaged_file_is_named_and_never_touched(whole: Session, name: str, how: str) -> None:
    damage(whole.folder / name, how)
    before = {path: path.lstat().st_mtime_ns for path in whole.folder.rglob("*")}
    with pytest.raises((CouncilError, IsADirectoryError)) as refused:
        Session(whole.folder).plan  # noqa: B018
    assert name in str(refused.value)
    assert before == {path: path.lstat().st_mtime_ns for path in whole.folder.rglob("*")}


def test_a_session_of_another_schema_is_refused_in_a_sentence(session: Session) -> None:
    program = json.loads((session.folder / "program.json").read_bytes())
    for schema in (2, "1", None, 1.5):
        (session.folder / "program.json").write_text(json.dumps({**program, "schema": schema}))
        with pytest.raises(UsageError) as refused:
            Session(session.folder)
        assert (
            str(refused.value)
            == f"{ID} was written by another version of council; read {session.folder / 'transcript.md'}"
        )


RECEIPT = Receipt("01-a/b", "b", "a", 1, "api", usd=None, input=0, answered="m", machine={"ok": True})


@pytest.mark.parametrize("body", ["words", "", "\n---\n", "---\nturn: x\n---\n"])
def test_a_receipt_is_read_back_as_it_is(body: str) -> None:
    data = turn_file.write(RECEIPT, encode(body))
    assert turn_file.read(data, Path("x")) == (RECEIPT, encode(body))


LINES = turn_file.write(RECEIPT, b"words").split(b"\n")


@pytest.mark.parametrize(
    "data",
    [
        b"\n".join(LINES[:1] + LINES[2:]),
        b"\n".join(LINES[:2] + LINES[1:]),
        b"\n".join([*LINES[:1], b"more: 1", *LINES[1:]]),
        b"\n".join(LINES).replace(b"round: 1", b'round: "1"'),
        b"\n".join(LINES).replace(b"round: 1", b"round: true"),
        b"\n".join(LINES).replace(b"seconds: 0.0", b"seconds: Infinity"),
        b"\n".join(LINES).replace(b"seconds: 0.0", b"seconds: 1e999"),
        b"\n".join(LINES).replace(b"seconds: 0.0", b"seconds: " + b"[" * 99_999),
        b"\n".join(LINES).replace(b'turn: "01-a/b"', b"turn: 01-a/b"),
        b"\n".join(LINES)[4:],
        b"\n".join(LINES).replace(b"\n---\n", b"\n"),
        b"words",
        b"\xff" + b"\n".join(LINES),
    ],
    ids=range(13),
)
def test_a_receipt_that_was_edited_is_damage(data: bytes) -> None:
    with pytest.raises(Damaged, match="it is torn or was edited"):
        turn_file.read(data, Path("x"))


def test_a_receipt_that_could_not_be_read_again_is_never_written() -> None:
    for wrong in ({"usd": float("nan")}, {"round": "1"}, {"seat": None}):
        with pytest.raises((ValueError, Damaged)):
            turn_file.write(replace(RECEIPT, **wrong), b"")


@given(body=st.binary(max_size=200))
def test_whatever_a_turn_file_holds_it_is_a_turn_or_damage(body: bytes) -> None:
    for data in (body, b"---\n" + body, b"\n".join(LINES)[: len(body)]):
        with pytest.raises(Damaged):
            turn_file.read(data, Path("x"))


# ---- briefs ----


def test_what_a_batch_shares_is_stored_once(whole: Session) -> None:
    shared = [path.parent.name for path in whole.folder.rglob("shared.md")]
    assert sorted(shared) == ["01-positions", "02-challenges", "03-closing", "04-synthesis"]
    assert whole.brief("01-positions/engineer") == b"shared of positions\nown of engineer\n"


def test_a_seat_that_read_something_else_has_its_own_part(session: Session) -> None:
    with session.hold():
        session.write_brief("01-positions/architect", "one", "a")
        session.write_brief("01-positions/engineer", "two", "b")
        session.write_brief("01-positions/architect", "one", "a")
    assert (session.brief("01-positions/architect"), session.brief("01-positions/engineer")) == (b"onea", b"twob")


def test_a_brief_that_is_not_the_one_answered_is_damage(whole: Session) -> None:
    (whole.folder / "briefs/01-positions/engineer.md").write_text("another")
    with pytest.raises(Damaged, match="not the brief that was answered"):
        whole.brief("01-positions/engineer")
    (whole.folder / "briefs/01-positions/engineer.md").unlink()
    with pytest.raises(Damaged, match="is missing"):
        whole.brief("01-positions/engineer")


# ---- the head ----


def head_of(folder: Path) -> str:
    session = Session(folder)
    return session.head if session.plan.done else "not done"


def test_every_change_of_the_record_changes_the_head(whole: Session, tmp_path: Path) -> None:
    """Each byte of each file that is fixed or said, by whoever knows the format."""
    head = whole.head
    covered = [
        path
        for path in whole.folder.rglob("*")
        if path.parts[-3:-2] == ("turns",) or path.name in ("program.json", "workflow.md", "topic.md")
    ]
    assert len(covered) == 3 + len(whole.said)
    for path in covered:
        data = path.read_bytes()
        for changed in (data + b" ", data.replace(b"a", b"b", 1), data[:-1]):
            path.write_bytes(changed)
            with suppress(CouncilError):  # it is damaged, and named
                assert changed == data or head_of(whole.folder) != head, path
        path.write_bytes(data)
    assert head_of(whole.folder) == head


def test_a_receipt_names_the_head_before_its_batch(whole: Session) -> None:
    heads = whole.heads
    assert len(heads) == len(whole.plan.batches) + 1
    for number, batch in enumerate(whole.plan.batches):
        assert {whole.receipts[id].after for id in batch} == {heads[number]}


def test_what_is_not_fixed_does_not_change_the_head(whole: Session) -> None:
    head = whole.head
    with whole.hold():
        whole.merge_metadata(completed_at="2026-01-01", archived_to="x")
        with pytest.raises(ValueError, match="topic is fixed at birth"):
            whole.merge_metadata(topic="another")
    (whole.folder / "transcript.md").write_text("derived")
    for empty in ("attempts/02-challenges", "desk/02-challenges~x"):
        (whole.folder / empty).mkdir(parents=True, exist_ok=True)
    assert head_of(whole.folder) == head
    metadata = json.loads((whole.folder / "metadata.json").read_bytes())
    (whole.folder / "metadata.json").write_text(json.dumps({**metadata, "topic": "another"}))
    with pytest.raises(Damaged, match=r"was not recorded after program.json and metadata.json as they are"):
        head_of(whole.folder)


def test_the_head_does_not_depend_on_the_order_of_replies(tmp_path: Path) -> None:
    heads = []
    for number, order in enumerate((1, -1)):
        root = tmp_path / str(number)
        with born(root, program={"seed": "5eed"}):
            pass
        data = json.loads((root / ID / "metadata.json").read_bytes())
        (root / ID / "metadata.json").write_text(json.dumps({**data, "started_at": "2026-01-01T00:00:00Z"}))
        session, held = Session(root / ID), Held(kit("Debate"))
        with session.hold():
            while session.advance().due:
                for due in session.plan.due[::order]:
                    held.plan = session.plan
                    speak(session, held, due)
        heads.append(session.head)
    assert heads[0] == heads[1]


def test_a_plan_from_the_files_is_the_plan_that_went_on(session: Session) -> None:
    held = Held(kit("Debate"))
    with session.hold():
        while session.advance().due:
            for due in session.plan.due:
                held.plan = session.plan
                speak(session, held, due)
            assert facts(Session(session.folder).plan) == facts(session.advance())
    assert Session(session.folder).outcome.as_data() == session.outcome.as_data()


def test_another_process_is_seen_by_looking_again(session: Session) -> None:
    other = Session(session.folder)
    assert len(other.plan.due) == 2
    hold(session, 2)
    assert [due.step.name for due in other.refresh().due] == ["challenges", "challenges"]
    assert other.head == session.head


def test_looking_again_plans_with_what_this_process_recorded(session: Session) -> None:
    """A run that failed after a turn was recorded may be held again in the same process."""
    held = Held(kit("Debate"))
    with session.hold():
        held.plan = session.plan
        first = session.plan.due[0]
        speak(session, held, first)
        assert first.id not in {due.id for due in session.refresh().due}


# ---- attempts ----


def test_a_call_is_on_record_before_it_is_made(session: Session) -> None:
    with session.hold():
        first = session.begin_attempt("01-positions/engineer", model="m")
        session.begin_attempt("01-positions/engineer", model="m")
        session.end_attempt(first, why="529", usd=None)
    one, two = Session(session.folder).attempts()
    assert (one["turn"], one["why"], one["usd"], "ended" in two) == ("01-positions/engineer", "529", None, False)


@pytest.mark.parametrize("how", ["removed", "emptied", "without its folder"])
def test_how_a_call_failed_is_on_record_if_its_file_was_removed_meanwhile(how: str, session: Session) -> None:
    with session.hold():
        path = session.begin_attempt("01-positions/engineer", most=0.01)
        if how == "emptied":
            path.write_bytes(b"")
        else:
            path.unlink()
            path.parent.rmdir() if how == "without its folder" else None
        session.end_attempt(path, failed="529", usd=None, most=0.01)
    (one,) = Session(session.folder).attempts()
    assert (one["turn"], one["failed"], one["usd"], one["most"]) == ("01-positions/engineer", "529", None, 0.01)


# ---- ids ----


@pytest.mark.parametrize(
    "id", ["", "a b", "A", "-a", "a-", "a/b", "..", "last", "latest", "x" * 65, "٣", "a\n", "a\0", "é"]
)
def test_what_is_no_id_is_refused(id: str) -> None:
    with pytest.raises(UsageError, match="is not an id"):
        catalog.check_id(id)


def test_sessions_are_found_by_a_part_of_their_id_and_the_last_is_the_newest(tmp_path: Path) -> None:
    ids = ["20260101-120000-aaaaaaaa", "20260102-120000-bbbbbbbb", "my-own"]
    for id, began in zip(ids, ("2026-01-03", "2026-01-02", "never"), strict=True):
        with born(tmp_path, id):
            pass
        data = json.loads((tmp_path / id / "metadata.json").read_bytes())
        (tmp_path / id / "metadata.json").write_text(json.dumps({**data, "started_at": began}))
    shutil.copytree(tmp_path / ids[0], tmp_path / "20260104-copy")
    (tmp_path / "20260105-empty").mkdir()
    assert [id for id, _ in catalog.rows(tmp_path)] == ["my-own", ids[1], ids[0]]
    assert catalog.find_folder(tmp_path, "last").name == ids[0]
    assert [catalog.find_folder(tmp_path, part).name for part in ("bbbb", "my-own", ids[0])] == [
        ids[1],
        "my-own",
        ids[0],
    ]
    for part, problem in (
        ("2026", "fits 2 sessions"),
        ("aaa", "no session is called"),
        ("none", "no session is called"),
    ):
        with pytest.raises(UsageError, match=problem):
            catalog.find_folder(tmp_path, part)
    with pytest.raises(UsageError, match="there is no session yet"):
        catalog.find_folder(tmp_path / "nowhere", "last")


def test_a_session_from_elsewhere_is_not_ours(session: Session, tmp_path: Path) -> None:
    marks = tmp_path / "home/ours"
    assert not catalog.is_ours(marks, session)
    catalog.mark_as_ours(marks, session)
    assert catalog.is_ours(marks, session)
    elsewhere = tmp_path / "elsewhere"
    with born(elsewhere):
        pass
    assert not catalog.is_ours(marks, Session(elsewhere / ID)), "the same id, and another session"


# ---- the desk ----

GATE = "01-positions-gate/human"


def at_the_gate(root: Path) -> Session:
    with born(root, program={"gates": ["positions"]}):
        pass
    hold(Session(root / ID), 2)
    return Session(root / ID)


def said_by(who: str, body: str = "## Gate\napprove") -> desk.Answer:
    return desk.Answer(GATE, body, who, "page", 1_767_000_000.0)


def test_an_answer_is_recorded_at_once_where_nobody_holds_the_session(tmp_path: Path) -> None:
    session = at_the_gate(tmp_path)
    assert desk.answer(session.folder, said_by("ada")) == "recorded"
    again = Session(session.folder)
    assert (again.receipts[GATE].by, again.receipts[GATE].via, again.receipts[GATE].usd) == ("ada", "page", 0.0)
    assert again.plan.scene.ended["positions-gate"] == "approved"
    assert desk.answer(session.folder, said_by("bo", "## Gate\nveto")) == "too late"
    assert list((session.folder / "desk").iterdir()) == []


def test_and_left_for_the_process_that_holds_it_where_the_first_counts(tmp_path: Path) -> None:
    session = at_the_gate(tmp_path)
    with session.hold():
        given = [desk.answer(session.folder, said_by(who)) for who in ("ada", "bo")]
        assert given == ["left", "too late"]
        assert desk.take(session) == [GATE]
    assert Session(session.folder).receipts[GATE].by == "ada"


def test_two_who_answer_at_once(tmp_path: Path) -> None:
    session = at_the_gate(tmp_path)
    given: list[str] = []
    threads = [
        threading.Thread(target=lambda who=who: given.append(desk.answer(session.folder, said_by(who))))
        for who in "abcdefgh"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with session.hold():
        desk.take(session)
    assert [*Session(session.folder).said].count(GATE) == 1
    assert given.count("recorded") + given.count("left") >= 1


@pytest.mark.parametrize("turn", ["01-positions/engineer", "../../x/y", "02-challenges/engineer", "nobody/here"])
def test_an_answer_that_nobody_waits_for_is_cleared(tmp_path: Path, turn: str) -> None:
    session = at_the_gate(tmp_path)
    before = contents(session.folder)
    assert desk.answer(session.folder, replace(said_by("ada"), turn=turn)) == "too late"
    assert contents(session.folder) == before


def test_what_lies_on_the_desk_and_is_no_answer_is_cleared(tmp_path: Path) -> None:
    session = at_the_gate(tmp_path)
    for name, data in (("a~b", b"{}"), ("c~d", b"[" * 9_999), ("e~f", b'{"turn": 1}')):
        (session.folder / "desk" / name).mkdir(parents=True)
        (session.folder / "desk" / name / desk.ANSWER).write_bytes(data)
    with session.hold():
        assert desk.take(session) == []
    assert list((session.folder / "desk").iterdir()) == []


def test_a_pause_is_asked_for_and_taken_back(session: Session) -> None:
    assert not desk.pause(session.folder, "ada")
    with session.hold():
        assert desk.pause(session.folder, "ada")
        assert desk.pause(session.folder, "bo")
        assert desk.is_paused(session.folder) == "ada"
        desk.resume(session.folder)
        assert desk.is_paused(session.folder) == ""
