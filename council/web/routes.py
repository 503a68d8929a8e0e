"""The table of routes: what is asked, what it answers, and in what words. The OpenAPI document is made from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
TEXT: Json = {"type": "string"}
NUMBER: Json = {"type": "number", "minimum": 0}
BY = {"by": {**TEXT, "description": "Who answers, if a program does it for somebody; by default this machine's user."}}
ANSWER = {
    "turn": {**TEXT, "description": "The turn, as the question names it."},
    "answers": {"type": "object", "additionalProperties": TEXT, "description": "The answers by name."},
    "text": {**TEXT, "description": 'Instead of answers: a letter, a letter with an amendment ("A, but …"), or words.'},
    **BY,
}
DECISION = {
    "reason": TEXT,
    "turn": {**TEXT, "description": "Which approval, if several are due."},
    **BY,
}
BEGIN = {
    "topic": TEXT,
    "workflow": {**TEXT, "default": "debate"},
    "options": {"type": "object", "additionalProperties": {"type": ["string", "boolean"]}},
    "gates": {"type": "array", "items": TEXT, "description": "Phases after which a person must approve."},
    "evidence": {
        "type": "object",
        "additionalProperties": TEXT,
        "description": "Texts by name, which are frozen as facts to cite.",
    },
    "speaker": TEXT,
    "max_cost": {**NUMBER, "description": "US dollars; by default the bound that `dry` shows."},
    "dry": {"type": "boolean", "description": "Only say what it can cost."},
}
RECOVER = {"speaker": TEXT, "max_cost": BEGIN["max_cost"]}
RECORDED = {200: "The answer is a turn of the debate now.", 409: "Somebody else was first, or nothing is due.",
            422: "Something is still to say: `missing`."}  # fmt: skip
ASKED = {202: "It was asked for.", 409: "Another process has the session."}
LIST = {
    "q": "Words to find; the last one may be unfinished.",
    "workflow": "Only sessions of this workflow.",
    "outcome": "Only sessions that ended like this.",
    "state": "Only sessions in this state.",
    "before": "The `next` of the page before.",
    "limit": "How many, from 1 to 200.",
}
DECISIONS = {name: about for name, about in LIST.items() if name != "state"}


@dataclass(frozen=True)
class WebRoute:
    """One route. `call` names its function in `app.CALLS`; `body` are the properties of what is sent, None for a GET;
    `answers` says what the statuses mean; `streams` if the answer never ends."""

    method: str
    path: str
    call: str
    about: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Json] | None = None
    needs: tuple[str, ...] = ()
    answers: Mapping[int, str] = field(default_factory=lambda: {200: "As it is now."})
    streams: bool = False


ROUTES = (
    WebRoute("GET", "/api/sessions", "sessions", "List the sessions, newest first, or find words in them.", LIST),
    WebRoute("POST", "/api/sessions", "begin", "Begin a debate, or only bound its cost.", body=BEGIN, needs=("topic",),
             answers={200: "The bounds, with `dry`.", 201: "It has begun."}),
    WebRoute("GET", "/api/sessions/{id}", "session", "Show a session: its row, verdict and everything that was said."),
    WebRoute("GET", "/api/sessions/{id}/events", "events", "Follow a session.", streams=True),
    WebRoute("POST", "/api/sessions/{id}/answers", "answer", "Answer for a person; the first answer counts.",
             body=ANSWER, needs=("turn",), answers=RECORDED),
    WebRoute("POST", "/api/sessions/{id}/approve", "approve", "Approve what is due.", body=DECISION, answers=RECORDED),
    WebRoute("POST", "/api/sessions/{id}/reject", "reject", "Reject what is due.", body=DECISION, answers=RECORDED),
    WebRoute("POST", "/api/sessions/{id}/veto", "veto", "Veto what is due.", body=DECISION, answers=RECORDED),
    WebRoute("POST", "/api/sessions/{id}/recover", "recover", "Go on with an interrupted or paused debate.",
             body=RECOVER, answers=ASKED),
    WebRoute("POST", "/api/sessions/{id}/pause", "pause", "Have a run stop before its next turns.", body=BY,
             answers=ASKED),
    WebRoute("POST", "/api/sessions/{id}/cancel", "cancel", "Interrupt a run, as Ctrl-C does.", body=BY,
             answers=ASKED),
    WebRoute("GET", "/api/events", "list_events", "Follow the list: the rows that change.",
             {"ids": "Sessions to follow besides the newest, with commas between their ids."}, streams=True),
    WebRoute("GET", "/api/compare", "compare", "Show two sessions side by side.",
             {"a": "The id of a session.", "b": "The id of another."}),
    WebRoute("GET", "/api/gates", "gates", "List the questions that wait for a person."),
    WebRoute("GET", "/api/stats", "stats", "Add up sessions, calls, tokens and money, as `council stats --json` does.",
             {"by": "workflow, model, seat, outcome or month, which comes with its outcomes and a picture."}),
    WebRoute("GET", "/api/decisions", "decisions", "List what finished debates decided, newest first.", DECISIONS),
    WebRoute("GET", "/api/lessons", "lessons", "List the lessons that are nearest to some words.",
             {"q": "What they are to be about.", "limit": LIST["limit"]}),
    WebRoute("GET", "/api/workflows", "workflows", "List the workflows that can be begun."),
    WebRoute("GET", "/v1/debates/{id}/gates", "session_gates", "List the questions of one debate."),
    WebRoute("POST", "/v1/debates/{id}/approve", "approve", "Approve what is due.", body=DECISION, answers=RECORDED),
    WebRoute("POST", "/v1/debates/{id}/reject", "reject", "Reject what is due.", body=DECISION, answers=RECORDED),
    WebRoute("GET", "/api/openapi.json", "document", "This document."),
)  # fmt: skip


def describe(version: str) -> Json:
    """The OpenAPI document."""
    paths: Json = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = operation(route)
    bearer = {"type": "http", "scheme": "bearer", "description": "The token that `council serve` prints."}
    about = "Shows and steers the debates of this machine."
    return {
        "openapi": "3.1.0",
        "info": {"title": "council serve", "version": version, "description": about},
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {"securitySchemes": {"bearer": bearer}},
    }


def operation(route: WebRoute) -> Json:
    kind = "text/event-stream" if route.streams else "application/json"
    content = {kind: {"schema": TEXT if route.streams else {"type": "object"}}}
    parameters: list[Json] = [
        {"name": name, "in": "query", "schema": TEXT, "description": about} for name, about in route.query.items()
    ]
    if "{id}" in route.path:
        parameters = [{"name": "id", "in": "path", "required": True, "schema": TEXT}, *parameters]
    if route.streams:
        about = "The id of the last event: the stream goes on after it."
        parameters.append({"name": "Last-Event-ID", "in": "header", "schema": TEXT, "description": about})
    found: Json = {
        "operationId": f"{route.method.lower()}{route.path.title().replace('/', '').replace('{Id}', 'One')}".replace(
            ".", ""
        ),
        "summary": route.about,
        "parameters": parameters,
        "responses": {
            str(status): {"description": about, "content": content} for status, about in route.answers.items()
        }
        | {"default": {"description": "Refused: `error` says why."}},
    }
    if route.body is not None:
        schema: Json = {"type": "object", "properties": dict(route.body), "additionalProperties": False}
        if route.needs:
            schema["required"] = list(route.needs)
        found["requestBody"] = {"content": {"application/json": {"schema": schema}}, "required": bool(route.needs)}
    return found
