"""What the state of a session is told from: its record, and only those derived files that could be wrong."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from council.index.query import Filters, Index
from council.protocols import ledger
from council.record import chain, metadata
from council.record.session import Session
from council.reports import derived, markdown, state, transcript
from council.reports.listing import describe
from tests.helpers import User, agreed, script


@pytest.fixture(scope="module")
def at_the_gate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session that waits for a person after its first round, with the files that it has during a debate."""
    user = User(tmp_path_factory.mktemp("gate"))
    words = ("--speaker", "replay", "--from", script(user, agreed()), "--gate", "positions", "--no-input")
    assert user.council("run", *words, "Shall we?").code == 8
    return user.session


@pytest.fixture
def waiting(at_the_gate: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(at_the_gate, tmp_path / at_the_gate.name))


@pytest.fixture
def nothing_derived(monkeypatch: pytest.MonkeyPatch) -> None:
    """No ledger is read, and nothing is composed or rendered."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("derived")

    for module, name in (
        (ledger, "_Reader"), (derived, "compose"), (derived, "compose_round"), (derived, "read_record"),
        (transcript, "compose_statement"), (state, "describe"), (markdown, "render"),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, refuse)


@pytest.mark.usefixtures("nothing_derived")
def test_a_session_that_waits_is_told_without_ledger_and_transcript(waiting: Path) -> None:
    (waiting / "round-1.md").unlink()
    row = describe(waiting)
    assert (row["state"], row["waiting"]) == ("waiting", row["due"]), row["why"]
    assert row["waiting"]


def test_only_the_file_of_a_round_is_made_to_compare_it(waiting: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    monkeypatch.setattr(markdown, "render", lambda name, *_, **__: made.append(name) or "")
    assert {"state.json", "transcript.md", "round-1.md"} <= {path.name for path in waiting.iterdir()}
    assert describe(waiting)["state"] == "damaged", "an empty text is not that of the round"
    assert set(made) == {"documents/round"}


@pytest.mark.parametrize("name", ["round-1.md", "round-9.md", "synthesis.md", "decision.md"])
def test_what_does_not_follow_from_the_turns_is_still_damage(waiting: Path, name: str) -> None:
    assert describe(waiting)["state"] == "waiting"
    (waiting / name).write_text("I decided otherwise.\n")
    row = describe(waiting)
    assert (row["state"], name in row["why"]) == ("damaged", True)


@pytest.mark.parametrize("name", ["transcript.md", "state.json"])
def test_what_may_lag_behind_is_no_damage(waiting: Path, name: str) -> None:
    (waiting / name).write_text("of an earlier turn\n")
    assert describe(waiting)["state"] == "waiting"


def test_a_debate_that_ends_is_derived_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    composed: list[str] = []

    def compose(session: Session, *about: Any) -> Any:
        composed.append(session.id)
        return transcript.compose(session, *about)

    monkeypatch.setattr(derived, "compose", compose)
    user = User(tmp_path)
    ended = user.council("run", "--speaker", "replay", "--from", script(user, agreed()), "Shall we?")
    assert ended.code == 0, ended.err
    assert len(composed) == 1
    assert user.council("verify").code == 0


def test_a_session_without_a_person_is_not_read_to_see_whether_it_waits(
    at_the_gate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = User(tmp_path)
    assert user.council("start", "--id", "by-hand", "Shall we?").code == 0
    words = ("--speaker", "replay", "--from", script(user, agreed()))
    assert user.council("run", "--id", "cut-off", *words, "Shall we?").code == 0
    root = user.sessions[0].parent
    begin_again(root / "cut-off")
    shutil.copytree(at_the_gate, root / at_the_gate.name)
    read: list[str] = []
    check_turns = Session.check_turns

    def check(self: Session) -> Any:
        read.append(self.id)
        return check_turns(self)

    monkeypatch.setattr(Session, "check_turns", check)
    with closing(Index([root], tmp_path / "cache" / "index.sqlite")) as index:
        index.refresh()
        read.clear()
        assert describe(root / "cut-off")["state"] == "interrupted"
        assert read.pop() == "cut-off"
        rows = index.page(Filters(state="waiting")).rows
    assert {row["session_id"] for row in rows} == {"by-hand", at_the_gate.name} == set(read)


def begin_again(session: Path) -> None:
    """Take its turns and its end from a session, so that its first turns are due."""
    facts = json.loads((session / "metadata.json").read_text("utf-8"))
    fixed = {key: value for key, value in facts.items() if key not in chain.COMPUTED}
    (session / "metadata.json").write_bytes(metadata.seal(fixed))
    shutil.rmtree(session / "turns")
    for name in derived.find(session):
        (session / name).unlink()
