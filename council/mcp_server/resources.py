"""The addresses of sessions as resources, and what a client is told of them. `documents` reads them."""

from __future__ import annotations

from typing import Any

from council.mcp_server.calls import ClientCall

MARKDOWN = "text/markdown"
LIST = "council://sessions"
DOCUMENTS = {
    "transcript": "Everything that was said so far.",
    "synthesis": "What a finished debate came to.",
    "decision": "The decision document of a finished debate, if its protocol writes one.",
}


def format_address(session: str, name: str) -> str:
    return f"council://session/{session}/{name}"


def list_templates(_: ClientCall) -> dict[str, Any]:
    addresses = {f"{format_address('{session}', name)}{{?page}}": name for name in DOCUMENTS}
    templates = [
        {"uriTemplate": address, "name": name, "description": DOCUMENTS[name], "mimeType": MARKDOWN}
        for address, name in addresses.items()
    ]
    return {"resourceTemplates": templates}


def list_resources(call: ClientCall) -> dict[str, Any]:
    from council.mcp_server import documents  # with most of the package: `initialize` is answered before

    return documents.list_transcripts(call)


def read_resource(call: ClientCall) -> dict[str, Any]:
    from council.mcp_server import documents

    return documents.read_resource(call)
