"""What an assistant's members said, read from the transcripts that Claude Code keeps of its subagents.

A transcript has the exact words, the model that really answered and the tokens it used; the assistant itself is shown a
copy with remarks. This module calls nobody and records nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from council.record import files, lock
from council.speakers.base import Spoken, Usage, usage_of

MOST_SILENCE = 900.0  # seconds without a sign of life, after which no answer is expected


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
        return now - last_sign < MOST_SILENCE


def read_answer(path: Path) -> MemberAnswer | None:
    """The complete answer in a transcript; None if there is none yet, or an empty one."""
    lines = _lines(path)
    asked = next((line for line in lines if line.get("type") == "user"), None)
    answers = list(_answers(lines))
    if asked is None or not answers or not answers[-1]["message"].get("stop_reason"):
        return None
    said = [one for one in answers if _message(one)["id"] == _message(answers[-1])["id"]]
    last = _message(said[-1])
    body = "".join(part.get("text", "") for one in said for part in _parts(_message(one)))
    refused = last["stop_reason"] == "refusal"
    if not body.strip() and not refused:
        return None
    began, ended = _time(asked), _time(said[-1])
    absent = "refused by the model" if refused else None
    spoken = Spoken(
        body, last.get("model"), str(last["stop_reason"]), _usage(answers), absent=absent, call=last.get("id")
    )
    return MemberAnswer(str(asked["message"]["content"]), spoken, began, max(0.0, (ended - began).total_seconds()))


def has_failed(path: Path) -> bool:
    """Whether a transcript ends with an API error."""
    said = [line for line in _lines(path) if line.get("type") == "assistant"]
    return bool(said and said[-1].get("isApiErrorMessage"))


def read_about(path: Path) -> dict[str, Any]:
    """What Claude Code notes about the call that a transcript belongs to."""
    try:
        return _json(path.with_suffix(".meta.json").read_bytes())
    except OSError:
        return {}


def _lines(path: Path) -> list[dict[str, Any]]:
    """Lines end only at line feeds, and the last may be half written."""
    try:
        data = path.read_bytes()
    except OSError:
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
            said = said or any(part.get("text", "").strip() for part in _parts(_message(line)))
            yield line


def _message(line: Mapping[str, Any]) -> dict[str, Any]:
    found = line.get("message")
    return found if isinstance(found, dict) else {}


def _parts(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def _usage(answers: list[dict[str, Any]]) -> Usage:
    """A message of several parts takes several lines, each with the same counts."""
    each = {_message(one).get("id"): usage_of(_message(one).get("usage") or {}) for one in answers}
    return sum(each.values(), Usage())


def _time(line: Mapping[str, Any]) -> datetime:
    try:
        return datetime.fromisoformat(str(line.get("timestamp"))).astimezone(UTC)
    except ValueError:
        return datetime.now(UTC)


# ---- notes about calls in progress ----

NOTES = ".asked"


def write_note(folder: Path, note: CallNote) -> None:
    """Written beside the record, and removed when the turn is recorded."""
    files.make_folder(folder / NOTES)
    files.replace(_note_path(folder, note.turn), json.dumps(vars(note)).encode())


def read_notes(folder: Path) -> Iterator[CallNote]:
    for path in sorted((folder / NOTES).glob("*.json")):
        try:
            yield CallNote(**_json(path.read_bytes()))
        except (TypeError, OSError):
            continue


def remove_note(folder: Path, turn: str) -> None:
    files.remove(_note_path(folder, turn))
    files.remove_empty(folder / NOTES)


def _note_path(folder: Path, turn: str) -> Path:
    return folder / NOTES / f"{turn.replace('/', '.')}.json"


def find_folder(call: Mapping[str, Any]) -> str:
    """Where Claude Code keeps the transcripts of a session's subagents, from the input of a hook."""
    return str(Path(str(call.get("transcript_path") or os.devnull)).with_suffix("") / "subagents")
