"""The core's facts about the question and the table: what is asked, who sits, and where the debate is."""

from __future__ import annotations

from typing import Any

from council.next.engine import registry
from council.next.engine.conditions import judge
from council.next.prompts.facts import Context, fact, shared_fact
from council.next.protocols.casting import named_seats, opponents
from council.next.replies.read import describe
from council.next.text import one_line
from council.next.workflow.model import Cast, Ref, Seat, Workflow

LONGEST_NAME, LONGEST_LINE = 80, 600
WORDS_A_TOKEN = 2 / 3  # of English prose, about


@shared_fact
def topic(c: Context) -> str:
    """The question and every attached document, each between marks."""
    documents = (c.fence(f"the document {path}", text, path) for path, text in c.session.attached.items())
    return "\n\n".join([c.fence("the question", c.session.topic, "topic"), *documents])


@shared_fact
def members(c: Context) -> list[dict[str, str]]:
    """Those who debate. After an analysis of who is needed, without the others."""
    by = next((step.order.args["by"] for step in c.workflow.steps() if step.order.name == "seated"), "")
    chosen = named_seats(c.workflow.members, c.scene, by) if by else set()
    left_out = {seat.name for seat in c.workflow.members if chosen and seat.name not in chosen}
    return [about(seat) for name, seat in debaters(c).items() if name not in left_out]


def debaters(c: Context) -> dict[str, Seat]:
    """The members, and all who speak together with others. A chair, a clerk or a pen speaks alone."""
    found: dict[str, Seat] = c.scene.kept.setdefault("debaters", {})
    if not found:
        found |= {seat.name: seat for seat in c.workflow.members}
        for step in c.workflow.steps():
            seats = c.workflow.seats(name for name in step.seats if isinstance(name, str))
            together = [seat for seat in seats if len(seats) > 1 and not seat.is_person]
            found |= {seat.name: seat for seat in together if seat.name not in found}
    return found


@fact
def seat(c: Context) -> dict[str, Any]:
    """The seat that is asked: `debates` says whether it is one of the members."""
    own = c.due.seat
    return {**about(own), "debates": own.name in debaters(c) or own.group in cast_sources(c.workflow)}


def about(one: Seat) -> dict[str, str]:
    """A seat as plain data. What a reply may have written of it is one line."""
    return {
        "seat": one.name,
        "title": one_line(one.title, LONGEST_NAME),
        "label": one_line(one.label, LONGEST_NAME),
        "person": one_line(one.get("name"), LONGEST_NAME),
        "focus": one_line(one.get("focus"), LONGEST_LINE),
        "accepts": one_line(one.get("accepts"), LONGEST_LINE),
        "stands_for": one_line(one.get("stands_for"), LONGEST_LINE),
        "perspective": one.get("perspective"),
    }


# ---- who may be seated ----


@shared_fact
def always(c: Context) -> list[str]:
    """For an analysis of who is needed: those who sit in any case."""
    group = {one.name for one in c.workflow.members}
    return [one.title for name, one in debaters(c).items() if name not in group]


@shared_fact
def specialists(c: Context) -> list[dict[str, str]]:
    """For an analysis of who is needed: the members to choose from."""
    keys = ("touches", "paths", "keywords")
    return [{**about(one), **{key: one.get(key) for key in keys}} for one in c.workflow.members]


@shared_fact
def catalog(c: Context) -> list[dict[str, Any]]:
    """For a moderator: the perspectives to choose from, and those that each opposes."""
    known = {name: one for name, one in c.workflow.personas.items() if one.get("accepts")}
    titles = {name: str(one.get("title") or name.replace("-", " ").title()) for name, one in known.items()}
    return [
        {
            "title": titles[name],
            "focus": one.get("focus", ""),
            "accepts": one["accepts"],
            "opposes": [titles[other] for other in opponents(name, c.scene) if other in titles],
        }
        for name, one in known.items()
    ]


def cast_sources(workflow: Workflow) -> set[str]:
    return {one.source for step in workflow.steps() for one in step.seats if isinstance(one, Cast)}


@shared_fact
def cast(c: Context) -> list[dict[str, Any]]:
    """Everybody cast so far: `title`, and whether the seat is `muted`."""
    sources = cast_sources(c.workflow)
    seats = {turn.seat.name: turn.seat for turn in c.scene.turns if turn.seat.group in sources}
    orders = (step.order for step in c.workflow.steps() if step.order.name == "unmuted")
    by = next((Ref("unmuted", {"by": order.args["by"]}) for order in orders), None)
    batches = registry.orders.call(by, tuple(seats.values()), c.scene) if by else []
    left = {one.name for batch in batches for one in batch}
    return [{**about(one), "muted": bool(by) and one.name not in left} for one in seats.values()]


# ---- where the debate is, and what the step asks ----


@shared_fact
def step(c: Context) -> dict[str, Any]:
    """What is spoken now: where, which answers it `asks` for, their `form`, and the `task` from the workflow's body.

    `because` names the rules that called the step, `ended` how each phase that is over ended."""
    phase, due = c.due.phase, c.due
    title = phase.title or phase.name.replace("-", " ").capitalize()
    return {
        "phase": phase.name,
        "round": due.round,
        "rounds": c.scene.cap,
        "title": f"{title}, round {due.round} of at most {c.scene.cap}" if c.scene.cap > 1 else title,
        "ended": dict(c.scene.ended),
        "because": list(judge(due.step.when, c.scene).fired) if due.step.when else [],
        "asks": list(due.step.reply),
        "form": describe(due.step.reply),
        "task": c.workflow.tasks.get(due.step.prompt, ""),
        "words": str(c.workflow.options.get("words", "50-150")),
    }


@shared_fact
def options(c: Context) -> dict[str, Any]:
    return dict(c.workflow.options)


@shared_fact
def budget(c: Context) -> int:
    """The most words of a reply where the option `token_budget` limits it, else 0."""
    tokens = str(c.workflow.options.get("token_budget", ""))
    return int(int(tokens) * WORDS_A_TOKEN) // 10 * 10 if tokens.isdecimal() else 0


@fact
def again(c: Context) -> dict[str, Any]:
    """For a second try: what is wrong, and what was said. Empty for a first one."""
    if c.due.first is None:
        return {}
    lines = [one_line(problem, LONGEST_LINE) for problem in c.due.problems]
    return {"problems": lines, "reply": c.fence("you", c.due.first.body, c.due.id)}
