"""The programs that call `council mcp`: how tests and proofs start them, and what each says came of it.

The MCP inspector is where COUNCIL_TEST_INSPECTOR names it, as `NODE PATH/mcp-inspector`; the client of the Python SDK
where COUNCIL_TEST_MCP_SDK names a Python that has it; Claude Code where COUNCIL_TEST_CLAUDE does.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from council.mcp_server import tools
from tests.claude_code import CLAUDE, QUIET
from tests.fakeapi import Answer, FakeApi, Request, ToolUse, said
from tests.helpers import CODE, PATIENCE, Ended, User, run_line

INSPECTOR = shlex.split(os.environ.get("COUNCIL_TEST_INSPECTOR", ""))
SDK = os.environ.get("COUNCIL_TEST_MCP_SDK", "")
NEWEST = {"auto": "2026-07-28", "2026-07-28": "2026-07-28", "legacy": "2025-11-25"}  # by the mode of the SDK's client


def provide_council(user: User) -> str:
    """`council` as a program, for somebody else to start."""
    path = user.root / "council"
    start = " ".join(map(shlex.quote, [sys.executable, "-c", run_line()]))
    path.write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(CODE))} exec {start} "$@"\n')
    path.chmod(0o755)
    return str(path)


def differing(user: User, words: dict[str, str]) -> list[str]:
    """The turns that are not stored byte for byte."""
    paths = {turn: user.session / "turns" / f"{turn}.md" for turn in words}
    stored = {
        turn: path.read_bytes().partition(b"\n---\n")[2] if path.exists() else None for turn, path in paths.items()
    }
    return [turn for turn, reply in words.items() if stored[turn] != reply.encode()]


# ---- the inspector ----


def inspect(user: User, *words: str) -> Ended:
    node = str(Path(INSPECTOR[0]).parent)
    env = {**user.environment, "PATH": f"{node}{os.pathsep}{os.defpath}"}
    home = f"COUNCIL_HOME={user.home}"
    program = [*INSPECTOR, "--cli", provide_council(user), "mcp", "-e", home, *words]
    done = subprocess.run(program, env=env, cwd=user.work, capture_output=True, timeout=PATIENCE, check=False)
    return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())


def inspected(user: User, name: str, *given: str, era: str = "legacy") -> Any:
    words = [word for pair in given for word in ("--tool-arg", pair)]
    called = ("--method", "tools/call", "--tool-name", f"council_{name}")
    ended = inspect(user, "--protocol-era", era, *called, *words)
    assert ended.code == 0, ended.text
    return ended.json["structuredContent"]


# ---- the client of the Python SDK ----


def hold_with_sdk(user: User, **plan: Any) -> dict[str, Any]:
    """A debate through the client of the SDK, and what that client saw."""
    about = {
        "command": provide_council(user),
        "env": {**user.environment, "COUNCIL_HOME": str(user.home)},
        "cwd": str(user.work),
    }
    path = user.write("plan.json", json.dumps({"workflow": "debate", "form": None, **about, **plan}))
    program = [SDK, str(CODE / "tests" / "mcp_sdk_client.py"), str(path)]
    env = {"PATH": os.defpath, "HOME": str(user.root)}
    done = subprocess.run(program, env=env, capture_output=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return dict(json.loads(done.stdout))


# ---- Claude Code ----

PROMPT = re.compile(r'Call the tool council_brief with session \\?"([^"\\]+)\\?" and turn \\?"([^"\\]+)\\?"')
PERSON = re.compile(r'Call council_record with session "([^"]+)" and turn "([^"]+)" alone')
KEY = re.compile(r'key \\?"([^"\\]+)')
AGENT = {"subagent_type": "general-purpose", "run_in_background": False}


class Model:
    """The host and its members, each of which does what it was shown last. Nobody sees another's conversation.

    `host` is what the host's context was given: its calls, and what came of them.
    """

    def __init__(self, topic: str, words: dict[str, str], **given: str) -> None:
        self.topic, self.words, self.given = topic, words, given
        self.host: list[str] = []
        self.members: set[str] = set()

    def __call__(self, request: Request) -> Answer:
        if request.step == 0:
            select = "select:" + ",".join(f"mcp__council__{name}" for name in tools.TOOLS)
            return Answer("", tools=(ToolUse("ToolSearch", {"query": select, "max_results": 5}),))
        return self.member(request) if request.agent else self.lead(request)

    def member(self, request: Request) -> Answer:
        session, turn = PROMPT.search(said(request.messages[0]["content"])).groups()  # type: ignore[union-attr]
        self.members.add(turn)
        given = {"session": session, "turn": turn}
        if key := KEY.search(request.last):
            return self.tools(tool("record", **given, reply=self.words[turn], key=key[1]))
        if request.step == 1:
            return self.tools(tool("brief", **given))
        assert f"recorded {turn}" in request.last
        return Answer(f"recorded {turn}")

    def lead(self, request: Request) -> Answer:
        if request.step == 1:
            return self.tools(tool("start", topic=self.topic, **self.given), host=True)
        self.host.append(request.last)
        told = [json.loads(text) for text in results(request) if text.startswith('{"session_id"')]
        if any(one["done"] or "nothing was recorded" in one["todo"] for one in told):
            return Answer("Done.")
        due = [row for one in told for row in one.get("due", ())]
        return self.tools(*(map(ask, due) if due else [tool("next", session="last")]), host=True)

    def tools(self, *calls: ToolUse, host: bool = False) -> Answer:
        if host:
            self.host += [json.dumps(call.input) for call in calls]
        return Answer("", tools=calls)


def ask(row: dict[str, str]) -> ToolUse:
    """Whom the host is told to ask: a member in a subagent, or the person by a tool."""
    if found := PERSON.search(row["prompt"]):
        return tool("record", session=found[1], turn=found[2])
    return ToolUse("Agent", {"description": row["name"], "prompt": row["prompt"], **AGENT})


def tool(name: str, **given: str) -> ToolUse:
    return ToolUse(f"mcp__council__council_{name}", given)


def results(request: Request) -> list[str]:
    """What the tools answered since the model spoke last."""
    newest = max((at for at, message in enumerate(request.messages) if message["role"] == "assistant"), default=-1)
    content = [message["content"] for message in request.messages[newest + 1 :]]
    blocks = [block for one in content for block in one if isinstance(block, dict)]
    found = [block["content"] for block in blocks if block.get("type") == "tool_result"]
    return [one if isinstance(one, str) else "".join(part.get("text", "") for part in one) for one in found]


def hold_with_claude(user: User, words: dict[str, str], topic: str = "Shall we?", **given: str) -> tuple[Model, str]:
    """A debate that Claude Code leads without a terminal: what its model did, and all that it was shown."""
    about = {"command": provide_council(user), "args": ["mcp"], "env": {"COUNCIL_HOME": str(user.home)}}
    config = user.write("mcp.json", json.dumps({"mcpServers": {"council": {"type": "stdio", **about}}}))
    model = Model(topic, words, **given)
    with FakeApi(model) as api:
        key = {"ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": "sk-ant-of-the-tests"}
        done = subprocess.run(
            [
                CLAUDE, "-p", "Council: Redis or not?", "--output-format", "json", "--mcp-config", str(config),
                "--allowedTools", "mcp__council,Agent",
            ],
            env={**user.environment, **key, **dict.fromkeys(QUIET, "1")}, cwd=user.work, stdin=subprocess.DEVNULL,
            capture_output=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        told = json.loads(done.stdout)
        assert (done.returncode, told["result"], told["permission_denials"]) == (0, "Done.", []), told
        return model, "\n".join(json.dumps(request.messages, ensure_ascii=False) for request in api.prompts)
