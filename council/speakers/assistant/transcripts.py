"""What an assistant's members have said, read from the transcripts that Claude Code keeps of its subagents.

There the words stand byte for byte, beside the model that really answered and what it took; what the assistant itself
is shown of them is a copy with remarks. Nothing is asked here, and nothing is recorded.
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

MOST_SILENCE = 900.0  # seconds after which nobody expects an answer any more


@dataclass(frozen=True)
class Heard:
    """A member's answer: what it was asked, word for word, what it said, and when."""

    asked: str
    spoken: Spoken
    started: datetime
    seconds: float


@dataclass(frozen=True)
class Asked:
    """A note that a turn was given to a member: by which call of which assistant, and where its transcript will be."""

    turn: str
    call: str
    pid: int
    at: float
    transcripts: str

    def file(self) -> Path | None:
        """The member's transcript, once there is one: beside each lies a note of the call that it belongs to."""
        for note in Path(self.transcripts).glob("agent-*.meta.json"):
            path = note.with_name(note.name.replace(".meta.json", ".jsonl"))
            if about(path).get("toolUseId") == self.call:
                return path
        return None

    def running(self, now: float) -> bool:
        """Whether an answer may still come: the assistant lives, and something was heard of the member not long ago."""
        path = self.file()
        if not lock.alive(self.pid) or (path and failed(path)):
            return False
        heard = max(self.at, path.stat().st_mtime) if path and path.exists() else self.at
        return now - heard < MOST_SILENCE


def heard(path: Path) -> Heard | None:
    """The whole answer that a transcript holds; None as long as there is none, and where nothing was said."""
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
    return Heard(str(asked["message"]["content"]), spoken, began, max(0.0, (ended - began).total_seconds()))


def failed(path: Path) -> bool:
    """Whether the last that a transcript holds is that the API gave no answer."""
    said = [line for line in _lines(path) if line.get("type") == "assistant"]
    return bool(said and said[-1].get("isApiErrorMessage"))


def about(path: Path) -> dict[str, Any]:
    """What Claude Code notes of the call that a transcript belongs to."""
    try:
        return _json(path.with_suffix(".meta.json").read_bytes())
    except OSError:
        return {}


def _lines(path: Path) -> list[dict[str, Any]]:
    """Its lines end at line feeds alone, and the last may be half written."""
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
    """What the model said before anybody but the program spoke to it again; an error of the API is no answer."""
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
    """A message of several parts stands on several lines, with the same counts on each."""
    each = {_message(one).get("id"): usage_of(_message(one).get("usage") or {}) for one in answers}
    return sum(each.values(), Usage())


def _time(line: Mapping[str, Any]) -> datetime:
    try:
        return datetime.fromisoformat(str(line.get("timestamp"))).astimezone(UTC)
    except ValueError:
        return datetime.now(UTC)


# ---- notes of who was asked ----

NOTES = ".asked"


def note(folder: Path, asked: Asked) -> None:
    """Beside the record, and none of it: gone when the turn is recorded."""
    files.make_folder(folder / NOTES)
    files.replace(_note_path(folder, asked.turn), json.dumps(vars(asked)).encode())


def notes(folder: Path) -> Iterator[Asked]:
    for path in sorted((folder / NOTES).glob("*.json")):
        try:
            yield Asked(**_json(path.read_bytes()))
        except (TypeError, OSError):
            continue


def forget(folder: Path, turn: str) -> None:
    files.remove(_note_path(folder, turn))
    files.remove_empty(folder / NOTES)


def _note_path(folder: Path, turn: str) -> Path:
    return folder / NOTES / f"{turn.replace('/', '.')}.json"


def transcripts(call: Mapping[str, Any]) -> str:
    """Where Claude Code keeps the transcripts of a session's subagents, from what it tells a hook."""
    return str(Path(str(call.get("transcript_path") or os.devnull)).with_suffix("") / "subagents")
