"""Where a debate is, as the host of it is told: whom to ask and how, or how it ended.

The same facts are given as data and as text, since some clients show their model the one and some the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from council.engine.planner import Due, Plan
from council.mcp_server.protocol import Client
from council.protocols import outcome
from council.protocols.ledger import OPEN
from council.record import chain
from council.record.session import Session
from council.reports import markdown
from council.reports.concerns import list_shown, read_concerns
from council.runner import manual, next_step, subagents
from council.runner.manual import ManualState
from council.speakers.assistant import handouts
from council.speakers.base import Brief
from council.text import one_line

ASK = (
    "{whom} at once, each in a subagent of its own, with the model named, if you can choose, and with its prompt and "
    "nothing else. Never answer for a member yourself. When all have answered, call council_next."
)
MOST_CONCERNS, LONGEST_CONCERN = 10, 200  # open concerns in an answer, and characters of each
OVER = "The debate is over. Show the synthesis, the outcome, who was absent, and where the files are."
STORE = (
    'Store your whole answer to this brief with council_record: session "{session}", turn "{turn}", key "{key}", and '
    "the answer in reply. Then reply only: recorded {turn}\n"
    "If you are not the member, but pass the brief on: pass on the brief alone, to a separate context, and store the "
    "reply without the key."
)
RECORDED = "{turn} is recorded already; nothing is left to do for it."
ASKED = "A member was asked for {turn} already, and its answer is still to come. Do not answer it a second time."


@dataclass(frozen=True)
class ToolAnswer:
    """What a tool returns: as text, and as data that fits the tool's output schema."""

    text: str
    facts: dict[str, Any]


def describe(found: Session, state: ManualState, client: Client, declined: str = "", **about: Any) -> ToolAnswer:
    """What to do next. `about` is said besides; `declined` is a turn that a person did not want to answer."""
    facts = {"session_id": found.id, **about, "done": state.plan.done}
    facts |= describe_end(found, state) if state.plan.done else describe_due(found, state, client)
    if declined:
        facts["todo"] = f"The person did not answer, and nothing was recorded; {declined} stays due. {facts['todo']}"
    return ToolAnswer(format_facts(facts), facts)


def describe_due(found: Session, state: ManualState, client: Client) -> dict[str, Any]:
    flying = subagents.find_in_flight(found)
    due = [(one, brief) for one, brief in state.due if one.id not in flying]
    rows = [describe_person(found, *one, client) if one[0].of_a_person else describe_member(found, *one) for one in due]
    asked = [next_step.name_of(one.seat) for one, _ in state.due if one.id in flying]
    members = sum(not one.of_a_person for one, _ in due)
    todo = ASK.format(whom=f"Ask {'the member' if members == 1 else f'these {members} members'}") if members else ""
    if members < len(due):
        todo += " A person's turn is answered by that person, never by you."
    if any("note" in row for row in rows):
        todo += " Who has a brief already may be answering: ask again only if no answer comes."
    facts = {"todo": todo.strip() or "Wait for the members that were asked, then call council_next.", "due": rows}
    closed = next_step.describe_round(found, state.plan)
    return facts | ({"asked": asked} if asked else {}) | ({"round": closed} if closed else {})


def describe_member(found: Session, due: Due, brief: Brief) -> dict[str, Any]:
    prompt = f'Call the tool council_brief with session "{found.id}" and turn "{due.id}", and do what it says.'
    model = subagents.alias_of(brief.model) or brief.model.name
    age = handouts.read_age(found.folder, due.id)
    note = {} if age is None else {"note": f"its brief was handed out {next_step.format_age(age)} ago"}
    return {"turn": due.id, "name": next_step.name_of(due.seat), "model": model, "prompt": prompt, **note}


def describe_person(found: Session, due: Due, _: Brief, client: Client) -> dict[str, Any]:
    if client.shows_forms:
        prompt = f'Call council_record with session "{found.id}" and turn "{due.id}" alone: it asks the person.'
    else:
        asked = "; ".join(f"{name}: {allowed}" for name, allowed in manual.list_answers(due).items())
        how = f"answers ({asked})" if asked else "reply"
        prompt = f"Show the person what council_brief returns, and store what they say with council_record, in {how}."
    return {"turn": due.id, "name": next_step.name_of(due.seat), "prompt": prompt}


def describe_end(found: Session, state: ManualState) -> dict[str, Any]:
    absent = list(dict.fromkeys(next_step.name_of(turn.seat) for turn in outcome.absences(state.plan)))
    return {
        "todo": OVER, "outcome": outcome.outcome(state.plan), **({"absent": absent} if absent else {}),
        "synthesis": markdown.synthesis_of(found, state.plan), "head": chain.head(found), "folder": str(found.folder),
        "archived_to": str(state.archived),
    }  # fmt: skip


def describe_concerns(found: Session, plan: Plan) -> dict[str, Any]:
    """How many concerns there are in each status, and the open ones, what blocks first; nothing if there are none."""
    concerns = list_shown(read_concerns(found, plan), {})
    if not concerns:
        return {}
    counts = Counter(one.status for one in concerns)
    listed = [
        f"{one.id} ({one.kind}), {one.label}: {one_line(one.text, LONGEST_CONCERN)}"
        for one in concerns
        if one.status == OPEN
    ]
    return {"concerns": dict(counts), "open_concerns": listed[:MOST_CONCERNS]}


def say_how_to_store(found: Session, turn: str, due: Due | None, asked: bool) -> str:
    if due is None:
        return RECORDED.format(turn=turn)
    if due.of_a_person:
        return "A person answers this, in their own words; nobody else may."
    if asked:
        return ASKED.format(turn=turn)
    return STORE.format(session=found.id, turn=turn, key=key_of(found, turn))


def key_of(found: Session, turn: str) -> str:
    """What only the reader of this turn's brief knows."""
    return found.key("mcp", turn)


# ---- as text ----


def format_facts(facts: Mapping[str, Any]) -> str:
    """The same for clients that show their model the text alone."""
    parts = [facts.get("header", ""), facts["todo"], "\n".join(map(format_row, facts.get("due", ())))]
    parts.append(f"Asked already: {', '.join(facts['asked'])}" if "asked" in facts else "")
    parts += [facts.get("round", ""), facts.get("synthesis", "")]
    ends = ("outcome", "absent", "head", "folder", "archived_to")
    parts.append("\n".join(f"{name}: {in_words(facts[name])}" for name in ends if name in facts and facts["done"]))
    return "\n\n".join(filter(None, parts))


def format_row(row: Mapping[str, Any]) -> str:
    model = f"model {row['model']}, " if "model" in row else ""
    note = f" ({row['note']})" if "note" in row else ""
    return f"- {row['name']}{note}: {model}prompt: {row['prompt']}"


def in_words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{count} {name}" for name, count in value.items())
    return ", ".join(value) if isinstance(value, list) else "" if value is None else str(value)
