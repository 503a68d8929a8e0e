"""Members that an assistant calls: its subagents. The prompt of each is a sentence that names its turn.

The sentence asks for `council brief SESSION TURN`. A hook puts the brief in its place, so the member needs no tools.
Its words are taken from its transcript, byte for byte, by a hook or by the next command.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from council.config import overlays, places
from council.config.models import Model
from council.config.settings import Config
from council.engine.planner import Due
from council.errors import Busy, CouncilError, UsageError
from council.record import files, session
from council.record.catalog import ID
from council.record.session import TURN, Session
from council.record.turn_file import HOOK
from council.runner import manual
from council.runner.loop import model_of
from council.speakers.assistant import handouts, transcripts
from council.speakers.assistant.transcripts import CallNote
from council.speakers.base import Spoken

TARGET = re.compile(rf"({ID.pattern}) ({TURN.pattern})")
SENTENCE = re.compile(rf"\s*Run `council brief {TARGET.pattern}` and do what it prints\.\s*")
DESCRIPTION = re.compile(rf"(?:.*\s)?{TARGET.pattern}", re.S)
AGENT = "council:council-"
ALIASES = ("opus", "sonnet", "haiku")  # what Claude Code calls the models that a member can be given
PATIENCE = 30.0
LAG = 5.0  # seconds until a transcript has what its member said, at most


def agent_of(due: Due) -> str:
    """The agent without tools for this seat: `agents/` has one for the chair and one for all others."""
    known = overlays.kit_folder() / "agents" / f"council-{due.seat.name}.md"
    return f"{AGENT}{due.seat.name if known.is_file() else 'member'}"


def alias_of(model: Model) -> str | None:
    return next((word for word in ALIASES if word in model.name), None)


def find_in_flight(found: Session) -> set[str]:
    """The turns that a member is working on."""
    return transcripts.find_in_flight(found.folder, found.said)


def harvest(found: Session, settings: Config) -> None:
    """Record every answer that is in a transcript by now. The session must be locked."""
    for asked in transcripts.read_notes(found.folder):
        path = asked.find_file() if _is_due(found, asked.turn) else None
        answer = transcripts.read_answer(path) if path else None
        if answer and files.encode(answer.asked) == found.brief(asked.turn):
            manual.record(found, settings, asked.turn, answer.spoken, answer.started, answer.seconds)
        if asked.turn in found.said:
            transcripts.remove_note(found.folder, asked.turn)
    handouts.remove_notes(found.folder, [due.id for due in found.plan().due])


def _is_due(found: Session, turn: str) -> bool:
    return any(due.id == turn for due in found.plan().due)


def wait_for_assistant(found: Session) -> None:
    """Refuse to ask for a turn that is being answered: it would be paid for twice."""
    if flying := find_in_flight(found):
        pids = {one.pid for one in transcripts.read_notes(found.folder) if one.turn in flying}
        raise Busy(
            f"{', '.join(sorted(flying))}: an assistant that still runs (pid {', '.join(map(str, sorted(pids)))}) has "
            "asked for that; wait for the answer, or end the assistant"
        )


# ---- what Claude Code tells a hook, and what it is told ----


def answer_hook(call: Mapping[str, Any], settings: Config) -> dict[str, Any] | None:
    """The answer to one event; None if there is none."""
    match call.get("hook_event_name"):
        case "PreToolUse":
            return on_call(call, settings)
        case "SubagentStop":
            on_stop(call, settings)
        case "PostToolUse":
            on_end(call, settings)
        case "PostToolUseFailure":
            if target := _find_target(call["tool_input"]):
                transcripts.remove_note(places.find(settings, target[0]), target[1])
    return None


def on_call(call: Mapping[str, Any], settings: Config) -> dict[str, Any] | None:
    """Put the brief in place of the sentence, byte for byte, and set the model of the turn's tier."""
    tool = call["tool_input"]
    marked = SENTENCE.fullmatch(str(tool.get("prompt", "")))
    if marked is None and not str(tool.get("subagent_type", "")).startswith(AGENT):
        return None  # none of ours
    try:
        if marked is None:
            raise UsageError("a member is asked by its prompt alone, as `council next` prints it")
        found, due = _find_due(settings, marked[1], marked[2])
        changed = {**tool, **_fill_in(found, settings, due)}
        seen = CallNote(due.id, str(call.get("tool_use_id")), _client_pid(), time.time(), transcripts.find_folder(call))
        transcripts.write_note(found.folder, seen)
    except CouncilError as wrong:
        return _format_output("PreToolUse", permissionDecision="deny", permissionDecisionReason=f"council: {wrong}")
    return _format_output("PreToolUse", updatedInput=changed)


def _find_due(settings: Config, id: str, turn: str) -> tuple[Session, Due]:
    """The turn, if it is due and not in progress."""
    found = session.open_(places.find(settings, id))
    found.read_turns()
    due = manual.due_turn(found, found.plan(), turn)
    if found.brief(turn) is None:
        raise UsageError(f"{turn} has no brief yet; `council next {id}` writes it")
    if turn in find_in_flight(found):
        raise UsageError(f"{turn} was asked for already, and its answer is still to come; wait for it")
    return found, due


def _fill_in(found: Session, settings: Config, due: Due) -> dict[str, Any]:
    brief = (found.brief(due.id) or b"").decode("utf-8", "replace")
    model = alias_of(model_of(found, settings, due, None))
    about = f"{due.seat.label}, {due.phase.name} · {found.id} {due.id}"
    given = {"prompt": brief, "description": about, "subagent_type": agent_of(due), "run_in_background": False}
    return given | ({"model": model} if model else {})


def on_stop(call: Mapping[str, Any], settings: Config) -> None:
    """A member has answered, in the foreground or not. Its words are in its transcript a moment later."""
    path = Path(str(call.get("agent_transcript_path")))
    target = _find_target(transcripts.read_about(path))
    until = time.monotonic() + LAG
    while time.monotonic() < until and target:
        if transcripts.read_answer(path) is not None or transcripts.has_failed(path):
            break
        time.sleep(0.02)
    if target:
        take(settings, target[0])
        # A member without an answer may be asked again.
        transcripts.remove_note(places.find(settings, target[0]), target[1])


def on_end(call: Mapping[str, Any], settings: Config) -> None:
    """The call of a member is over. Without a transcript, the words that the assistant was shown are recorded."""
    target, response = _find_target(call["tool_input"]), call.get("tool_response")
    if target is None or not isinstance(response, dict) or response.get("status") != "completed":
        return
    id, turn = target
    take(settings, id)
    found = session.open_(places.find(settings, id))
    found.read_turns()
    if turn not in found.said and (body := _read_words(response)).strip():
        take(settings, id, turn, Spoken(body, call=response.get("agentId"), recorded_by=HOOK))
    transcripts.remove_note(found.folder, turn)


def _read_words(response: Mapping[str, Any]) -> str:
    """The member's words, without what the assistant's program put around them."""
    parts = [str(part.get("text", "")) for part in response.get("content") or [] if isinstance(part, dict)]
    before, after = (int(response.get(key) or 0) for key in ("harnessNoteCount", "harnessTailCount"))
    return "".join(parts[before : len(parts) - after])


def take(settings: Config, id: str, turn: str = "", shown: Spoken | None = None) -> None:
    """Record the answers as soon as the session is free: other members may end at the same time."""
    found = session.open_(places.find(settings, id))
    until = time.monotonic() + PATIENCE
    while True:
        try:
            with found.hold():
                harvest(found, settings)
                if shown and _is_due(found, turn):
                    manual.record(found, settings, turn, shown)
                return
        except Busy:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)


def _find_target(about: Mapping[str, Any]) -> tuple[str, str] | None:
    found = DESCRIPTION.fullmatch(str(about.get("description", "")))
    return (found[1], found[2]) if found else None


def _client_pid() -> int:
    """The assistant's process: while it runs, its members may answer."""
    told = os.environ.get("CLAUDE_PID", "")
    return int(told) if told.isdigit() else os.getppid()


def _format_output(event: str, **facts: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, **facts}}
