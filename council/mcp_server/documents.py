"""Reads sessions as resources: the list, and the documents of each.

An address names a session by its whole id, and one of three documents, so it cannot lead anywhere else. What is long
comes in pages.
"""

from __future__ import annotations

import re
from typing import Any

from council.config import places
from council.config import settings as config
from council.errors import CouncilError, UsageError
from council.mcp_server.calls import ClientCall
from council.mcp_server.protocol import BAD_PARAMS, BUG, NO_RESOURCE, Refused
from council.mcp_server.resources import DOCUMENTS, LIST, MARKDOWN, format_address
from council.record import catalog, session
from council.reports import markdown, produce, summary
from council.reports.transcript import compose
from council.text import one_line

ADDRESS = re.compile(
    rf"{format_address(f'(?P<id>{catalog.ID.pattern})', '(?P<name>[a-z]+)')}(?:\?page=(?P<page>[1-9]\d{{0,4}}))?"
)
SESSIONS = 50  # in a list
LARGEST = 100_000  # characters of a document that are read at once


def list_transcripts(call: ClientCall) -> dict[str, Any]:
    """The list itself, and the transcripts, newest first."""
    root, cursor = config.load().sessions, call.params.get("cursor")
    ids = catalog.all_ids(root)
    first = 0 if cursor is None else _read_cursor(cursor)
    listed = [describe_list()] if first == 0 else []
    listed += [describe_transcript(id) for id in ids[first : first + SESSIONS]]
    more = {"nextCursor": str(first + SESSIONS)} if len(ids) > first + SESSIONS else {}
    return {"resources": listed, **more}


def _read_cursor(cursor: object) -> int:
    if not isinstance(cursor, str) or not re.fullmatch(r"[1-9]\d{0,8}", cursor):
        raise Refused(BAD_PARAMS, "this cursor did not come from this server")
    return int(cursor)


def describe_list() -> dict[str, Any]:
    return {"uri": LIST, "name": "sessions", "title": "The newest council sessions", "mimeType": MARKDOWN}


def describe_transcript(id: str) -> dict[str, Any]:
    facts = summary.summarize(places.find(config.load(), id))
    title = one_line(facts.topic, summary.SHORT_TOPIC) or id
    about = f"{facts.state}, began {facts.started_at:%Y-%m-%d %H:%M}"
    uri = format_address(id, "transcript")
    return {"uri": uri, "name": f"transcript {id}", "title": title, "description": about, "mimeType": MARKDOWN}


def read_resource(call: ClientCall) -> dict[str, Any]:
    uri = call.params.get("uri")
    if not isinstance(uri, str):
        raise Refused(BAD_PARAMS, "uri must be a string")
    try:
        text = write_list() if uri == LIST else read_document(uri)
    except UsageError as wrong:
        raise Refused(BAD_PARAMS if call.client.stateless else NO_RESOURCE, str(wrong), {"uri": uri}) from None
    except (CouncilError, OSError) as failure:
        raise Refused(BUG, str(failure)) from None
    return {"contents": [{"uri": uri, "mimeType": MARKDOWN, "text": text}]}


def write_list() -> str:
    root = config.load().sessions
    found = [summary.as_row(summary.summarize(root / id)) for id in catalog.all_ids(root)[:SESSIONS]]
    rows = [f"- {row['session_id']}: {row['state']}, {row['age']}: {row['topic']}" for row in found]
    return "\n".join(["# Council sessions, newest first", "", *(rows or ["There is none yet."])])


def read_document(uri: str) -> str:
    """One page of a document."""
    address = ADDRESS.fullmatch(uri)
    if address is None or address["name"] not in DOCUMENTS:
        raise UsageError(f'there is no resource "{one_line(uri, 100)}"; {", ".join(DOCUMENTS)} of a session are there')
    folder = places.find(config.load(), address["id"])
    if folder.name != address["id"]:
        raise UsageError(f'"{address["id"]}" is not the whole id of a session')
    found = session.open_(folder)
    found.read_turns()
    plan = found.plan()
    debate = compose(found, plan)
    text = {
        "transcript": lambda: markdown.whole(debate),
        "synthesis": lambda: markdown.synthesis(debate.synthesis, debate.overlaid) if debate.synthesis else "",
        "decision": lambda: produce.derive(debate, found, plan).get(produce.MAIN, ""),
    }[address["name"]]()
    return cut_page(text, uri.partition("?")[0], int(address["page"] or 1))


def cut_page(text: str, uri: str, page: int) -> str:
    """A part of the text, and where the next one is."""
    part = text[(page - 1) * LARGEST : page * LARGEST]
    if not part:
        raise UsageError(f"{uri}: {'that page does not exist' if text else 'this debate has none, or not yet'}")
    more = f"\n\n(Continued in {uri}?page={page + 1})" if len(text) > page * LARGEST else ""
    return part + more
