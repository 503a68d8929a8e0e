"""Who was asked, and what Claude Code's subagents answered. Both lie outside of the record, which takes words alone.

`desk/.asked/STEP~SEAT.json` is a note that a member was given its brief, so that nobody is asked twice. A member that
fetched its brief by a command is named without a call: nobody knows whether it still works, so that note stops nobody.

The client keeps a transcript of each subagent: with the exact words, the model that really answered and its tokens. The
host sees a copy with remarks.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from council.next.errors import CouncilError
from council.next.record import desk, files
from council.next.record.catalog import refuse_tracked
from council.next.record.turn_file import MOMENT
from council.next.speakers.values import count, table, text
from council.next.text import one_line

ENDING = ".json"
MOST_SILENCE = 900.0  # seconds without a sign of life, after which no answer is expected
FIELDS = {"turn": str, "at": float, "call": str, "pid": int, "transcripts": str, "background": bool}
USER, MODEL, ERROR = "user", "assistant", "error"  # who a line is from
INTERRUPTED = "[Request interrupted by user"  # what the client writes when a person presses Esc
REFUSAL = "refusal"
TOKENS = {
    "input": "input_tokens",
    "cache_read": "cache_read_input_tokens",
    "cache_write": "cache_creation_input_tokens",
    "output": "output_tokens",
}


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
        """The transcript of the call, once it is there. A file beside it says which call it belongs to."""
        with suppress(ValueError):  # a path that no system has
            for about in Path(self.transcripts).glob("agent-*.meta.json") if self.call else ():
                path = about.with_name(about.name.replace(".meta.json", ".jsonl"))
                if read_about(path).get("toolUseId") == self.call:
                    return path
        return None

    def is_running(self) -> bool:
        """Whether an answer may still come: the client runs, and the member showed a sign of life recently."""
        path = self.find_transcript()
        if self.pid < 1 or (path and has_failed(path)):
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
        refuse_tracked(folder)
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


# ---- transcripts ----


@dataclass(frozen=True)
class Line:
    by: str
    at: str
    message: Mapping[str, Any]
    words: str  # thoughts are none


@dataclass(frozen=True)
class Answer:
    """A member's whole answer. `asked` is its prompt, and `facts` are fields of the receipt."""

    asked: str
    body: str
    facts: Mapping[str, Any]


def read_answer(path: Path) -> Answer | None:
    """The answer in a transcript. None while there is none, only a part of one, or an empty one."""
    lines = [*read_lines(path)]
    asked = next((line for line in lines if line.by == USER), None)
    said: list[Line] = []
    for line in lines:
        if line.by == USER and any(one.words.strip() for one in said):
            break  # what is said later answers somebody else
        said += [line] if line.by == MODEL else []
    last = said[-1].message if said else {}
    stop = text(last.get("stop_reason"))
    body = "".join(line.words for line in said if line.message.get("id") == last.get("id"))
    if asked is None or not stop or not (body.strip() or stop == REFUSAL):
        return None
    began, ended = moment(asked.at), moment(said[-1].at)
    # A message of several parts takes several lines, each with the same counts.
    usages = [table(one) for one in {str(one.message.get("id")): one.message.get("usage") for one in said}.values()]
    facts = {
        "answered": one_line(text(last.get("model"))) or None,
        "call": one_line(text(last.get("id"))) or None,
        "stop": one_line(stop),
        "absent": "refused by the model" if stop == REFUSAL else None,
        "started": began.strftime(MOMENT),
        "seconds": round(max(0.0, (ended - began).total_seconds()), 3),
        **{name: sum(count(one.get(key)) or 0 for one in usages) for name, key in TOKENS.items()},
    }
    return Answer(str(asked.message.get("content")), body, facts)


def has_failed(path: Path) -> bool:
    """Whether a transcript ends with an error of the API, or because the user interrupted the member."""
    after_brief = [line for line in read_lines(path) if line.by in (USER, MODEL, ERROR)][1:]
    last = after_brief[-1] if after_brief else None
    return bool(last and (last.by == ERROR or (last.by == USER and last.words.startswith(INTERRUPTED))))


def read_about(path: Path) -> dict[str, Any]:
    """What the client notes about the call that a transcript belongs to."""
    with suppress(CouncilError, ValueError):
        return files.read_json(path.with_suffix(".meta.json"))
    return {}


def read_lines(path: Path) -> Iterator[Line]:
    """Lines end only at line feeds, and the last one may be half written."""
    with suppress(CouncilError, ValueError):
        for data in files.read(path).split(b"\n"):
            with suppress(ValueError, RecursionError):
                line = table(json.loads(data))
                message = table(line.get("message"))
                parts = message.get("content")
                words = "".join(text(table(part).get("text")) for part in parts) if isinstance(parts, list) else ""
                by = ERROR if line.get("isApiErrorMessage") else text(line.get("type"))
                yield Line(by, text(line.get("timestamp")), message, words)


def moment(written: str) -> datetime:
    try:
        return datetime.fromisoformat(written).astimezone(UTC)
    except (ValueError, OverflowError):
        return datetime.now(UTC)
