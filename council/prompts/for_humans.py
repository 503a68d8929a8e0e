"""What a person reads before answering: the state of the debate, what was said last, and the task.

The brief on disk is the record of what was asked; this is the same without marks and formats. Pure.
"""

from __future__ import annotations

import re

from council.engine.planner import Due
from council.prompts import facts
from council.prompts.brief import prompt_context
from council.protocols import outcome
from council.record.session import Session
from council.replies import parse
from council.replies.compact import compact
from council.speakers.base import Shown
from council.text import MARKER
from council.workflow.model import Reply

EMPHASIS = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1")
WRAPPED = 80  # characters: a longer line of a template continues in the next one
LIST = re.compile(r"\s*(?:[-*+#>|`]|\d+[.)]\s|[A-Z]\)\s)")
HEADING = re.compile(r"^#{1,6}\s+", re.M)


def summarize(session: Session, due: Due, shared: str, own: str) -> Shown:
    """`shared` and `own` are the brief's two parts."""
    context = prompt_context(session, due)
    said = facts.transcript(context)
    last = due.sees[-1].turn.moment if due.sees else None
    newest = {seen.turn.id for seen in due.sees if seen.turn.moment == last}
    replies = {(phase.name, step.name): step.reply for phase, step in session.workflow.steps()}
    asked = replies[last[0], last[2]] if last else ()
    turns = tuple((row["id"], _spoken(row["by"], _inner(row["text"]), asked)) for row in said if row["id"] in newest)
    mark = said[-1]["text"] if said else facts.topic(context)
    parts = [describe_ending(session, due), task(due, shared, own, mark.rpartition("\n")[2])]
    return Shown(heading(due), turns, "\n\n".join(filter(None, parts)))


def describe_ending(session: Session, due: Due) -> str:
    """How a rule ended the phase before this one: the person may be asked about it."""
    plan = session.plan()
    before = [note for note in plan.notes if note.kind == "ended" and note.phase != due.phase.name]
    decisions = outcome.decisions(plan, before[-1]) if before and due.of_a_person else ()
    return "\n\n".join(f"{decision.title}: {readable(decision.text)}" for decision in decisions).strip()


def heading(due: Due) -> str:
    """`Debate, round 2 complete` if the person speaks last in a round, otherwise the name of the step."""
    phase = outcome.heading(due.phase.name) + (
        f", round {due.round}" if due.phase.max_rounds > 1 or due.round > 1 else ""
    )
    if not due.of_a_person:
        return f"{phase}: {due.seat.label}"
    if len(due.phase.steps) == 1:
        return phase
    last = due.step == due.phase.steps[-1]
    return f"{phase} complete" if last else f"{phase}: {outcome.heading(due.step.name)}"


def _inner(fenced: str) -> str:
    return "\n".join(fenced.split("\n")[1:-1])


def _spoken(by: str, text: str, asked: Reply) -> str:
    return f"{by}: {readable(compact(text.strip(), asked))}"


def readable(text: str) -> str:
    """Markdown as plain text, without emphasis and heading marks."""
    return HEADING.sub("", EMPHASIS.sub(r"\2", text))


def task(due: Due, shared: str, own: str, mark: str) -> str:
    """What the brief asks for below its quotations, without the format that only a complete reply needs."""
    asked = shared.rpartition(mark)[2]
    form = parse.describe(due.step.reply)
    if form and form in own:
        asked += _without(form, own)
    elif form and form in asked:
        asked = _without(form, asked) + ("" if due.of_a_person else own)
    else:
        asked += own
    problems = [f"Your first reply could not be read: {problem}." for problem in due.problems]
    lines = [line for line in asked.splitlines() if not MARKER.search(line)]
    text = "\n".join(_unwrapped(lines) + problems)
    return re.sub(r"\n{3,}", "\n\n", readable(text).strip())


def _unwrapped(lines: list[str]) -> list[str]:
    """The lines with each wrapped paragraph in one line: the window wraps it again."""
    found: list[str] = []
    before = ""
    for line in lines:
        if len(before) > WRAPPED and line.strip() and not LIST.match(line):
            found[-1] += f" {line.strip()}"
        else:
            found.append(line)
        before = line
    return found


def _without(form: str, text: str) -> str:
    """The text without the format and the paragraph that introduces it."""
    before, _, after = text.partition(form)
    return before.rstrip().rpartition("\n\n")[0] + "\n\n" + after.strip("\n") + "\n"
