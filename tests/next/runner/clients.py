"""Claude Code as far as council's hooks see it: events go in, and transcripts lie on the disk.

The lines of the transcripts are as version 2 of the client writes them; `test_claude.py` has it write them itself.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from council.next.config.settings import Settings
from council.next.engine.planner import Due
from council.next.prompts import brief as briefs
from council.next.record.session import Session
from council.next.runner import by_hand
from council.next.runner.assistant import hooks, members, notes
from tests.next.runner.debating import begun, settings, usual_reply

PROGRAM = "council"
MEMBER = "council:council-member"
NOT_RUNNING = (1 << 22) + 1  # above the largest number that Linux gives to a process


class Client:
    """One client that holds one debate. `call` is the id of its newest call."""

    def __init__(self, home: Path, **request: Any) -> None:
        self.home, self.calls = home, 0
        with begun(home, **request) as session:
            by_hand.due_now(session, self.settings)
        self.folder = session.folder
        self.transcripts = home / "claude" / "projects" / "-work" / "client"

    @property
    def settings(self) -> Settings:
        return settings(self.home)

    @property
    def session(self) -> Session:
        """The session as another process reads it."""
        return Session(self.folder)

    @property
    def call(self) -> str:
        return f"toolu_{self.calls}"

    def due(self) -> dict[str, Due]:
        """The turns that are due now, after council has looked what it can record."""
        session = self.session
        with session.hold(5.0):
            by_hand.due_now(session, self.settings)
        return {due.id: due for due in session.plan.due}

    def open(self) -> list[str]:
        """The due turns that nobody works on."""
        due = self.due()
        return [id for id in due if id not in notes.in_flight(self.folder, self.session.said)]

    def first(self) -> str:
        return self.open()[0]

    def body(self, turn: str) -> bytes:
        return (self.folder / "turns" / f"{turn}.md").read_bytes().partition(b"\n---\n")[2]

    def sentence(self, turn: str) -> str:
        """The prompt of the member of a turn, which may be any words."""
        return f"{members.RUN}{PROGRAM} brief {self.folder.name} {turn}{members.IT}"

    def reply(self, turn: str) -> str:
        """The usual reply to a due turn."""
        session = self.session
        due = next(one for one in session.plan.due if one.id == turn)
        return usual_reply(briefs.render(session, due))

    # ---- events ----

    def event(self, kind: str, **facts: Any) -> dict[str, Any]:
        return {"hook_event_name": kind, "transcript_path": f"{self.transcripts}.jsonl", **facts}

    def tell(self, kind: str, **facts: Any) -> dict[str, Any]:
        """What the hook answers. Empty if it answers nothing."""
        said = hooks.answer(self.event(kind, **facts), self.settings, PROGRAM)
        return dict(said["hookSpecificOutput"]) if said else {}

    def asking(self, prompt: Any, **more: Any) -> dict[str, Any]:
        """The event of a call for a member."""
        self.calls += 1
        asked = {"description": "x", "prompt": prompt, "subagent_type": MEMBER, **more}
        return self.event("PreToolUse", tool_name="Agent", tool_input=asked, tool_use_id=self.call)

    def ask(self, prompt: Any, **more: Any) -> dict[str, Any]:
        said = hooks.answer(self.asking(prompt, **more), self.settings, PROGRAM)
        return dict(said["hookSpecificOutput"]) if said else {}

    def launch(self, turn: str, *lines: dict[str, Any]) -> tuple[dict[str, Any], Path]:
        """A member that was given its brief, and its transcript, which these lines continue."""
        given = self.ask(self.sentence(turn))["updatedInput"]
        path = self.transcripts / "subagents" / f"agent-{self.call}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        about = {"toolUseId": self.call, "description": given["description"], "agentType": given["subagent_type"]}
        path.with_suffix(".meta.json").write_text(json.dumps(about))
        asked = {"type": "user", "timestamp": "2026-11-18T10:00:00.000Z", "message": {"content": given["prompt"]}}
        say(path, asked, *lines)
        return given, path

    def stop(self, path: Path) -> None:
        assert not self.tell("SubagentStop", agent_transcript_path=str(path), agent_type=MEMBER)

    def speak(self, turn: str, reply: str = "") -> dict[str, Any]:
        """A member's whole turn. Returns what it was given."""
        given, path = self.launch(turn, answer(reply or self.reply(turn)))
        self.stop(path)
        return given

    def end(self, given: dict[str, Any], words: str, **facts: Any) -> str:
        """The call of a member ends, as the host would be told. Returns what it is told instead."""
        response = {"status": "completed", "agentId": "a1", "content": [{"type": "text", "text": words}], **facts}
        said = self.tell("PostToolUse", tool_name="Agent", tool_input=given, tool_response=response)
        return str(said["updatedToolOutput"]["content"][0]["text"]) if said else ""

    def batch(self, *given: dict[str, Any], response: str = "x") -> str:
        """What the host is told after all calls of its last message, besides which it listed its files."""
        calls = [{"tool_name": "Agent", "tool_input": one, "tool_response": response} for one in given]
        said = self.tell("PostToolBatch", tool_calls=[{"tool_name": "Bash", "tool_input": {"command": "ls"}}, *calls])
        return str(said.get("additionalContext", ""))

    def notify(self, given: dict[str, Any], words: str) -> str:
        """What the host hears when a member in the background is over. Empty if it is not woken."""
        summary = f'<summary>Agent "{given["description"]}" finished</summary>'
        prompt = (
            f"<task-notification>\n<task-id>a1</task-id>\n{summary}\n<result>{words}</result>\n</task-notification>"
        )
        passed = self.tell("UserPromptSubmit", prompt=prompt)
        woken = hooks.wake(self.event("UserPromptSubmit", prompt=prompt), self.settings)
        if passed == {"hookEventName": "UserPromptSubmit", "suppressOriginalPrompt": True}:
            return woken
        assert not woken
        return f"{words}\n{passed['additionalContext']}"


def answer(words: str, **message: Any) -> dict[str, Any]:
    """A line of a transcript: what the model said."""
    usage = {"input_tokens": 7, "cache_creation_input_tokens": 5, "cache_read_input_tokens": 3, "output_tokens": 2}
    whole = {
        "id": "msg_1",
        "model": "claude-answered-1",
        "content": [{"type": "text", "text": words}],
        "stop_reason": "end_turn",
        "usage": usage,
        **message,
    }
    return {"type": "assistant", "timestamp": "2026-11-18T10:00:02.500Z", "message": whole}


def failure() -> dict[str, Any]:
    return {**answer("Request rejected"), "isApiErrorMessage": True}


def interrupted() -> dict[str, Any]:
    return {"type": "user", "message": {"content": [{"type": "text", "text": "[Request interrupted by user]"}]}}


def say(path: Path, *lines: dict[str, Any]) -> None:
    with path.open("a", encoding="utf-8", newline="") as file:
        file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def running() -> str:
    return str(os.getpid())
