"""What MCP defines: its versions, its errors, and what the envelope of each message says.

Clients of 2025 and before shake hands once, with `initialize`, and are asked by requests of the server. Since
2026-07-28 every request says which version it speaks and what its client can do, and a result asks for what is missing.
Both kinds of request may come over one pair of pipes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from council import __version__
from council.text import one_line

HANDSHAKE = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
STATELESS = ("2026-07-28",)
VERSIONS = (*STATELESS, *HANDSHAKE)
NOT_JSON, NO_REQUEST, NO_METHOD, BAD_PARAMS, BUG = -32700, -32600, -32601, -32602, -32603
NO_RESOURCE, NO_VERSION = -32002, -32022
LARGEST_MESSAGE = 32_000_000  # bytes: larger than any debate, so that a message cannot fill the memory

META = "io.modelcontextprotocol/"
VERSION, CAPABILITIES, SERVER = f"{META}protocolVersion", f"{META}clientCapabilities", f"{META}serverInfo"
ABOUT = {"name": "council", "title": "Council", "version": __version__}
HOUR = 3_600_000  # milliseconds
KEPT = {  # how long a client may keep a result; what depends on the sessions, not at all
    "server/discover": HOUR, "tools/list": HOUR, "prompts/list": HOUR, "resources/templates/list": HOUR,
    "resources/list": 0, "resources/read": 0,
}  # fmt: skip


class Refused(Exception):
    """A message that the protocol does not allow."""

    def __init__(self, code: int, why: str, data: Any = None) -> None:
        super().__init__(why)
        self.code = code
        self.data = data


@dataclass(frozen=True)
class Client:
    """Which version a client speaks, and what it says it can do."""

    version: str = HANDSHAKE[0]
    capabilities: Mapping[str, Any] = field(default_factory=dict)

    @property
    def stateless(self) -> bool:
        return self.version in STATELESS

    @property
    def shows_forms(self) -> bool:
        """Whether it can ask its user. Before 2025-11-25 there were only forms, and nothing said so."""
        told = self.capabilities.get("elicitation")
        return isinstance(told, dict) and ("form" in told or not told)


def read_message(line: bytes) -> dict[str, Any]:
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


def read_id(message: Mapping[str, Any]) -> str | int:
    id = message.get("id")
    if isinstance(id, bool) or not isinstance(id, str | int):
        raise Refused(NO_REQUEST, "the id must be a string or an integer")
    return id


def read_call(message: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The method and the parameters of a request."""
    method, params = message.get("method"), message.get("params", {})
    if not isinstance(method, str):
        raise Refused(NO_REQUEST, "the method must be a string")
    if not isinstance(params, dict):
        raise Refused(BAD_PARAMS, "params must be an object")
    return method, params


def read_envelope(params: Mapping[str, Any]) -> Client | None:
    """The client of a stateless request; None for a request of the versions that shake hands."""
    meta = params.get("_meta")
    if not isinstance(meta, dict) or VERSION not in meta:
        return None
    version, capabilities = meta[VERSION], meta.get(CAPABILITIES)
    if not isinstance(version, str):
        raise Refused(BAD_PARAMS, f"{VERSION} must be a string")
    if version not in STATELESS:
        why = f'requests of the version "{one_line(version, 40)}" are not supported'
        raise Refused(NO_VERSION, why, {"supported": list(VERSIONS), "requested": version})
    if not isinstance(capabilities, dict):
        raise Refused(BAD_PARAMS, f"{CAPABILITIES} must be an object")
    return Client(version, capabilities)


def shake_hands(params: Mapping[str, Any]) -> Client:
    """The client of an `initialize`, in its version or in the newest that shakes hands."""
    version, capabilities = params.get("protocolVersion"), params.get("capabilities")
    if not isinstance(version, str):
        raise Refused(BAD_PARAMS, "protocolVersion must be a string")
    return Client(
        version if version in HANDSHAKE else HANDSHAKE[0], capabilities if isinstance(capabilities, dict) else {}
    )


def finish(method: str, result: dict[str, Any], client: Client) -> dict[str, Any]:
    """The result as the client's version has it."""
    if not client.stateless:
        return result
    kept = {"ttlMs": KEPT[method], "cacheScope": "public" if KEPT[method] else "private"} if method in KEPT else {}
    return {"resultType": "complete", **kept, **result, "_meta": {**result.get("_meta", {}), SERVER: ABOUT}}


def format_error(id: str | int | None, refused: Refused) -> dict[str, Any]:
    data = {} if refused.data is None else {"data": refused.data}
    return {"jsonrpc": "2.0", "id": id, "error": {"code": refused.code, "message": str(refused), **data}}
