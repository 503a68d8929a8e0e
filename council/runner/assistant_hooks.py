"""What Claude Code tells council's hooks, and what they answer: a debate without any command of the host's own.

A member's prompt becomes its brief, its words go from its transcript into the record and not to the host, and after the
last member the host is told who is next. If a hook fails, `council next` does the rest.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from council.config import places
from council.config.settings import Config
from council.errors import CouncilError, UsageError
from council.record import files, session
from council.record.session import Session
from council.record.turn_file import HOOK
from council.runner import manual, next_step, permission, subagents
from council.runner.loop import model_of
from council.runner.manual import NO_BRIEF
from council.runner.subagents import AGENT, SENTENCE, TARGET
from council.speakers.assistant import transcripts
from council.speakers.assistant.transcripts import CallNote
from council.speakers.base import Spoken

DESCRIPTION = re.compile(rf"(?:.*\s)?{TARGET.pattern}", re.S | re.A)
NOTIFICATION = re.compile(rf'<summary>Agent "[^"\n]* · {TARGET.pattern}" ', re.A)
BACKGROUND = "Async agent launched"  # how the answer to the call of such a member begins
LAG = 5.0  # seconds until a transcript has what its member said, at most

Answer = dict[str, Any] | None


def answer(call: Mapping[str, Any], settings: Config, program: str) -> Answer:
    """The answer to one event; None if there is none. `program` is what `council` means to the user."""
    match call.get("hook_event_name"):
        case "PreToolUse" if call.get("tool_name") == "Bash":
            return on_command(call, settings, program)
        case "PreToolUse":
            return on_call(call, settings)
        case "SubagentStop":
            on_stop(call, settings)
        case "PostToolUse":
            return on_end(call, settings)
        case "PostToolUseFailure":
            on_failure(call["tool_input"], settings)
        case "PostToolBatch":
            return on_batch(call, settings)
        case "UserPromptSubmit":
            return on_notification(call, settings)
    return None


def on_command(call: Mapping[str, Any], settings: Config, program: str) -> Answer:
    """Allow a command that only reads."""
    if (given := permission.allow(call["tool_input"], settings, program)) is None:
        return None
    why = "council: it lists, shows or checks a debate"
    return _format("PreToolUse", permissionDecision="allow", permissionDecisionReason=why, updatedInput=given)


def on_call(call: Mapping[str, Any], settings: Config) -> Answer:
    """Put the brief in place of the sentence, byte for byte, and set the model of the turn's tier."""
    tool = call["tool_input"]
    marked = SENTENCE.fullmatch(str(tool.get("prompt", "")))
    if marked is None and not str(tool.get("subagent_type", "")).startswith(AGENT):
        return None  # none of ours
    try:
        if marked is None:
            raise UsageError("a member is asked by its prompt alone, as `council next` prints it")
        return _format("PreToolUse", updatedInput={**tool, **_brief(call, settings, *marked.group("session", "turn"))})
    except CouncilError as wrong:
        return _format("PreToolUse", permissionDecision="deny", permissionDecisionReason=f"council: {wrong}")


def _brief(call: Mapping[str, Any], settings: Config, id: str, turn: str) -> dict[str, Any]:
    """What a member is given, if its turn is due and not in progress; noted, so that nobody is asked twice."""
    found = session.open_(places.find(settings, id))
    with found.hold():
        due = manual.due_turn(found, found.plan(), turn)
        if turn in subagents.find_in_flight(found):
            raise UsageError(f"{turn} was asked for already, and its answer is still to come; wait for it")
        if found.brief(turn) is None:
            manual.advance(found, settings, turn)
        seen = CallNote(turn, str(call.get("tool_use_id")), _client_pid(), time.time(), transcripts.find_folder(call))
        transcripts.write_note(found.folder, seen)
    brief = (found.brief(turn) or b"").decode("utf-8", "replace")
    model = subagents.alias_of(model_of(found, settings, due, None))
    about = f"{next_step.name_of(due.seat)}, {due.phase.name} · {found.id} {due.id}"  # the host may read it
    given = {
        "prompt": brief,
        "description": about,
        "subagent_type": subagents.agent_of(due),
        "run_in_background": False,
    }
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
        found = _collect(settings, target[0])
        transcripts.remove_note(found.folder, target[1])  # a member without an answer may be asked again


def on_end(call: Mapping[str, Any], settings: Config) -> Answer:
    """A member's call is over: its words are recorded, and the host is told that instead of them."""
    tool, response = call["tool_input"], call.get("tool_response")
    if not isinstance(response, dict) or response.get("status") != "completed":
        return None
    if (target := _find_target(tool)) is not None:
        if (told := _record(settings, *target, tool.get("prompt"), response)) is None:
            return None
    elif (lost := _find_sentence(tool)) and str(tool.get("subagent_type")).startswith(AGENT):
        told = f"{NO_BRIEF}\n\nA hook failed before it was asked; `council next {lost[0]}` lists its turn again."
    else:
        return None
    shown = {**response, "content": [{"type": "text", "text": told}], "canContinueAgent": False}
    return _format("PostToolUse", updatedToolOutput=shown)


def on_failure(tool: Mapping[str, Any], settings: Config) -> None:
    """A member's call failed: it may be asked again."""
    if target := _find_target(tool):
        found = session.open_(places.find(settings, target[0]))
        if _has_brief(found, target[1], tool.get("prompt")):
            transcripts.remove_note(found.folder, target[1])


def _has_brief(found: Session, turn: str, prompt: object) -> bool:
    return isinstance(prompt, str) and files.encode(prompt) == found.brief(turn)


def _record(settings: Config, id: str, turn: str, prompt: object, response: Mapping[str, Any]) -> str | None:
    """Record a member's answer. Without a transcript, the words that the host would have been shown are taken.

    None if the call was not given this turn's brief: then it is the host's own, whatever its description says.
    """
    found = _collect(settings, id)
    if not _has_brief(found, turn, prompt):
        return None
    words = _read_words(response)
    if turn not in found.said and words.strip() not in ("", NO_BRIEF):
        with found.hold():
            if any(due.id == turn for due in found.plan().due):
                manual.record(found, settings, turn, Spoken(words, call=response.get("agentId"), recorded_by=HOOK))
    transcripts.remove_note(found.folder, turn)
    return f"recorded {turn}" if turn in found.said else f"nothing to record for {turn}"


def _read_words(response: Mapping[str, Any]) -> str:
    """The member's words, without what the assistant's program put around them."""
    content = response.get("content")
    parts = (
        [str(part.get("text", "")) for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    )
    counts = (response.get(key) for key in ("harnessNoteCount", "harnessTailCount"))
    before, after = (count if isinstance(count, int) and count > 0 else 0 for count in counts)
    return "".join(parts[before : len(parts) - after])


def on_batch(call: Mapping[str, Any], settings: Config) -> Answer:
    """All calls of the host's last message are over. Claude Code says so once, however many members there were.

    Members in the background have only begun; their notifications come later.
    """
    listed = call.get("tool_calls")
    calls = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    tools = [one.get("tool_input") for one in calls if BACKGROUND not in str(one.get("tool_response"))[:200]]
    targets = [_find_target(tool) or _find_sentence(tool) for tool in tools if isinstance(tool, dict)]
    return _hand_over("PostToolBatch", settings, (id for id, _ in filter(None, targets)))


def on_notification(call: Mapping[str, Any], settings: Config) -> Answer:
    """A member in the background is over, and the host is about to be told, in its words: on a terminal all members run
    there. Once its turn is recorded that is held back, and `wake` says what is due instead.
    """
    if (found := _find_notified(call)) is None:
        return None
    id, turn = found
    if turn in _collect(settings, id).said:
        facts = _format("UserPromptSubmit", suppressOriginalPrompt=True)
        return {"decision": "block", "reason": f"council: recorded {turn}", **facts}
    return _hand_over("UserPromptSubmit", settings, [id])


def wake(call: Mapping[str, Any], settings: Config) -> str | None:
    """What the host is told in place of a member's notification, once for all members that run at the same time."""
    if (found := _find_notified(call)) is None:
        return None
    id, turn = found
    collected = _collect(settings, id)
    if turn not in collected.said or subagents.find_in_flight(collected) or not _was_last(collected, turn):
        return None
    return _describe_next(settings, id)


def _find_notified(call: Mapping[str, Any]) -> tuple[str, str] | None:
    """The turn whose member in the background is over."""
    prompt = str(call.get("prompt"))
    found = NOTIFICATION.search(prompt.partition("<result>")[0]) if "<task-notification>" in prompt[:40] else None
    return (found["session"], found["turn"]) if found else None


def _was_last(found: Session, turn: str) -> bool:
    """Whether no turn of an assistant's member was recorded later. Nobody tells the host of any other turn.

    Two that were recorded within a tick of the file system's clock are both the last: a host that is woken twice only
    looks again, and one that is never woken waits for ever.
    """
    own = {turn for turn, receipt in found.receipts.items() if receipt.recorded_by == HOOK}
    when = {one: found.turn_path(one).stat().st_mtime_ns for one in own}
    return turn not in own or when[turn] == max(when.values())


def _hand_over(event: str, settings: Config, ids: Iterable[str]) -> Answer:
    texts = [_describe_next(settings, id) for id in dict.fromkeys(ids)]
    return _format(event, additionalContext="\n\n".join(texts)) if texts else None


def _describe_next(settings: Config, id: str) -> str:
    """What `council next` would print."""
    found = session.open_(places.find(settings, id))
    with found.hold():
        subagents.harvest(found, settings)
        return next_step.describe(found, manual.advance(found, settings))


def _collect(settings: Config, id: str) -> Session:
    """Record every answer that is there. Other members may end at the same time."""
    found = session.open_(places.find(settings, id))
    with found.hold():
        subagents.harvest(found, settings)
    return found


def _find_target(about: Mapping[str, Any]) -> tuple[str, str] | None:
    """The turn that a hook wrote into the description of a call."""
    found = DESCRIPTION.fullmatch(str(about.get("description", "")))
    return (found["session"], found["turn"]) if found else None


def _find_sentence(tool: Mapping[str, Any]) -> tuple[str, str] | None:
    found = SENTENCE.fullmatch(str(tool.get("prompt", "")))
    return (found["session"], found["turn"]) if found else None


def _client_pid() -> int:
    """The assistant's process: while it runs, its members may answer."""
    told = os.environ.get("CLAUDE_PID", "")
    return int(told) if told.isdigit() else os.getppid()


def _format(event: str, **facts: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, **facts}}
