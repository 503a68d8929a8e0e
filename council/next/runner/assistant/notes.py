"""Notes on a session's desk: who was given a brief, so that nobody is asked twice. The record does not hold them.

`desk/.asked/STEP~SEAT.json` names the call of a member that Claude Code launched. `STEP~SEAT.brief` is empty and as old
as the moment in which a member fetched the brief by command; it stops nobody.
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
from council.next.record.catalog import refuse_tracked
from council.next.runner.assistant import transcripts

FOLDER, CALL, BRIEF = ".asked", ".json", ".brief"
MOST_SILENCE = 900.0  # seconds without a sign of life, after which no answer is expected


@dataclass(frozen=True)
class Note:
    """A member was given a turn: by which call of which process, and in which folder its transcript will be.

    One in the `background` has a note until the client has told of its end.
    """

    turn: str
    call: str
    pid: int
    at: float
    transcripts: str
    background: bool = False

    def find_transcript(self) -> Path | None:
        return transcripts.find(Path(self.transcripts), self.call)

    def is_running(self) -> bool:
        """Whether an answer may still come: the client runs, and the member showed a sign of life recently."""
        path = self.find_transcript()
        if path and transcripts.has_failed(path):
            return False
        try:
            os.kill(self.pid, 0)
        except PermissionError:
            pass  # another user's process
        except OSError:
            return False
        last_sign = max(self.at, path.stat().st_mtime if path and path.exists() else 0.0)
        return abs(time.time() - last_sign) < MOST_SILENCE  # one from the future comes from a clock that was wrong


def place(folder: Path, turn: str, ending: str) -> Path:
    return folder / desk.FOLDER / FOLDER / name_of(turn, ending)


def name_of(turn: str, ending: str) -> str:
    return f"{turn.replace('/', '~')}{ending}"


def write(folder: Path, note: Note) -> None:
    """The caller holds the session."""
    files.make_folder(folder / desk.FOLDER / FOLDER)
    files.write(place(folder, note.turn, CALL), files.to_json(asdict(note)))


def read(folder: Path) -> Iterator[Note]:
    """The calls on the desk. What council did not write counts for nothing."""
    for path in files.list_folder(folder / desk.FOLDER / FOLDER):
        with suppress(CouncilError, TypeError):
            if path.suffix == CALL and is_ours(note := Note(**files.read_json(path)), path):
                yield note


def is_ours(note: Note, path: Path) -> bool:
    known = vars(note)
    words = all(isinstance(known[key], str) and "\0" not in known[key] for key in ("turn", "call", "transcripts"))
    process = type(note.pid) is int and 0 < note.pid < 1 << 31 and isinstance(known["background"], bool)
    return words and process and files.is_amount(note.at) and path.name == name_of(note.turn, CALL)


def in_flight(folder: Path, said: Collection[str]) -> set[str]:
    """The turns that a member is working on."""
    return {note.turn for note in read(folder) if note.turn not in said and note.is_running()}


def in_background(folder: Path, pid: int) -> set[str]:
    """The turns of members in the background of whose end their client has not told yet."""
    return {note.turn for note in read(folder) if note.background and note.pid == pid and note.is_running()}


def forget(folder: Path, turn: str) -> None:
    files.remove(place(folder, turn, CALL))


def clear(folder: Path, due: Collection[str]) -> None:
    """Remove the notes of all turns but those that are due, and of members in the background."""
    background = {note.turn for note in read(folder) if note.background and note.is_running()}
    kept = {place(folder, turn, ending) for turn in {*due, *background} for ending in (CALL, BRIEF)}
    for path in files.list_folder(folder / desk.FOLDER / FOLDER):
        if path not in kept and path.suffix in (CALL, BRIEF):
            files.remove(path)


def hand_out(folder: Path, turn: str) -> None:
    """Note that a member fetched its brief. One that cannot write here is given its brief all the same."""
    path = place(folder, turn, BRIEF)
    with suppress(OSError, CouncilError):
        refuse_tracked(folder)
        files.make_folder(path.parent)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600))
        os.utime(path, follow_symlinks=False)


def age(folder: Path, turn: str) -> float | None:
    """The seconds since a brief was handed out. None if it was not."""
    with suppress(OSError):
        return max(0.0, time.time() - place(folder, turn, BRIEF).lstat().st_mtime)
    return None


def stored_by(folder: Path, turn: str, environment: Mapping[str, str]) -> str:
    """Who stores a reply, as far as this can be known: the member that fetched the brief, or somebody by hand.

    Codex names the conversation of each command. The session's own is the one with the user, and so the host's.
    """
    thread = environment.get("CODEX_THREAD_ID")
    by_host = thread is not None and thread == environment.get("CODEX_SESSION_ID")
    return "member" if age(folder, turn) is not None and not by_host else "hand"
