"""The desk of a session: what others leave there for the process that holds it.

`desk/STEP~SEAT/answer.json` answers a person's turn, `desk/pause` asks the run to stop before its next turns. The desk
does not belong to the record: what is on it becomes a turn, or is removed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from council.next.errors import Busy, CouncilError, Damaged
from council.next.record import files, lock
from council.next.record.catalog import refuse_tracked
from council.next.record.session import Session
from council.next.record.turn_file import MOMENT, Receipt
from council.next.text import encode, one_line

FOLDER, PAUSE, ANSWER = "desk", "pause", "answer.json"


@dataclass(frozen=True)
class Answer:
    """A person's answer to a turn: who gave it, where, and when. With `absent`, why that person does not answer."""

    turn: str
    body: str
    by: str
    via: str
    at: float
    absent: str | None = None


def leave(folder: Path, answer: Answer) -> bool:
    """Put an answer on the desk, whole and at once. False if there is one already: the first one counts."""
    refuse_tracked(folder)
    files.refuse_links(folder, (FOLDER,))
    desk = files.make_folder(folder / FOLDER)
    return files.publish(desk / answer.turn.replace("/", "~"), {ANSWER: files.to_json(asdict(answer))})


def answers(folder: Path) -> Iterator[tuple[Path, Answer]]:
    """The answers on the desk. One that council did not write is removed."""
    for place in files.list_folder(folder / FOLDER):
        if place.name.startswith(".") or "~" not in place.name:  # it is being written, or no answer
            continue
        try:
            found = Answer(**files.read_json(place / ANSWER))
            words = (found.turn, found.body, found.by, found.via, found.absent or "")
            if not all(isinstance(one, str) for one in words) or not files.is_amount(found.at):
                raise TypeError
            yield place, found
        except (Damaged, TypeError):
            files.discard(place)


def take(session: Session) -> list[str]:
    """Record the answers on the desk that are due, and clear the others. Returns the turns recorded."""
    taken = []
    for place, answer in list(answers(session.folder)):
        due = next((one for one in session.plan.due if one.id == answer.turn), None)
        if due is not None and due.seat.is_person:
            receipt = Receipt(
                turn=due.id,
                seat=due.seat.name,
                step=due.step.name,
                round=due.round,
                speaker="human",
                started=time.strftime(MOMENT, time.gmtime(answer.at)),
                by=answer.by,
                via=answer.via,
                absent=answer.absent,
                usd=0.0,
            )
            session.record(receipt, encode(answer.body))
            taken.append(due.id)
        files.discard(place)
    if taken:
        session.advance()
    return taken


def answer(folder: Path, answer: Answer) -> str:
    """Answer a person's turn from anywhere: `recorded`, `left` for the process that holds it, or `too late`."""
    session = Session(folder)
    if answer.turn not in session.plan.open or not leave(folder, answer):
        return "too late"
    with suppress(Busy), session.hold(wait=0.05):  # somebody may just be looking who holds it
        return "recorded" if answer.turn in take(session) else "too late"
    return "left"


def pause(folder: Path, by: str) -> bool:
    """Ask the process that holds the session to stop before its next turns. False if none holds it."""
    if not lock.is_held(folder):
        return False
    files.publish(files.make_folder(folder / FOLDER) / PAUSE, {"by": encode(by)})
    return True


def is_paused(folder: Path) -> str:
    """Who asked for a pause. Empty if nobody did."""
    try:
        return one_line(files.read(folder / FOLDER / PAUSE / "by").decode(errors="replace")) or "somebody"
    except CouncilError:
        return ""


def resume(folder: Path) -> None:
    files.discard(folder / FOLDER / PAUSE)
