"""The facts for the templates of every workflow: the question, the seats, the position in the debate, what was said.

Facts that only one protocol knows are registered by that protocol.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from council.engine.anonymity import restore_names, translate_labels
from council.engine.conditions import judge
from council.engine.facts import PromptContext, fact
from council.engine.scene import Seen, Turn, Verdict
from council.protocols.specialists import list_table
from council.replies import parse, quotes
from council.speakers import registry
from council.text import TOKENS_A_WORD
from council.workflow import limits
from council.workflow.model import Seat

# ---- the question and the table ----


@fact
def topic(context: PromptContext) -> str:
    """The question with its documents, between marks."""
    return context.fence("topic", context.topic, "topic")


@fact
def seat(context: PromptContext) -> dict[str, str]:
    """Who is asked: `seat.seat`, `title`, `name`, `person`, `label`, `focus`, `perspective`, `about`, `accepts`,
    `icon`."""
    return _describe(context.due.seat)


@fact
def members(context: PromptContext) -> list[dict[str, str]]:
    """Everybody at the table, each as `seat` is."""
    return [_describe(seat) for seat in list_table(context.workflow, context.scene)]


def _describe(seat: Seat) -> dict[str, str]:
    fields = ("name", "focus", "accepts", "perspective", "about", "icon")
    known = {key: str(seat.attributes.get(key) or "") for key in fields}
    known["about"] = known["about"].strip("*_` ")  # the rest of `**Name:** what it stands for`
    return {**known, "seat": seat.name, "title": seat.title, "label": seat.label, "person": known["name"]}


# ---- where the debate is, and what it was asked to do ----


@fact
def workflow(context: PromptContext) -> str:
    """The workflow's name."""
    return context.workflow.name


@fact
def phase(context: PromptContext) -> str:
    """The phase's name."""
    return context.due.phase.name


@fact
def step(context: PromptContext) -> str:
    """The step's name."""
    return context.due.step.name


@fact
def round_(context: PromptContext) -> int:
    """The number of this round of the phase."""
    return context.due.round


@fact
def rounds(context: PromptContext) -> int:
    """The most rounds that the phase may have."""
    return context.scene.cap


@fact
def outcomes(context: PromptContext) -> dict[str, str]:
    """How the phases that are over ended, by their names."""
    return dict(context.scene.outcomes)


@fact
def because(context: PromptContext) -> dict[str, Any]:
    """Why the step is spoken: `because.fired`, the rules of its `when` that hold, and `because.reason`."""
    due = context.due
    before = tuple(turn for turn in due.scene.turns if turn.moment != (due.phase.name, due.round, due.step.name))
    why = judge(due.step.when, replace(due.scene, turns=before)) if due.step.when else Verdict(True)
    return {"fired": list(why.fired), "reason": why.reason}


@fact
def options(context: PromptContext) -> dict[str, Any]:
    """The workflow's options: `options.words`, or `options.get("words")` where there may be none."""
    return dict(context.workflow.options)


@fact
def words(context: PromptContext) -> Any:
    """The option `words`, empty without it."""
    return context.workflow.options.get(limits.WORDS, "")


@fact
def budget(context: PromptContext) -> int:
    """The words that the reply has room for where `token_budget` bounds it, else 0."""
    due = context.due
    share = limits.bound_reply(context.workflow, due.phase.steps, due.step, due.seat)
    return int((share or 0) / TOKENS_A_WORD) // 10 * 10


@fact
def task(context: PromptContext) -> str:
    """The section of the workflow's body that is this prompt."""
    return context.workflow.tasks.get(context.due.step.prompt, "")


@fact
def format_(context: PromptContext) -> str:
    """The headings that the reply must end with, empty where the step asks for no answers."""
    return parse.describe(context.due.step.reply)


# ---- what was said ----


@fact
def transcript(context: PromptContext) -> list[dict[str, str]]:
    """What the step sees: a list with `round`, `by`, `text` and `id`, the texts between marks."""
    repeated = {phase.name for phase in context.workflow.phases if phase.max_rounds > 1}
    passages = []
    for seen in context.due.sees:
        turn, label = seen.turn, seen.label or seen.turn.seat.label
        place = f"{turn.phase.replace('-', ' ')}, round {turn.round}" if turn.phase in repeated else turn.phase
        text = context.fence(label, _shown(context, seen), turn.id)
        passages.append({"round": place.capitalize(), "by": label, "text": text, "id": turn.id})
    return passages


def _shown(context: PromptContext, seen: Seen) -> str:
    turn: Turn = seen.turn
    machine = registry.machine_of(turn.seat)
    body = machine.shorten(turn) if machine else turn.body
    text = turn.gist if seen.gist else (body if not turn.absent else f"(absent: {turn.absent})")
    if seen.label:
        return translate_labels(text, turn, context.due.seat, context.workflow, context.scene)
    return restore_names(text, turn, context.workflow, context.scene)


@fact
def again(context: PromptContext) -> dict[str, Any] | None:
    """Only when a reply is asked for once more: `again.problems` and `again.reply`."""
    due = context.due
    if due.first is None:
        return None
    return {"problems": list(due.problems), "reply": context.fence("you", due.first.body, due.id)}


@fact
def yours(context: PromptContext) -> str:
    """Which of the passages in the brief this seat wrote itself."""
    due = context.due
    own = [seen for seen in due.sees if seen.turn.seat.name == due.seat.name]
    keys = [context.key(_shown(context, seen), seen.turn.id) for seen in own]
    first = [context.key(due.first.body, due.id)] if due.first else []
    return quotes.describe_own([*keys, *context.own_keys, *first])
