"""`council mcp`: the manual loop for assistants without a shell, over the Model Context Protocol on stdio.

One JSON-RPC message per line, answered in order. No call waits for a model: the assistant answers for the members.
Only tools are supported: no prompts, resources, progress or cancellation.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import IO, Any

from council import __version__
from council.errors import Busy, CouncilError, UsageError
from council.mcp_server.tools import TOOLS, Refused, find_complaints
from council.text import did_you_mean, one_line

PROTOCOLS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
NOT_JSON, NO_REQUEST, NO_METHOD, BAD_PARAMS, BUG = -32700, -32600, -32601, -32602, -32603
LARGEST_MESSAGE = 32_000_000  # bytes: larger than any debate, so that a message cannot fill the memory

INSTRUCTIONS = """Members with different perspectives debate a question, and everything they say becomes files.
council_start begins a debate, and council_next returns the briefs that are ready. Answer each brief separately and
unchanged: with a separate subagent if you have subagents, otherwise yourself, from that brief alone. Store every reply
with council_record, word for word, and show it to the person. Then call council_next again until it says that the
debate is over and returns the synthesis; show that, the outcome and where the files are. If you stop in between,
nothing is lost: council_status finds the session, and council_next continues it."""


def initialize(params: dict[str, Any]) -> dict[str, Any]:
    asked = params.get("protocolVersion")
    if not isinstance(asked, str):
        raise Refused(BAD_PARAMS, "protocolVersion must be a string")
    return {
        "protocolVersion": asked if asked in PROTOCOLS else PROTOCOLS[0],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "council", "version": __version__},
        "instructions": INSTRUCTIONS,
    }


def list_tools(_: dict[str, Any]) -> dict[str, Any]:
    return {"tools": [tool.described(name) for name, tool in TOOLS.items()]}


def call_tool(params: dict[str, Any]) -> dict[str, Any]:
    """Call a tool. An error is a result too, which the model reads and can act on."""
    name, given = params.get("name"), params.get("arguments")
    given = {} if given is None else given
    if not isinstance(name, str) or name not in TOOLS:
        raise Refused(BAD_PARAMS, f'there is no tool "{one_line(str(name))}"; {did_you_mean(str(name), TOOLS)}')
    if not isinstance(given, dict):
        raise Refused(BAD_PARAMS, "arguments must be an object")
    tool = TOOLS[name]
    try:
        if wrong := "; ".join(find_complaints(tool.takes, tool.needs, given)):
            raise UsageError(wrong)
        text, failed = json.dumps(tool.call(given), indent=1, ensure_ascii=False), False
    except Busy as busy:
        text, failed = f"{busy}; {busy.advice}", True
    except (CouncilError, OSError) as failure:
        text, failed = str(failure), True
    return {"content": [{"type": "text", "text": text}], "isError": failed}


METHODS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "initialize": initialize,
    "ping": lambda _: {},
    "tools/list": list_tools,
    "tools/call": call_tool,
}


def answer(line: bytes) -> dict[str, Any] | None:
    """Answer one line from the client; None if it needs no answer."""
    id: str | int | None = None
    try:
        message = read(line)
        if "method" not in message and ("result" in message or "error" in message):
            return None  # an answer, though we never send requests
        if "id" not in message and isinstance(message.get("method"), str):
            return None  # a notification: none of them changes anything here
        id = id_of(message)
        return {"jsonrpc": "2.0", "id": id, "result": result(message)}
    except Refused as refused:
        return failed(id, refused.code, str(refused))
    except Exception as bug:  # noqa: BLE001 (one call's bug must not end the others)
        text = f"{type(bug).__name__}: {bug}"
        print(f"council mcp: a bug: {text!a}", file=sys.stderr, flush=True)
        return failed(id, BUG, text)


def read(line: bytes) -> dict[str, Any]:
    if len(line) > LARGEST_MESSAGE:
        raise Refused(NO_REQUEST, f"the message is larger than {LARGEST_MESSAGE:,} bytes")
    try:
        message = json.loads(line.decode("utf-8"))
    except RecursionError:
        raise Refused(NOT_JSON, "the message is nested too deeply") from None
    except ValueError as bad:
        raise Refused(NOT_JSON, f"the message is not valid JSON: {bad}") from None
    if isinstance(message, list):
        raise Refused(NO_REQUEST, "batches are not supported; send one message per line")
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise Refused(NO_REQUEST, 'a message must be an object with "jsonrpc": "2.0"')
    return message


def id_of(message: dict[str, Any]) -> str | int:
    id = message.get("id")
    if isinstance(id, bool) or not isinstance(id, str | int):
        raise Refused(NO_REQUEST, "the id must be a string or an integer")
    return id


def result(message: dict[str, Any]) -> dict[str, Any]:
    method, params = message.get("method"), message.get("params", {})
    if not isinstance(method, str):
        raise Refused(NO_REQUEST, "the method must be a string")
    if method not in METHODS:
        raise Refused(NO_METHOD, f'unknown method "{one_line(method)}"')
    if not isinstance(params, dict):
        raise Refused(BAD_PARAMS, "params must be an object")
    return METHODS[method](params)


def failed(id: str | int | None, code: int, why: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": why}}


def serve() -> None:
    """Answer until the client closes our standard input."""
    with suppress(BrokenPipeError), pipes() as (asked, answers):  # the client is gone
        for line in lines(asked):
            if (reply := answer(line)) is not None:
                answers.write(json.dumps(reply).encode() + b"\n")
                answers.flush()


def lines(asked: IO[bytes]) -> Iterator[bytes]:
    """Read line by line; of an overlong line, keep only enough to reject it."""
    while line := asked.readline(LARGEST_MESSAGE + 1):
        rest = line
        while len(rest) > LARGEST_MESSAGE and not rest.endswith(b"\n"):
            rest = asked.readline(LARGEST_MESSAGE + 1)
        if line.strip():
            yield line


@contextmanager
def pipes() -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Reserve the client's two pipes for the protocol; anything else that is printed goes to standard error."""
    with os.fdopen(os.dup(0), "rb") as asked, os.fdopen(os.dup(1), "wb") as answers, Path(os.devnull).open() as nothing:
        os.dup2(nothing.fileno(), 0)
        os.dup2(2, 1)
        with redirect_stdout(sys.stderr):
            yield asked, answers
