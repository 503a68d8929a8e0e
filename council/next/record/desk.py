"""The desk of a session: what others leave there for the process that holds it.

`desk/STEP~SEAT/answer.json` answers a person's turn, `desk/pause` asks the run to stop before its next turns. While
somebody renews `desk/watch`, the run leaves in `desk/words/` what its seats are saying. The desk does not belong to the
record: what is on it becomes a turn, or is removed.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from council.next.errors import Busy, CouncilError, Damaged
from council.next.record import files, lock
from council.next.record.catalog import refuse_tracked
from council.next.record.session import Session
from council.next.record.turn_file import MOMENT, Receipt
from council.next.text import encode, one_line

FOLDER, PAUSE, ANSWER, WATCH, WORDS = "desk", "pause", "answer.json", "watch", "words"
ASKED = ".asked"  # the folder of an assistant's notes on whom it has asked
WATCHED = 30.0  # seconds for which one look at the words keeps them coming


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
    place = files.make_folder(folder / FOLDER) / answer.turn.replace("/", "~")
    return files.publish(place, {ANSWER: files.to_json(asdict(answer))})


def take(session: Session) -> list[str]:
    """Record the answers on the desk that are due, and clear the others. Returns the turns recorded."""
    taken = []
    asked = {due.id: due for due in session.plan.due if due.seat.is_person}
    for place in files.list_folder(session.folder / FOLDER):
        if place.name.startswith(".") or "~" not in place.name:  # it is being written, or no answer
            continue
        if (answer := read(place)) and (due := asked.get(answer.turn)):
            started = time.strftime(MOMENT, time.gmtime(answer.at))
            facts = {"by": answer.by, "via": answer.via, "absent": answer.absent}
            receipt = Receipt.of(due, speaker="human", started=started, usd=0.0, **facts)
            session.record(receipt, encode(answer.body))
            taken.append(due.id)
        files.discard(place)
    if taken:
        session.advance()
    return taken


def read(place: Path) -> Answer | None:
    """An answer on the desk. None if council did not write it."""
    with suppress(Damaged, TypeError):
        found = Answer(**files.read_json(place / ANSWER))
        words = (found.turn, found.body, found.by, found.via, found.absent or "")
        if all(isinstance(one, str) for one in words) and files.is_amount(found.at):
            return found
    return None


def answer(folder: Path, answer: Answer) -> str:
    """Answer a person's turn from anywhere: `recorded`, `left` for the process that holds it, or `too late`."""
    session = Session(folder)
    if answer.turn not in session.plan.open or not leave(folder, answer):
        return "too late"
    # Commands by hand end soon, and take nothing from the desk. A run takes it.
    with suppress(Busy), session.hold(wait=0.05, work=lock.BY_HAND):
        return "recorded" if answer.turn in take(session) else "too late"
    return "left"


def pause(folder: Path, by: str) -> bool:
    """Ask the process that holds the session to stop before its next turns. False if none holds it."""
    refuse_tracked(folder)
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


def stop(folder: Path) -> bool:
    """Interrupt the process that holds the session, as Ctrl-C does. False if its note names none of this machine:
    anybody may have edited it, and 0 or -1 would reach every process of the user."""
    holder = lock.read_holder(folder)
    pid = holder.get("pid")
    if type(pid) is not int or not 1 < pid < 2**31 or holder.get("host") != socket.gethostname():
        return False
    with suppress(OSError):  # it has ended meanwhile, or it is somebody else's
        if lock.is_held(folder):
            os.kill(pid, signal.SIGINT)
            return True
    return False


# ---- what is being said right now ----


def watch(folder: Path) -> None:
    """Ask the process that holds the session for the words of its seats. A viewer asks again at each look."""
    files.write(files.make_folder(folder / FOLDER) / WATCH, b"")


def words(folder: Path) -> dict[str, str]:
    """What each seat has said so far of a turn that is not on record yet."""
    found = {}
    for path in files.list_folder(folder / FOLDER / WORDS):
        with suppress(CouncilError):  # its turn may just have been recorded
            found[path.name.replace("~", "/")] = files.read(path).decode(errors="replace")
    return found


def add_words(folder: Path, turn: str, text: str) -> None:
    """Leave a piece of what a seat says, if somebody watches. A picture that fails never fails a run."""
    with suppress(OSError, CouncilError):
        if abs(time.time() - (folder / FOLDER / WATCH).lstat().st_mtime) > WATCHED:
            return
        path = files.make_folder(folder / FOLDER / WORDS) / turn.replace("/", "~")
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
        with open(handle, "ab", 0) as file:
            file.write(encode(text))


def drop_words(folder: Path, turn: str) -> None:
    """The turn is on record, or begins again."""
    with suppress(OSError):
        (folder / FOLDER / WORDS / turn.replace("/", "~")).unlink()
