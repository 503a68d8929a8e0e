"""`council mcp`: a debate by hand for assistants that have no shell, over the Model Context Protocol on stdio.

One JSON-RPC message a line, answered one after the other. No call waits for a model: the assistant is who speaks.
It offers tools and nothing else of the protocol: no prompts, resources, progress or cancelling.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from council import __version__
from council.cli import sessions
from council.cli.context import FIRST_AID
from council.config import personas
from council.config import settings as config
from council.config.settings import Config
from council.errors import Busy, CouncilError, UsageError
from council.prompts import invocation
from council.protocols import outcome as ending
from council.record import files, session
from council.record.session import Session
from council.reports import transcript as publish
from council.reports import verify
from council.runner import manual as byhand
from council.runner import start
from council.runner import subagents as members
from council.speakers.base import Spoken
from council.text import did_you_mean, one_line

PROTOCOLS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
NOT_JSON, NO_REQUEST, NO_METHOD, BAD_PARAMS, BUG = -32700, -32600, -32601, -32602, -32603
LARGEST_MESSAGE = 32_000_000  # bytes: a reader must not fill the memory with what no debate could hold
LARGEST_REPLY = 1_000_000
ANSWER_SIZE = {"anthropic/maxResultSizeChars": 500_000}  # else Claude Code puts long briefs into a file instead

INSTRUCTIONS = """Members with different perspectives debate a question, and everything they say becomes files.
council_start begins a debate, and council_next gives the briefs that are due. Have each brief answered by itself, as it
stands: by a subagent of its own where you have subagents, else by yourself, from that brief alone. Store every reply
with council_record, word for word, and show it to the person. Then ask council_next again, until it says that the
debate is over and gives the synthesis; show that, the outcome and where the files are. Nothing is lost if you stop in
between: council_status finds the session, and council_next goes on with it."""


class Refused(Exception):
    """A message that the protocol does not allow."""

    def __init__(self, code: int, why: str) -> None:
        super().__init__(why)
        self.code = code


@dataclass(frozen=True)
class Tool:
    """What a client can call: what it is for, the JSON Schema of each argument, those it needs, and what is called."""

    about: str
    takes: Mapping[str, Mapping[str, Any]]
    needs: tuple[str, ...]
    call: Callable[[dict[str, Any]], dict[str, Any]]
    hints: Mapping[str, bool] = field(default_factory=dict)

    def described(self, name: str) -> dict[str, Any]:
        schema = {"type": "object", "properties": self.takes, "required": self.needs, "additionalProperties": False}
        hints = {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False, **self.hints}
        return {
            "name": name, "description": self.about, "inputSchema": schema, "annotations": hints, "_meta": ANSWER_SIZE,
        }  # fmt: skip


# ---- the tools ----


def begin(given: dict[str, Any]) -> dict[str, Any]:
    settings, known = config.load(), personas.load()
    workflow = given.get("workflow", "debate").lower()
    if workflow not in config.workflows():  # a path is none: which files are read is not for a caller to say
        raise UsageError(f'there is no workflow "{one_line(workflow)}"; {did_you_mean(workflow, config.workflows())}')
    for folder in (settings.sessions, settings.archive):
        files.prove_writable(folder)
    request = start.Request(
        topic=given["topic"],
        workflow=workflow,
        with_=invocation.seats(",".join(given.get("with", ())), known),
        only=invocation.seats(",".join(given.get("only", ())), known),
        mode=given.get("mode", "deliberative"),
        options={"three_rounds": True} if "rounds" in given else {},
        speaker="assistant",
    )
    found = start.begin(request, settings)
    return {"session_id": found.id, "header": publish.announcement(found), "folder": str(found.folder)}


def status(given: dict[str, Any]) -> dict[str, Any]:
    folder = session.find(config.load().sessions, given.get("session", "last"))
    return sessions.described(folder.name, verify.status(folder)) | {"folder": str(folder)}


def next_(given: dict[str, Any]) -> dict[str, Any]:
    settings, found = opened(given["session"])
    with found.hold():
        members.harvest(found, settings)
        now = byhand.stand(found, settings, given.get("turn"))
    if now.archived:
        return {
            "session_id": found.id, "done": True, "outcome": ending.outcome(now.plan),
            "synthesis": ending.synthesis(now.plan), "folder": str(found.folder), "archived_to": str(now.archived),
        }  # fmt: skip
    flying = members.in_flight(found)
    rows = [
        {
            "turn": one.id, "seat": one.seat.name, "name": one.seat.label, "tier": one.tier, "model": brief.model.name,
            "person": one.of_a_person, "state": "asked" if one.id in flying else "due", "brief": brief.text,
        }
        for one, brief in now.due
    ]  # fmt: skip
    return {"session_id": found.id, "done": False, "due": rows}


def record(given: dict[str, Any]) -> dict[str, Any]:
    settings, found = opened(given["session"])
    body, absent = spoken_or_absent(given)
    spoken = Spoken(body, given.get("model") or None, "absent" if absent else "recorded", absent=absent)
    with found.hold():
        members.harvest(found, settings)
        plan = byhand.record(found, settings, given["turn"], spoken).plan
    return {"session_id": found.id, "recorded": given["turn"], "done": plan.done, "due": [one.id for one in plan.due]}


def opened(word: str) -> tuple[Config, Session]:
    settings = config.load()
    return settings, session.open_(session.find(settings.sessions, word))


def spoken_or_absent(given: Mapping[str, Any]) -> tuple[str, str | None]:
    """The reply, or why there is none: exactly one of the two."""
    reply, absent = given.get("reply", ""), given.get("absent", "")
    if bool(reply.strip()) == bool(absent.strip()):
        raise UsageError("give either the reply, which must not be empty, or in absent why the seat does not speak")
    if len(reply) > LARGEST_REPLY:
        raise UsageError("the reply is larger than 1 MB, and others have to read it; have the seat say it shorter")
    return ("", absent) if absent.strip() else (reply, None)


def text(about: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": about, **more}


def names(about: str) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "string"}, "description": about}


SESSION = text("The session's id, or `last`.")
TOOLS = {
    "council_start": Tool(
        "Begin a debate of a council on a topic. Gives the session's id, a header to show, and the folder of its "
        "files. Nobody has spoken then: go on with council_next.",
        {
            "topic": text("The question in the person's own words, without what calls the council."),
            "workflow": text("The protocol: debate (the default), quick (one blind round), or another that there is."),
            "with": names("Members to call in besides the workflow's own: security, intern, writer …"),
            "only": names("Only these members, in place of the workflow's own."),
            "mode": text("How members put their points: deliberative is the default.", enum=list(invocation.MODES)),
            "rounds": {
                "type": "integer", "enum": [3],
                "description": "3 asks for the third round whatever the convergence check says.",
            },
        },
        ("topic",),
        begin,
    ),
    "council_status": Tool(
        "Where a debate stands: complete, running, waiting, paused, interrupted or damaged; its outcome once it is "
        "over, how many turns were spoken, and which are due.",
        {"session": text("The session's id; without it, the newest.")},
        (),
        status,
        {"readOnlyHint": True},
    ),
    "council_next": Tool(
        "The turns that may be spoken now, each with its whole brief; or, when the debate is over, the synthesis, the "
        "outcome and where the files are. It changes nothing that was said, so it can be asked again at any time. "
        "A turn whose state is `asked` is being answered already: wait for that.",
        {"session": SESSION, "turn": text("One due turn alone, where all the briefs together would be too much.")},
        ("session",),
        next_,
        {"idempotentHint": True},
    ),
    "council_record": Tool(
        "Store a member's reply to its brief, word for word, and say what is due then. A turn is recorded once, and "
        "only while it is due. Never record words as a member's that were not said in answer to its brief.",
        {
            "session": SESSION,
            "turn": text("The turn's id as council_next gave it, such as 01-positions/engineer."),
            "reply": text("The whole reply, exactly as it was given."),
            "model": text("The model that answered, if a model did and you know which."),
            "absent": text("In place of a reply: why this seat does not speak. It stays in every count."),
        },
        ("session", "turn"),
        record,
    ),
}  # fmt: skip


def complaints(takes: Mapping[str, Mapping[str, Any]], needs: tuple[str, ...], given: dict[str, Any]) -> Iterator[str]:
    """What of the arguments is not as the schema says."""
    yield from (f"{name} is missing" for name in needs if name not in given)
    for name, value in given.items():
        if name not in takes:
            yield f'there is no argument "{one_line(name)}"; {did_you_mean(name, takes)}'
        elif not fits(value, takes[name]):
            yield f"{name} must be {wanted(takes[name])}"
        elif halves(value):
            yield f"{name} holds half of a surrogate pair, so it is no text"


def fits(value: Any, schema: Mapping[str, Any]) -> bool:
    if schema["type"] == "array":
        return isinstance(value, list) and all(fits(one, schema["items"]) for one in value)
    kind = {"string": str, "integer": int}[schema["type"]]
    return type(value) is kind and value in schema.get("enum", (value,))


def wanted(schema: Mapping[str, Any]) -> str:
    one_of = " or ".join(map(str, schema.get("enum", ())))
    return one_of or {"string": "a string", "array": "a list of strings"}[schema["type"]]


def halves(value: Any) -> bool:
    return not isinstance(value, int) and HALF.search("".join(value)) is not None


HALF = re.compile("[\ud800-\udfff]")


# ---- the protocol ----


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
    """What is wrong with the arguments, or with the debate, is a result that the model reads and can act on."""
    name, given = params.get("name"), params.get("arguments")
    given = {} if given is None else given
    if not isinstance(name, str) or name not in TOOLS:
        raise Refused(BAD_PARAMS, f'there is no tool "{one_line(str(name))}"; {did_you_mean(str(name), TOOLS)}')
    if not isinstance(given, dict):
        raise Refused(BAD_PARAMS, "arguments must be an object")
    tool = TOOLS[name]
    try:
        if wrong := "; ".join(complaints(tool.takes, tool.needs, given)):
            raise UsageError(wrong)
        told, failed = json.dumps(tool.call(given), indent=1, ensure_ascii=False), False
    except Busy as busy:
        told, failed = f"{busy}; {FIRST_AID[Busy.code]}", True
    except (CouncilError, OSError) as failure:
        told, failed = str(failure), True
    return {"content": [{"type": "text", "text": told}], "isError": failed}


METHODS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "initialize": initialize,
    "ping": lambda _: {},
    "tools/list": list_tools,
    "tools/call": call_tool,
}


def answer(line: bytes) -> dict[str, Any] | None:
    """The answer to one line of the client's; None where there is none to give."""
    id: str | int | None = None
    try:
        message = read(line)
        if "method" not in message and ("result" in message or "error" in message):
            return None  # an answer, and we never ask
        if "id" not in message and isinstance(message.get("method"), str):
            return None  # a notification: none of them changes anything here
        id = id_of(message)
        return {"jsonrpc": "2.0", "id": id, "result": result(message)}
    except Refused as refused:
        return failed(id, refused.code, str(refused))
    except Exception as bug:  # noqa: BLE001 (one call's bug must not end the others)
        told = f"{type(bug).__name__}: {bug}"
        print(f"council mcp: a bug: {told!a}", file=sys.stderr, flush=True)
        return failed(id, BUG, told)


def read(line: bytes) -> dict[str, Any]:
    if len(line) > LARGEST_MESSAGE:
        raise Refused(NO_REQUEST, f"a message of more than {LARGEST_MESSAGE:,} bytes is not read")
    try:
        message = json.loads(line.decode("utf-8"))
    except RecursionError:
        raise Refused(NOT_JSON, "the message is nested too deep") from None
    except ValueError as bad:
        raise Refused(NOT_JSON, f"the message is no JSON: {bad}") from None
    if isinstance(message, list):
        raise Refused(NO_REQUEST, "batches are not read; send one message a line")
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
        raise Refused(NO_METHOD, f'there is no method "{one_line(method)}"')
    if not isinstance(params, dict):
        raise Refused(BAD_PARAMS, "params must be an object")
    return METHODS[method](params)


def failed(id: str | int | None, code: int, why: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": why}}


def serve() -> None:
    """Answer, until the client closes our standard input."""
    with suppress(BrokenPipeError), pipes() as (asked, answers):  # a client that went away wants no answer
        for line in lines(asked):
            if (told := answer(line)) is not None:
                answers.write(json.dumps(told).encode() + b"\n")
                answers.flush()


def lines(asked: IO[bytes]) -> Iterator[bytes]:
    """Line by line; of one that is far too long no more is kept than shows it."""
    while line := asked.readline(LARGEST_MESSAGE + 1):
        rest = line
        while len(rest) > LARGEST_MESSAGE and not rest.endswith(b"\n"):
            rest = asked.readline(LARGEST_MESSAGE + 1)
        if line.strip():
            yield line


@contextmanager
def pipes() -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """The client's two pipes for the protocol alone: whatever else is printed goes to standard error."""
    with os.fdopen(os.dup(0), "rb") as asked, os.fdopen(os.dup(1), "wb") as answers, Path(os.devnull).open() as nothing:
        os.dup2(nothing.fileno(), 0)
        os.dup2(2, 1)
        with redirect_stdout(sys.stderr):
            yield asked, answers
