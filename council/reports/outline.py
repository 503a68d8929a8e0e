"""The synthesis as its author wrote it: what the documents of a debate are made of.

The answers that the program reads from it serve to check it, and are never printed in place of the text.
"""

from __future__ import annotations

import re

from council.engine.planner import Plan
from council.protocols import outcome
from council.replies import parse, values
from council.replies.parse import Outline
from council.text import FENCE
from council.workflow.model import Reply, Workflow

BLOCK = re.compile(r"[#>|]|`{3}|~{3}")  # the start of a line that cannot continue a paragraph
BOXES = ("[ ]", "[x]", "[X]")
SHORT = 3  # words of a text that only says that there is nothing


def find_outline(workflow: Workflow, plan: Plan) -> Outline:
    """Each answer of the synthesis. A second reply that lacks answers completes the first, and replaces nothing."""
    tries = outcome.find_syntheses(plan)
    if not tries or tries[-1].absent:
        return Outline("", {})
    turn, reply = tries[-1], find_reply(workflow, plan)
    last = parse.outline(reply, turn.said.body, turn.said.brief)
    if turn.first is None:
        return last
    first = parse.outline(reply, turn.first.body, turn.first.brief)
    if not parse.read(reply, turn.said.body, turn.said.brief).missing:
        return last
    names = [*first.answers, *(name for name in last.answers if name not in first.answers)]
    both = {name: _join(first.answers.get(name, ""), last.answers.get(name, "")) for name in names}
    return Outline(_join(first.preface, last.preface), both)


def _join(first: str, second: str) -> str:
    return "\n\n".join(dict.fromkeys(filter(None, [first, second])))


def find_reply(workflow: Workflow, plan: Plan) -> Reply:
    """The answers that the synthesis was asked for."""
    tries = outcome.find_syntheses(plan)
    moment = (tries[-1].phase, tries[-1].step) if tries else ("", "")
    return next((step.reply for phase, step in workflow.steps() if (phase.name, step.name) == moment), ())


def is_nothing(text: str) -> bool:
    """Whether a text only says that there is nothing: it is empty, or a short `none`."""
    return values.is_nothing(text) and len(text.split()) <= SHORT


def split_list(text: str) -> list[str] | None:
    """The items of a list, each with all its lines but without its bullet. None if the text is not only a list."""
    items: list[list[str]] = []
    before, fence = "", ""
    for line in text.split("\n"):
        bullet = values.BULLET.match(line) if not fence else None
        if bullet and not line[0].isspace():
            items.append([line[bullet.end() :]])
        elif not items or (line and not line[0].isspace() and not fence and (not before.strip() or BLOCK.match(line))):
            return None
        else:
            items[-1].append(line)
        if (found := FENCE.match(line)) and (not fence or (found[1].startswith(fence) and not found[2].strip())):
            fence = "" if fence else found[1]
        before = line
    return ["\n".join(lines).rstrip() for lines in items]


def as_tasks(text: str) -> str:
    """The list with a box to tick for each of its items; any other text as it is."""
    items = split_list(text)
    return text if items is None else "\n".join(f"- {'' if item[:3] in BOXES else '[ ] '}{item}" for item in items)


def drop_bullet(text: str) -> str:
    """A single item without its bullet."""
    return values.BULLET.sub("", text, count=1)
