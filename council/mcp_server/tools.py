"""The tools of the server: start a debate, get the ready turns, record a reply, show the state."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from council.config import overlays, personas, places
from council.config import settings as config
from council.config.settings import Config
from council.errors import UsageError
from council.prompts import invocation
from council.protocols import outcome
from council.record import session
from council.record.session import Session
from council.reports import markdown, summary
from council.runner import manual, start, subagents
from council.speakers import registry
from council.speakers.base import Spoken
from council.text import did_you_mean, one_line

LARGEST_REPLY = 1_000_000
ANSWER_SIZE = {"anthropic/maxResultSizeChars": 500_000}  # without it, Claude Code moves long briefs into a file


class Refused(Exception):
    """A message that the protocol does not allow."""

    def __init__(self, code: int, why: str) -> None:
        super().__init__(why)
        self.code = code


@dataclass(frozen=True)
class Tool:
    """A tool: its description, the JSON Schema of each argument, the required ones, and the function."""

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


def begin(given: dict[str, Any]) -> dict[str, Any]:
    settings, known = config.load(), personas.load()
    workflow = given.get("workflow", "debate").lower()
    if workflow not in overlays.workflows():  # paths are refused: a caller must not choose which files are read
        raise UsageError(f'there is no workflow "{one_line(workflow)}"; {did_you_mean(workflow, overlays.workflows())}')
    request = start.Request(
        topic=given["topic"],
        workflow=workflow,
        with_=invocation.seats(",".join(given.get("with", ())), known),
        only=invocation.seats(",".join(given.get("only", ())), known),
        mode=given.get("mode", "deliberative"),
        options={"three_rounds": True} if "rounds" in given else {},
        documents=(("document", given["document"]),) if given.get("document", "").strip() else (),
        find_files=False,  # a caller must not choose which files are read
        speaker=registry.manual().name,
    )
    found = start.begin(request, settings)
    return {"session_id": found.id, "header": markdown.announcement(found), "folder": str(found.folder)}


def status(given: dict[str, Any]) -> dict[str, Any]:
    folder = places.find(config.load(), given.get("session", "last"))
    return summary.as_row(summary.summarize(folder))


def next_(given: dict[str, Any]) -> dict[str, Any]:
    settings, found = open_session(given["session"])
    with found.hold():
        subagents.harvest(found, settings)
        now = manual.advance(found, settings, given.get("turn"))
    if now.archived:
        return {
            "session_id": found.id, "done": True, "outcome": outcome.outcome(now.plan),
            "synthesis": markdown.synthesis_of(found, now.plan), "folder": str(found.folder),
            "archived_to": str(now.archived),
        }  # fmt: skip
    flying = subagents.find_in_flight(found)
    rows = [
        {
            "turn": one.id, "seat": one.seat.name, "name": one.seat.label, "tier": one.tier, "model": brief.model.name,
            "person": one.of_a_person, "state": "asked" if one.id in flying else "due", "brief": brief.text,
        }
        for one, brief in now.due
    ]  # fmt: skip
    return {"session_id": found.id, "done": False, "due": rows}


def record(given: dict[str, Any]) -> dict[str, Any]:
    settings, found = open_session(given["session"])
    body, absent = spoken_or_absent(given)
    spoken = Spoken(
        body, given.get("model") or None, "absent" if absent else "recorded", absent=absent, by=given.get("by") or None
    )
    with found.hold():
        subagents.harvest(found, settings)
        plan = manual.record(found, settings, given["turn"], spoken).plan
    return {"session_id": found.id, "recorded": given["turn"], "done": plan.done, "due": [one.id for one in plan.due]}


def open_session(word: str) -> tuple[Config, Session]:
    settings = config.load()
    return settings, session.open_(places.find(settings, word))


def spoken_or_absent(given: Mapping[str, Any]) -> tuple[str, str | None]:
    """The reply, or why there is none; exactly one of them."""
    reply, absent = given.get("reply", ""), given.get("absent", "")
    if bool(reply.strip()) == bool(absent.strip()):
        raise UsageError("give either a reply, which must not be empty, or in absent why the seat does not answer")
    if len(reply) > LARGEST_REPLY:
        raise UsageError("the reply is larger than 1 MB, and others have to read it; ask the seat for a shorter one")
    return ("", absent) if absent.strip() else (reply, None)


def text(about: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": about, **more}


def names(about: str) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "string"}, "description": about}


SESSION = text("The session's id, or `last`.")


TOOLS = {
    "council_start": Tool(
        "Start a council debate on a topic. Returns the session's id, a header to show, and the folder of its "
        "files. No member has spoken yet: continue with council_next.",
        {
            "topic": text("The question in the person's own words, without the phrase that calls the council."),
            "workflow": text("The protocol: debate (the default), quick (one blind round), or another workflow."),
            "with": names("Members to add to the workflow's own: security, intern, writer …"),
            "only": names("Only these members, instead of the workflow's own."),
            "mode": text(
                "How members write: in prose (deliberative, the default) or as a list of findings (patchlist).",
                enum=list(invocation.MODES),
            ),
            "document": text("The whole text of a document that the debate is about. A review (patchlist) needs one."),
            "rounds": {
                "type": "integer", "enum": [3],
                "description": "3 forces the third round, whatever the convergence check says.",
            },
        },
        ("topic",),
        begin,
    ),
    "council_status": Tool(
        "The state of a debate: complete, running, waiting, paused, interrupted or damaged; its outcome once it is "
        "over, the number of recorded turns, and the turns that are ready.",
        {"session": text("The session's id; without it, the newest.")},
        (),
        status,
        {"readOnlyHint": True},
    ),
    "council_next": Tool(
        "The turns that are ready, each with its whole brief; or, when the debate is over, the synthesis, the outcome "
        "and where the files are. It changes no recorded turn, so you can call it again at any time. "
        "A turn whose state is `asked` is being answered already: wait for it.",
        {"session": SESSION, "turn": text("Return only this turn, if all briefs together would be too long.")},
        ("session",),
        next_,
        {"idempotentHint": True},
    ),
    "council_record": Tool(
        "Store a member's reply to its brief, word for word, and list the turns that are ready next. A turn is "
        "recorded once, and only while it is ready. Record only what a member wrote in answer to its brief.",
        {
            "session": SESSION,
            "turn": text("The turn's id from council_next, such as 01-positions/engineer."),
            "reply": text("The whole reply, unchanged."),
            "model": text("The model that answered, if you know it."),
            "by": text("For a person's turn only: who gave the answer."),
            "absent": text("Instead of a reply: why this seat does not answer. It still counts as a member."),
        },
        ("session", "turn"),
        record,
    ),
}  # fmt: skip


def find_complaints(
    takes: Mapping[str, Mapping[str, Any]], needs: tuple[str, ...], given: dict[str, Any]
) -> Iterator[str]:
    """The ways in which the arguments do not match the schema."""
    yield from (f"{name} is missing" for name in needs if name not in given)
    for name, value in given.items():
        if name not in takes:
            yield f'there is no argument "{one_line(name)}"; {did_you_mean(name, takes)}'
        elif not fits(value, takes[name]):
            yield f"{name} must be {describe_type(takes[name])}"
        elif has_lone_surrogate(value):
            yield f"{name} contains half of a surrogate pair, which is not valid text"


def fits(value: Any, schema: Mapping[str, Any]) -> bool:
    if schema["type"] == "array":
        return isinstance(value, list) and all(fits(one, schema["items"]) for one in value)
    kind = {"string": str, "integer": int}[schema["type"]]
    return type(value) is kind and value in schema.get("enum", (value,))


def describe_type(schema: Mapping[str, Any]) -> str:
    one_of = " or ".join(map(str, schema.get("enum", ())))
    return one_of or {"string": "a string", "array": "a list of strings"}[schema["type"]]


def has_lone_surrogate(value: Any) -> bool:
    return not isinstance(value, int) and HALF.search("".join(value)) is not None


HALF = re.compile("[\ud800-\udfff]")
