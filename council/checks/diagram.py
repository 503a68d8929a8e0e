"""Draws a workflow as a Mermaid flowchart: phases, their steps, and the rules that lead from one to the next."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from council.checks.reachability import list_tree_words
from council.engine.positions import find_refs
from council.speakers import registry
from council.workflow.model import (
    AllOf,
    AnyOf,
    Cast,
    Condition,
    Not,
    Phase,
    Ref,
    Seat,
    Step,
    Workflow,
)

SIGN = re.compile(r"(?!: )[^\w .,/()=+'?!·-]")
DONE = "done"
SHAPES = {"person": ("[/", "/]"), "machine": ("[[", "]]"), "cast": ("(", ")"), "seat": ("[", "]")}
CLASSES = (
    "classDef person fill:#fff3d6,stroke:#b7791f,color:#222",
    "classDef machine fill:#e8e8e8,stroke:#555,color:#222",
    "classDef cast stroke-dasharray: 5 3",
)
LooseEnds = list[tuple[str, str]]  # nodes whose arrows are still open, each with the label of its arrow


def mermaid(workflow: Workflow) -> str:
    """The flowchart's text, with a line break at its end."""
    return "\n".join(_Drawing(workflow).lines()) + "\n"


class _Drawing:
    """Boxes are drawn phase by phase, and arrows after them, because an arrow inside a subgraph pulls its nodes in."""

    def __init__(self, workflow: Workflow) -> None:
        self.workflow = workflow
        self.loose: LooseEnds = [("topic", "")]
        self.arrows: list[str] = []

    def lines(self) -> Iterator[str]:
        yield "flowchart TD"
        yield f"    topic([{quote(f'{self.workflow.name}: a topic')}])"
        for phase in self.workflow.phases:
            yield from (f"    {line}" for line in self.phase(phase))
        yield f"    {DONE}([{quote('the end')}])"
        self.join(DONE)
        yield from (f"    {line}" for line in (*self.tree(), *self.halts(), *self.arrows, *CLASSES))

    def phase(self, phase: Phase) -> Iterator[str]:
        """A frame with its steps. The arrows that leave it have the outcomes as labels."""
        name = f"p{phase.number}{'gate' * bool(phase.gates)}"  # a gate has the number of the phase before it
        past, inside = LooseEnds(), list[str]()
        if phase.when is not None:
            yield self.fork(f"{name}when", phase.when)
            past = [(f"{name}when", "else")]
        for number, step in enumerate(phase.steps, 1):
            inside += self.step(f"{name}s{number}", step)
        if _loops(phase) or phase.until:
            inside.append(f"{name}end{{{{{quote('after each round' if _loops(phase) else 'after it')}}}}}")
            self.join(f"{name}end")
            self.loose = [(f"{name}end", label) for label in _outcomes(phase)]
        if _loops(phase):
            self.arrow(f"{name}end", f"{name}s1{'when' * (phase.steps[0].when is not None)}", "else, the next round")
        self.loose += past
        yield f"subgraph {name}[{quote(f'{phase.name}, {_rounds(phase)}' if _loops(phase) else phase.name)}]"
        yield from (f"    {line}" for line in inside)
        yield "end"

    def step(self, node: str, step: Step) -> Iterator[str]:
        skipped: LooseEnds = []
        if step.when is not None:
            yield self.fork(f"{node}when", step.when)
            skipped = [(f"{node}when", "else")]
        yield self.box(node, step)
        self.join(node)
        self.loose = [(node, ""), *skipped]

    def fork(self, node: str, condition: Condition) -> str:
        self.join(node)
        self.loose = [(node, describe_condition(condition))]
        return f"{node}{{{quote('when')}}}"

    def join(self, node: str) -> None:
        """Lead all open arrows to this node."""
        for before, label in self.loose:
            self.arrow(before, node, label)
        self.loose = []

    def arrow(self, before: str, after: str, label: str, line: str = "-->") -> None:
        self.arrows.append(f"{before} {line}{f'|{quote(label)}|' if label else ''} {after}")

    def box(self, node: str, step: Step) -> str:
        """The box of a step: its name, who speaks in which order, what they see, and the answers."""
        kind = find_kind(self.workflow, step)
        parts = [step.name, self.who(step), "sees " + ", ".join(_ref(view, " and ") for view in step.sees)]
        parts += [f"answers {', '.join(name for name, _ in step.reply)}"] if step.reply else []
        left, right = SHAPES[kind]
        text = "<br>".join(map(escape, parts))
        return f'{node}{left}"{text}"{right}{"" if kind == "seat" else f":::{kind}"}'

    def who(self, step: Step) -> str:
        names = [_cast(one) if isinstance(one, Cast) else self.group(one) for one in step.seats]
        alone = len(find_seats(self.workflow, step)) == 1 and not any(isinstance(one, Cast) for one in step.seats)
        return ", ".join(names) + ("" if alone else f" · {_ref(step.order)}")

    def group(self, name: str) -> str:
        seats = [_seat(seat) for seat in self.workflow.declared_seats([name])]
        return f"{name} ({', '.join(seats)})" if name in self.workflow.groups and seats != [name] else seats[0]

    def tree(self) -> Iterator[str]:
        """The seats that are under others, with a line to the one above, if a step follows that."""
        if not any(list_tree_words(step) for _, step in self.workflow.steps()):
            return
        seats = {seat.name: seat for seat in self.workflow.all_seats()}
        drawn = [name for name in seats if seats[name].under or any(seat.under == name for seat in seats.values())]
        nodes = {name: f"seat{number}" for number, name in enumerate(drawn, 1)}
        if nodes:
            yield f"subgraph seats[{quote('who is under whom')}]"
            yield from (f"    {node}[{quote(name)}]" for name, node in nodes.items())
            yield "end"
        yield from (f"{nodes[seats[name].under]} --- {nodes[name]}" for name in drawn if seats[name].under in nodes)

    def halts(self) -> Iterator[str]:
        if self.workflow.halt:
            yield f"halt{{{{{quote('after each batch of turns')}}}}}"
            self.arrow("topic", "halt", "", "-.->")
        for outcome, condition in self.workflow.halt:
            self.arrow("halt", DONE, f"{outcome}: {describe_condition(condition)}", "-.->")


def find_seats(workflow: Workflow, step: Step) -> tuple[Seat, ...]:
    """The seats of a step that the workflow names."""
    return workflow.seats(name for name in step.seats if isinstance(name, str))


def find_kind(workflow: Workflow, step: Step) -> str:
    """The shape of a step's box: people, machines and cast seats have their own."""
    seats = find_seats(workflow, step)
    if any(seat.is_person for seat in seats):
        return "person"
    if any(registry.machine_of(seat) for seat in seats):
        return "machine"
    return "cast" if any(isinstance(one, Cast) for one in step.seats) else "seat"


def _seat(seat: Seat) -> str:
    """A seat with what it is about and what it runs: `tester of team: pytest, hidden tests`."""
    tests = seat.attributes.get("tests")
    work = [str(seat.attributes.get("run") or ""), f"{tests} tests" if tests else ""]
    about = f" of {seat.of}" if seat.of else ""
    return f"{seat.name}{about}" + (f": {', '.join(filter(None, work))}" if any(work) else "")


def _loops(phase: Phase) -> bool:
    return phase.max_rounds > 1


def _rounds(phase: Phase) -> str:
    if phase.min_rounds == phase.max_rounds:
        return f"{phase.max_rounds} round{'s' * (phase.max_rounds > 1)}"
    return f"{phase.min_rounds} to {phase.max_rounds} rounds"


def _outcomes(phase: Phase) -> Iterator[str]:
    for outcome, condition in phase.until:
        yield f"{outcome}: {describe_condition(condition)}"
    if not phase.until:
        yield f"after round {phase.max_rounds}"
    else:
        yield f"cap: after round {phase.max_rounds}" if _loops(phase) else "cap: else"


def describe_condition(condition: Condition) -> str:
    """A condition in words."""
    if isinstance(condition, Not):
        return f"not {_inner(condition.of)}"
    if isinstance(condition, AnyOf):
        return " or ".join(map(_inner, condition.of))
    if isinstance(condition, AllOf):
        return " and ".join(map(_inner, condition.of))
    return _ref(condition)


def _inner(condition: Condition) -> str:
    """A nested condition, in parentheses if it has several parts."""
    several = isinstance(condition, (AnyOf, AllOf)) and len(list(find_refs(condition))) > 1
    return f"({describe_condition(condition)})" if several else describe_condition(condition)


def _ref(ref: Ref, between: str = " or ") -> str:
    """A rule, an order or a view in words: `share stance agree, at 2/3`."""
    return f"{ref.name} {_value(ref.args, between)}".strip()


def _value(args: Any, between: str) -> str:
    if isinstance(args, dict):
        pairs = ((name, _value(value, between), isinstance(value, dict)) for name, value in args.items())
        return ", ".join(f"{name} ({value})" if nested else f"{name} {value}" for name, value, nested in pairs)
    if isinstance(args, list):
        return between.join(_value(one, between) for one in args)
    return {None: "", True: "on", False: "off"}[args] if args is None or isinstance(args, bool) else str(args)


def _cast(cast: Cast) -> str:
    less = f", without {'.'.join(cast.without)}" if cast.without else ""
    return f"whom {'.'.join(cast.source)} names{less}"


def quote(text: str) -> str:
    return f'"{escape(text)}"'


def escape(text: str) -> str:
    """Escape text for Mermaid: every character with a meaning in Mermaid or Markdown becomes its code."""
    return SIGN.sub(lambda sign: f"#{ord(sign.group())};", " ".join(text.replace("_", " ").split()))
