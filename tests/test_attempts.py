"""Calls that may have been billed: each is on record before it is made, and no kill and no retry loses one."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from council.config import settings
from council.errors import Damaged
from council.record import session as sessions
from council.record.attempts import Attempt
from council.record.session import Session
from council.reports.totals import totals
from council.runner import loop
from council.speakers.base import Spoken
from tests.helpers import User

ENGINEER = "01-positions/engineer"
CALL = Attempt(datetime.now(UTC).isoformat(), "anthropic", "claude-sonnet-5-5", most=0.08)
FAILED = replace(CALL, why="empty", seconds=1.5, input=100, cache_read=0, cache_write=0, output=50, usd=0.0007)


@pytest.fixture
def user(tmp_path) -> User:
    return User(tmp_path)


@pytest.fixture
def session(user) -> Session:
    """A debate whose first four turns are due."""
    assert user.council("start", "Shall we?").code == 0
    return sessions.open_(user.session)


def opened(session: Session) -> Session:
    """As another process finds it."""
    found = sessions.open_(session.folder)
    found.read_turns()
    return found


def write_brief(session: Session) -> None:
    """A brief of the test's own, in place of the one that `start` wrote."""
    session.brief_path(ENGINEER).unlink(missing_ok=True)
    session.write_briefs({ENGINEER: "What do you think?"})


def store(session: Session, answered: int | None = None) -> None:
    (due,) = (due for due in session.plan().due if due.id == ENGINEER)
    model = loop.model_of(session, settings.load(), due, None)
    spoken = Spoken("I think so.", "claude-sonnet-5-5", usd=0.001)
    receipt = loop.receipt(session, due, model, "anthropic", spoken, datetime.now(UTC), 2.0)
    session.remember(*session.store(receipt, spoken.body, answered))


def test_a_call_is_on_record_before_it_is_made(session):
    with session.hold():
        assert session.begin_attempt(ENGINEER, CALL) == 0
        assert opened(session).pending == {ENGINEER: (CALL,)}
        session.end_attempt(ENGINEER, 0, FAILED)
        assert session.begin_attempt(ENGINEER, CALL) == 1
    found = opened(session)
    assert found.pending == {ENGINEER: (FAILED, CALL)}
    assert totals(found) == {
        "calls": 0, "failed_calls": 2, "input_tokens": None, "output_tokens": None, "usd": None, "usd_at_least": 0.0007,
    }  # fmt: skip


def test_a_turn_that_is_recorded_keeps_the_attempts_before_it(session):
    with session.hold():
        write_brief(session)
        session.begin_attempt(ENGINEER, CALL)
        session.end_attempt(ENGINEER, 0, FAILED)
        answered = session.begin_attempt(ENGINEER, CALL)
        store(session, answered)
    assert not (session.folder / "attempts").exists()
    for found in (session, opened(session)):
        assert found.receipts[ENGINEER].attempts == (FAILED,)
        assert found.pending == {}
        took = totals(found)
        assert (took["calls"], took["failed_calls"], took["usd"]) == (1, 1, 0.0017)


def test_a_turn_that_is_recorded_by_hand_keeps_them_all(session, user):
    with session.hold():
        write_brief_of_turn(session)
        session.begin_attempt(ENGINEER, CALL)
    assert user.council("record", session.id, ENGINEER, stdin="I think so.").code == 0
    assert opened(session).receipts[ENGINEER].attempts == (CALL,)


def write_brief_of_turn(session: Session) -> None:
    (due,) = (due for due in session.plan().due if due.id == ENGINEER)
    session.write_briefs({due.id: loop.prepare(session, settings.load(), due).text})


@pytest.mark.parametrize("how", ["removed", "emptied"])
def test_how_a_call_failed_is_on_record_if_its_file_was_removed_meanwhile(how, session):
    with session.hold():
        number = session.begin_attempt(ENGINEER, CALL)
        session.end_attempt(ENGINEER, number, FAILED)
        number = session.begin_attempt(ENGINEER, CALL)
        session.attempts_path(ENGINEER).write_bytes(b"")
        if how == "removed":
            session.attempts_path(ENGINEER).unlink()
        session.end_attempt(ENGINEER, number, FAILED)
    assert opened(session).pending == {ENGINEER: (FAILED,)}


def test_a_failure_may_be_described_with_any_character(session):
    failed = replace(FAILED, why="refused:\u2028 the\u0085 quota\x1c is\r used up\ud800")
    with session.hold():
        session.end_attempt(ENGINEER, session.begin_attempt(ENGINEER, CALL), failed)
        session.begin_attempt(ENGINEER, CALL)
    assert opened(session).pending == {ENGINEER: (failed, CALL)}


def test_a_receipt_that_could_not_be_read_again_is_not_written(session):
    """Such as one with a number for a name, of a speaker with a mistake. What the call cost stays on record."""
    (due,) = (due for due in session.plan().due if due.id == ENGINEER)
    with session.hold():
        write_brief(session)
        answered = session.begin_attempt(ENGINEER, CALL)
        spoken = Spoken("I think so.", call=5)  # type: ignore[arg-type]
        model = loop.model_of(session, settings.load(), due, None)
        receipt = loop.receipt(session, due, model, "anthropic", spoken, datetime.now(UTC), 2.0)
        with pytest.raises(Damaged):
            session.store(receipt, spoken.body, answered)
    assert not session.turn_path(ENGINEER).exists()
    assert opened(session).pending == {ENGINEER: (CALL,)}


def test_what_a_killed_run_left_of_a_recorded_turn_counts_once(session):
    """The turn's file was written, and the attempts were not removed."""
    with session.hold():
        write_brief(session)
        session.begin_attempt(ENGINEER, CALL)
        session.end_attempt(ENGINEER, 0, FAILED)
        answered = session.begin_attempt(ENGINEER, CALL)
        left = session.attempts_path(ENGINEER).read_bytes()
        store(session, answered)
    session.attempts_path(ENGINEER).parent.mkdir(parents=True)
    session.attempts_path(ENGINEER).write_bytes(left)
    found = opened(session)
    assert (found.pending, totals(found)["usd"]) == ({}, 0.0017)
    with session.hold():
        pass
    assert not (session.folder / "attempts").exists()


DAMAGE = [b"{", b"[]\n", b"1\n", b"\xff\n", b"{}\n", b'{"started": "x", "speaker": "a", "model": null}\n']


@pytest.mark.parametrize("data", DAMAGE)
def test_attempts_that_cannot_be_read_are_named(data, session, user):
    path = session.attempts_path(ENGINEER)
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    with pytest.raises(Damaged, match="which calls may have been billed"):
        opened(session)
    assert str(path) in user.council("verify").out
    assert path.read_bytes() == data


@pytest.mark.parametrize("key", ["most", "usd", "input", "seconds"])
@pytest.mark.parametrize("value", [-1, "NaN", 1e300, "1", True])
def test_numbers_that_council_never_writes_are_refused(key, value, session):
    path = session.attempts_path(ENGINEER)
    path.parent.mkdir(parents=True)
    line = {"started": CALL.started, "speaker": "anthropic", "model": None, key: value}
    path.write_text(json.dumps(line).replace('"NaN"', "NaN") + "\n")
    with pytest.raises(Damaged):
        opened(session)


@pytest.mark.parametrize("name", ["x.jsonl", "01-positions/engineer.md", "notes.txt"])
def test_nothing_else_is_in_that_folder(name, session):
    path = session.folder / "attempts" / name
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    assert [wrong for wrong in session.check_turns() if str(path) in str(wrong)]
