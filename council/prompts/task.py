"""What a prompt asks a person to do, without the marks and formats that only models need. Pure.

The brief on disk stays the record of what was asked.
"""

from __future__ import annotations

import re

from council.engine.planner import Due
from council.prompts import facts
from council.prompts.brief import prompt_context
from council.protocols import outcome
from council.record.session import Session
from council.replies import parse
from council.text import MARKER

EMPHASIS = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1")
WRAPPED = 80  # characters: a longer line of a template continues in the next one
LIST = re.compile(r"\s*(?:[-*+#>|`]|\d+[.)]\s|[A-Z]\)\s)")
# What others wrote, with the line that introduces it: a question shows that in its own places.
QUOTED = re.compile(r'(?:^[^\n]*:\n+)?^<(said by="[^"\n]*" key="[0-9a-f]+")>\n.*?\n</\1>$', re.M | re.S)
HEADING = re.compile(r"^#{1,6}\s+", re.M)


def describe_ending(session: Session, due: Due) -> str:
    """How a rule ended the phase before this one: the person may be asked about it."""
    plan = session.plan()
    before = [note for note in plan.notes if note.kind == "ended" and note.phase != due.phase.name]
    decisions = outcome.decisions(plan, before[-1]) if before and due.of_a_person else ()
    return "\n\n".join(f"{decision.title}: {readable(decision.text)}" for decision in decisions).strip()


def heading(session: Session, due: Due) -> str:
    """`Round 2 complete` if the person speaks last in a round, otherwise the name of the round and the step."""
    number = outcome.number_of(session.plan(), due.phase, due.round)
    part = outcome.round_heading(number, due.phase, due.round)
    if due.of_a_person and len(due.phase.steps) == 1:
        return part
    if due.of_a_person and due.step == due.phase.steps[-1]:
        return f"{f'Round {number}' if number else part} complete"
    speaks = outcome.heading(due.step.name) if due.of_a_person else due.seat.label
    return f"{part.replace(':', ',')}: {speaks}"


def readable(text: str) -> str:
    """Markdown as plain text, without emphasis and heading marks."""
    return HEADING.sub("", EMPHASIS.sub(r"\2", text))


def task(session: Session, due: Due, shared: str, own: str) -> str:
    """What the brief asks for below its quotations, without the format that only a complete reply needs. `shared` and
    `own` are the brief's two parts."""
    context = prompt_context(session, due)
    said = facts.transcript(context)
    quoted = said[-1]["text"] if said else facts.topic(context)
    asked = shared.rpartition(quoted.rpartition("\n")[2])[2]
    form = parse.describe(due.step.reply)
    if form and form in own:
        asked += _without(form, own)
    elif form and form in asked:
        asked = _without(form, asked) + ("" if due.of_a_person else own)
    else:
        asked += own
    problems = [f"Your first reply could not be read: {problem}." for problem in due.problems]
    lines = [line for line in QUOTED.sub("", asked).splitlines() if not MARKER.search(line)]
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
