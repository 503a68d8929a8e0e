"""The tools as clients see them: their descriptions, and the JSON Schemas of what they take and return.

Every conversation pays for these words, so they are few; tests/test_mcp.py counts them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from council.errors import Busy, CouncilError, UsageError
from council.mcp_server.calls import ClientCall
from council.mcp_server.protocol import BAD_PARAMS, Refused
from council.prompts import invocation
from council.text import did_you_mean, one_line

Schema = Mapping[str, Any]


@dataclass(frozen=True)
class Tool:
    """A tool: its description, the schema of each argument, the required ones, and of what it returns. What it
    does is in `debate`.
    """

    about: str
    takes: Mapping[str, Schema]
    needs: tuple[str, ...]
    returns: Schema
    hints: Mapping[str, bool]
    meta: Mapping[str, Any] | None = None

    def describe(self, name: str) -> dict[str, Any]:
        schema = {"type": "object", "properties": self.takes, "required": self.needs, "additionalProperties": False}
        facts = {
            "name": name, "description": self.about, "inputSchema": schema, "outputSchema": self.returns,
            "annotations": self.hints,
        }  # fmt: skip
        return facts | ({"_meta": self.meta} if self.meta else {})


def list_tools(_: ClientCall) -> dict[str, Any]:
    return {"tools": [tool.describe(name) for name, tool in TOOLS.items()]}


def call_tool(call: ClientCall) -> dict[str, Any]:
    """Call a tool. An error is a result too, which the model reads and can act on."""
    from council.mcp_server import debate  # with most of the package: `initialize` is answered before

    name, given = call.params.get("name"), call.params.get("arguments")
    given = {} if given is None else given
    if not isinstance(name, str) or name not in TOOLS:
        raise Refused(BAD_PARAMS, f'there is no tool "{one_line(str(name))}"; {did_you_mean(str(name), TOOLS)}')
    if not isinstance(given, dict):
        raise Refused(BAD_PARAMS, "arguments must be an object")
    tool = TOOLS[name]
    try:
        if wrong := "; ".join(find_complaints(tool.takes, tool.needs, given)):
            raise UsageError(wrong)
        answer = debate.TOOLS[name](given, call)
    except Busy as busy:
        return format_failure(f"{busy}; {busy.advice}")
    except (CouncilError, OSError) as failure:
        return format_failure(str(failure))
    return {"content": [{"type": "text", "text": answer.text}], "structuredContent": answer.facts, "isError": False}


def format_failure(why: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": why}], "isError": True}


# ---- schemas ----


def text(about: str = "", **more: Any) -> Schema:
    return {"type": "string", **({"description": about} if about else {}), **more}


def names(about: str = "") -> Schema:
    return {"type": "array", "items": {"type": "string"}, **({"description": about} if about else {})}


def texts(about: str) -> Schema:
    return {"type": "object", "additionalProperties": {"type": "string"}, "description": about}


def facts(required: str, **properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": required.split()}


WORDS, YES_OR_NO = text(), {"type": "boolean"}
SESSION = text("Its id, or `last`.")
TURN = text("As 01-positions/engineer.")
WRITES = {"destructiveHint": False}
DUE = facts("turn name prompt", turn=WORDS, name=WORDS, prompt=WORDS)
STATE = facts(
    "session_id done todo", session_id=WORDS, done=YES_OR_NO, todo=WORDS, due={"type": "array", "items": DUE},
    outcome=WORDS, synthesis=WORDS,
)  # fmt: skip

TOOLS = {
    "council_start": Tool(
        "Start a council debate. Returns a header to show, and whom to ask first.",
        {
            "topic": text("The question in the person's own words."),
            "workflow": text("The protocol: debate (default), quick (one blind round) or another."),
            "with": names("Members to add: security, intern …"),
            "only": names("Only these members."),
            "mode": text("Prose, or a list of findings.", enum=list(invocation.MODES)),
            "document": text("The whole text to debate. A review needs one."),
            "evidence": texts("Facts to cite: texts by name."),
            "rounds": {"type": "integer", "enum": [3], "description": "Force the third round."},
            "from": text("A session to start from its outcome."),
        },
        ("topic",),
        STATE,
        WRITES,
    ),
    "council_next": Tool(
        "Whom to ask now; or, when the debate is over, the synthesis, the outcome and where the files are.",
        {"session": SESSION},
        ("session",),
        STATE,
        {**WRITES, "idempotentHint": True},
    ),
    "council_brief": Tool(
        "For the member whose turn it is: its brief, and how to store the answer.",
        {"session": SESSION, "turn": TURN},
        ("session", "turn"),
        facts("brief then", session_id=WORDS, turn=WORDS, brief=WORDS, then=WORDS),
        WRITES,
        {"anthropic/maxResultSizeChars": 500_000},  # without it, Claude Code moves long briefs into a file
    ),
    "council_record": Tool(
        "Store a reply, word for word; once, while the turn is due. With session and turn alone, it asks the person "
        "whose turn it is.",
        {
            "session": SESSION,
            "turn": TURN,
            "reply": text("The whole reply, unchanged."),
            "key": text("From council_brief, if you are the member."),
            "answers": texts("Instead: a person's, by name."),
            "absent": text("Instead: why this seat does not answer. It still counts."),
            "by": text("The person who answered."),
            "model": text("The model that answered."),
        },
        ("session", "turn"),
        facts("session_id done todo", recorded=WORDS, **STATE["properties"]),
        WRITES,
    ),
    "council_status": Tool(
        "Whether a debate is complete, running, waiting, paused, interrupted or damaged.",
        {"session": SESSION},
        (),
        facts("session_id state turns due", state=WORDS, turns={"type": "integer"}, due=names()),
        {"readOnlyHint": True},
    ),
}  # fmt: skip


# ---- arguments ----


def find_complaints(takes: Mapping[str, Schema], needs: tuple[str, ...], given: dict[str, Any]) -> Iterator[str]:
    """The ways in which the arguments do not match the schema."""
    yield from (f"{name} is missing" for name in needs if name not in given)
    for name, value in given.items():
        if name not in takes:
            yield f'there is no argument "{one_line(name)}"; {did_you_mean(name, takes)}'
        elif not fits(value, takes[name]):
            yield f"{name} must be {describe_type(takes[name])}"
        elif has_lone_surrogate(value):
            yield f"{name} contains half of a surrogate pair, which is not valid text"


def fits(value: Any, schema: Schema) -> bool:
    if schema["type"] == "array":
        return isinstance(value, list) and all(isinstance(one, str) for one in value)
    if schema["type"] == "object":
        return isinstance(value, dict) and all(isinstance(one, str) for one in value.values())
    kind = {"string": str, "integer": int}[schema["type"]]
    return type(value) is kind and value in schema.get("enum", (value,))


def describe_type(schema: Schema) -> str:
    one_of = " or ".join(map(str, schema.get("enum", ())))
    words = {"string": "a string", "array": "a list of strings", "object": "an object of strings"}
    return one_of or words[schema["type"]]


def has_lone_surrogate(value: Any) -> bool:
    if isinstance(value, dict):
        value = [*value, *value.values()]
    return not isinstance(value, int) and HALF.search("".join(value)) is not None


HALF = re.compile("[\ud800-\udfff]")
