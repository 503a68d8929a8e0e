"""The ids of sessions: those that callers choose, how any of them is found, and which session is the newest."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

import council
from council.errors import UsageError
from council.record import catalog
from tests.helpers import User, agreed, says, script

TWO = ("architect", "engineer")
GENERATED = "20200101-000000-00000000"
ALLOWED = [
    "a",
    "7",
    "pricing-2026",
    "550e8400-e29b-41d4-a716-446655440000",
    "x" * 64,
    "20200101-000000-0000000a",
    "a--b",
]
REFUSED = [
    "", "-a", "a-", "A", "a_b", "a.b", "a/b", "..", ".a", "a b", "a\n", "ä", "x" * 65, "last", "latest", "a\0b", "٣",
]  # fmt: skip


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


@pytest.mark.parametrize("id", ALLOWED)
def test_an_id_that_a_caller_may_choose(user: User, id: str) -> None:
    begun = user.council("start", "--json", "--id", id, "Shall we?")
    assert begun.json["session_id"] == id, begun.err
    assert user.session.name == id
    assert user.council("status", id).out.startswith(f"{id}: ")
    assert user.council("verify", "last").code == 0
    assert [*user.listed] == [id]


@pytest.mark.parametrize("id", REFUSED)
def test_an_id_that_nobody_may_choose(user: User, id: str) -> None:
    if "\0" in id:  # no command line can hold that
        with pytest.raises(UsageError):
            catalog.check_id(id)
        return
    refused = user.council("start", "--id", id, "Shall we?")
    assert refused.code == 2
    assert says(refused, "cannot be the id of a session")
    assert user.sessions == []


def test_the_same_id_twice_is_refused(user: User) -> None:
    source = script(user, agreed(TWO))
    words = ("--id", "pricing", "--only", "architect,engineer", "--speaker", "replay", "--from", source, "Shall we?")
    assert user.council("run", *words).code == 0
    before = {path: path.read_bytes() for path in user.session.rglob("*") if path.is_file()}
    for command in (("run", *words), ("start", "--id", "pricing", "Shall we?")):
        refused = user.council(*command)
        assert refused.code == 2
        assert 'there is a session "pricing" already' in refused.err
    assert before == {path: path.read_bytes() for path in user.session.rglob("*") if path.is_file()}


@pytest.mark.parametrize("kind", ["file", "folder", "link", "dead link"])
def test_a_name_that_is_taken_by_something_else_is_refused(user: User, kind: str) -> None:
    user.council("start", "Shall we?")
    place = user.session.parent / "pricing"
    if kind == "file":
        place.write_text("mine")
    elif kind == "folder":
        place.mkdir()
    else:
        place.symlink_to(user.work if kind == "link" else "nowhere")
    assert user.council("start", "--id", "pricing", "Shall we?").code == 2
    assert os.path.lexists(place)
    assert not list(user.work.iterdir())


def test_of_many_that_ask_for_one_id_at_once_one_has_it(user: User) -> None:
    running = [user.spawn("start", "--json", "--id", "pricing", f"Question {number}?") for number in range(8)]
    ended = [(process.communicate()[1].decode(), process.returncode) for process in running]
    assert sorted(code for _, code in ended) == [0, *[2] * 7]
    assert all("already" in said for said, code in ended if code)
    assert [path.name for path in user.session.parent.iterdir()] == ["pricing"]
    assert user.council("verify", "pricing").code == 0


def test_an_id_from_python(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    source = script(user, agreed(TWO))
    for name, value in user.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(user.work)
    held = council.run("Shall we?", only_members=TWO, speaker="replay", source=source, id="pricing")
    assert (held.session_id, held.state) == ("pricing", "complete")
    again = council.run("", speaker="replay", source="pricing", id="pricing-again")
    assert (again.session_id, again.outcome) == ("pricing-again", held.outcome)
    with pytest.raises(UsageError, match="already"):
        council.run("Shall we?", only_members=TWO, speaker="replay", source=source, id="pricing")
    assert council.load_session("pricing").started_at < council.load_session("last").started_at


def test_a_phrase_that_recovers_takes_no_id(user: User) -> None:
    user.council("start", "--id", "pricing", "Shall we?")
    assert user.council("run", "--id", "other", "Council recovery: pricing").code == 2
    waiting = user.council("run", "--speaker", "assistant", "Council recovery: pricing")
    assert waiting.code == 8, waiting.err


# ---- finding, and the newest ----


def begin(user: User, id: str) -> None:
    assert user.council("start", "--id", id, "Shall we?").code == 0


def test_a_session_is_found_by_a_part_of_its_id(user: User) -> None:
    for id in ("pricing", "pricing-2026", "old-pricing-2026", "ci"):
        begin(user, id)
    root = user.sessions[0].parent
    assert catalog.find(root, "pricing").name == "pricing"  # a whole id comes before a part of others
    assert catalog.find(root, "old-").name == "old-pricing-2026"
    assert catalog.find(root, "ci").name == "ci"
    for word, why in {"2026": "matches 2 sessions", "old": "no session", "../ci": "not a session id"}.items():
        with pytest.raises(UsageError, match=why):
            catalog.find(root, word)


def test_the_newest_session_is_the_last_one_that_began(user: User) -> None:
    """Whatever they are called, and however many begin in one second."""
    ids = ["zebra", None, "alpha", None, "2020", None, None, "20200101-000000-00000000", "zz"]
    begun = []
    for id in ids:
        own = ("--id", id) if id else ()
        begun.append(user.council("start", "--json", *own, "Shall we?").json["session_id"])
        assert user.council("status", "last").out.startswith(f"{begun[-1]}: ")
    assert [*user.listed] == begun[::-1]
    for path in user.sessions[0].parent.rglob("*"):  # as after a backup that kept no times
        os.utime(path)
    assert [*user.listed] == begun[::-1]


def test_sessions_of_earlier_versions_keep_their_order(user: User) -> None:
    """They know only the second; of those in one second, the one whose workflow was written later is newer."""
    for number, ending in enumerate(("c", "a", "b")):
        folder = user.home / "STATE" / "council-sessions" / f"20260101-000000-0000000{ending}"
        folder.mkdir(parents=True)
        facts = {"schema": 1, "session_id": folder.name, "started_at": "2026-01-01T00:00:00+00:00"}
        (folder / "metadata.json").write_text(json.dumps(facts, indent=2))
        (folder / "workflow.md").touch()
        os.utime(folder / "workflow.md", ns=(number, number))
    assert [id[-1] for id in catalog.all_ids(folder.parent)] == ["b", "a", "c"]


def test_a_copy_of_a_session_is_not_a_session_and_a_damaged_one_is(user: User) -> None:
    begin(user, "pricing")
    begin(user, "hosting")
    root = user.sessions[0].parent
    shutil.copytree(root / "pricing", root / "pricing-copy")
    (root / "notes").mkdir()
    assert [*user.listed] == ["hosting", "pricing"]
    (root / "hosting" / "metadata.json").write_text("")
    assert sorted(user.listed) == ["hosting", "pricing"]
    assert user.council("status", "hosting").code == 1


@pytest.mark.parametrize(
    "started", ["2026-01-01T00:00:00", "never", "9999-12-31T23:59:59.5-23:59", "0001-01-01T00:00:00+23:59"]
)
def test_a_time_that_is_none_hides_nothing(user: User, started: str) -> None:
    begin(user, "pricing")
    path = user.session / "metadata.json"
    path.write_text(path.read_text().replace(json.loads(path.read_text())["started_at"], started))
    assert [*user.listed] == ["pricing"]
    assert user.council("list").code == 0


@pytest.mark.parametrize("kind", ["fifo", "folder", "link"])
def test_metadata_that_are_no_file_hide_nothing(user: User, kind: str) -> None:
    begin(user, "pricing")
    begin(user, "hosting")
    path = user.sessions[0] / "metadata.json"
    path.unlink()
    {"fifo": lambda: os.mkfifo(path), "folder": path.mkdir, "link": lambda: path.symlink_to("/dev/zero")}[kind]()
    assert user.listed.keys() == {"hosting", "pricing"}
    assert "damaged" in user.listed.values()
