"""The client's end of a real `council mcp`: a process of its own, and its two pipes.

What a tool returns is checked against the schema that the server declares for it, each time.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jsonschema  # type: ignore[import-untyped]

from council.mcp_server import protocol, tools
from tests.helpers import PATIENCE, Ended, User

ABOUT = {"clientInfo": {"name": "test", "version": "1"}}


class Server:
    """A client's end of the server's pipes. With `version`, each request carries the envelope of that version."""

    def __init__(self, process: subprocess.Popen[bytes], version: str = "", **capabilities: Any) -> None:
        self.process, self.asked, self.version, self.capabilities = process, 0, version, capabilities
        self.sent = self.received = 0

    def send(self, message: bytes | str | dict[str, Any]) -> None:
        assert self.process.stdin is not None
        text = json.dumps(message) if isinstance(message, dict) else message
        line = (text.encode() if isinstance(text, str) else text) + b"\n"
        self.sent += len(line)
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def line(self) -> dict[str, Any]:
        """The next message of the server's; nothing else may stand on its standard output."""
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        line = self.process.stdout.readline()
        assert line, f"the server ended: {self.process.stderr.read().decode()}"
        self.received += len(line)
        message: dict[str, Any] = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    def begin(self, method: str, params: Any = None, **more: Any) -> int:
        """Send a request; its id."""
        self.asked += 1
        if self.version:
            envelope = {protocol.VERSION: self.version, protocol.CAPABILITIES: self.capabilities}
            params = {**(params or {}), "_meta": {**envelope, **(params or {}).get("_meta", {})}}
        request = {"jsonrpc": "2.0", "id": self.asked, "method": method, **more}
        self.send(request if params is None else {**request, "params": params})
        return self.asked

    def ask(self, method: str, params: Any = None, **more: Any) -> dict[str, Any]:
        id = self.begin(method, params, **more)
        message = self.line()
        assert message["id"] == id
        return message

    def shake_hands(self, version: str = protocol.HANDSHAKE[0], **capabilities: Any) -> dict[str, Any]:
        params = {"protocolVersion": version, "capabilities": capabilities, **ABOUT}
        told: dict[str, Any] = self.ask("initialize", params)["result"]
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return told

    def begin_tool(self, name: str, **given: Any) -> int:
        return self.begin("tools/call", {"name": f"council_{name}", "arguments": given})

    def call(self, name: str, **given: Any) -> dict[str, Any]:
        id = self.begin_tool(name, **given)
        message = self.line()
        assert message["id"] == id
        return dict(message["result"])

    def tool(self, name: str, **given: Any) -> tuple[str, bool]:
        """What a tool answers as text, and whether it is an error."""
        return read(name, self.call(name, **given))

    def told(self, name: str, **given: Any) -> dict[str, Any]:
        result = self.call(name, **given)
        text, wrong = read(name, result)
        assert not wrong, text
        return dict(result["structuredContent"])

    def refused(self, name: str, **given: Any) -> str:
        text, wrong = self.tool(name, **given)
        assert wrong, text
        return text

    def end(self) -> Ended:
        """Close its standard input, and see how it ends."""
        out, err = self.process.communicate(timeout=PATIENCE)
        return Ended(self.process.returncode, out.decode(), err.decode())


def read(name: str, result: dict[str, Any]) -> tuple[str, bool]:
    """The text of a tool's result. What it says as data fits the declared schema; an error says none."""
    (content,) = result["content"]
    assert content["type"] == "text"
    assert ("structuredContent" in result) != result["isError"]
    tool = tools.TOOLS.get(f"council_{name}")
    if tool and not result["isError"]:
        jsonschema.Draft202012Validator(tool.returns).validate(result["structuredContent"])
    return content["text"], result["isError"]


@contextmanager
def serving(user: User, *words: str, version: str = "", **capabilities: Any) -> Iterator[Server]:
    with user.spawn(*(words or ("mcp",)), stdin=subprocess.PIPE) as process:
        try:
            yield Server(process, version, **capabilities)
        finally:
            process.kill()


def speak(
    server: Server, session: str, words: dict[str, str], most: int = 1000, key: bool = False, next_: str = "next"
) -> dict[str, Any]:
    """Answer up to `most` due turns by the script; return what council_next says then.

    With `key`, each member fetches its brief and stores its own answer; else the host stores them all.
    """
    while not (told := server.told(next_, session=session))["done"] and most > 0:
        for row in told["due"][:most]:
            turn = row["turn"]
            if key:
                answer_as_member(server, session, turn, words[turn])
            else:
                model = f"claude-{row['model']}-5-5"
                server.told("record", session=session, turn=turn, reply=words[turn], model=model)
            most -= 1
    return told


def measure_host(server: Server, words: dict[str, str]) -> tuple[int, int]:
    """The bytes that a debate puts into the host's context, and the host's calls of tools.

    Members fetch their briefs and store their answers. The host sees the data of each result, the prompts that it
    passes on, and what members reply to it.
    """
    given: dict[str, Any] = {"topic": "Shall we?"}
    told, size, calls = server.told("start", **given), 0, 1
    while True:
        size += len(json.dumps(given).encode()) + len(json.dumps(told, separators=(",", ":")).encode())
        if told["done"]:
            return size, calls
        for row in told["due"]:
            size += len(row["prompt"].encode()) + len(f"recorded {row['turn']}".encode())
            answer_as_member(server, told["session_id"], row["turn"], words[row["turn"]])
        given = {"session": told["session_id"]}
        told, calls = server.told("next", **given), calls + 1


def answer_as_member(server: Server, session: str, turn: str, reply: str) -> dict[str, Any]:
    """What a member does with its prompt."""
    then = server.told("brief", session=session, turn=turn)["then"]
    key = then.partition('key "')[2].partition('"')[0]
    return server.told("record", session=session, turn=turn, reply=reply, key=key)
