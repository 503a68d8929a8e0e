"""`hook`: answers the events of Claude Code's hooks. `hooks/council-hook` calls it."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from council.next.cli.options import flag
from council.next.errors import UsageError

LARGEST = 64_000_000  # bytes
STOP, GO_ON = 2, 1  # exit codes: only the first one stops a call, and holds a prompt back
# A prompt that calls a council holds one of these, and the notice of a member in the background the last one.
CALLS = ("council", "\uff43ouncil", "just ", "only ", " · ")


@click.command(hidden=True)
@flag("--wake", "Answer with what wakes the assistant, on standard error; exit 2.")
def hook(wake: bool) -> int:
    """Answer one event of Claude Code's hooks: JSON on standard input, JSON or nothing on standard output."""
    code, said = STOP if wake else GO_ON, ""
    try:
        event = read_event()
        code = STOP if asks_member(event) else code
        if concerns_council(event):
            from council.next.config import settings
            from council.next.runner.assistant import hooks

            found = settings.load()  # without the project's: no repository has a say in the user's prompts
            answer = None if wake else hooks.answer(event, found, sys.argv[0])
            said = hooks.wake(event, found) if wake else json.dumps(answer) if answer else ""
    except Exception as failure:  # noqa: BLE001 (whatever it is, the user's prompts and calls go on)
        click.echo(f"council: {failure}", err=True)
        return code
    if said:
        click.echo(said, err=wake)
    return STOP if said and wake else 0


def read_event() -> dict[str, Any]:
    try:
        event = json.loads(sys.stdin.buffer.read(LARGEST))
    except (ValueError, RecursionError):
        event = None
    if not isinstance(event, dict):
        raise UsageError("expected the JSON of one hook event; Claude Code calls this command, not people")
    return event


def concerns_council(event: dict[str, Any]) -> bool:
    """Whether an event can be any of council's business. Most are not, and nothing else is imported for them."""
    if event.get("hook_event_name") == "UserPromptSubmit":
        prompt = event.get("prompt")
        return isinstance(prompt, str) and any(word in prompt.casefold() for word in CALLS)
    return "council" in json.dumps(event)


def asks_member(event: dict[str, Any]) -> bool:
    """Whether a member would be asked, and paid for, without its brief if this call went on."""
    tool = event.get("tool_input")
    named = [tool.get(key) for key in ("subagent_type", "prompt")] if isinstance(tool, dict) else []
    return event.get("hook_event_name") == "PreToolUse" and event.get("tool_name") != "Bash" and "council" in str(named)
