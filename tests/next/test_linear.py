"""Whatever a model, a project or a session from elsewhere holds, the time to read it grows with its size alone."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from council.next.config import personas
from council.next.engine.planner import Plan
from council.next.engine.scene import Recorded
from council.next.errors import CouncilError
from council.next.prompts import phrases
from council.next.record import turn_file
from council.next.replies.markdown import code_blocks
from council.next.replies.write import escape, unescape
from council.next.reports.render import in_cell, in_html, in_item, in_line, in_markdown, in_quote
from council.next.terminal.markdown import lines_of
from council.next.text import cut, fold, one_line, overlap, printable, slug, width
from council.next.workflow.loader import load
from tests.next.debates import workflow_of

# Lines and characters that a model may repeat without end: the first are tried in every run.
EVERY_RUN = 8
REPEATED = (
    "- yes\n", "yes\n", "K1: reject: no\n", "## Signs\nR1\n", "> - ", "`", "[", "Council: ",
    "R1\n", "> ", "- ", "``` \n", "~~~\n", "#", "*", "**a** ", "_", "[a](b) ", "<b>", "<!--", "\\", "|", "| a ", "\n",
    "\r\n", "\u0301", "\u200d", "\ufdfa", "\u202e", "\x1b[31m", "\x1b]", "\x1b", "\0", "\ud800", "a: ", "1. ", "    ",
    "\t", "council with a, ", "“", "a ", "會", "- a\n  - b\n", '<said by="a">\n', "&amp;", "---\n", "===\n",
)  # fmt: skip


def read_whole_debate(text: str) -> None:
    """One reply in a debate that signs texts: its answers, copies, conditions, quotations, the vote and the scene."""
    reply = {
        "signs": "vote",
        "recommendation": "text ?",
        "conditions": "list ?",
        "rulings": "list ?",
        "moved_by": "text ?",
    }
    plan = Plan(workflow_of([{"name": "talk", "rounds": "2", "reply": reply}]), "seed")
    said: dict[str, Recorded] = {}
    bodies = {
        "ada": text,
        "bo": f"## Signs\nown\n\n## Recommendation\n{text[:300]}",
        "cy": f"{text}\n\n## Conditions\n{text}",
    }
    while plan.advance(said).due and len(said) < 12:
        said |= {due.id: Recorded(bodies[due.seat.name]) for due in plan.due}


def receive(text: str) -> None:
    receipt = turn_file.Receipt("01-a/b", "b", "a", 1, "api")
    turn_file.read(turn_file.write(receipt, text.encode("utf-8", "backslashreplace")), Path("x"))


READERS: dict[str, Callable[[str], Any]] = {
    "a whole debate": read_whole_debate,
    "a turn's file": receive,
    "a call": lambda text: phrases.read(text, ["ada", "bo"], ["debate"]),
    "a call without its end": lambda text: phrases.refuse_unfinished(text, ["ada", "bo"], ["debate"]),
    "code": lambda text: [*code_blocks(text)],
    "a document": in_markdown,
    "a line": in_line,
    "a cell": in_cell,
    "an item": in_item,
    "a quotation": in_quote,
    "a page": in_html,
    "a terminal": lambda text: lines_of(printable(text), sys.stdout),
    "words": lambda text: (fold(text), slug(text), one_line(text), overlap(text, text), cut(text, 80), width(text)),
    "an escaped item": lambda text: unescape(escape(text)),
    "a workflow": lambda text: load(f"---\nname: a\ndescription: x\n---\n{text}", "a.md"),
    "a workflow's head": lambda text: load(f"---\n{text}\n---\n", "a.md"),
    "personas": lambda text: personas.parse(f"## a\n{text}", "a.md"),
}  # fmt: skip


UNITS = [
    pytest.param(unit, id=repr(unit), marks=() if place < EVERY_RUN else pytest.mark.full)
    for place, unit in enumerate(REPEATED)
]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("reader", READERS)
def test_four_times_the_text_takes_far_less_than_sixteen_times_as_long(reader: str, unit: str) -> None:
    read = READERS[reader]

    def cost(characters: int) -> float:
        text = unit * (characters // len(unit))
        times = []
        for _ in range(2):
            began = time.process_time()
            with suppress(CouncilError, UnicodeError):
                read(text)
            times.append(time.process_time() - began)
        return min(times)

    gc.disable()  # its passes over a large heap are nobody's fault here
    try:
        assert cost(32_000) <= 11 * cost(8_000) + 0.1
    finally:
        gc.enable()
