"""A person's answer, wherever it is given: at a terminal, on the page, by `council record`. The first one is recorded.

If no process holds the session, the answer is recorded at once. If a run holds it and waits for this very answer, the
answer is put on the session's desk, where the run finds it. Here are also the requests to pause and to cancel a run.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from council.config.identity import LONGEST, user_name
from council.config.settings import Config
from council.errors import Busy, UsageError
from council.record import desk, files, lock, tracked
from council.record import session as sessions
from council.record.desk import Desk, DeskAnswer
from council.record.session import Session
from council.record.turn_file import ABSENT
from council.runner import loop, manual, subagents
from council.speakers.base import Spoken
from council.text import one_line

PATIENCE = 10.0  # seconds: a run that waits for a person looks at the desk several times a second
LONGEST_STORE = 60.0  # seconds that it may take from there to the turn
LOOK = 0.03


@dataclass(frozen=True)
class Absence:
    """In the place of an answer: why the person gives none."""

    why: str


Given = str | Iterable[tuple[str, str]] | Absence  # the reply itself, its answers by name, or why there is none


@dataclass(frozen=True)
class Answered:
    """What became of an answer: it is the turn now, or somebody else's was `recorded` before it. `by`, `via` and `at`
    are those of the turn. `archived` is set if that ended the debate.
    """

    turn: str
    recorded: bool
    by: str
    via: str
    at: str
    archived: Path | None = None

    def refuse_late(self) -> None:
        """Raise UsageError if somebody else's answer was recorded before this one."""
        if not self.recorded:
            first = f"{self.by} answered it {desk.PLACES[self.via]} at {self.at}"
            raise UsageError(f"{self.turn} is recorded already, and a turn is never overwritten: {first}")


def answer(
    folder: Path,
    settings: Config,
    turn: str,
    given: Given,
    by: str = "",
    via: str = desk.RECORD,
    patience: float = PATIENCE,
) -> Answered:
    """Have the answer recorded as a person's turn.

    An answer that is invalid, or whose turn is not due, is refused. It returns once the turn is on the disk. If it
    raises, the answer was not recorded, unless a run had just taken it from the desk: then the session says so.
    """
    tracked.refuse(folder)
    session = sessions.open_(folder)
    session.read_turns()
    if turn in session.said:
        return _report(session, turn, "")
    wanted = _prepare(session, settings, turn, given, by, via)
    place, placed = Desk(folder, turn), False
    began = time.monotonic()
    try:
        while not os.path.lexists(session.turn_path(turn)):
            if not lock.is_held(folder) and (done := _record(session, settings, turn, wanted)):
                return done
            placed = placed or place.put(wanted)
            waited = time.monotonic() - began
            if waited > patience and (not placed or place.withdraw(wanted.id) or waited > patience + LONGEST_STORE):
                who = lock.describe(lock.read_note(folder))
                raise Busy(f"{turn} was not recorded: {folder.name} is in use by {who}, which does not take it now")
            time.sleep(LOOK)
    finally:
        place.withdraw(wanted.id)
    session.read_turns()
    return _report(session, turn, wanted.id)


def _prepare(session: Session, settings: Config, turn: str, given: Given, by: str, via: str) -> DeskAnswer:
    """The answer as it may be recorded: what `council record` refuses is refused."""
    due = manual.due_turn(session, session.plan(), turn)
    if not due.of_a_person:
        raise UsageError(f"{turn} is not a person's turn; `council record` stores it")
    if isinstance(given, Absence):
        body = ""
    else:
        body = given if isinstance(given, str) else manual.compose_reply(session, settings, turn, given)
        manual.check_answer(due, loop.prepare(session, settings, due), body)
    if (size := len(files.encode(body))) > desk.LARGEST:
        raise UsageError(f"the answer has {size:,} bytes; a person's may have {desk.LARGEST:,}")
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    absent = given.why if isinstance(given, Absence) else ""
    return DeskAnswer(body, one_line(by, LONGEST) or user_name(), via, now, secrets.token_hex(8), absent)


def _record(session: Session, settings: Config, turn: str, wanted: DeskAnswer) -> Answered | None:
    """Record the answer, unless somebody else's is there before it; None if another process holds the session."""
    try:
        with session.hold():
            collect(session, settings)
            archived = _store(session, settings, turn, wanted).archived if turn not in session.said else None
            return _report(session, turn, wanted.id, archived)
    except Busy:
        return None


def collect(session: Session, settings: Config) -> None:
    """Record what was answered while nobody held the session: on the desk, or by an assistant's members. The session
    must be locked.
    """
    subagents.harvest(session, settings)
    for place in list(desk.find(session.folder)):
        if any(due.id == place.turn and due.of_a_person for due in session.plan().due):
            if found := place.take():
                _store(session, settings, place.turn, found)
        else:
            place.clear()


def _store(session: Session, settings: Config, turn: str, found: DeskAnswer) -> manual.ManualState:
    spoken = Spoken(found.body, stop="recorded", by=found.by, via=found.via, call=found.id)
    if found.absent:
        spoken = replace(spoken, stop=ABSENT, absent=found.absent)
    return manual.record(session, settings, turn, spoken)


def _report(session: Session, turn: str, id: str, archived: Path | None = None) -> Answered:
    receipt = session.receipts[turn]
    ended = datetime.fromisoformat(receipt.started) + timedelta(seconds=receipt.seconds)
    at = ended.astimezone(UTC).isoformat(timespec="seconds")
    return Answered(
        turn,
        receipt.call == id,
        receipt.by or ("nobody" if receipt.absent else "a person"),
        receipt.via or desk.RECORD,
        at,
        archived,
    )


def ask_to_pause(folder: Path, by: str = "") -> None:
    """Have the run that holds the session stop before its next turns."""
    tracked.refuse(folder)
    if not lock.is_held(folder):
        raise UsageError(f"{folder.name} is not running, so there is nothing to pause")
    desk.ask_to_pause(folder, one_line(by, LONGEST) or user_name(), secrets.token_hex(8))


def cancel(folder: Path) -> None:
    """Interrupt the run that holds the session, as Ctrl-C does."""
    tracked.refuse(folder)
    if not lock.interrupt(folder):
        raise UsageError(f"{folder.name} is not running in a process on this machine that could be stopped from here")
