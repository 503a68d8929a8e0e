"""`council mcp`: its messages, the versions of the protocol, and requests that wait, are cancelled, or ask a person."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from council.mcp_server import documents, methods, protocol, resources
from council.mcp_server.calls import Cancelled, ClientCall
from council.record import lock
from council.record.session import open_
from tests.helpers import CODE, MEMBERS, PATIENCE, Ended, User, agreed, disputed, limited, picture
from tests.mcp_client import Server, read, serving, speak

POSITIONS = [f"01-positions/{seat}" for seat in MEMBERS]


@pytest.fixture(autouse=True)
def in_time() -> Iterator[None]:
    with limited():
        yield


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


@pytest.fixture
def server(user: User) -> Iterator[Server]:
    with serving(user) as server:
        yield server


# ---- versions ----


def test_a_client_is_greeted_in_its_own_version(server):
    newest = protocol.HANDSHAKE[0]
    for asked in (*protocol.HANDSHAKE, "2031-01-01", *protocol.STATELESS):
        told = server.shake_hands(asked)
        assert told["protocolVersion"] == (asked if asked in protocol.HANDSHAKE else newest)
        assert told["serverInfo"]["name"] == "council"
        assert told["capabilities"] == {"tools": {}, "prompts": {}, "resources": {}, "completions": {}}
        assert told["instructions"] == methods.INSTRUCTIONS
    assert server.ask("initialize", {"capabilities": {}})["error"]["code"] == -32602


def test_a_client_that_shakes_no_hands(user):
    """Since 2026-07-28 each request says its version; a result says what it is, who made it and how long it keeps."""
    with serving(user, version="2026-07-28") as server:
        found = server.ask("server/discover")["result"]
        assert found["supportedVersions"] == ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]
        assert found["instructions"] == methods.INSTRUCTIONS
        lists = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
        read = {method: server.ask(method)["result"] for method in lists}
        for method, result in {"server/discover": found, **read}.items():
            assert result["resultType"] == "complete"
            assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "council"
            kept = (0, "private") if method == "resources/list" else (3_600_000, "public")
            assert (result["ttlMs"], result["cacheScope"]) == kept
        begun = server.call("start", topic="Shall we?")
        assert (begun["resultType"], "ttlMs" in begun) == ("complete", False)
        assert speak(server, user.session.name, disputed(), key=True)["outcome"] == "agreed with dissent"
        for gone in ("ping", "initialize", "logging/setLevel", "resources/subscribe"):
            assert server.ask(gone)["error"]["code"] == -32601
    assert user.council("verify").code == 0


@pytest.mark.parametrize(
    ("meta", "code", "why"),
    [
        ({protocol.VERSION: "2031-01-01", protocol.CAPABILITIES: {}}, -32022, "2031-01-01"),
        ({protocol.VERSION: "2025-11-25", protocol.CAPABILITIES: {}}, -32022, "2025-11-25"),
        ({protocol.VERSION: 5, protocol.CAPABILITIES: {}}, -32602, "must be a string"),
        ({protocol.VERSION: "2026-07-28"}, -32602, "must be an object"),
        ({protocol.VERSION: "2026-07-28", protocol.CAPABILITIES: []}, -32602, "must be an object"),
    ],
)
def test_an_envelope_that_cannot_be_read(meta, code, why, server):
    error = server.ask("tools/list", {"_meta": meta})["error"]
    assert (error["code"], why in error["message"]) == (code, True)
    if code == -32022:
        assert error["data"] == {"supported": list(protocol.VERSIONS), "requested": meta[protocol.VERSION]}


def test_both_kinds_of_clients_may_share_the_pipes(server):
    """A client whose first question took too long falls back to the handshake."""
    envelope = {"_meta": {protocol.VERSION: "2026-07-28", protocol.CAPABILITIES: {}}}
    assert "resultType" in server.ask("server/discover", envelope)["result"]
    assert server.shake_hands()["protocolVersion"] == "2025-11-25"
    assert "resultType" not in server.ask("tools/list")["result"]
    assert "resultType" in server.ask("tools/list", envelope)["result"]
    assert server.ask("server/discover")["error"]["code"] == -32601


# ---- messages ----


def test_ids_are_strings_or_integers(server):
    for id in (0, -1, 10**30, "server-probe-1", "", "\ud800"):
        server.send(json.dumps({"jsonrpc": "2.0", "id": id, "method": "ping"}))
        assert server.line() == {"jsonrpc": "2.0", "id": id, "result": {}}
    for id in (None, 1.5, True, [1], {}):
        server.send(json.dumps({"jsonrpc": "2.0", "id": id, "method": "ping"}))
        assert server.line()["error"]["code"] == -32600


def test_what_asks_nothing_gets_no_answer(server):
    server.send("\n \n")
    server.send('{"jsonrpc": "2.0", "method": "notifications/initialized"}')
    server.send('{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}')
    server.send('{"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "council_start"}}')
    server.send('{"jsonrpc": "2.0", "id": 7, "result": {}}')
    server.send('{"jsonrpc": "2.0", "id": 7, "error": {"code": 1, "message": "x"}}')
    assert server.ask("ping")["result"] == {}
    assert server.end() == Ended(0, "", "")


@pytest.mark.parametrize(
    ("line", "code", "why"),
    [
        (b"{", -32700, "not valid JSON"),
        (b"hello", -32700, "not valid JSON"),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping"} x', -32700, "not valid JSON"),
        (b'{"a": "caf\xe9"}', -32700, "not valid JSON"),
        (b"\xff\xfe{\0}\0", -32700, "not valid JSON"),
        (b"9" * 5000, -32700, "not valid JSON"),
        (b"[" * 200_000, -32700, "nested too deep"),
        (b'{"a":' * 200_000, -32700, "nested too deep"),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', -32600, "batches"),
        (b"5", -32600, "must be an object"),
        (b"{}", -32600, "must be an object"),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600, "must be an object"),
        (b'{"jsonrpc": "2.0", "id": 1}', -32600, "method must be a string"),
        (b'{"jsonrpc": "2.0", "id": 1, "method": 5}', -32600, "method must be a string"),
        (b'{"jsonrpc": "2.0", "method": 5}', -32600, "id must be"),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "server/discover"}', -32601, "server/discover"),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "\\ud800"}', -32601, "unknown method"),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}', -32602, "params must be an object"),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}', -32602, "no tool"),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 1}}', -32602, "no tool"),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x"}}', -32602, "known: council_"),
        (
            b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"council_status","arguments":1}}',
            -32602,
            "arguments must be an object",
        ),
    ],
    ids=lambda value: repr(value[:30]) if isinstance(value, bytes) else "",
)
def test_messages_that_are_none(line, code, why, server):
    server.send(line)
    error = server.line()["error"]
    assert error["code"] == code
    assert why in error["message"]
    assert server.ask("ping")["result"] == {}
    assert server.end() == Ended(0, "", "")


def test_a_message_without_end(server):
    server.send(b'{"jsonrpc": "2.0", "id": 1, "method": "' + b"x" * (2 * protocol.LARGEST_MESSAGE) + b'"}')
    assert server.line()["error"]["code"] == -32600
    assert server.ask("ping")["result"] == {}


def test_a_last_line_may_lack_its_end(user, server):
    out, err = server.process.communicate(b'{"jsonrpc": "2.0", "id": "x", "method": "ping"}', timeout=PATIENCE)
    assert json.loads(out) == {"jsonrpc": "2.0", "id": "x", "result": {}}
    assert (server.process.returncode, err) == (0, b"")


def test_nothing_comes_between_the_answers(server):
    """Asked all at once; each answer is whole, and those that take no time come in order."""
    for number in range(200):
        server.send(json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/list"}))
    assert [server.line()["id"] for _ in range(200)] == list(range(200))


BROKEN = """
import os, sys, warnings
from council import cli
from council.mcp_server.states import ToolAnswer
from council.mcp_server import debate
from council.mcp_server.tools import TOOLS, Tool

def noisy(given, call):
    print("printed")
    os.write(1, b"written\\n")
    os.system("echo of a child")
    warnings.warn("warned")
    return ToolAnswer("noisy", {"read": sys.stdin.read()})

def broken(given, call):
    raise KeyError("a bug \\ud800\\nof ours")

for call in (noisy, broken):
    TOOLS[f"council_{call.__name__}"] = Tool("", {}, (), {}, {})
    debate.TOOLS[f"council_{call.__name__}"] = call
sys.exit(cli.main())
"""


def test_a_bug_ends_one_call_and_nothing_but_answers_is_on_standard_output(user):
    program = [sys.executable, "-c", BROKEN, "mcp"]
    env = {**user.environment, "PYTHONPATH": str(CODE)}
    pipe = subprocess.PIPE
    with subprocess.Popen(program, cwd=user.work, env=env, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        server = Server(process)
        error = server.ask("tools/call", {"name": "council_broken"})["error"]
        assert error["code"] == -32603
        assert error["message"].startswith("KeyError: ")
        assert server.told("noisy") == {"read": ""}
        assert server.told("start", topic="Shall we?")["session_id"] == user.session.name
        ended = server.end()
    assert (ended.code, ended.out) == (0, "")
    (bug,) = [line for line in ended.err.splitlines() if "a bug" in line]
    assert bug.startswith("council mcp: ")
    for word in ("printed", "written", "of a child", "warned"):
        assert word in ended.err


def test_a_client_that_went_away(server):
    assert server.process.stdout is not None
    server.process.stdout.close()
    server.send('{"jsonrpc": "2.0", "id": 1, "method": "ping"}')
    assert server.process.wait(PATIENCE) == 0
    assert server.process.stderr is not None
    assert server.process.stderr.read() == b""


def test_a_person_at_a_terminal_is_told_who_starts_it(user):
    read, write = os.openpty()
    try:
        ended = user.process("mcp", stdin=write)
    finally:
        os.close(read)
        os.close(write)
    assert ended.code == 2
    assert "an MCP client starts this command" in ended.err


# ---- requests that wait ----


def test_a_request_that_waits_keeps_nobody_waiting(user, server):
    """Another process holds one session: its requests wait, all others are answered, and then it goes on."""
    id = server.told("start", topic="Shall we?")["session_id"]
    with lock.hold(user.session):
        waiting = [server.begin_tool("record", session=id, turn=turn, reply="Yes.") for turn in POSITIONS[:2]]
        assert server.ask("ping")["result"] == {}
        assert server.told("start", topic="And this?")["session_id"] != id
        assert server.told("status", session=id)["turns"] == 0
    answers = [server.line() for _ in waiting]
    assert sorted(answer["id"] for answer in answers) == waiting
    assert {answer["result"]["structuredContent"]["recorded"] for answer in answers} == set(POSITIONS[:2])
    assert server.told("status", session=id)["turns"] == 2


def test_two_answers_to_one_turn_at_once(user, server):
    id = server.told("start", topic="Shall we?")["session_id"]
    asked = [server.begin_tool("record", session=id, turn=POSITIONS[0], reply=word) for word in ("Yes.", "No.")]
    results = [server.line() for _ in asked]
    wrong = [read("record", answer["result"]) for answer in results]
    assert sorted(error for _, error in wrong) == [False, True]
    assert any("recorded already" in text for text, error in wrong if error)
    assert user.council("verify").code in (0, 8)


def test_what_is_cancelled_leaves_nothing_half_done(user, server):
    id = server.told("start", topic="Shall we?")["session_id"]
    with lock.hold(user.session):
        before = picture(user.session)
        asked = server.begin_tool("record", session=id, turn=POSITIONS[0], reply="Yes.")
        cancel(server, asked)
        cancel(server, 4711)
        cancel(server, [])
        assert server.ask("ping")["result"] == {}, "the answer to the cancelled request would have come before"
    assert server.told("next", session=id)["due"][0]["turn"] == POSITIONS[0]
    assert picture(user.session) == before
    assert server.told("record", session=id, turn=POSITIONS[0], reply="Yes.")["recorded"] == POSITIONS[0]
    assert server.end() == Ended(0, "", "")


def test_what_is_cancelled_before_it_waits_does_not_begin_once_the_session_is_free(user, server):
    """The one that held the session may have ended between the cancellation and the first look at the lock."""
    server.told("start", topic="Shall we?")
    call = ClientCall(1, "tools/call", {}, protocol.Client(), [].append, threading.Lock(), threading.Event())
    call.cancel()
    found, begun = open_(user.session), False
    with pytest.raises(Cancelled), call.hold(found):
        begun = True
    assert not begun
    assert not lock.is_held(user.session)


def cancel(server: Server, id: Any) -> None:
    params = {"requestId": id, "reason": "the user has changed their mind"}
    server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})


@pytest.mark.parametrize("token", ["a", 7])
def test_progress_says_what_a_request_waits_for(token, user, server):
    id = server.told("start", topic="Shall we?")["session_id"]
    params = {"name": "council_next", "arguments": {"session": id}, "_meta": {"progressToken": token}}
    with lock.hold(user.session):
        asked = server.begin("tools/call", params)
        told = server.line()
    assert told["method"] == "notifications/progress"
    assert told["params"]["progressToken"] == token
    assert told["params"]["progress"] == 1
    assert f"waiting for {id}, which is in use by" in told["params"]["message"]
    assert server.line()["id"] == asked


def test_an_id_that_is_in_use(user, server):
    id = server.told("start", topic="Shall we?")["session_id"]
    request = {"jsonrpc": "2.0", "id": "x", "method": "tools/call"}
    request["params"] = {"name": "council_next", "arguments": {"session": id}}
    with lock.hold(user.session):
        server.send(request)
        server.send(request)
        assert "still being answered" in server.line()["error"]["message"]
    assert server.line()["result"]["isError"] is False


# ---- a person's turn ----

SURVEY = """---
name: survey
seats: {members: [architect, designer], chair: chair}
phases:
  - {name: positions}
  - name: decision
    seats: human
    reply: {verdict: go on | stop, share: 0-100, count: integer, why: text+, risks: list}
  - {name: synthesis, seats: chair}
---
"""
TEMPLATE = '{% include "_head.md.j2" %}\nSay it.\n{% include "_tail.md.j2" %}\n'
DECISION = "02-decision/human"
GIVEN = {"verdict": "stop", "share": 40, "count": 3, "why": "Too early.", "risks": "time\nmoney"}
WRITTEN = """## Verdict
stop

## Share
40

## Count
3

## Why
Too early.

## Risks
- time
- money
"""


@pytest.fixture
def asking(user: User) -> User:
    """A debate in which a person's answer is due; `shows_forms` of the server decides how it is asked for."""
    user.write(".council/Workflows/Survey.md", SURVEY)
    for name in ("positions", "decision", "synthesis"):
        user.write(f".council/templates/survey/{name}.md.j2", TEMPLATE)
    with serving(user) as server:
        begun = server.told("start", topic="Shall we?", workflow="survey")
        assert re.search("^project .*Survey.md", begun["header"], re.M), "whose files count is said"
        id = begun["session_id"]
        speak(server, id, {f"01-positions/{seat}": "We shall." for seat in ("architect", "designer")}, most=2)
    return user


def question(server: Server) -> dict[str, Any]:
    """What the server asks the client."""
    asked = server.line()
    assert asked["method"] == "elicitation/create"
    return asked


def answer(server: Server, asked: dict[str, Any], **response: Any) -> dict[str, Any]:
    """The client's answer, and what comes of the request."""
    server.send({"jsonrpc": "2.0", "id": asked["id"], **response})
    return server.line()


def body(user: User) -> str:
    return (user.session / f"turns/{DECISION}.md").read_text("utf-8").split("\n---\n", 1)[1]


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
def test_a_person_fills_in_a_form(version, asking):
    with serving(asking) as server:
        server.shake_hands(version, elicitation={} if version < "2025-11" else {"form": {}})
        (row,) = server.told("next", session="last")["due"]
        assert row["prompt"].endswith(f'and turn "{DECISION}" alone: it asks the person.')
        server.begin_tool("record", session="last", turn=DECISION)
        asked = question(server)
        assert "We shall." in asked["params"]["message"]
        assert "Say it." in asked["params"]["message"]
        schema = asked["params"]["requestedSchema"]
        jsonschema.Draft202012Validator(schema).validate(GIVEN)
        assert schema["required"] == ["verdict", "share", "count", "why"]
        assert schema["properties"]["verdict"]["enum"] == ["go on", "stop"]
        assert schema["properties"]["share"] | {"minimum": 0, "maximum": 100} == schema["properties"]["share"]
        assert server.told("status")["turns"] == 2, "others are answered meanwhile"
        told = answer(server, asked, result={"action": "accept", "content": GIVEN})["result"]["structuredContent"]
        assert (told["recorded"], told["due"][0]["turn"]) == (DECISION, "03-synthesis/chair")
    assert body(asking) == WRITTEN
    assert 'speaker: "human"' in (asking.session / f"turns/{DECISION}.md").read_text("utf-8")


def test_a_person_fills_in_a_form_without_a_handshake(asking):
    with serving(asking, version="2026-07-28", elicitation={"form": {}}) as server:
        asked = record_again(server)
        assert asked["resultType"] == "input_required"
        ((name, request),) = asked["inputRequests"].items()
        assert (request["method"], request["params"]["mode"]) == ("elicitation/create", "form")
        for action in ("decline", "cancel"):
            told = record_again(server, {name: {"action": action}})["structuredContent"]
            assert ("recorded" in told, told["due"][0]["turn"]) == (False, DECISION)
        assert not (asking.session / f"turns/{DECISION}.md").exists()
        given = {name: {"action": "accept", "content": GIVEN}}
        told = record_again(server, given)["structuredContent"]
        assert told["recorded"] == DECISION
    assert body(asking) == WRITTEN


def record_again(server: Server, responses: Any = None) -> dict[str, Any]:
    """The call of a client without a handshake, with its user's answers once there are some."""
    params = {"name": "council_record", "arguments": {"session": "last", "turn": DECISION}}
    return server.ask("tools/call", {**params, "inputResponses": responses} if responses else params)["result"]


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_a_person_who_does_not_answer_has_said_nothing(action, asking):
    with serving(asking) as server:
        server.shake_hands(elicitation={"form": {}, "url": {}})
        before = picture(asking.session)
        server.begin_tool("record", session="last", turn=DECISION)
        told = answer(server, question(server), result={"action": action})["result"]["structuredContent"]
        assert ("recorded" in told, told["done"], told["due"][0]["turn"]) == (False, False, DECISION)
        assert f"nothing was recorded; {DECISION} stays due" in told["todo"]
        assert picture(asking.session) == before


@pytest.mark.parametrize(
    ("response", "why"),
    [
        ({"error": {"code": -32603, "message": "no window"}}, "the client could not ask the person: no window"),
        ({"result": {"action": "accept"}}, "cannot be read"),
        ({"result": {"action": "agree", "content": GIVEN}}, "cannot be read"),
        ({"result": 5}, "cannot be read"),
        ({"result": {"action": "accept", "content": {}}}, "verdict: an answer is required"),
        ({"result": {"action": "accept", "content": {**GIVEN, "verdict": "perhaps"}}}, "is not a valid answer"),
        ({"result": {"action": "accept", "content": {**GIVEN, "share": 400}}}, "is not a valid answer"),
        ({"result": {"action": "accept", "content": {**GIVEN, "vote": "yes"}}}, 'no answer "vote"'),
    ],
)
def test_a_form_that_comes_back_wrong_records_nothing(response, why, asking):
    with serving(asking) as server:
        server.shake_hands(elicitation={"form": {}})
        before = picture(asking.session)
        server.begin_tool("record", session="last", turn=DECISION)
        text, wrong = read("record", answer(server, question(server), **response)["result"])
        assert wrong
        assert why.removeprefix("no answer ") in text
        assert picture(asking.session) == before


def test_a_request_that_asks_a_person_can_be_cancelled(asking):
    with serving(asking) as server:
        server.shake_hands(elicitation={"form": {}})
        before = picture(asking.session)
        asked = server.begin_tool("record", session="last", turn=DECISION)
        form = question(server)
        cancel(server, asked)
        gone = server.line()
        assert (gone["method"], gone["params"]["requestId"]) == ("notifications/cancelled", form["id"])
        server.send({"jsonrpc": "2.0", "id": form["id"], "result": {"action": "accept", "content": GIVEN}})
        assert server.ask("ping")["result"] == {}
        assert picture(asking.session) == before


def test_a_client_that_leaves_while_a_person_is_asked(asking):
    with serving(asking) as server:
        server.shake_hands(elicitation={"form": {}})
        server.begin_tool("record", session="last", turn=DECISION)
        question(server)
        ended = server.end()
        assert (ended.code, ended.err) == (0, "")
    assert not (asking.session / f"turns/{DECISION}.md").exists()


@pytest.mark.parametrize("capabilities", [{}, {"elicitation": {"url": {}}}, {"elicitation": True}])
def test_a_client_that_cannot_ask_shows_the_question(capabilities, asking):
    with serving(asking) as server:
        server.shake_hands(**capabilities)
        (row,) = server.told("next", session="last")["due"]
        assert "council_record, in answers (verdict: go on or stop; share: a number from 0 to 100" in row["prompt"]
        assert "cannot ask the person" in server.refused("record", session="last", turn=DECISION)
        wrong = server.refused("record", session="last", turn=DECISION, answers={"verdict": "stop"})
        assert "share: an answer is required" in wrong
        given = {name: str(value) for name, value in GIVEN.items()}
        told = server.told("record", session="last", turn=DECISION, answers=given, by="Ann Example")
        assert told["recorded"] == DECISION
    assert body(asking) == WRITTEN
    assert 'by: "Ann Example"' in (asking.session / f"turns/{DECISION}.md").read_text("utf-8")


# ---- resources and prompts ----


def resource(server: Server, uri: str) -> str:
    (content,) = server.ask("resources/read", {"uri": uri})["result"]["contents"]
    assert (content["uri"], content["mimeType"]) == (uri, "text/markdown")
    return content["text"]


def test_what_was_said_can_be_read(user, server):
    assert "There is none yet" in resource(server, "council://sessions")
    id = server.told("start", topic="Shall we?")["session_id"]
    address = f"council://session/{id}"
    assert "is not finished" in resource(server, f"{address}/transcript")
    for name in ("synthesis", "decision"):
        error = server.ask("resources/read", {"uri": f"{address}/{name}"})["error"]
        assert (error["code"], "not yet" in error["message"]) == (-32002, True)
    speak(server, id, agreed())
    assert resource(server, f"{address}/transcript") == (user.session / "transcript.md").read_text()
    assert resource(server, f"{address}/synthesis") == (user.session / "synthesis.md").read_text()
    assert f"- {id}: complete" in resource(server, "council://sessions")
    listed = server.ask("resources/list")["result"]
    assert [one["uri"] for one in listed["resources"]] == ["council://sessions", f"{address}/transcript"]
    templates = server.ask("resources/templates/list")["result"]["resourceTemplates"]
    assert [one["uriTemplate"] for one in templates] == [
        f"council://session/{{session}}/{name}{{?page}}" for name in resources.DOCUMENTS
    ]


def test_what_is_long_comes_in_pages(user, server):
    id = server.told("start", topic="Shall we?")["session_id"]
    words = {turn: f"{reply}\n\n{'A reason. ' * 5000}" for turn, reply in agreed().items()}
    speak(server, id, words)
    uri, whole, page = f"council://session/{id}/transcript", "", 1
    while True:
        text = resource(server, f"{uri}?page={page}" if page > 1 else uri)
        part, more, _ = text.partition(f"\n\n(Continued in {uri}?page={page + 1})")
        whole, page = whole + part, page + 1
        assert len(text) <= documents.LARGEST + 200
        if not more:
            break
    assert whole == (user.session / "transcript.md").read_text()
    assert page > 4
    assert "does not exist" in server.ask("resources/read", {"uri": f"{uri}?page={page}"})["error"]["message"]


def test_long_lists_come_in_pages(user, server):
    root = Path(server.told("start", topic="Shall we?")["folder"])
    for number in range(documents.SESSIONS):
        copy = root.with_name(f"20200101-000000-{number:08x}")
        copy.mkdir()
        (copy / "metadata.json").write_text("{}")
    first = server.ask("resources/list")["result"]
    second = server.ask("resources/list", {"cursor": first["nextCursor"]})["result"]
    uris = [one["uri"] for one in (*first["resources"], *second["resources"])]
    assert len(set(uris)) == len(uris) == documents.SESSIONS + 2
    assert "nextCursor" not in second
    for cursor in ("0", "-1", "x", "1e3", 5, {}, "9" * 40):
        assert server.ask("resources/list", {"cursor": cursor})["error"]["code"] == -32602


HOSTILE = [
    "council://session/../../etc/passwd", "council://session/ID/../topic", "council://session/ID/topic",
    "council://session/ID/metadata", "council://session/ID/turns/01-positions/architect",
    "council://session/%2e%2e/transcript", "council://session/ID/transcript?page=0", "council://session/ID/transcript#x",
    "council://session/ID/transcript?page=2&x", "council://session/ID%2ftranscript", "council://session//transcript",
    "council://session/last/transcript", "council://session/PART/transcript", "council://session/link/transcript",
    "council://session/ID/transcript\n", "file:///etc/passwd", "/etc/passwd", "", "council://sessions/..",
    "COUNCIL://session/ID/transcript", "council://session/.hidden/transcript", "council://session/ID/transcript?page=999999",
]  # fmt: skip


@pytest.mark.parametrize("uri", HOSTILE)
def test_an_address_leads_nowhere_else(uri, user, server):
    id = server.told("start", topic="Shall we?")["session_id"]
    root = user.session.parent
    (root / "link").symlink_to(user.session)
    (root / ".hidden").mkdir()
    uri = uri.replace("ID", id).replace("PART", id[-8:])
    error = server.ask("resources/read", {"uri": uri})["error"]
    assert error["code"] in (-32002, -32603), error
    assert "root:" not in error["message"]


def test_a_damaged_session_is_not_read(user, server):
    id = server.told("start", topic="Shall we?")["session_id"]
    speak(server, id, agreed(), most=1)
    (turn,) = user.session.glob("turns/*/*.md")
    turn.write_text("torn")
    assert str(turn) in server.ask("resources/read", {"uri": f"council://session/{id}/transcript"})["error"]["message"]
    assert server.ask("resources/list")["result"]["resources"][1]["description"].startswith("damaged")


def test_prompts_lead_to_the_tools(server):
    listed = server.ask("prompts/list")["result"]["prompts"]
    assert [one["name"] for one in listed] == ["council", "review", "recover"]
    for name, given, words in (
        ("council", {"topic": "Shall we?", "workflow": "quick", "members": "security, intern"}, "\n\nShall we?\n\n"),
        ("review", {"document": "# Plan\nDo it."}, 'mode "patchlist"'),
        ("recover", {}, "debate last: call council_next"),
    ):
        (message,) = server.ask("prompts/get", {"name": name, "arguments": given})["result"]["messages"]
        assert message["role"] == "user"
        assert words in message["content"]["text"]
        assert "never answer for one yourself" in message["content"]["text"]
    for params in (
        {}, {"name": "x"}, {"name": "council"}, {"name": "council", "arguments": {"topic": " "}},
        {"name": "council", "arguments": {"topic": 5}}, {"name": "recover", "arguments": {"sesion": "last"}},
        {"name": "recover", "arguments": []},
    ):  # fmt: skip
        assert server.ask("prompts/get", params)["error"]["code"] == -32602


def test_arguments_are_completed(user, server):
    id = server.told("start", topic="Shall we?")["session_id"]
    recover, transcript = (
        {"type": "ref/prompt", "name": "recover"},
        {"type": "ref/resource", "uri": "council://session"},
    )
    for reference, name, typed, values in (
        (recover, "session", "", [id]),
        (transcript, "session", id[:9], [id]),
        (recover, "session", "x", []),
        ({"type": "ref/prompt", "name": "council"}, "workflow", "q", ["quick"]),
        ({"type": "ref/prompt", "name": "council"}, "members", "inter", ["intern"]),
        ({"type": "ref/prompt", "name": "council"}, "topic", "", []),
    ):
        params = {"ref": reference, "argument": {"name": name, "value": typed}}
        told = server.ask("completion/complete", params)["result"]["completion"]
        assert told == {"values": values, "total": len(values), "hasMore": False}
    for params in ({}, {"ref": recover}, {"ref": recover, "argument": {"name": "session"}}):
        assert server.ask("completion/complete", params)["error"]["code"] == -32602
