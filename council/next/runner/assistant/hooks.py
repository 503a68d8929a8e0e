"""What Claude Code tells council's hooks, and what they answer: a debate without any command of the host's own.

A member's prompt becomes its brief, its words go from its transcript into the record and not to the host, and after the
last member the host is told who is next. If a hook fails, `council next` does the rest.
"""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from council.next.config import personas, places
from council.next.config.settings import Settings
from council.next.errors import CouncilError, UsageError
from council.next.prompts import brief as briefs
from council.next.prompts import phrases
from council.next.record.lock import BY_HAND
from council.next.record.session import Session
from council.next.runner import by_hand
from council.next.runner.assistant import members, notes
from council.next.runner.assistant.members import AGENT, HOOK, NO_BRIEF, Target, read_description, read_sentence
from council.next.runner.assistant.show import show_next
from council.next.speakers.values import count, table, text
from council.next.text import encode

PROGRAM = "council"  # where hooks run, the assistant finds the program by its name
VERBS = ("next", "status", "show", "verify", "brief")  # of the commands that only read
HARMLESS = {"command", "description", "timeout"}  # what a shell may be told without running anything differently
NOTICE, SUMMARY = "<task-notification>", '<summary>Agent "'
LAUNCHED, ENDED = "async_launched", "completed"  # the status of a call: in the background, the member has only begun
LAG, LOOK = 5.0, 0.02  # seconds until a transcript has what its member said, at most
ROUTED = (
    "The person calls a council. Use the skill `council` for it now, by the Skill tool, with their words "
    "unchanged; do not answer in the members' place."
)

Event = Mapping[str, Any]
Answer = dict[str, Any] | None


def answer(event: Event, settings: Settings, program: str) -> Answer:
    """The answer to one event. None if there is none. `program` is the file of this very program."""
    tool = table(event.get("tool_input"))
    match event.get("hook_event_name"):
        case "PreToolUse" if event.get("tool_name") == "Bash":
            return on_command(tool, settings, program)
        case "PreToolUse":
            return on_call(event, tool, settings)
        case "SubagentStop":
            on_stop(Path(text(event.get("agent_transcript_path"))), settings)
        case "PostToolUse":
            return on_end(event, tool, settings)
        case "PostToolUseFailure":
            if target := target_of(tool, settings):  # it may be asked again
                collect(settings, *target)
        case "PostToolBatch":
            return on_batch(event, settings)
        case "UserPromptSubmit":
            return on_prompt(event, settings)
    return None


def on_command(tool: Mapping[str, Any], settings: Settings, program: str) -> Answer:
    """Allow a command that only reads: to the byte, with the whole id of a session, and nothing that is like it.

    The `allowed-tools` of a skill end with its turn, so a debate that is resumed later needs this. The command that
    runs names this very program in place of `council`, so no other one of that name is ever run.
    """
    command = text(tool.get("command"))
    called, *words = command.split(" ")
    runs_otherwise = any(value for key, value in tool.items() if key not in HARMLESS)  # outside of a sandbox, perhaps
    is_program = Path(program).is_absolute() and Path(program).is_file() and os.access(program, os.X_OK)
    if runs_otherwise or not is_program or not command.isascii() or called != PROGRAM:
        return None
    if len(words) not in (2, 3) or words[0] not in VERBS:
        return None
    if words[2:] and not members.is_turn(words[2]) and words[::2] != ["show", "synthesis"]:
        return None
    try:
        if places.find_session(settings.home, words[1]).id != words[1]:
            return None
    except CouncilError:
        return None
    given = {**tool, "command": shlex.quote(program) + command.removeprefix(PROGRAM)}
    why = "council: it lists, shows or checks a debate"
    return facts("PreToolUse", permissionDecision="allow", permissionDecisionReason=why, updatedInput=given)


# ---- a member is asked ----


def on_call(event: Event, tool: Mapping[str, Any], settings: Settings) -> Answer:
    """Put the brief in place of the sentence, byte for byte, and set the model of the turn's tier."""
    asked = read_sentence(tool.get("prompt"))
    if asked is None and not is_member(tool):
        return None
    try:
        if asked is None:
            raise UsageError("a member is asked by its prompt alone, as `council next` prints it")
        return facts("PreToolUse", updatedInput={**tool, **ask(event, settings, *asked)})
    except CouncilError as wrong:
        return facts("PreToolUse", permissionDecision="deny", permissionDecisionReason=f"council: {wrong}")


def is_member(tool: Mapping[str, Any]) -> bool:
    return text(tool.get("subagent_type")).startswith(AGENT)


def ask(event: Event, settings: Settings, id: str, turn: str) -> dict[str, Any]:
    """What a member is given. It is noted, so that two calls at once do not both ask."""
    session = collect(settings, id)  # an answer may be there that no hook recorded
    with session.hold(work=BY_HAND):
        due = by_hand.find_due(session, turn)
        if due.seat.is_person:
            raise UsageError(f"{turn} is a person's turn: `{PROGRAM} answer {session.id}`")
        if turn in notes.in_flight(session.folder, session.said):
            raise UsageError(f"{turn} was asked for already, and its answer is still to come; wait for it")
        brief = briefs.write(session, due)
        notes.write(session.folder, note_of(event, due.id))
    model = members.alias_of(members.model_of(session, due))
    return {
        "prompt": brief.text,
        "description": members.describe(session, due),
        "subagent_type": members.agent_of(due),
        "run_in_background": False,
        **({"model": model} if model else {}),
    }


def note_of(event: Event, turn: str, background: bool = False) -> notes.Note:
    """Which call a member was given its turn by."""
    folder = Path(text(event.get("transcript_path")) or os.devnull).with_suffix("") / "subagents"
    return notes.Note(turn, time.time(), text(event.get("tool_use_id")), client(), str(folder), background)


def client() -> int:
    """The assistant's process: while it runs, its members may answer."""
    given = os.environ.get("CLAUDE_PID", "")
    return int(given) if given.isdecimal() else os.getppid()


# ---- a member has ended ----


def on_stop(path: Path, settings: Settings) -> None:
    """A member has ended, in the foreground or not. Its words are in its transcript a moment later."""
    if target := read_description(notes.read_about(path).get("description")):
        until = time.monotonic() + LAG
        while time.monotonic() < until and not (notes.read_answer(path) or notes.has_failed(path)):
            time.sleep(LOOK)
        collect(settings, *target)


def on_end(event: Event, tool: Mapping[str, Any], settings: Settings) -> Answer:
    """A member's call is over: its words are recorded, and the host is told that in place of them."""
    response = table(event.get("tool_response"))
    status, target = response.get("status"), target_of(tool, settings)
    if status == LAUNCHED and target:
        session = places.find_session(settings.home, target[0])
        with session.hold(work=BY_HAND):
            notes.write(session.folder, note_of(event, target[1], background=True))
        return None
    if status == ENDED and target:
        session = collect(settings, *target, words=words_of(response))
        said = f"{'recorded' if target[1] in session.said else 'nothing to record for'} {target[1]}"
    elif status == ENDED and is_member(tool) and (lost := read_sentence(tool.get("prompt"))):
        said = f"{NO_BRIEF}\n\nA hook failed before it was asked; `{PROGRAM} next {lost[0]}` lists its turn again."
    else:
        return None
    shown = {**response, "content": [{"type": "text", "text": said}], "canContinueAgent": False}
    return facts("PostToolUse", updatedToolOutput=shown)


def target_of(tool: Mapping[str, Any], settings: Settings) -> Target | None:
    """The turn that a call was for: it was given its brief. Any other call is the host's own, whatever it is called."""
    if target := read_description(tool.get("description")):
        session = places.find_session(settings.home, target[0])
        is_known = target[1] in session.said or target[1] in session.plan.open
        if is_known and encode(text(tool.get("prompt"))) == session.brief(target[1]):
            return target
    return None


def words_of(response: Mapping[str, Any]) -> str:
    """The member's words as the host would be shown them, without what the client put around them."""
    content = response.get("content")
    parts = [text(table(part).get("text")) for part in content] if isinstance(content, list) else []
    before, after = (count(response.get(key)) or 0 for key in ("harnessNoteCount", "harnessTailCount"))
    return "".join(parts[before : len(parts) - after])


def collect(settings: Settings, id: str, ended: str = "", words: str = "") -> Session:
    """Record every answer that is in a transcript: other members may end at the same time.

    The member of `ended` is over, and may be asked again. Its `words` count where it has no transcript.
    """
    session = places.find_session(settings.home, id)
    with session.hold(work=BY_HAND):
        found = members.harvest(session)
        if any(due.id == ended for due in session.plan.due) and words.strip() not in ("", NO_BRIEF):
            by_hand.record(session, settings, ended, by_hand.Reply(words, stored=HOOK))
        elif found:
            by_hand.publish(session, settings)
        if ended and ended not in session.said:
            notes.forget(session.folder, ended)
    return session


# ---- the host goes on ----


def on_batch(event: Event, settings: Settings) -> Answer:
    """All calls of the host's last message are over. Claude Code says so once, however many members there were.

    Members in the background have only begun; their notifications come later.
    """
    listed = event.get("tool_calls")
    tools = [table(table(one).get("tool_input")) for one in listed] if isinstance(listed, list) else []
    found = [read_description(tool.get("description")) or read_sentence(tool.get("prompt")) for tool in tools]
    sessions = [places.find_session(settings.home, id) for id in dict.fromkeys(one[0] for one in found if one)]
    over = [session for session in sessions if not notes.in_background(session.folder, client())]
    said = "\n\n".join(describe_next(session, settings) for session in over)
    return facts("PostToolBatch", additionalContext=said) if said else None


def on_prompt(event: Event, settings: Settings) -> Answer:
    """A person calls a council, or a member in the background is over: on a terminal all members run there.

    The host is about to be told the member's words. Once they are recorded that is held back, and `wake` says what is
    due instead.
    """
    if found := find_notified(event):
        session = collect(settings, found[0])
        if found[1] not in session.said:
            return facts("UserPromptSubmit", additionalContext=describe_next(session, settings))
        held_back = facts("UserPromptSubmit", suppressOriginalPrompt=True)
        return {"decision": "block", "reason": f"council: recorded {found[1]}", **held_back}
    seats, workflows = [*personas.load(settings.overlays)], places.workflows(settings.overlays)
    is_call = phrases.read(text(event.get("prompt")), seats, workflows)
    return facts("UserPromptSubmit", additionalContext=ROUTED) if is_call else None


def wake(event: Event, settings: Settings) -> str:
    """What the host is told in place of its members' notifications, with the last of them.

    With an earlier one it would be too soon: where the client takes up this and a notification that is held back
    together, it stops, and the host is not woken.
    """
    if not (found := find_notified(event)):
        return ""
    session = collect(settings, found[0])
    notes.forget(session.folder, found[1])
    is_last = found[1] in session.said and not notes.in_background(session.folder, client())
    return describe_next(session, settings) if is_last else ""


def find_notified(event: Event) -> Target | None:
    """The turn whose member in the background is over. What the member wrote is not looked at."""
    head = text(event.get("prompt")).partition("<result>")[0]
    name, end, _ = head.partition(SUMMARY)[2].partition('" ')
    return read_description(name) if end and "\n" not in name and " · " in name and NOTICE in head[:40] else None


def describe_next(session: Session, settings: Settings) -> str:
    """What `council next` prints."""
    with session.hold(work=BY_HAND):
        by_hand.due_now(session, settings)
    return show_next(session, PROGRAM)


def facts(name: str, **known: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": name, **known}}
