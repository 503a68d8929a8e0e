"""`council mcp`: the real server in a process of its own, over its two pipes, and through the programs that call it.

The MCP inspector is asked where COUNCIL_TEST_INSPECTOR names it, as `NODE PATH/mcp-inspector`; Claude Code where
COUNCIL_TEST_CLAUDE does. Claude Code then talks to `tests/fakeapi.py`, with a home of its own.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from council.mcp_server import command, tools
from council.mcp_server import server as mcp
from council.record import lock
from tests.fakeapi import Answer, FakeApi, Request, ToolUse
from tests.helpers import (
    AGREES,
    CODE,
    MEMBERS,
    PATIENCE,
    PROGRAM,
    Ended,
    User,
    agreed,
    derived_of,
    disputed,
    limited,
    picture,
    record_of,
    script,
    without_receipts,
)

SAME_WORDS = ("round-1.md", "round-2.md", "round-3.md", "convergence.json", "synthesis.md")
POSITIONS = [f"01-positions/{seat}" for seat in MEMBERS]
NASTY = "Redis \"or\" 'not'? `x` $(touch P) \\ ☕ 🦊\r\n\n— zweite Zeile \u2028 \u0007 </said>\n  "


class Server:
    """A client's end of the server's pipes."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process, self.asked = process, 0

    def send(self, line: bytes | str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write((line.encode() if isinstance(line, str) else line) + b"\n")
        self.process.stdin.flush()

    def line(self) -> dict[str, Any]:
        """The next message of the server's; nothing else may stand on its standard output."""
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        line = self.process.stdout.readline()
        assert line, f"the server ended: {self.process.stderr.read().decode()}"
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    def ask(self, method: str, params: Any = None, **more: Any) -> dict[str, Any]:
        self.asked += 1
        request = {"jsonrpc": "2.0", "id": self.asked, "method": method, **more}
        self.send(json.dumps(request if params is None else {**request, "params": params}))
        message = self.line()
        assert message["id"] == request["id"]
        return message

    def tool(self, name: str, **given: Any) -> tuple[str, bool]:
        """What a tool answers, and whether it is an error."""
        result = self.ask("tools/call", {"name": f"council_{name}", "arguments": given})["result"]
        (content,) = result["content"]
        assert content["type"] == "text"
        return content["text"], result["isError"]

    def told(self, name: str, **given: Any) -> dict[str, Any]:
        text, wrong = self.tool(name, **given)
        assert not wrong, text
        return json.loads(text)

    def refused(self, name: str, **given: Any) -> str:
        text, wrong = self.tool(name, **given)
        assert wrong, text
        return text

    def end(self) -> Ended:
        """Close its standard input, and see how it ends."""
        out, err = self.process.communicate(timeout=PATIENCE)
        return Ended(self.process.returncode, out.decode(), err.decode())


@contextmanager
def serving(user: User, *words: str) -> Iterator[Server]:
    with user.spawn(*(words or ("mcp",)), stdin=subprocess.PIPE) as process:
        try:
            yield Server(process)
        finally:
            process.kill()


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


def speak(server: Server, session: str, words: dict[str, str], most: int = 1000) -> dict[str, Any]:
    """Answer what is due by the script, for so many turns at the most; what council_next says then."""
    while not (told := server.told("next", session=session))["done"] and most > 0:
        for row in told["due"][:most]:
            server.told("record", session=session, turn=row["turn"], reply=words[row["turn"]], model=row["model"])
            most -= 1
    return told


def same_as_run(user: User, words: dict[str, str], *options: str) -> None:
    """The debate reads like one of the same words that `council run` held, but for what says whose words they are."""
    twin = User(user.root / "twin")
    ended = twin.council("run", "Shall we?", *options, "--speaker", "replay", "--from", script(twin, words))
    assert ended.code == 0, ended.err
    ours, theirs = (without_receipts(derived_of(one.session)) for one in (user, twin))
    assert [ours.get(name) for name in SAME_WORDS] == [theirs.get(name) for name in SAME_WORDS]


# ---- whole debates ----


def test_a_debate_of_three_rounds_is_the_one_that_run_would_have_held(user, server):
    begun = server.told("start", topic="Shall we?")
    assert begun["session_id"] == user.session.name
    assert begun["folder"] == str(user.session)
    assert "**Council Members:** Architect (Serena)" in begun["header"]
    end = speak(server, begun["session_id"], disputed())
    assert (end["done"], end["outcome"]) == (True, "agreed with dissent")
    assert end["synthesis"] == (user.session / "synthesis.md").read_text()
    assert Path(end["archived_to"]).read_bytes() == (user.session / "transcript.md").read_bytes()
    told = (user.session / "transcript.md").read_text()
    assert "| 01-positions/engineer | assistant, typed in | claude-sonnet-5-5 | claude-sonnet-5-5 |" in told
    assert user.council("verify").code == 0
    assert server.end() == Ended(0, "", "")
    same_as_run(user, disputed())


def test_what_is_due_comes_with_the_very_brief(user, server):
    server.told("start", topic="Shall we?")
    told = server.told("next", session="last")
    assert [row["turn"] for row in told["due"]] == POSITIONS
    assert {key: told["due"][2][key] for key in ("seat", "name", "tier", "model", "person", "state")} == {
        "seat": "engineer", "name": "Engineer (Marcus)", "tier": "sonnet", "model": "claude-sonnet-5-5",
        "person": False, "state": "due",
    }  # fmt: skip
    for row in told["due"]:
        assert row["brief"].encode() == (user.session / "briefs" / f"{row['turn']}.md").read_bytes()
        assert server.told("next", session="last", turn=row["turn"])["due"] == [row]
    assert server.told("next", session="last") == told


def test_every_option_of_start(user, server):
    given = {"with": ["security"], "only": ["engineer", "Architect"], "mode": "patchlist", "rounds": 3}
    server.told("start", topic="Shall we?", **given)
    about = json.loads((user.session / "metadata.json").read_text())
    assert about["members"] == ["engineer", "architect", "security"]
    assert about["output_mode"] == "patchlist"
    assert about["options"] == {"patchlist": True, "three_rounds": True}
    assert about["speaker"] == "assistant"
    quick = server.told("start", topic="Shall we?", workflow="quick")
    assert "Council Quick" in quick["header"]


def test_the_third_round_that_was_asked_for_is_held(user, server):
    id = server.told("start", topic="Shall we?", rounds=3)["session_id"]
    words = agreed() | {f"03-closing/{seat}": f"The {seat} stays with it.\n\n{AGREES}" for seat in MEMBERS}
    assert speak(server, id, words)["done"]
    assert (user.session / "round-3.md").exists()


def test_where_a_debate_stands(user, server):
    id = server.told("start", topic="Shall we?")["session_id"]
    told = server.told("status")
    assert {key: told[key] for key in ("session_id", "state", "outcome", "turns", "due", "folder")} == {
        "session_id": id, "state": "waiting", "outcome": None, "turns": 0, "due": POSITIONS,
        "folder": str(user.session),
    }  # fmt: skip
    speak(server, id, agreed())
    told = server.told("status", session=id[-8:])
    assert (told["state"], told["outcome"], told["turns"], told["due"]) == ("complete", "agreed", 9, [])


def test_a_damaged_session_is_a_state_and_nothing_goes_on_with_it(user, server):
    id = server.told("start", topic="Shall we?")["session_id"]
    speak(server, id, agreed(), most=1)
    (turn,) = user.session.glob("turns/*/*.md")
    turn.write_text("torn")
    assert server.told("status")["state"] == "damaged"
    assert str(turn) in server.refused("next", session=id)
    assert turn.read_text() == "torn"


# ---- bytes ----


def test_topic_and_replies_are_stored_byte_for_byte(user, server):
    server.told("start", topic=NASTY)
    assert (user.session / "topic.md").read_bytes() == NASTY.encode()
    server.told("next", session="last")
    server.told("record", session="last", turn=POSITIONS[0], reply=NASTY)
    stored = (user.session / "turns" / f"{POSITIONS[0]}.md").read_bytes()
    assert stored.partition(b"\n---\n")[2] == NASTY.encode()
    assert not list(user.root.rglob("P"))
    assert user.council("verify").code == 0


def test_words_that_call_a_council_are_part_of_a_topic(user, server):
    server.told("start", topic="Council with security: Shall we?")
    assert (user.session / "topic.md").read_text() == "Council with security: Shall we?"


# ---- what is refused, and how ----


def test_a_turn_is_recorded_once_and_only_while_it_is_due(user, server):
    id = server.told("start", topic="Shall we?")["session_id"]
    first, later = POSITIONS[0], "02-challenges/engineer"
    due = server.told("record", session=id, turn=first, reply="Yes.")
    assert due == {"session_id": id, "recorded": first, "done": False, "due": POSITIONS[1:]}
    before = record_of(user.session)
    again = server.refused("record", session=id, turn=first, reply="No.")
    assert again == f"{first} is recorded already, and a turn is never overwritten"
    early = server.refused("record", session=id, turn=later, reply="No.")
    assert early == f"{later} is not due in session {id}; due now: {', '.join(POSITIONS[1:])}"
    assert "is not due" in server.refused("record", session=id, turn="../../metadata", reply="No.")
    assert "is not due" in server.refused("next", session=id, turn=later)
    assert record_of(user.session) == before
    user.write("reply", "No.")
    for turn, why in ((first, again), (later, early)):
        assert why in user.council("record", id, turn, "--file", "reply").err


def test_after_the_end_nothing_is_recorded(user, server):
    id = server.told("start", topic="Shall we?")["session_id"]
    speak(server, id, agreed())
    before = picture(user.session)
    told = server.refused("record", session=id, turn="03-closing/engineer", reply="No.")
    assert "due now: nothing, the debate is over" in told
    assert server.told("next", session=id)["outcome"] == "agreed"
    assert picture(user.session) == before


def test_a_session_that_is_not_there(user, server):
    assert "there is no session in" in server.refused("status")
    server.told("start", topic="Shall we?")
    for name, given in (("next", {}), ("status", {}), ("record", {"turn": POSITIONS[0], "reply": "Yes."})):
        assert "there is no session" in server.refused(name, session="20200101-000000-00000000", **given)
        assert "is not a session id" in server.refused(name, session="../../etc", **given)


def test_a_seat_that_does_not_speak(user, server):
    server.told("start", topic="Shall we?")
    both = server.refused("record", session="last", turn=POSITIONS[0], reply="Yes.", absent="it refused")
    assert both == server.refused("record", session="last", turn=POSITIONS[0], reply=" \n")
    assert both == server.refused("record", session="last", turn=POSITIONS[0])
    server.told("record", session="last", turn=POSITIONS[0], absent="it refused")
    assert 'absent: "it refused"' in (user.session / "turns" / f"{POSITIONS[0]}.md").read_text()


@pytest.mark.parametrize(
    ("name", "given", "why"),
    [
        ("start", {}, "topic is missing"),
        ("start", {"topic": 5}, "topic must be a string"),
        ("start", {"topic": None}, "topic must be a string"),
        ("start", {"topic": " \n"}, "the topic is empty"),
        ("start", {"topic": "a\0b"}, "NUL"),
        ("start", {"topic": "\ud800 x"}, "topic contains half of a surrogate pair"),
        ("start", {"topic": "x" * 1_000_001}, "larger than 1 MB"),
        ("start", {"topic": "x", "topics": "y"}, 'there is no argument "topics"; did you mean "topic"?'),
        ("start", {"topic": "x", "workflow": "debat"}, 'no workflow "debat"; did you mean "debate"?'),
        ("start", {"topic": "x", "workflow": "../Workflows/Debate.md"}, "no workflow"),
        ("start", {"topic": "x", "with": "security"}, "with must be a list of strings"),
        ("start", {"topic": "x", "with": [1]}, "with must be a list of strings"),
        ("start", {"topic": "x", "with": ["\udfff"]}, "surrogate"),
        ("start", {"topic": "x", "with": ["securty"]}, 'unknown member "securty"; did you mean "security"?'),
        ("start", {"topic": "x", "only": ["chair"]}, "chair"),
        ("start", {"topic": "x", "mode": "loud"}, "mode must be deliberative or patchlist"),
        ("start", {"topic": "x", "rounds": 4}, "rounds must be 3"),
        ("start", {"topic": "x", "rounds": 3.0}, "rounds must be 3"),
        ("start", {"topic": "x", "rounds": True}, "rounds must be 3"),
        ("start", {"topic": "x", "workflow": "quick", "rounds": 3}, "three_rounds"),
        ("next", {}, "session is missing"),
        ("record", {"session": "last"}, "turn is missing"),
        ("status", {"sess": "x"}, 'did you mean "session"?'),
    ],
)
def test_arguments_that_do_not_fit_are_the_models_to_mend(name, given, why, user, server):
    assert why in server.refused(name, **given)
    assert user.sessions == []
    assert server.end() == Ended(0, "", "")


def test_a_reply_that_others_could_not_read(user, server):
    server.told("start", topic="Shall we?")
    assert "larger than 1 MB" in server.refused("record", session="last", turn=POSITIONS[0], reply="x" * 10_000_000)
    assert "surrogate" in server.refused("record", session="last", turn=POSITIONS[0], reply="\udc00")
    assert not list(user.session.rglob("turns/*/*"))


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_folder_that_may_not_be_written(user, server):
    user.home.mkdir(mode=0o500)
    assert "permission denied" in server.refused("start", topic="Shall we?")


def test_a_disk_that_takes_nothing(user, server):
    user.home.write_text("a file where the folder should be")
    assert str(user.home) in server.refused("start", topic="Shall we?")
    assert server.ask("ping")["result"] == {}


# ---- the protocol ----


def test_a_client_is_greeted_in_its_own_version(server):
    about = {"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    for asked, given in (("2024-11-05", "2024-11-05"), ("2025-11-25", "2025-11-25"), ("2031-01-01", "2025-11-25")):
        told = server.ask("initialize", {"protocolVersion": asked, **about})["result"]
        assert told["protocolVersion"] == given
        assert told["serverInfo"]["name"] == "council"
        assert told["capabilities"] == {"tools": {}}
    assert server.ask("initialize", about)["error"]["code"] == -32602


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
    server.send(b'{"jsonrpc": "2.0", "id": 1, "method": "' + b"x" * (2 * mcp.LARGEST_MESSAGE) + b'"}')
    assert server.line()["error"]["code"] == -32600
    assert server.ask("ping")["result"] == {}


def test_a_last_line_may_lack_its_end(user, server):
    out, err = server.process.communicate(b'{"jsonrpc": "2.0", "id": "x", "method": "ping"}', timeout=PATIENCE)
    assert json.loads(out) == {"jsonrpc": "2.0", "id": "x", "result": {}}
    assert (server.process.returncode, err) == (0, b"")


def test_nothing_comes_between_the_answers(server):
    """Asked all at once; each answer is whole, and they come in order."""
    for number in range(200):
        server.send(json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/list"}))
    assert [server.line()["id"] for _ in range(200)] == list(range(200))


BROKEN = """
import os, sys, warnings
from council import cli
from council.mcp_server.tools import TOOLS, Tool

def noisy(given):
    print("printed")
    os.write(1, b"written\\n")
    os.system("echo of a child")
    warnings.warn("warned")
    return {"read": sys.stdin.read()}

def broken(given):
    raise KeyError("a bug \\ud800\\nof ours")

for call in (noisy, broken):
    TOOLS[f"council_{call.__name__}"] = Tool("", {}, (), call)
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


# ---- servers come and go ----


def test_a_killed_server_loses_nothing(user):
    """A server for each turn, killed after it; the next goes on where it stands."""
    words = disputed()
    with serving(user) as server:
        id = server.told("start", topic="Shall we?")["session_id"]
        server.process.kill()
    for _ in range(len(words)):
        with serving(user) as server:
            assert speak(server, id, words, most=1)
            server.process.kill()
    with serving(user) as server:
        assert server.told("next", session=id)["outcome"] == "agreed with dissent"
    assert user.council("verify").code == 0
    same_as_run(user, words)


def test_what_was_begun_here_is_finished_by_a_runner(user, server):
    id = server.told("start", topic="Shall we?")["session_id"]
    speak(server, id, disputed(), most=6)
    before = record_of(user.session)
    ended = user.council("recover", id, "--speaker", "replay", "--from", script(user, disputed()))
    assert ended.code == 0, ended.err
    after = record_of(user.session)
    assert {name: after[name] for name in before if name.startswith("turns/")} == {
        name: data for name, data in before.items() if name.startswith("turns/")
    }
    assert server.told("next", session=id)["done"]
    same_as_run(user, disputed())


def test_a_session_that_somebody_works_on(user, server):
    id = server.told("start", topic="Shall we?")["session_id"]
    with lock.hold(user.session) as held:
        held.note()
        for told in (
            server.refused("next", session=id),
            server.refused("record", session=id, turn=POSITIONS[0], reply="Yes."),
        ):
            assert "is in use by" in told
            assert "try again" in told
        assert server.told("status")["state"] == "running"
        held.clear()
    server.told("record", session=id, turn=POSITIONS[0], reply="Yes.")


def test_two_servers_at_one_session(user):
    """Both answer every turn at the same moment: each is recorded once, and who came late is told so."""
    words = agreed()
    with serving(user) as one, serving(user) as other, ThreadPoolExecutor(2) as both:
        id = one.told("start", topic="Shall we?")["session_id"]
        while not (told := one.told("next", session=id))["done"]:
            turn = told["due"][0]["turn"]
            given = {"session": id, "turn": turn, "reply": words[turn]}
            answers = list(both.map(lambda server, given=given: server.tool("record", **given), (one, other)))
            assert sorted(wrong for _, wrong in answers) == [False, True]
            (late,) = (text for text, wrong in answers if wrong)
            assert "recorded already" in late or "try again" in late
    assert user.council("verify").code == 0
    same_as_run(user, words)


# ---- the page about it ----

PAGE = CODE / "docs" / "mcp.md"


def tables() -> str:
    """The tools as the page lists them."""
    parts = []
    for name, tool in tools.TOOLS.items():
        rows = [
            f"| `{key}` | {kind(schema, key in tool.needs)} | {schema['description']} |"
            for key, schema in tool.takes.items()
        ]
        parts.append("\n".join([f"### {name}\n\n{tool.about}\n", "| argument | | |", "|---|---|---|", *rows, ""]))
    return "\n".join(parts)


def kind(schema: dict[str, Any], needed: bool) -> str:
    words = ", ".join(f"`{word}`" for word in schema.get("enum", ())) or {"array": "a list"}.get(schema["type"], "text")
    return f"{words}{', needed' if needed else ''}"


@pytest.mark.golden
def test_the_page_lists_the_tools():
    head, mark, _ = PAGE.read_text("utf-8").partition("\n## The tools\n\n")
    made = head + mark + tables()
    if os.environ.get("COUNCIL_UPDATE_GOLDEN"):
        PAGE.write_text(made, "utf-8")
    assert PAGE.read_text("utf-8") == made, "run scripts/update-golden and read the difference"


def test_the_pages_configuration_starts_the_server():
    shown = PAGE.read_text("utf-8").partition("```json\n")[2].partition("```")[0]
    assert json.loads(shown) == {"mcpServers": {"council": {"command": "council", "args": [command.mcp.name]}}}


def test_the_schemas_are_plain(server):
    """What every client can show: objects of strings, integers and lists of strings, all of them explained."""
    tools = server.ask("tools/list")["result"]["tools"]
    assert [tool["name"] for tool in tools] == [f"council_{name}" for name in ("start", "status", "next", "record")]
    for tool in tools:
        schema = tool["inputSchema"]
        assert (schema["type"], schema["additionalProperties"]) == ("object", False)
        assert set(schema["required"]) <= set(schema["properties"])
        assert all(one["description"] for one in schema["properties"].values())
        assert {one["type"] for one in schema["properties"].values()} <= {"string", "integer", "array"}


# ---- the programs that call it ----


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
    assert any(mcp.INSTRUCTIONS.splitlines()[0] in json.dumps(request.messages) for request in api.prompts)
