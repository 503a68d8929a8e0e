"""`council mcp` through the programs that call it, each of which follows the text or the data that it gets.

The MCP inspector is asked where COUNCIL_TEST_INSPECTOR names it, as `NODE PATH/mcp-inspector`; the client of the Python
SDK where COUNCIL_TEST_MCP_SDK names a Python that has it; Claude Code where COUNCIL_TEST_CLAUDE does. Claude Code then
talks to `tests/fakeapi.py`, with a home of its own.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from council.mcp_server import methods, tools
from tests.fakeapi import Answer, FakeApi, Request, ToolUse, said
from tests.forgery import GATE
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


def inspected(user: User, council: Path, name: str, *given: str, era: str = "legacy") -> Any:
    words = [word for pair in given for word in ("--tool-arg", pair)]
    called = ("--method", "tools/call", "--tool-name", f"council_{name}")
    ended = inspect(user, council, "--protocol-era", era, *called, *words)
    assert ended.code == 0, ended.text
    return ended.json["structuredContent"]


@inspector
def test_the_inspector_finds_nothing_to_say(user, council):
    ended = inspect(user, council, "--method", "initialize")
    assert (ended.code, ended.json["serverInfo"]["name"]) == (0, "council"), ended.text
    ended = inspect(user, council, "--method", "tools/list", "--strict")
    assert ended.code == 0, ended.text
    assert not re.search("warning|Suggestion", ended.err), ended.err
    assert [tool["name"] for tool in ended.json["tools"]] == list(tools.TOOLS)


@inspector
@pytest.mark.parametrize("era", ["legacy", "modern", "auto"])
def test_the_inspector_calls_the_tools(era, user, council):
    """Each call is a server of its own, and the session goes on."""
    begun = inspected(user, council, "start", 'topic="Shall we" ☕?', era=era)
    assert (user.session / "topic.md").read_text() == '"Shall we" ☕?'
    id = f"session={begun['session_id']}"
    assert [row["turn"] for row in inspected(user, council, "next", id, era=era)["due"]] == POSITIONS
    turn = f"turn={POSITIONS[0]}"
    key = KEY.search(inspected(user, council, "brief", id, turn, era=era)["then"])
    given = (id, turn, "reply=Yes, we shall.")
    assert inspected(user, council, "record", *given, f"key={key[1]}", era=era)["recorded"] == POSITIONS[0]
    assert inspected(user, council, "status", era=era)["turns"] == 1
    words = [word for pair in given for word in ("--tool-arg", pair)]
    ended = inspect(user, council, "--method", "tools/call", "--tool-name", "council_record", *words)
    assert ended.code == 5
    assert "recorded already" in ended.out


@inspector
@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_reads_prompts_and_resources(era, user, council):
    inspected(user, council, "start", "topic=Shall we?")
    uri = f"council://session/{user.session.name}/transcript"
    for words, key, found in (
        (["prompts/list"], "prompts", '"recover"'),
        (["prompts/get", "--prompt-name", "council", "--prompt-args", "topic=Shall we?"], "messages", "council_start"),
        (["resources/list"], "resources", uri),
        (["resources/templates/list"], "resourceTemplates", "{session}/synthesis"),
        (["resources/read", "--uri", uri], "contents", "is not finished"),
    ):
        ended = inspect(user, council, "--protocol-era", era, "--method", *words)
        assert ended.code == 0, ended.text
        assert found in json.dumps(ended.json[key])


@inspector
def test_the_inspector_calls_a_tool_many_times_at_once(user, council):
    inspected(user, council, "start", "topic=Shall we?")
    many = ("--load", "--load-requests", "40", "--load-concurrency", "8", "--tool-arg", "session=last")
    ended = inspect(user, council, "--method", "tools/call", "--tool-name", "council_next", *many)
    assert (ended.code, ended.json["ok"], ended.json["errorMessages"]) == (0, 40, []), ended.text


# ---- the client of the Python SDK ----

SDK = os.environ.get("COUNCIL_TEST_MCP_SDK", "")
sdk = pytest.mark.skipif(not SDK, reason="COUNCIL_TEST_MCP_SDK names no Python with the SDK")
NEWEST = {"auto": "2026-07-28", "2026-07-28": "2026-07-28", "legacy": "2025-11-25"}


@sdk
@pytest.mark.parametrize("follow", ["data", "text"])
@pytest.mark.parametrize("mode", NEWEST)
def test_the_client_of_the_sdk_holds_a_debate(mode, follow, user, council):
    """Members answer at the same time. It follows the data, or the text, and checks the data either way."""
    words = disputed()
    seen = of_the_sdk(user, council, mode=mode, follow=follow, words=words)
    assert seen["version"] == NEWEST[mode]
    assert seen["instructions"] == (None if mode == seen["version"] else methods.INSTRUCTIONS), "told by discover alone"
    ended = seen["end"] if isinstance(seen["end"], str) else seen["end"]["synthesis"]
    assert (user.session / "synthesis.md").read_text() in ended
    for turn, reply in words.items():
        stored = (user.session / "turns" / f"{turn}.md").read_bytes()
        assert stored.partition(b"\n---\n")[2] == reply.encode()
    assert user.council("verify").code == 0
    assert seen["prompts"] == ["council", "review", "recover"]
    assert seen["resources"] == ["council://sessions", f"council://session/{user.session.name}/transcript"]
    assert seen["transcript"] == (user.session / "transcript.md").read_text()


@sdk
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_client_of_the_sdk_asks_a_person(mode, user, council):
    user.write(".council/Workflows/Gate.md", GATE)
    words = {f"01-proposals/{seat}": "Let us begin." for seat in ("architect", "designer")}
    form = {"decision": "yes"}
    seen = of_the_sdk(user, council, mode=mode, follow="data", words=words, workflow="gate", form=form)
    assert (seen["forms"], seen["end"]["done"]) == (1, True)
    stored = (user.session / "turns/02-decision/human.md").read_text()
    assert stored.partition("\n---\n")[2] == "## Decision\nyes\n"
    assert seen["progress"] == (1 if mode == "legacy" else 0), "without a handshake, the client itself waits"


def of_the_sdk(user: User, council: Path, **plan: Any) -> dict[str, Any]:
    about = {
        "command": str(council),
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

CLAUDE = os.environ.get("COUNCIL_TEST_CLAUDE", "")
QUIET = (
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "DISABLE_TELEMETRY",
    "DISABLE_ERROR_REPORTING",
    "DISABLE_AUTOUPDATER",
)
claude = pytest.mark.skipif(not CLAUDE, reason="COUNCIL_TEST_CLAUDE names no claude program")
PROMPT = re.compile(r'Call the tool council_brief with session \\?"([^"\\]+)\\?" and turn \\?"([^"\\]+)\\?"')
KEY = re.compile(r'key \\?"([^"\\]+)')


AGENT = {"subagent_type": "general-purpose", "run_in_background": False}


class Model:
    """The host and its members, each of which does what it was shown last. Nobody sees another's conversation.

    `host` is what the host's context was given: its calls, and what came of them.
    """

    def __init__(self, topic: str, words: dict[str, str]) -> None:
        self.topic, self.words = topic, words
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
            return self.tools(tool("start", topic=self.topic), host=True)
        self.host.append(request.last)
        told = [json.loads(text) for text in results(request) if text.startswith("{")]
        if any("due" in one for one in told):
            due = [row for one in told for row in one["due"]]
            asked = [ToolUse("Agent", {"description": row["name"], "prompt": row["prompt"], **AGENT}) for row in due]
            return self.tools(*asked, host=True)
        return (
            Answer("Done.")
            if any(one.get("done") for one in told)
            else self.tools(tool("next", session="last"), host=True)
        )

    def tools(self, *calls: ToolUse, host: bool = False) -> Answer:
        if host:
            self.host += [json.dumps(call.input) for call in calls]
        return Answer("", tools=calls)


def tool(name: str, **given: str) -> ToolUse:
    return ToolUse(f"mcp__council__council_{name}", given)


def results(request: Request) -> list[str]:
    """What the tools answered since the model spoke last."""
    newest = max((at for at, message in enumerate(request.messages) if message["role"] == "assistant"), default=-1)
    content = [message["content"] for message in request.messages[newest + 1 :]]
    blocks = [block for one in content for block in one if isinstance(block, dict)]
    found = [block["content"] for block in blocks if block.get("type") == "tool_result"]
    return [one if isinstance(one, str) else "".join(part.get("text", "") for part in one) for one in found]


@claude
def test_claude_code_holds_a_debate(user, council):
    """Three rounds, with a topic so long that its briefs are more than Claude Code lets a tool say by default.

    The members are subagents that fetch their briefs and store their answers; the host's context holds neither.
    """
    topic = NASTY + "All that was measured: 12 ms, 30 ms. " * 1000
    words = {turn: f"MARKER {reply}" for turn, reply in disputed().items() if "chair" not in turn}
    words = disputed() | words | {POSITIONS[0]: f"MARKER {NASTY}"}
    about = {"type": "stdio", "command": str(council), "args": ["mcp"], "env": {"COUNCIL_HOME": str(user.home)}}
    config = user.write("mcp.json", json.dumps({"mcpServers": {"council": about}}))
    model = Model(topic, words)
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
    assert (user.session / "topic.md").read_bytes() == topic.encode()
    for turn, reply in words.items():
        stored = (user.session / "turns" / f"{turn}.md").read_bytes()
        assert stored.partition(b"\n---\n")[2] == reply.encode()
    assert user.council("verify").code == 0
    assert model.members == set(words)
    assert not [text for text in model.host if "MARKER" in text]
    assert any(methods.INSTRUCTIONS.splitlines()[0] in json.dumps(request.messages) for request in api.prompts)
