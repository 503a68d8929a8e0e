"""What a member in Claude Code said, from the transcript that the client keeps of each subagent.

A transcript has the exact words, the model that really answered and its tokens. The host sees a copy with remarks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from council.next.errors import CouncilError
from council.next.record import files
from council.next.record.turn_file import MOMENT
from council.next.speakers.values import count, table, text
from council.next.text import one_line

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


def find(folder: Path, call: str) -> Path | None:
    """The transcript of a call, once it is there. A file beside it says which call it belongs to."""
    for about in folder.glob("agent-*.meta.json"):
        path = about.with_name(about.name.replace(".meta.json", ".jsonl"))
        if read_about(path).get("toolUseId") == call:
            return path
    return None


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
