"""Sessions that came from elsewhere: whatever their files hold, nothing outside of them is read or written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from council.next.errors import CouncilError, Damaged, UsageError
from council.next.record import desk, files
from council.next.record.session import Session
from tests.next.record.sessions import ID, born, hold, rewrite


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
        assert session.outcome
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
        desk.leave(folder, desk.Answer("01-x/human", "words", "me", "page", 1.0))
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
