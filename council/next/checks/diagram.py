"""Draws a workflow as a Mermaid flowchart: each phase with its steps, and what leads from one phase to the next."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from council.next.engine.planner import LIMIT
from council.next.text import join_words
from council.next.workflow.model import AllOf, AnyOf, Cast, Condition, Not, Phase, Ref, Step, Workflow

LINE = 44  # characters, after which a label goes on below
PLAIN = frozenset(" .,:;/%+*=-_()'·")


def draw(workflow: Workflow) -> str:
    lines = ["flowchart TD", f"    begin([{quoted(f'{workflow.name}: a question')}])"]
    doors = [f"p{number}when" if phase.when else f"p{number}" for number, phase in enumerate(workflow.phases, 1)]
    for number, phase in enumerate(workflow.phases, 1):
        lines += draw_phase(workflow, phase, f"p{number}")
    lines += ['    over(["the end"])', f"    begin --> {doors[0]}"]
    for number, (phase, after) in enumerate(zip(workflow.phases, [*doors[1:], "over"], strict=True), 1):
        lines += draw_arrows(workflow, phase, f"p{number}", after)
    for name, condition in workflow.halt.items():
        lines.append(f"    halt{{{{{quoted(f'{name}, at any time: {describe(condition)}')}}}}} -.-> over")
    return "\n".join(lines) + "\n"


def draw_phase(workflow: Workflow, phase: Phase, box: str) -> Iterator[str]:
    """The steps of a phase in a box, one below the other."""
    if phase.when:
        yield f"    {box}when{{{quoted(describe(phase.when))}}}"
    least, most = workflow.span(phase)
    rounds = f"{least} to {most}" if least < most else str(most)
    title = (phase.title or phase.name) + (f", {rounds} rounds" if most > 1 else "")
    yield f"    subgraph {box}[{quoted(title)}]"
    for place, step in enumerate(phase.steps, 1):
        seats = workflow.seats(one for one in step.seats if isinstance(one, str))
        shape = "([{}])" if seats and all(seat.is_person for seat in seats) else "[{}]"
        yield f"        {box}s{place}{shape.format(quoted(*describe_step(step, workflow)))}"
    if len(phase.steps) > 1:
        yield f"        {' --> '.join(f'{box}s{place}' for place in range(1, len(phase.steps) + 1))}"
    yield "    end"


def draw_arrows(workflow: Workflow, phase: Phase, box: str, after: str) -> Iterator[str]:
    """What has a phase repeated, and how it ends."""
    if phase.when:
        yield f"    {box}when -->|yes| {box}"
        yield f"    {box}when -->|no| {after}"
    for name, condition in phase.until.items():
        yield f"    {box} -->|{quoted(f'{name}: {describe(condition)}')}| {after}"
    if workflow.span(phase)[1] > 1:
        yield f"    {box}s{len(phase.steps)} -->|next round| {box}s1"
    yield f"    {box} -->{f'|{LIMIT}|' if phase.until else ''} {after}"


def describe_step(step: Step, workflow: Workflow) -> Iterator[str]:
    """Its name, who speaks and in which order, what they read, which answers they give, and when it is spoken."""
    yield step.name
    names = [f"those in {one.source}" if isinstance(one, Cast) else describe_seats(one, workflow) for one in step.seats]
    yield join_words(names) + ("" if step.order == Ref("parallel") else f" · {describe(step.order)}")
    yield f"sees {join_words(map(describe, step.sees))}"
    if step.reply:
        yield f"answers {', '.join(name.replace('_', ' ') for name in step.reply)}"
    if step.when:
        yield f"only when {describe(step.when)}"


def describe_seats(name: str, workflow: Workflow) -> str:
    members = [seat.name for seat in workflow.groups.get(name, ())]
    return name if members in ([], [name]) else f"{name} ({', '.join(members)})"


def describe(condition: Condition, is_part: bool = False) -> str:
    """A condition, an order or a view in words."""
    if isinstance(condition, Not):
        return f"not {describe(condition.of, True)}"
    if isinstance(condition, AnyOf | AllOf):
        sign = " and " if isinstance(condition, AllOf) else " or "
        text = sign.join(describe(one, True) for one in condition.of)
        return f"({text})" if is_part else text
    return f"{condition.name} {describe_value(condition.args)}".replace("_", " ").strip()


def describe_value(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {describe_value(one)}".strip() for name, one in value.items())
    if isinstance(value, list):
        return " or ".join(map(describe_value, value))
    if isinstance(value, bool):
        return "on" if value else "off"
    return "" if value is None else str(value)


def quoted(*lines: str) -> str:
    """A label of these lines. Every sign that Mermaid might read is written as the number of its letter."""
    parts = [part for line in lines for part in textwrap.wrap(line, LINE) or [""]]
    plain = ("".join(sign if sign.isalnum() or sign in PLAIN else f"#{ord(sign)};" for sign in part) for part in parts)
    return f'"{"<br>".join(plain)}"'
