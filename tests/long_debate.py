"""A debate of many turns with replies of ordinary length, for what must not become slow or be done twice."""

from __future__ import annotations

from council.engine.planner import plan
from council.engine.scene import RecordedTurn
from council.workflow.loader import load
from council.workflow.model import Kind, Workflow

WORKFLOW = """---
name: long
seats: {members: [architect, designer, engineer, researcher], chair: chair}
phases:
  - {name: positions, sees: nothing}
  - name: challenge
    rounds: [2, 99]
    steps:
      - {name: respond, reply: {stance: agree | mixed | disagree, blocking: list}}
    until:
      agreed: {share: {stance: agree, at: 1}}
      same: {repeats: {over: 0.99, seats: every}}
  - {name: synthesis, role: synthesis, seats: chair, reply: {path: text}}
---
"""


def debate(turns: int) -> tuple[Workflow, dict[str, RecordedTurn]]:
    """The workflow and so many of its turns. Nobody agrees for long, and no reply is like another."""
    workflow = load(WORKFLOW, "long.md")
    said: dict[str, RecordedTurn] = {}
    while len(said) < turns:
        for due in plan(workflow, said).due[: turns - len(said)]:
            number = len(said)
            answers = [f"## {name.capitalize()}\n{answer(kind, number)}" for name, kind in due.step.reply]
            brief = "\n".join(words(number + line, 40) for line in range(60))
            said[due.id] = RecordedTurn("\n\n".join([words(number, 300), *answers]), brief)
    return workflow, said


def answer(kind: Kind, number: int) -> str:
    return kind.options[number % 3] if kind.type == "choice" else f"- {words(number, 9)}\n- {words(number + 1, 8)}"


def words(number: int, count: int) -> str:
    return " ".join(f"word{(number * 31 + place * 7) % 977}" for place in range(count)).capitalize() + "."
