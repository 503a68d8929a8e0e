"""Where a debate is, as the host of it is told: whom to ask and how, or how it ended.

The same facts are given as data and as text, since some clients show their model the one and some the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from council.engine.planner import Due
from council.mcp_server.protocol import Client
from council.protocols import outcome
from council.record.session import Session
from council.replies import entry
from council.reports import markdown
from council.runner import subagents
from council.runner.manual import ManualState
from council.text import one_line

LONGEST_NAME = 40  # characters: a moderator may have chosen it
ASK = (
    "{whom} at once, each in a subagent of its own, with its prompt and nothing else. Never answer for a member "
    "yourself. When all have answered, call council_next."
)
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
    due = [(one, brief.model.name) for one, brief in state.due if one.id not in flying]
    rows = [
        describe_person(found, one, client) if one.of_a_person else describe_member(found, one, model)
        for one, model in due
    ]
    asked = [name_of(one) for one, _ in state.due if one.id in flying]
    members = sum(not one.of_a_person for one, _ in due)
    todo = ASK.format(whom=f"Ask {'the member' if members == 1 else f'these {members} members'}") if members else ""
    if members < len(due):
        todo += " A person's turn is answered by that person, never by you."
    facts = {"todo": todo.strip() or "Wait for the members that were asked, then call council_next.", "due": rows}
    return facts | ({"asked": asked} if asked else {})


def describe_member(found: Session, due: Due, model: str) -> dict[str, Any]:
    prompt = f'Call the tool council_brief with session "{found.id}" and turn "{due.id}", and do what it says.'
    return {"turn": due.id, "name": name_of(due), "model": model, "prompt": prompt}


def describe_person(found: Session, due: Due, client: Client) -> dict[str, Any]:
    if client.shows_forms:
        prompt = f'Call council_record with session "{found.id}" and turn "{due.id}" alone: it asks the person.'
    else:
        asked = "; ".join(f"{name}: {allowed}" for name, allowed in answers_of(due).items())
        how = f"answers ({asked})" if asked else "reply"
        prompt = f"Show the person what council_brief returns, and store what they say with council_record, in {how}."
    return {"turn": due.id, "name": name_of(due), "prompt": prompt}


def answers_of(due: Due) -> dict[str, str]:
    """The answers that a person is asked for, by name, and what each may be; empty for free text."""
    declared = due.step.reply if entry.can_ask(due.step.reply) else ()
    return {name: entry.describe_allowed(kind) for name, kind in declared}


def describe_end(found: Session, state: ManualState) -> dict[str, Any]:
    absent = list(dict.fromkeys(one_line(turn.seat.label, LONGEST_NAME) for turn in outcome.absences(state.plan)))
    return {
        "todo": OVER, "outcome": outcome.outcome(state.plan), **({"absent": absent} if absent else {}),
        "synthesis": markdown.synthesis_of(found, state.plan), "folder": str(found.folder),
        "archived_to": str(state.archived),
    }  # fmt: skip


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


def name_of(due: Due) -> str:
    return one_line(due.seat.label, LONGEST_NAME)


# ---- as text ----


def format_facts(facts: Mapping[str, Any]) -> str:
    """The same for clients that show their model the text alone."""
    parts = [facts.get("header", ""), facts["todo"], "\n".join(map(format_row, facts.get("due", ())))]
    parts.append(f"Asked already: {', '.join(facts['asked'])}" if "asked" in facts else "")
    parts.append(facts.get("synthesis", ""))
    ends = ("outcome", "absent", "folder", "archived_to")
    parts.append("\n".join(f"{name}: {in_words(facts[name])}" for name in ends if name in facts and facts["done"]))
    return "\n\n".join(filter(None, parts))


def format_row(row: Mapping[str, Any]) -> str:
    model = f"model {row['model']}, " if "model" in row else ""
    return f"- {row['name']}: {model}prompt: {row['prompt']}"


def in_words(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else "" if value is None else str(value)
