"""What an assistant's members said, read from the transcripts that Claude Code keeps of its subagents.

A transcript has the exact words, the model that really answered and the tokens it used; the assistant itself is shown a
copy with remarks. This module calls nobody and records nothing.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Container, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from council.errors import Damaged
from council.record import files, lock, tracked
from council.record.turn_file import HOOK
from council.speakers.base import Spoken, Usage, usage_of

INTERRUPTED = "[Request interrupted by user"  # what Claude Code writes when a person presses Esc
MOST_SILENCE = 900.0  # seconds without a sign of life, after which no answer is expected
LARGEST_PID, LARGEST_TIME = 1 << 31, 1e11
KINDS: dict[str, type | tuple[type, ...]] = {
    "turn": str,
    "call": str,
    "pid": int,
    "at": (int, float),
    "transcripts": str,
}


@dataclass(frozen=True)
class MemberAnswer:
    """A member's answer: the exact prompt, the reply, and when."""

    asked: str
    spoken: Spoken
    started: datetime
    seconds: float


@dataclass(frozen=True)
class CallNote:
    """A note that a member was given a turn: by which call of which assistant, and where its transcript will be."""

    turn: str
    call: str
    pid: int
    at: float
    transcripts: str

    def find_file(self) -> Path | None:
        """The member's transcript, once it exists. A file beside it says which call it belongs to."""
        for note in Path(self.transcripts).glob("agent-*.meta.json"):
            path = note.with_name(note.name.replace(".meta.json", ".jsonl"))
            if read_about(path).get("toolUseId") == self.call:
                return path
        return None

    def is_running(self, now: float) -> bool:
        """Whether an answer may still come: the assistant runs, and the member showed a sign of life recently."""
        path = self.find_file()
        if not lock.is_alive(self.pid) or (path and has_failed(path)):
            return False
        last_sign = max(self.at, path.stat().st_mtime) if path and path.exists() else self.at
        return abs(now - last_sign) < MOST_SILENCE  # a sign from the future comes from a clock that was wrong


def read_answer(path: Path) -> MemberAnswer | None:
    """The complete answer in a transcript; None if there is none yet, or an empty one."""
    lines = _lines(path)
    asked = next((line for line in lines if line.get("type") == "user"), None)
    answers = list(_answers(lines))
    if asked is None or not answers or not _message(answers[-1]).get("stop_reason"):
        return None
    said = [one for one in answers if _message(one).get("id") == _message(answers[-1]).get("id")]
    last = _message(said[-1])
    body = "".join(_text(part) for one in said for part in _parts(_message(one)))
    refused = last["stop_reason"] == "refusal"
    if not body.strip() and not refused:
        return None
    began, ended = _time(asked), _time(said[-1])
    absent = "refused by the model" if refused else None
    spoken = Spoken(
        body,
        last.get("model"),
        str(last["stop_reason"]),
        _usage(answers),
        absent=absent,
        call=last.get("id"),
        recorded_by=HOOK,
    )
    return MemberAnswer(str(_message(asked).get("content")), spoken, began, max(0.0, (ended - began).total_seconds()))


def has_failed(path: Path) -> bool:
    """Whether a transcript ends with an API error, or because the user interrupted the member."""
    said = [line for line in _lines(path) if line.get("type") in ("user", "assistant")][1:]  # the brief comes first
    if not said or said[-1].get("type") == "assistant":
        return bool(said and said[-1].get("isApiErrorMessage"))
    return any(_text(part).startswith(INTERRUPTED) for part in _parts(_message(said[-1])))


def read_about(path: Path) -> dict[str, Any]:
    """What Claude Code notes about the call that a transcript belongs to."""
    try:
        return _json(files.read(path.with_suffix(".meta.json")))
    except (OSError, Damaged):
        return {}


def _lines(path: Path) -> list[dict[str, Any]]:
    """Lines end only at line feeds, and the last may be half written."""
    try:
        data = files.read(path)
    except (OSError, Damaged):
        return []
    return [found for line in data.split(b"\n") if (found := _json(line))]


def _json(data: bytes) -> dict[str, Any]:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _answers(lines: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """What the model said until it was prompted again. API errors are left out."""
    said = False
    for line in lines:
        if line.get("type") == "user" and said:
            return
        if line.get("type") == "assistant" and not line.get("isApiErrorMessage"):
            said = said or any(_text(part).strip() for part in _parts(_message(line)))
            yield line


def _message(line: Mapping[str, Any]) -> dict[str, Any]:
    found = line.get("message")
    return found if isinstance(found, dict) else {}


def _parts(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def _text(part: Mapping[str, Any]) -> str:
    return str(part.get("text") or "")


def _usage(answers: list[dict[str, Any]]) -> Usage:
    """A message of several parts takes several lines, each with the same counts."""
    each = {str(_message(one).get("id")): _message(one).get("usage") for one in answers}
    counts = [counted if isinstance(counted, dict) else {} for counted in each.values()]
    numbers = ({key: one for key, one in counted.items() if isinstance(one, int) and one >= 0} for counted in counts)
    return sum(map(usage_of, numbers), Usage())


def _time(line: Mapping[str, Any]) -> datetime:
    try:
        return datetime.fromisoformat(str(line.get("timestamp"))).astimezone(UTC)
    except ValueError:
        return datetime.now(UTC)


# ---- notes about calls in progress ----

NOTES = ".asked"


def write_note(folder: Path, note: CallNote) -> None:
    """Written beside the record, and removed when the turn is recorded."""
    tracked.refuse(folder)
    files.make_folder(folder / NOTES)
    files.replace(_note_path(folder, note.turn), json.dumps(vars(note)).encode())


def read_notes(folder: Path) -> Iterator[CallNote]:
    """The notes of a session. One that council did not write is damaged, and named."""
    for path in sorted((folder / NOTES).glob("*.json")):
        with suppress(FileNotFoundError):  # its turn has just been recorded
            yield _decode(path, files.read(path))


def find_in_flight(folder: Path, recorded: Container[str]) -> set[str]:
    """The turns that a member is working on."""
    now = time.time()
    return {one.turn for one in read_notes(folder) if one.turn not in recorded and one.is_running(now)}


def check_notes(folder: Path) -> Iterator[Damaged]:
    """What is wrong with the notes of a session: the first that is damaged."""
    try:
        for _ in read_notes(folder):
            pass
    except Damaged as wrong:
        yield wrong


def _decode(path: Path, data: bytes) -> CallNote:
    found = _json(data)
    if found.keys() == KINDS.keys() and all(
        isinstance(found[key], kind) and not isinstance(found[key], bool) for key, kind in KINDS.items()
    ):
        note = CallNote(**found)
        possible = 0 < note.pid < LARGEST_PID and 0 <= note.at < LARGEST_TIME and "\0" not in note.transcripts
        if possible and path.name == _note_path(path.parent, note.turn).name:
            return note
    raise Damaged(path, "not a note that council wrote; remove it, and the turn can be asked for again")


def remove_note(folder: Path, turn: str) -> None:
    tracked.refuse(folder)
    files.remove(_note_path(folder, turn))
    files.remove_empty(folder / NOTES)


def _note_path(folder: Path, turn: str) -> Path:
    return folder / NOTES / f"{turn.replace('/', '.')}.json"


def find_folder(call: Mapping[str, Any]) -> str:
    """Where Claude Code keeps the transcripts of a session's subagents, from the input of a hook."""
    return str(Path(str(call.get("transcript_path") or os.devnull)).with_suffix("") / "subagents")
