"""The methods of the protocol that the server has, and what it says of itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from council.mcp_server import prompts, protocol, resources, tools
from council.mcp_server.calls import ClientCall
from council.mcp_server.protocol import NO_METHOD, Client, Refused
from council.text import one_line

INSTRUCTIONS = """\
Members with different perspectives debate a question, and everything they say becomes files.

For the host, whose conversation the debate is asked for in: council_start begins it and says whom to ask. Ask all
members at once, each in a subagent of its own, with the prompt given there and nothing else: the member gets its
brief from council_brief and stores its own answer with council_record. If your subagents cannot call these tools,
call council_brief yourself, give each brief, unchanged and alone, to a subagent of its own, and store its reply
with council_record, word for word and without the key. When all have answered, call council_next, until it says
that the debate is over; then show the synthesis, the outcome and where the files are. If you stop in between,
nothing is lost: council_next continues.

The host never answers a brief and never writes a member's reply: a debate of one voice under several names looks
like evidence and is none. Without subagents, run `council run` in a shell, if you have one; otherwise say that you
cannot hold a council here, and that `council run "topic"` in a terminal can.

A person's turn is answered by that person, never by you: council_record with only the session and the turn asks
them. If the client cannot ask, show them the brief, and store what they say, in their words."""
CAPABILITIES: dict[str, Any] = {"tools": {}, "prompts": {}, "resources": {}, "completions": {}}


def initialize(call: ClientCall) -> dict[str, Any]:
    return {
        "protocolVersion": call.client.version,
        "capabilities": CAPABILITIES,
        "serverInfo": protocol.ABOUT,
        "instructions": INSTRUCTIONS,
    }


def discover(_: ClientCall) -> dict[str, Any]:
    versions = list(protocol.VERSIONS)
    return {"supportedVersions": versions, "capabilities": CAPABILITIES, "instructions": INSTRUCTIONS}


@dataclass(frozen=True)
class Method:
    """`slow` ones read or write sessions. `only` is the kind of client that has the method, if one kind does not."""

    answer: Callable[[ClientCall], dict[str, Any]]
    slow: bool = False
    only: str = ""


SHAKING_HANDS, STATELESS = "shaking hands", "stateless"
METHODS = {
    "initialize": Method(initialize, only=SHAKING_HANDS),
    "ping": Method(lambda _: {}, only=SHAKING_HANDS),
    "server/discover": Method(discover, only=STATELESS),
    "tools/list": Method(tools.list_tools),
    "tools/call": Method(tools.call_tool, slow=True),
    "prompts/list": Method(prompts.list_prompts),
    "prompts/get": Method(prompts.get_prompt),
    "resources/list": Method(resources.list_resources, slow=True),
    "resources/templates/list": Method(resources.list_templates),
    "resources/read": Method(resources.read_resource, slow=True),
    "completion/complete": Method(prompts.complete, slow=True),
}


def is_slow(method: str, client: Client) -> bool:
    """Whether a thread should answer it. What the client's version does not have is refused."""
    known = METHODS.get(method)
    if known is None or known.only == (SHAKING_HANDS if client.stateless else STATELESS):
        raise Refused(NO_METHOD, f'unknown method "{one_line(method)}"')
    return known.slow


def answer(call: ClientCall) -> dict[str, Any]:
    return protocol.finish(call.method, METHODS[call.method].answer(call), call.client)
