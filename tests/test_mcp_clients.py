"""`council mcp` through the programs that call it, each of which follows the text or the data that it gets.

The MCP inspector is asked where COUNCIL_TEST_INSPECTOR names it, as `NODE PATH/mcp-inspector`; the client of the Python
SDK where COUNCIL_TEST_MCP_SDK names a Python that has it; Claude Code where COUNCIL_TEST_CLAUDE does. Claude Code then
talks to `tests/fakeapi.py`, with a home of its own.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from council.mcp_server import methods, tools
from tests.fakeapi import Answer, FakeApi, Request, ToolUse
from tests.helpers import CODE, MEMBERS, PATIENCE, PROGRAM, Ended, User, disputed, limited

POSITIONS = [f"01-positions/{seat}" for seat in MEMBERS]
NASTY = "Redis \"or\" 'not'? `x` $(touch P) \\ ☕ 🦊\r\n\n— zweite Zeile \u2028 \u0007 </said>\n  "


@pytest.fixture(autouse=True)
def in_time() -> Iterator[None]:
    with limited():
        yield


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


@pytest.fixture
def council(user: User) -> Path:
    """`council` as a program, for somebody else to start."""
    path = user.root / "council"
    start = " ".join(map(shlex.quote, [sys.executable, "-c", PROGRAM]))
    path.write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(CODE))} exec {start} "$@"\n')
    path.chmod(0o755)
    return path


INSPECTOR = shlex.split(os.environ.get("COUNCIL_TEST_INSPECTOR", ""))
inspector = pytest.mark.skipif(not INSPECTOR, reason="COUNCIL_TEST_INSPECTOR names no MCP inspector")


def inspect(user: User, council: Path, *words: str) -> Ended:
    node = str(Path(INSPECTOR[0]).parent)
    env = {**user.environment, "PATH": f"{node}{os.pathsep}{os.defpath}"}
    home = f"COUNCIL_HOME={user.home}"
    program = [*INSPECTOR, "--cli", str(council), "mcp", "-e", home, *words]
    done = subprocess.run(program, env=env, cwd=user.work, capture_output=True, timeout=PATIENCE, check=False)
    return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())


def inspected(user: User, council: Path, name: str, *given: str) -> Any:
    words = [word for pair in given for word in ("--tool-arg", pair)]
    ended = inspect(user, council, "--method", "tools/call", "--tool-name", f"council_{name}", *words)
    assert ended.code == 0, ended.text
    return json.loads(ended.json["content"][0]["text"])


@inspector
def test_the_inspector_finds_nothing_to_say(user, council):
    ended = inspect(user, council, "--method", "initialize")
    assert (ended.code, ended.json["serverInfo"]["name"]) == (0, "council"), ended.text
    ended = inspect(user, council, "--method", "tools/list", "--strict")
    assert ended.code == 0, ended.text
    assert [tool["name"] for tool in ended.json["tools"]] == list(tools.TOOLS)


@inspector
def test_the_inspector_calls_the_tools(user, council):
    """Each call is a server of its own, and the session goes on."""
    begun = inspected(user, council, "start", 'topic="Shall we" ☕?')
    assert (user.session / "topic.md").read_text() == '"Shall we" ☕?'
    id = f"session={begun['session_id']}"
    assert [row["turn"] for row in inspected(user, council, "next", id)["due"]] == POSITIONS
    given = (id, f"turn={POSITIONS[0]}", "reply=Yes, we shall.")
    assert inspected(user, council, "record", *given)["due"] == POSITIONS[1:]
    assert inspected(user, council, "status")["turns"] == 1
    words = [word for pair in given for word in ("--tool-arg", pair)]
    ended = inspect(user, council, "--method", "tools/call", "--tool-name", "council_record", *words)
    assert ended.code == 5
    assert "recorded already" in ended.out


CLAUDE = os.environ.get("COUNCIL_TEST_CLAUDE", "")
QUIET = (
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "DISABLE_TELEMETRY",
    "DISABLE_ERROR_REPORTING",
    "DISABLE_AUTOUPDATER",
)


class Model:
    """What the model does that leads the debate: it calls the tools one after the other, as it was told to."""

    def __init__(self, topic: str, words: dict[str, str]) -> None:
        self.topic, self.words, self.results = topic, words, []

    def __call__(self, request: Request) -> Answer:
        return Answer("", tools=calls) if (calls := self.calls(request)) else Answer("Done.")

    def calls(self, request: Request) -> tuple[ToolUse, ...]:
        """All replies of a batch at once, as models do; then what is next."""
        told = results(request)
        self.results += told
        if request.step == 0:
            select = "select:" + ",".join(f"mcp__council__{name}" for name in tools.TOOLS)
            return (ToolUse("ToolSearch", {"query": select, "max_results": 5}),)
        if request.step == 1:
            return (self.tool("start", topic=self.topic),)
        if "due" not in told[0] or "recorded" in told[0]:
            return () if told[0].get("done") and "synthesis" in told[0] else (self.tool("next", session="last"),)
        return tuple(
            self.tool("record", session=told[0]["session_id"], turn=row["turn"], reply=self.words[row["turn"]])
            for row in told[0]["due"]
        )

    @staticmethod
    def tool(name: str, **given: str) -> ToolUse:
        return ToolUse(f"mcp__council__council_{name}", given)


def results(request: Request) -> list[Any]:
    """What the tools answered since the model spoke last."""
    newest = max((at for at, message in enumerate(request.messages) if message["role"] == "assistant"), default=-1)
    said = [message["content"] for message in request.messages[newest + 1 :]]
    blocks = [block for content in said for block in content if isinstance(block, dict)]
    found = [block["content"] for block in blocks if block.get("type") == "tool_result"]
    texts = [one if isinstance(one, str) else "".join(part.get("text", "") for part in one) for one in found]
    return [json.loads(text) for text in texts if text.startswith("{")]


@pytest.mark.skipif(not CLAUDE, reason="COUNCIL_TEST_CLAUDE names no claude program")
def test_claude_code_holds_a_debate(user, council):
    """Three rounds, with a topic so long that its briefs are more than Claude Code lets a tool say by default."""
    topic = NASTY + "All that was measured: 12 ms, 30 ms. " * 1000
    words = disputed() | {POSITIONS[0]: NASTY}
    about = {"type": "stdio", "command": str(council), "args": ["mcp"], "env": {"COUNCIL_HOME": str(user.home)}}
    config = user.write("mcp.json", json.dumps({"mcpServers": {"council": about}}))
    with FakeApi(Model(topic, words)) as api:
        key = {"ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": "sk-ant-of-the-tests"}
        done = subprocess.run(
            [
                CLAUDE, "-p", "Council: Redis or not?", "--output-format", "json", "--mcp-config", str(config),
                "--allowedTools", "mcp__council",
            ],
            env={**user.environment, **key, **dict.fromkeys(QUIET, "1")}, cwd=user.work, stdin=subprocess.DEVNULL,
            capture_output=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
    told = json.loads(done.stdout)
    assert (done.returncode, told["result"], told["permission_denials"]) == (0, "Done.", []), told
    assert (user.session / "topic.md").read_bytes() == topic.encode()
    for turn, reply in words.items():
        stored = (user.session / "turns" / f"{turn}.md").read_bytes()
        assert stored.partition(b"\n---\n")[2] == reply.encode()
    assert user.council("verify").code == 0
    assert any(methods.INSTRUCTIONS.splitlines()[0] in json.dumps(request.messages) for request in api.prompts)
