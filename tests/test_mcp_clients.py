"""`council mcp` through the programs that call it, each of which follows the text or the data that it gets.

The MCP inspector is asked where COUNCIL_TEST_INSPECTOR names it, as `NODE PATH/mcp-inspector`; the client of the Python
SDK where COUNCIL_TEST_MCP_SDK names a Python that has it; Claude Code where COUNCIL_TEST_CLAUDE does. Claude Code then
talks to `tests/fakeapi.py`, with a home of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from council.mcp_server import methods, tools
from tests.claude_code import CLAUDE
from tests.forgery import GATE
from tests.helpers import MEMBERS, User, disputed, limited
from tests.mcp_programs import (
    INSPECTOR,
    KEY,
    NEWEST,
    SDK,
    differing,
    hold_with_claude,
    hold_with_sdk,
    inspect,
    inspected,
)

POSITIONS = [f"01-positions/{seat}" for seat in MEMBERS]
NASTY = "Redis \"or\" 'not'? `x` $(touch P) \\ ☕ 🦊\r\n\n— zweite Zeile \u2028 \u0007 </said>\n  "


@pytest.fixture(autouse=True)
def in_time() -> Iterator[None]:
    with limited():
        yield


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


inspector = pytest.mark.skipif(not INSPECTOR, reason="COUNCIL_TEST_INSPECTOR names no MCP inspector")


@inspector
def test_the_inspector_finds_nothing_to_say(user):
    ended = inspect(user, "--method", "initialize")
    assert (ended.code, ended.json["serverInfo"]["name"]) == (0, "council"), ended.text
    ended = inspect(user, "--method", "tools/list", "--strict")
    assert ended.code == 0, ended.text
    assert not re.search("warning|Suggestion", ended.err), ended.err
    assert [tool["name"] for tool in ended.json["tools"]] == list(tools.TOOLS)


@inspector
@pytest.mark.parametrize("era", ["legacy", "modern", "auto"])
def test_the_inspector_calls_the_tools(era, user):
    """Each call is a server of its own, and the session goes on."""
    begun = inspected(user, "start", 'topic="Shall we" ☕?', era=era)
    assert (user.session / "topic.md").read_text() == '"Shall we" ☕?'
    id = f"session={begun['session_id']}"
    assert [row["turn"] for row in inspected(user, "next", id, era=era)["due"]] == POSITIONS
    turn = f"turn={POSITIONS[0]}"
    key = KEY.search(inspected(user, "brief", id, turn, era=era)["then"])
    given = (id, turn, "reply=Yes, we shall.")
    assert inspected(user, "record", *given, f"key={key[1]}", era=era)["recorded"] == POSITIONS[0]
    assert inspected(user, "status", era=era)["turns"] == 1
    words = [word for pair in given for word in ("--tool-arg", pair)]
    ended = inspect(user, "--method", "tools/call", "--tool-name", "council_record", *words)
    assert ended.code == 5
    assert "recorded already" in ended.out


@inspector
@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_reads_prompts_and_resources(era, user):
    inspected(user, "start", "topic=Shall we?")
    uri = f"council://session/{user.session.name}/transcript"
    for words, key, found in (
        (["prompts/list"], "prompts", '"recover"'),
        (["prompts/get", "--prompt-name", "council", "--prompt-args", "topic=Shall we?"], "messages", "council_start"),
        (["resources/list"], "resources", uri),
        (["resources/templates/list"], "resourceTemplates", "{session}/synthesis"),
        (["resources/read", "--uri", uri], "contents", "is not finished"),
    ):
        ended = inspect(user, "--protocol-era", era, "--method", *words)
        assert ended.code == 0, ended.text
        assert found in json.dumps(ended.json[key])


@inspector
def test_the_inspector_calls_a_tool_many_times_at_once(user):
    inspected(user, "start", "topic=Shall we?")
    many = ("--load", "--load-requests", "40", "--load-concurrency", "8", "--tool-arg", "session=last")
    ended = inspect(user, "--method", "tools/call", "--tool-name", "council_next", *many)
    assert (ended.code, ended.json["ok"], ended.json["errorMessages"]) == (0, 40, []), ended.text


# ---- the client of the Python SDK ----

sdk = pytest.mark.skipif(not SDK, reason="COUNCIL_TEST_MCP_SDK names no Python with the SDK")


@sdk
@pytest.mark.parametrize("follow", ["data", "text"])
@pytest.mark.parametrize("mode", NEWEST)
def test_the_client_of_the_sdk_holds_a_debate(mode, follow, user):
    """Members answer at the same time. It follows the data, or the text, and checks the data either way."""
    words = disputed()
    seen = hold_with_sdk(user, mode=mode, follow=follow, words=words)
    assert seen["version"] == NEWEST[mode]
    assert seen["instructions"] == (None if mode == seen["version"] else methods.INSTRUCTIONS), "told by discover alone"
    ended = seen["end"] if isinstance(seen["end"], str) else seen["end"]["synthesis"]
    assert (user.session / "synthesis.md").read_text() in ended
    assert differing(user, words) == []
    assert user.council("verify").code == 0
    assert seen["prompts"] == ["council", "review", "recover"]
    assert seen["resources"] == ["council://sessions", f"council://session/{user.session.name}/transcript"]
    assert seen["transcript"] == (user.session / "transcript.md").read_text()


@sdk
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_client_of_the_sdk_asks_a_person(mode, user):
    user.write(".council/Workflows/Gate.md", GATE)
    words = {f"01-proposals/{seat}": "Let us begin." for seat in ("architect", "designer")}
    form = {"decision": "yes"}
    seen = hold_with_sdk(user, mode=mode, follow="data", words=words, workflow="gate", form=form)
    assert (seen["forms"], seen["end"]["done"]) == (1, True)
    stored = (user.session / "turns/02-decision/human.md").read_text()
    assert stored.partition("\n---\n")[2] == "## Decision\nyes\n"
    assert seen["progress"] == (1 if mode == "legacy" else 0), "without a handshake, the client itself waits"


# ---- Claude Code ----

claude = pytest.mark.skipif(not CLAUDE, reason="COUNCIL_TEST_CLAUDE names no claude program")


@claude
def test_claude_code_holds_a_debate(user):
    """Three rounds, with a topic so long that its briefs are more than Claude Code lets a tool say by default.

    The members are subagents that fetch their briefs and store their answers; the host's context holds neither.
    """
    topic = NASTY + "All that was measured: 12 ms, 30 ms. " * 1000
    words = {turn: f"MARKER {reply}" for turn, reply in disputed().items() if "chair" not in turn}
    words = disputed() | words | {POSITIONS[0]: f"MARKER {NASTY}"}
    model, opening = hold_with_claude(user, words, topic=topic)
    assert (user.session / "topic.md").read_bytes() == topic.encode()
    assert differing(user, words) == []
    assert user.council("verify").code == 0
    assert model.members == set(words)
    assert not [text for text in model.host if "MARKER" in text]
    assert methods.INSTRUCTIONS.splitlines()[0] in opening


@claude
def test_claude_code_without_a_terminal_records_nothing_for_a_person(user):
    """It says that it shows forms. Where nobody sees one, it closes it, and the person has said nothing."""
    user.write(".council/Workflows/Gate.md", GATE)
    words = {f"01-proposals/{seat}": "Let us begin." for seat in ("architect", "designer")}
    model, _ = hold_with_claude(user, words, workflow="gate")
    assert differing(user, words) == []
    assert not (user.session / "turns" / "02-decision").exists()
    assert "nothing was recorded; 02-decision/human stays due" in "".join(model.host)
