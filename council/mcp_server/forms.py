"""A person's turn as a form that the client shows its user: built from the answers that the turn asks for.

Who declines, or closes the form, has said nothing, and nothing is recorded.
"""

from __future__ import annotations

from typing import Any

from council.config.settings import Config
from council.engine.planner import Due
from council.errors import UsageError
from council.mcp_server.calls import ClientCall
from council.prompts import for_humans
from council.prompts import question as questions
from council.record.session import Session
from council.replies import entry, parse
from council.runner import answering, manual
from council.workflow.model import Kind

REPLY = "reply"
MOST_ROWS = 80
TYPES = {"range": "number", "integer": "integer"}


def ask_person(found: Session, settings: Config, turn: str, call: ClientCall) -> dict[str, Any] | None:
    """The person's answer, as arguments of council_record; None if there is none. Other requests go on meanwhile."""
    with call.hold(found):
        answering.collect(found, settings)
        due = manual.due_turn(found, found.plan(), turn)
        if not due.of_a_person:
            raise UsageError(f"{turn} is a member's turn: give its reply, or in absent why the seat does not answer")
        if not call.client.shows_forms:
            raise UsageError("this client cannot ask the person; show them the brief, and give their answer in reply")
        message = write_message(found, due)
    given = call.fill_form(turn, message, build_schema(due))
    if given is None:
        return None
    if not entry.can_ask(due.step.reply):
        return {REPLY: str(given.get(REPLY, ""))}
    return {"answers": {name: to_words(value) for name, value in given.items()}}


def write_message(found: Session, due: Due) -> str:
    """What the person reads above the form. A client wraps it, and scrolls."""
    return for_humans.fit(questions.build(found, due), rows=MOST_ROWS)


def build_schema(due: Due) -> dict[str, Any]:
    """A flat object, as clients can show it."""
    declared = due.step.reply
    if not entry.can_ask(declared):
        field = {"type": "string", "title": "Your reply", "minLength": 1}
        return {"type": "object", "properties": {REPLY: field}, "required": [REPLY]}
    needed = [name for name, kind in declared if entry.is_required(kind)]
    return {"type": "object", "properties": {name: field_of(name, kind) for name, kind in declared}, "required": needed}


def field_of(name: str, kind: Kind) -> dict[str, Any]:
    about = {"title": parse.format_heading(name), "description": entry.describe_allowed(kind)}
    if kind.type == "choice":
        return {"type": "string", **about, "enum": list(kind.options)}
    limits = {"minimum": kind.low, "maximum": kind.high} if kind.type == "range" else {}
    return {"type": TYPES.get(kind.type, "string"), **about, **limits}


def to_words(value: Any) -> str:
    """A value as a person would type it."""
    if isinstance(value, list):
        return "\n".join(map(to_words, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
