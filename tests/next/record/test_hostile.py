"""Sessions that came from elsewhere: whatever their files hold, nothing outside of them is read or written."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from council.next.errors import CouncilError, Damaged, UsageError
from council.next.record import catalog, desk, files, turn_file
from council.next.record.create import create
from council.next.record.proof import problems
from council.next.record.session import Session
from council.next.record.turn_file import Receipt
from council.next.text import encode
from tests.next.record.sessions import ID, birth, born, hold, receipt, rewrite


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with born(tmp_path):
        pass
    return tmp_path / ID


def use(session: Session) -> None:
    """Whatever a command may ask of a session."""
    with session.hold():
        assert session.attached is not None
        assert [session.read_frozen(path) for path in session.program["frozen"]]
        assert session.head
        assert session.outcome is not None
        for due in session.plan.due:
            session.write_brief(due.id, "shared", "own")


OTHER_TYPES: tuple[Any, ...] = (5, "x", [1], ["a"], {"a": 5}, {"a": ["b"]}, None, 1.5, [["a"]], "../x")


@pytest.mark.parametrize("value", OTHER_TYPES, ids=str)
@pytest.mark.parametrize("key", ["attached", "frozen", "files"])
def test_names_of_other_types_are_damage(folder: Path, key: str, value: Any) -> None:
    with pytest.raises(Damaged):
        use(rewrite(folder, **{key: value}))


@pytest.mark.parametrize("members", [["../../../x"], ["/x"], [1], [], ["shared"], ["a/b"], ["."]], ids=str)
def test_members_are_names(folder: Path, members: list[Any]) -> None:
    before = {*folder.parent.parent.rglob("*")}
    with pytest.raises(Damaged):
        use(rewrite(folder, members=members))
    assert {path.name for path in {*folder.parent.parent.rglob("*")} - before} <= {"runner.json"}


@pytest.mark.parametrize("key", ["attached", "frozen"])
@pytest.mark.parametrize("up", ["", "../../secret", "attached/../../../secret"])
def test_a_given_file_lies_in_the_session(folder: Path, tmp_path: Path, key: str, up: str) -> None:
    secret = tmp_path.parent / "secret"
    secret.write_bytes(b"secret")
    name = up or str(secret)
    names = {**Session(folder).program["files"], name: files.sha256(b"secret")}
    session = rewrite(folder, **{key: {"a": name}, "files": names})
    with pytest.raises(Damaged, match="leads out of the session"):
        use(session)


@pytest.mark.parametrize("name", ["turns", "briefs", "attempts", "desk", "attached", "frozen", "turns/01-positions"])
def test_a_link_to_a_folder_is_not_followed(folder: Path, tmp_path: Path, name: str) -> None:
    elsewhere, path = tmp_path / "elsewhere", folder / name
    elsewhere.mkdir()
    path.parent.mkdir(exist_ok=True)
    if path.is_dir():
        path.rename(elsewhere / name)
    before = {*elsewhere.rglob("*")}
    path.symlink_to(elsewhere)
    with pytest.raises(Damaged, match="symbolic link"):
        hold(Session(folder), 1)
    with pytest.raises(Damaged) if name == "desk" else pytest.raises(CouncilError):
        desk.answer(folder, desk.Answer("01-x/human", "words", "me", "page", 1.0))
        raise CouncilError
    assert {*elsewhere.rglob("*")} == before


@pytest.mark.parametrize("id", ["A B", "a\0b", "x" * 65, "../evil", "last"])
def test_an_id_that_nobody_could_find_again_is_refused(tmp_path: Path, id: str) -> None:
    with pytest.raises(UsageError, match="is not an id"), born(tmp_path, id):
        pass


def test_an_attempt_is_on_record_even_if_an_earlier_one_was_removed(folder: Path) -> None:
    session = Session(folder)
    with session.hold():
        first, second = (session.begin_attempt("01-positions/engineer", model=name) for name in "ab")
        first.unlink()
        third, fourth = (session.begin_attempt("01-positions/engineer", model=name) for name in "cd")
    assert len({second, third, fourth}) == 3
    assert sorted(one["model"] for one in session.attempts()) == ["b", "c", "d"]


PERSON = "---\nname: test\nseats: {members: [architect, engineer]}\nphases: [{name: ask, seats: human}]\n---\n"


@pytest.mark.parametrize(
    "facts",
    [{"body": 5}, {"by": 5}, {"via": ["x"]}, {"at": "x"}, {"at": 1e300}, {"at": None}, {"absent": 5}, {"turn": 5}],
    ids=str,
)
def test_an_answer_of_other_types_is_removed_from_the_desk(tmp_path: Path, facts: dict[str, Any]) -> None:
    with born(tmp_path, workflow=PERSON) as session:
        (due,) = session.plan.due
        answer = {"turn": due.id, "body": "words", "by": "me", "via": "page", "at": 1.0, **facts}
        place = files.make_folder(session.folder / "desk") / due.id.replace("/", "~")
        files.publish(place, {desk.ANSWER: files.to_json(answer)})
        assert desk.take(session) == []
        assert not place.exists()


# ---- turns that nobody asked for ----


def forge(folder: Path, id: str, **facts: Any) -> Path:
    """A turn file with a receipt that fits into the session."""
    session = Session(folder)
    step, _, seat = id.partition("/")
    path = folder / f"turns/{id}.md"
    files.make_folder(path.parent)
    made = Receipt(turn=id, seat=seat, step=step[3:], round=1, speaker="replay", after=session.head, **facts)
    path.write_bytes(turn_file.write(made, b"## Signs\nR1\n"))
    return path


STRAYS = ["09-extra/x", "01-positions/ada", "01-positions/engineer.2", "02-challenges/architect.3", "1/engineer"]


@pytest.mark.parametrize("turns", [1, 3, 99])
@pytest.mark.parametrize("id", STRAYS)
def test_a_turn_that_nobody_asked_for_is_named(folder: Path, id: str, turns: int) -> None:
    hold(Session(folder), turns)
    earlier = Session(folder)
    assert earlier.plan is not None
    path = forge(folder, id)
    before = path.read_bytes()
    session = Session(folder)
    # A second try counts as asked for, because an earlier version may have asked; that it came later shows in its link.
    why = (
        "(it was not recorded after|the debate has not asked for)" if id.endswith(".2") else "the debate has not asked"
    )
    for look in (lambda: session.plan, lambda: session.head, lambda: hold(session), earlier.refresh, earlier.refresh):
        with pytest.raises(Damaged, match=f"{id}.md: {why}"):
            look()
    assert [*problems(folder)]
    assert path.read_bytes() == before, "and it is never touched"
    path.unlink()
    assert Session(folder).plan is not None


def test_a_turn_that_is_missing_is_named_and_not_asked_for_again(folder: Path) -> None:
    hold(Session(folder))
    (folder / "turns/01-positions/engineer.md").unlink()
    with pytest.raises(Damaged, match="01-positions/engineer comes first: restore that turn from a backup"):
        Session(folder).plan  # noqa: B018


def test_turns_of_a_batch_may_come_in_any_order(folder: Path) -> None:
    session = Session(folder)
    with session.hold():
        for due in reversed(session.plan.due):
            session.record(receipt(due), b"Unreadable, so that each is asked again.")
            assert len(Session(folder).plan.due) == 2
        first = session.advance().due[-1]
        assert first.id.endswith(".2")
        session.record(receipt(first), b"Still unreadable.")
        assert {due.id for due in Session(folder).plan.due} == {session.plan.due[0].id}
        with pytest.raises(UsageError, match="09-extra/x is not due"):
            session.record(Receipt("09-extra/x", "x", "extra", 1, "replay"), b"")
    assert not (folder / "turns/09-extra").exists()
    assert not [*problems(folder)]


def test_a_debate_that_goes_on_while_it_is_read_is_not_damaged(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader lists folder after folder, and a whole batch may be recorded between two of them."""
    real, turns = files.list_folder, [1, 1, 2, 2]

    def list_folder(place: Path) -> list[Path]:
        found = real(place)
        if place.parent.name == "turns" and turns:
            with monkeypatch.context() as alone:
                alone.setattr(files, "list_folder", real)
                hold(writer, turns.pop())
        return found

    writer = Session(folder)
    hold(writer, 1)
    monkeypatch.setattr(files, "list_folder", list_folder)
    reader = Session(folder)
    assert reader.plan.done
    assert turns == []
    monkeypatch.undo()
    assert set(reader.said) == set(writer.said)


# ---- files that somebody edited ----


@pytest.mark.parametrize("data", [b"\xff\xfe", b"caf\xe9", "\udce9".encode("utf-8", "surrogatepass")])
def test_a_document_that_is_not_utf8_is_refused_before_anything_is_there(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(UsageError, match=r"^a name is not text in UTF-8; convert it first$"):  # noqa: SIM117
        with born(tmp_path, attached={"a\nname": data}):
            pass
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("name", ["topic.md", "workflow.md", "attached/01-spec.md"])
def test_text_that_is_not_utf8_is_damage(folder: Path, name: str) -> None:
    (folder / name).write_bytes(b"\xff")
    hashes = {**Session(folder).program["files"], name: files.sha256(b"\xff")}
    with pytest.raises(Damaged, match=f"{name}: it is not UTF-8"):
        use(rewrite(folder, files=hashes))


def test_a_reply_that_is_not_utf8_is_damage_and_never_recorded(folder: Path) -> None:
    session = Session(folder)
    with session.hold(), pytest.raises(Damaged):
        session.record(receipt(session.plan.due[0]), b"caf\xe9")
    assert not [*(folder / "turns").rglob("*.md")]
    hold(session, 1)
    (path,) = (folder / "turns").rglob("*.md")
    path.write_bytes(path.read_bytes() + b"\xe9")
    with pytest.raises(Damaged, match="it is torn or was edited"):
        Session(folder).plan  # noqa: B018


def test_a_brief_that_is_not_utf8_is_damage(folder: Path) -> None:
    session = Session(folder)
    with session.hold():
        session.write_brief("01-positions/engineer", "a", "b")
    (folder / "briefs/01-positions/engineer.md").write_bytes(b"\xff")
    with pytest.raises(Damaged, match=r"engineer.md: it is not UTF-8"):
        session.brief("01-positions/engineer")


@pytest.mark.parametrize("schema", [True, 1.0, 2, "1", None, [1]], ids=str)
def test_a_schema_that_is_not_the_number_is_another(folder: Path, schema: Any) -> None:
    with pytest.raises(UsageError, match="was written by another version of council; read"):
        rewrite(folder, schema=schema)


JUNK: tuple[Any, ...] = (True, 5, "x", [1], [["a"]], {"a": 5}, {"engineer": 5}, {"engineer": {"tier": 5}}, None)


@pytest.mark.parametrize("value", JUNK, ids=str)
@pytest.mark.parametrize("key", ["options", "gates", "members", "personas", "templates", "seed"])
def test_a_program_of_other_types_is_damage_or_works(folder: Path, key: str, value: Any) -> None:
    with suppress(Damaged):
        use(rewrite(folder, **{key: value}))


AMOUNTS = ["true", "-1", "-0.5", "1e999", "NaN", "Infinity", "1" + 400 * "0", "1" + 5000 * "0", '"1"', "[1]", "1e13"]


@pytest.mark.parametrize("value", AMOUNTS, ids=lambda value: value[:9])
@pytest.mark.parametrize("key", ["usd", "most", "input", "output", "seconds", "round", "attempts"])
def test_a_number_that_nobody_could_add_up_is_damage(folder: Path, key: str, value: str) -> None:
    hold(Session(folder), 1)
    (path,) = (folder / "turns/01-positions").iterdir()
    head, close, body = path.read_text("utf-8").partition("\n---\n")
    lines = [f"{key}: {value}" if line.startswith(f"{key}: ") else line for line in head.split("\n")]
    path.write_text("\n".join(lines) + close + body)
    with pytest.raises(Damaged, match="it is torn or was edited"):
        Session(folder).plan  # noqa: B018


@pytest.mark.parametrize("value", [*AMOUNTS, '{"a": 1}'], ids=lambda value: value[:9])
@pytest.mark.parametrize("key", ["usd", "most", "turn", "number", "began"])
def test_an_attempt_of_other_types_is_damage(folder: Path, key: str, value: str) -> None:
    hold(Session(folder), 1)
    (path,) = (folder / "attempts/01-positions").iterdir()
    facts = {**json.loads(path.read_bytes()), key: "HERE"}
    path.write_text(json.dumps(facts).replace('"HERE"', value))
    if (key, value) == ("began", '"1"'):
        assert Session(folder).attempts()
        return
    with pytest.raises(Damaged, match=str(path)):
        Session(folder).attempts()


@pytest.mark.parametrize("value", ["yesterday", "2026-01-01", "2026-02-31T00:00:00Z", "2026-01-01T00:00:00+02:00", "9"])
def test_a_time_that_is_none_is_damage(folder: Path, value: str) -> None:
    session = Session(folder)
    with session.hold(), pytest.raises(Damaged, match="it is torn or was edited"):
        session.record(receipt(session.plan.due[0], started=value), b"")
    assert not [*(folder / "turns").rglob("*.md")]


@pytest.mark.parametrize("turn", ["", ".", "pause", "a\0/b", "\ud800/x", "x" * 999, "a/b/c", "../x", "/x", "~"])
def test_an_answer_to_no_turn_leaves_nothing(tmp_path: Path, turn: str) -> None:
    with born(tmp_path, workflow=PERSON):
        pass
    before = sorted(tmp_path.rglob("*"))
    assert desk.answer(tmp_path / ID, desk.Answer(turn, "words", "me", "page", 1.0)) == "too late"
    assert sorted(tmp_path.rglob("*")) == before


def test_half_of_a_surrogate_pair_becomes_an_escape_that_people_see(tmp_path: Path) -> None:
    with create(tmp_path, replace(birth(), topic="caf\udce9"), ID) as session:
        assert session.topic == session.metadata["topic"] == "caf\\udce9"
        session.merge_metadata(note=["\ud800 \\ 😀"])
        due = session.plan.due[0]
        session.record(receipt(due, by="ad\udce9", machine={"note": "\ud800"}), encode("a\ud800"))
    again = Session(tmp_path / ID)
    assert again.metadata["note"] == ["\\ud800 \\ 😀"]
    assert (again.receipts[due.id].by, again.receipts[due.id].machine) == ("ad\\udce9", {"note": "\\ud800"})
    path = again.folder / f"turns/{due.id}.md"
    path.write_bytes(path.read_bytes().replace(b'"ad\\\\udce9"', b'"ad\\udce9"'))
    with pytest.raises(Damaged, match="it is torn or was edited"):
        Session(tmp_path / ID).plan  # noqa: B018


@pytest.mark.parametrize(
    "value", ["1e999", "-Infinity", "NaN", '"\\ud800"', '["a", {"b": "\\udfff"}]', "1" + 5000 * "0"]
)
@pytest.mark.parametrize("name", ["program.json", "metadata.json"])
def test_json_that_nobody_could_write_again_is_damage(folder: Path, name: str, value: str) -> None:
    data = {**json.loads((folder / name).read_bytes()), "more": "HERE"}
    (folder / name).write_text(json.dumps(data).replace('"HERE"', value))
    with pytest.raises(Damaged, match=f"{name}: it is torn or was edited"):
        use(Session(folder))


@pytest.mark.parametrize("name", ["turns", "attempts", "briefs", "desk"])
def test_a_file_in_the_place_of_a_folder_is_named(folder: Path, name: str) -> None:
    (folder / name).write_text("x")
    with pytest.raises(Damaged, match=f"{name}: a file is in the place of a folder"):
        use(Session(folder))


def test_what_is_larger_than_what_can_be_read_is_never_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGEST", 40_000)
    with (
        pytest.raises(UsageError, match="no file of a session may have over 40,000"),
        born(tmp_path, frozen={"a": b"x" * 40_001}),
    ):
        pass
    assert [*tmp_path.iterdir()] == []
    with born(tmp_path) as session:
        with pytest.raises(UsageError, match="no file of a session may have over 40,000"):
            session.record(receipt(session.plan.due[0]), b"x" * 40_000)
        assert [*(session.folder / "turns").rglob("*.md")] == []


def test_a_list_of_sessions_reads_no_huge_metadata(folder: Path) -> None:
    (folder / "metadata.json").write_bytes(b'{"topic": [' + b"[]," * 2_000_000 + b"[]]}")
    assert catalog.rows(folder.parent) == [(ID, {})], "it is listed, and known to be damaged"


def test_sessions_of_another_user_are_listed(folder: Path) -> None:
    """Nobody may look into them, and nobody is told that they are not there."""
    (folder.parent / "a-file").write_text("x")
    folder.parent.chmod(0o755)
    listed = ask_as_nobody(folder.parent)
    assert listed == [ID]


def ask_as_nobody(root: Path) -> list[str]:
    """The ids that a user without any rights finds."""
    receive, send = os.pipe()
    for path in (root, *root.parents):
        if path.is_relative_to(tempfile.gettempdir()) and path != Path(tempfile.gettempdir()):
            path.chmod(path.stat().st_mode | 0o055)
    child = os.fork()
    if not child:
        try:
            if os.getuid() == 0:
                os.setuid(65_534)
            else:
                (root / ID).chmod(0)
            os.write(send, json.dumps([id for id, _ in catalog.rows(root)]).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(send)
    found: list[str] = json.loads(os.read(receive, 9_999))
    os.close(receive)
    return found


# ---- briefs ----


def test_what_another_brief_left_does_not_count(folder: Path) -> None:
    """A seat that read something else once, and then what its batch shares."""
    session, id = Session(folder), "01-positions/engineer"
    with session.hold():
        session.write_brief("01-positions/architect", "shared", "a")
        session.write_brief(id, "another", "old")
        assert session.write_brief(id, "shared", "new") == files.sha256(b"sharednew")
    assert session.brief(id) == b"sharednew"
    assert sorted(path.name for path in (folder / "briefs/01-positions").iterdir()) == [
        "architect.md",
        "engineer.md",
        "shared.md",
    ]


def test_a_brief_that_was_answered_cannot_be_rewritten(folder: Path) -> None:
    session = Session(folder)
    hold(session, 1)
    (id,) = session.said
    brief = session.brief(id)
    with session.hold():
        assert session.write_brief(id, "shared of positions\n", f"own of {id.partition('/')[2]}\n")
        with pytest.raises(ValueError, match="has been spoken"):
            session.write_brief(id, "shared", "own")
    assert session.brief(id) == brief
