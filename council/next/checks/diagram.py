"""Draws a workflow as a Mermaid flowchart: each phase with its steps, and what leads from one phase to the next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from council.next.engine.planner import LIMIT
from council.next.text import join_words
from council.next.workflow.model import AllOf, AnyOf, Cast, Condition, Not, Phase, Ref, Step, Workflow

LINE = 44  # characters, after which a label goes on below
PLAIN = frozenset(" .,:;/%+*=-_()'·")


def draw(workflow: Workflow) -> str:
    return "\n".join(["flowchart TD", *list_lines(workflow)]) + "\n"


def list_lines(workflow: Workflow) -> Iterator[str]:
    yield f"    begin([{quoted(f'{workflow.name}: a question')}])"
    for number, phase in enumerate(workflow.phases, 1):
        yield from draw_phase(workflow, phase, number)
    yield '    over(["the end"])'
    for number, phase in enumerate(workflow.phases, 1):
        yield from draw_arrows(workflow, phase, number)
    for name, condition in workflow.halt.items():
        yield f"    halt{{{{{quoted(f'{name}, at any time: {describe(condition)}')}}}}} -.-> over"


def draw_phase(workflow: Workflow, phase: Phase, number: int) -> Iterator[str]:
    """The steps of a phase in a box, one below the other."""
    if phase.when:
        yield f"    p{number}when{{{quoted(describe(phase.when))}}}"
    least, most = workflow.span(phase)
    rounds = f"{least} to {most}" if least < most else str(most)
    title = (phase.title or phase.name) + (f", {rounds} rounds" if most > 1 else "")
    yield f"    subgraph p{number}[{quoted(title)}]"
    for place, step in enumerate(phase.steps, 1):
        shape = "([{}])" if is_for_persons(step, workflow) else "[{}]"
        yield f"        p{number}s{place}{shape.format(quoted(*describe_step(step, workflow)))}"
    steps = [f"p{number}s{place}" for place in range(1, len(phase.steps) + 1)]
    if len(steps) > 1:
        yield f"        {' --> '.join(steps)}"
    yield "    end"


def draw_arrows(workflow: Workflow, phase: Phase, number: int) -> Iterator[str]:
    """What leads into a phase, what has it repeated, and how it ends."""
    into = f"p{number}when" if phase.when else f"p{number}"
    if number == 1:
        yield f"    begin --> {into}"
    last = number == len(workflow.phases)
    after = "over" if last else f"p{number + 1}{'when' if workflow.phases[number].when else ''}"
    if phase.when:
        yield f"    p{number}when -->|yes| p{number}"
        yield f"    p{number}when -->|no| {after}"
    for name, condition in phase.until.items():
        yield f"    p{number} -->|{quoted(f'{name}: {describe(condition)}')}| {after}"
    if workflow.span(phase)[1] > 1:
        yield f"    p{number}s{len(phase.steps)} -->|next round| p{number}s1"
    yield f"    p{number} -->{f'|{LIMIT}|' if phase.until else ''} {after}"


def is_for_persons(step: Step, workflow: Workflow) -> bool:
    seats = workflow.seats(one for one in step.seats if isinstance(one, str))
    return bool(seats) and all(seat.is_person for seat in seats)


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


def describe(condition: Condition) -> str:
    """A condition, an order or a view in words."""
    if isinstance(condition, Not):
        inner = describe(condition.of)
        return f"not ({inner})" if isinstance(condition.of, AnyOf | AllOf) else f"not {inner}"
    if isinstance(condition, AnyOf | AllOf):
        sign = " and " if isinstance(condition, AllOf) else " or "
        return sign.join(
            f"({describe(one)})" if isinstance(one, AnyOf | AllOf) else describe(one) for one in condition.of
        )
    return f"{condition.name} {describe_value(condition.args)}".replace("_", " ").strip()


def describe_value(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {describe_value(one)}".strip() for name, one in value.items())
    if isinstance(value, list):
        return " or ".join(map(describe_value, value))
    return (
        ""
        if value is None
        else {True: "on", False: "off"}.get(value, str(value))
        if isinstance(value, bool)
        else str(value)
    )


def quoted(*lines: str) -> str:
    """A label of these lines. Every sign that Mermaid might read is written as the number of its letter."""
    return '"' + "<br>".join(escape(part) for line in lines for part in wrap(line)) + '"'


def wrap(line: str) -> Iterable[str]:
    import textwrap

    return textwrap.wrap(line, LINE) or [""]


def escape(text: str) -> str:
    return "".join(sign if sign.isalnum() or sign in PLAIN else f"#{ord(sign)};" for sign in text)
