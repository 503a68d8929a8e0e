"""Notes on a session's desk: who was given a brief, so that nobody is asked twice. The record does not hold them.

`desk/.asked/STEP~SEAT.json` is one note. A member that fetched its brief by a command is named without a call: nobody
knows whether it still works, so that note stops nobody.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from council.next.errors import CouncilError
from council.next.record import desk, files
from council.next.runner.assistant import transcripts

ENDING = ".json"
MOST_SILENCE = 900.0  # seconds without a sign of life, after which no answer is expected
FIELDS = {"turn": str, "at": float, "call": str, "pid": int, "transcripts": str, "background": bool}


@dataclass(frozen=True)
class Note:
    """A member was given a turn: at what time, by which call of which process, and in which folder its transcript will
    be. One in the `background` has a note until the client has told of its end.
    """

    turn: str
    at: float
    call: str = ""
    pid: int = 0
    transcripts: str = ""
    background: bool = False

    def find_transcript(self) -> Path | None:
        with suppress(ValueError):  # a path that no system has
            return transcripts.find(Path(self.transcripts), self.call) if self.call else None
        return None

    def is_running(self) -> bool:
        """Whether an answer may still come: the client runs, and the member showed a sign of life recently."""
        path = self.find_transcript()
        if self.pid < 1 or (path and transcripts.has_failed(path)):
            return False
        with suppress(PermissionError):  # another user's process
            try:
                os.kill(self.pid, 0)
            except (ProcessLookupError, OverflowError):
                return False
        last_sign = max(self.at, path.stat().st_mtime if path and path.exists() else 0.0)
        return abs(time.time() - last_sign) < MOST_SILENCE  # one from the future comes from a clock that was wrong


def place(folder: Path, turn: str) -> Path:
    return folder / desk.FOLDER / desk.ASKED / f"{turn.replace('/', '~')}{ENDING}"


def write(folder: Path, note: Note) -> None:
    path = place(folder, note.turn)
    files.make_folder(path.parent)
    files.write(path, files.to_json(asdict(note)))


def read(folder: Path) -> Iterator[Note]:
    """The notes on the desk. What council did not write counts for nothing."""
    for path in files.list_folder(folder / desk.FOLDER / desk.ASKED):
        with suppress(CouncilError):
            known = files.read_json(path)
            if {key: type(value) for key, value in known.items()} == FIELDS and path == place(folder, known["turn"]):
                yield Note(**known)


def in_flight(folder: Path, said: Collection[str]) -> set[str]:
    """The turns that a member is working on."""
    return {note.turn for note in read(folder) if note.turn not in said and note.is_running()}


def in_background(folder: Path, pid: int) -> set[str]:
    """The turns of members in the background of whose end their client has not told yet."""
    return {note.turn for note in read(folder) if note.background and note.pid == pid and note.is_running()}


def forget(folder: Path, turn: str) -> None:
    files.remove(place(folder, turn))


def clear(folder: Path, due: Collection[str]) -> None:
    """Remove the notes of all turns but those that are due, and of members in the background."""
    background = {note.turn for note in read(folder) if note.background and note.is_running()}
    kept = {place(folder, turn) for turn in {*due, *background}}
    for path in files.list_folder(folder / desk.FOLDER / desk.ASKED):
        if path.suffix == ENDING and path not in kept:
            files.remove(path)


def hand_out(folder: Path, turn: str) -> None:
    """Note that a member fetched its brief. One that cannot write here is given its brief all the same."""
    with suppress(CouncilError):
        write(folder, Note(turn, time.time()))


def age(folder: Path, turn: str) -> float | None:
    """The seconds since a member fetched its brief. None if none did."""
    ages = (max(0.0, time.time() - note.at) for note in read(folder) if note.turn == turn and not note.call)
    return next(ages, None)


def stored_by(folder: Path, turn: str, environment: Mapping[str, str]) -> str:
    """Who stores a reply, as far as this can be known: the member that fetched the brief, or somebody by hand.

    Codex names the conversation of each command. The session's own is the one with the user, and so the host's.
    """
    thread = environment.get("CODEX_THREAD_ID")
    by_host = thread is not None and thread == environment.get("CODEX_SESSION_ID")
    return "member" if age(folder, turn) is not None and not by_host else "hand"
