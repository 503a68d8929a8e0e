"""The real Claude Code with a home, a project and a scripted API of its own: what tests and proofs of it share.

COUNCIL_TEST_CLAUDE names the program. Its model speaks by the rules of `tests/assistant.py`, its members by turn.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests import portable, warm
from tests.assistant import NO_BRIEF, Assistant
from tests.fakeapi import Answer, FakeApi, Request, ToolUse, said
from tests.helpers import Table, User

ROOT = Path(__file__).parent.parent
CLAUDE = os.environ.get("COUNCIL_TEST_CLAUDE", "")
# For a test whose like is tried without it: together they would take more than CI's time.
LONG = os.environ.get("COUNCIL_TEST_LONG", "")
long = pytest.mark.skipif(not LONG, reason="COUNCIL_TEST_LONG is not set")
QUIET = (
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "DISABLE_AUTOUPDATER",
)  # fmt: skip
KEY = "sk-ant-dummy"
ANSWERED = "claude-answered-1"
PATIENCE = 90.0


class Members(Table):
    """What the members say, and how often each of them was asked. Nobody of the first positions answers before all
    are asked, so that an assistant who asks one after the other waits for ever. Some never answer the first time.
    """

    def __init__(self, user: User, words: Mapping[str, str], slow: tuple[str, ...] = ()) -> None:
        super().__init__(user, words, chunks=3, model=ANSWERED, usage={"input_tokens": 1000, "output_tokens": 70})
        self.slow = dict.fromkeys(slow, 1)
        self.first = sum(turn.startswith("01-positions/") for turn in words)

    def turn(self, text: str) -> str:
        """By its brief alone, or by the brief among what else the client says."""
        with suppress(AssertionError):
            return super().turn(text)
        briefs = [path for one in self.user.sessions for path in (one / "briefs").rglob("*.md")]
        held = [path for path in briefs if path.read_bytes().decode() in text]  # with its carriage returns
        assert held, f"no brief on disk is in what a member was asked: {text[:500]}"
        return "/".join(max(held, key=lambda path: path.stat().st_size).with_suffix("").parts[-2:])

    def __call__(self, request: Request) -> Answer:
        if found := portable.SENTENCE.search(said(request.messages[0]["content"])):
            return self.answer_alone(found, request)
        answer = super().__call__(request)
        turn = self.asked[-1]
        if self.slow.pop(turn, 0):
            return replace(answer, once=lambda: False)
        together = turn.startswith("01-positions/")
        return replace(answer, once=lambda: len(set(self.asked)) >= self.first) if together else answer

    def answer_alone(self, sentence: re.Match[str], request: Request) -> Answer:
        """A member that no hook gave its brief, by the loop of every client; without tools it cannot answer."""
        if "Bash" not in request.tools:
            return Answer(NO_BRIEF)
        act = portable.Council("", self.words).member(portable.Talk(sentence[0], request.last, request.text))[0]
        if isinstance(act, portable.Say):
            return Answer(act.text)
        assert isinstance(act, portable.Shell)
        if portable.STORE.search(request.last):
            self.asked.append(sentence["turn"])
        return Answer("", tools=(ToolUse("Bash", {"command": act.command, "description": "council"}),))


@contextmanager
def room(
    tmp_path: Path,
    rules: list[Any],
    words: Mapping[str, str],
    slow: tuple[str, ...] = (),
    skill: Path | None = ROOT,
    env: Mapping[str, str] | None = None,
) -> Iterator[Room]:
    """A home with the skill linked, an empty project, and the script's API. Council is forked, unless `env` names
    an environment to start it in.
    """
    user = User(tmp_path)
    (user.root / ".claude" / "skills").mkdir(parents=True)
    if skill:
        (user.root / ".claude" / "skills" / "council").symlink_to(skill)
    members = Members(user, words, slow)
    with FakeApi(Assistant(rules, members)) as api:
        own = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": api.url, "COUNCIL_VENV": warm.venv()}
        yield Room(User(tmp_path, {**own, **dict.fromkeys(QUIET, "1"), **(env or {})}), api, members)


class Room:
    def __init__(self, user: User, api: FakeApi, members: Members) -> None:
        self.user, self.api, self.members = user, api, members

    def claude(self, prompt: str, *more: str) -> subprocess.Popen[bytes]:
        command = [CLAUDE, "-p", prompt, "--output-format", "json", "--allowedTools", "Skill(council)", *more]
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        env = self.user.environment
        return subprocess.Popen(command, cwd=self.user.work, env=env, start_new_session=True, **streams)  # type: ignore[call-overload, no-any-return]

    def to_its_end(self, prompt: str, *more: str) -> dict[str, Any]:
        with self.claude(prompt, *more) as process:
            try:
                out, err = process.communicate(timeout=PATIENCE)
            finally:
                process.kill()
        assert process.returncode == 0, err.decode()
        return dict(json.loads(out))

    def spoken(self) -> dict[str, bytes]:
        turns = self.user.session / "turns"
        files = sorted(turns.rglob("*.md"))
        return {str(path.relative_to(turns).with_suffix("")): body_of(path) for path in files}

    def whole(self) -> int:
        """How many transcripts of members hold an answer."""
        paths = (self.user.root / ".claude" / "projects").rglob("subagents/agent-*.jsonl")
        return sum(b'"stop_reason":"end_turn"' in path.read_bytes() for path in paths)


def body_of(path: Path) -> bytes:
    return path.read_bytes().partition(b"\n---\n")[2]


def as_bytes(words: Mapping[str, str]) -> dict[str, bytes]:
    return {turn: text.encode() for turn, text in words.items()}
