"""Checks all that a workflow names, before anything is spent: no mistake is found in the third round.

The loader has checked the form: keys, names, kinds of answers, rounds, seats and groups. Here, rules, orders and views
must exist and take the arguments that they are given; each is tried on a debate in which nobody has spoken, so it
refuses what it cannot read. Phases, answers and endings must exist at the place that names them. Templates, personas,
tiers and speakers depend on the settings and are not looked at here. Nor is whether an `until` can ever hold: that
depends on what is said, and the limit of rounds ends the phase.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from inspect import Parameter
from typing import Any

from council.next import protocols
from council.next.engine.conditions import COMPARISONS, matches
from council.next.engine.planner import DONE, LIMIT
from council.next.engine.registry import Registry, orders, rules, views
from council.next.engine.scene import Scene
from council.next.engine.views import is_place
from council.next.errors import UsageError
from council.next.replies.kinds import Choice, Items
from council.next.replies.read import Reply
from council.next.schema import LONGEST_MESSAGE
from council.next.text import did_you_mean, fold, one_line
from council.next.workflow.model import Cast, Condition, Phase, Ref, Seat, Step, Workflow, refs

TIMES, BUDGET, UNLIMITED = ("round_timeout", "total_timeout", "checkpoint_timeout"), "token_budget", "unlimited"
LEAST_BUDGET, MOST = 400, 1e9
REGISTERED = protocols.REGISTERED  # importing them makes their words known


def check(workflow: Workflow) -> Workflow:
    """The workflow, or a UsageError with all that is wrong with it, one sentence a line."""
    if problems := find_problems(workflow):
        raise UsageError("\n".join(f"{workflow.name}: {problem}" for problem in problems))
    return workflow


def find_problems(workflow: Workflow) -> list[str]:
    checker = Checker(workflow, Scene(workflow))
    for phase in workflow.phases:
        checker.check_phase(phase)
    for name, condition in workflow.halt.items():
        checker.check_condition(condition, f"halt {name}")
    return [*checker.problems, *check_limits(workflow)]


def check_limits(workflow: Workflow) -> Iterator[str]:
    """A limit that means nothing would limit nothing, or stop a debate that has begun."""
    for name in (*TIMES, BUDGET):
        value = str(workflow.options.get(name, UNLIMITED))
        unit, least = ("seconds", 0.001) if name in TIMES else ("tokens", LEAST_BUDGET)
        is_number = value.isascii() and value.replace(".", "", name in TIMES).isdecimal()
        if value != UNLIMITED and not (is_number and least <= float(value) < MOST) and (name, value) != (BUDGET, "0"):
            yield f'options: {name}: "{one_line(value)}": write a number of {unit}, at least {least}, or {UNLIMITED}'


@dataclass
class Checker:
    """What is known so far: only the phases up to here can have been held, and only their answers be given."""

    workflow: Workflow
    scene: Scene
    problems: list[str] = field(default_factory=list)
    asked_in: dict[str, Reply] = field(default_factory=dict)  # the answers of each phase and step
    endings: dict[str, set[str]] = field(default_factory=dict)

    def check_phase(self, phase: Phase) -> None:
        self.scene.phase, self.scene.round, self.scene.cap = phase.name, 1, self.workflow.span(phase)[1]
        where = f"phase {phase.name}"
        if phase.when:
            self.check_condition(phase.when, f"{where}: when")
        for place in (phase.name, *(step.name for step in phase.steps)):
            if place in views:
                self.report(where, [f'"{place}" is the name of a view; give it another name'])
        for step in phase.steps:
            for place in (phase.name, step.name):
                self.asked_in[place] = {**self.asked_in.get(place, {}), **step.reply}
        for step in phase.steps:
            self.check_step(step, where if len(phase.steps) == 1 else f"{where}, step {step.name}")
        for name, condition in phase.until.items():
            self.check_condition(condition, f"{where}: until {name}")
        self.endings[phase.name] = {*phase.until, LIMIT if phase.until else DONE}

    def check_step(self, step: Step, where: str) -> None:
        if step.when:
            self.check_condition(step.when, f"{where}: when")
        seats = self.workflow.seats(name for name in step.seats if isinstance(name, str))
        self.try_out(orders, step.order, f"{where}: order", seats, self.scene)
        for view in step.sees:
            if not is_place(view, self.scene):
                self.try_out(views, view, f"{where}: sees", (seats or (Seat(""),))[0], self.scene)
            elif view.name not in self.asked_in:
                self.report(f"{where}: sees", [f'"{view.name}" comes later, so it shows nothing'])
        for cast in (one for one in step.seats if isinstance(one, Cast)):
            for source in filter(None, (cast.source, cast.without)):
                self.report(f"{where}: seats", self.find_source(source))

    def check_condition(self, condition: Condition, where: str) -> None:
        for ref in refs(condition):
            self.try_out(rules, ref, where, self.scene)

    def try_out(self, registry: Registry, ref: Ref, where: str, *given: Any) -> None:
        try:
            arguments = list(registry.arguments(ref))
            for name, parameter, value in arguments:
                self.report(f"{where}: {ref.name}", self.find_wrong(name, parameter, value, where))
            registry.call(ref, *given)
        except UsageError as wrong:
            self.report(where, [str(wrong).removeprefix(f"{self.workflow.name}: ")])

    def report(self, where: str, problems: Iterable[str]) -> None:
        self.problems += [one_line(f"{where}: {problem}", LONGEST_MESSAGE) for problem in problems]

    def find_wrong(self, name: str, parameter: Parameter, value: Any, where: str) -> Iterator[str]:
        """What an argument names that there is not, by the annotation of the function's parameter."""
        meaning = str(parameter.annotation)
        if meaning == "Place":
            yield from unknown("phase or step before the end of this one", value, self.asked_in)
        elif meaning == "Source" and value:
            yield from self.find_source(value)
        elif meaning == "Ending":
            yield from unknown("phase before this one", name, self.endings)
            for ending in as_list(value) if name in self.endings else ():
                yield from unknown(f"ending of {name}", ending, {*self.endings[name], "any"})
        elif meaning == "Answer" and parameter.kind is not parameter.VAR_KEYWORD:
            yield from unknown("answer asked for so far", value, self.asked()) if value else ()
        elif meaning == "Answer":
            yield from unknown("answer asked for so far", name, self.asked())
            for wanted in as_list(value):
                matches(None, wanted, self.scene)
                yield from self.find_wrong_value(name, str(wanted))
        elif "Condition" in meaning and isinstance(value, dict):
            for ref in value.items():
                self.try_out(rules, Ref(*ref), where, self.scene)

    def asked(self) -> set[str]:
        return {name for reply in self.asked_in.values() for name in reply}

    def find_wrong_value(self, name: str, wanted: str) -> Iterator[str]:
        """A value that no reply can have is refused where all answers of this name are choices."""
        kinds = [reply[name] for reply in self.asked_in.values() if name in reply]
        if not kinds or not all(isinstance(kind, Choice) for kind in kinds) or wanted == "any":
            return
        options = {option for kind in kinds for option in kind.options}
        if wanted.partition(" ")[0] in COMPARISONS:
            yield f'{name}: "{wanted}" compares a word; it is one of {", ".join(sorted(options))}'
        elif fold(wanted) not in map(fold, options):
            yield from unknown(f"answer to {name}", wanted, options)

    def find_source(self, source: str) -> Iterator[str]:
        step, dot, answer = source.partition(".")
        asked = self.asked_in.get(step, {})
        if not dot:
            yield f'"{source}" must be a step and one of its answers, as in analyze.perspectives'
        elif step not in self.asked_in:
            yield from unknown("phase or step before the end of this one", step, self.asked_in)
        elif not isinstance(asked.get(answer), Items | None):
            yield f'"{source}" must be a list of names'
        else:
            yield from unknown(f"answer asked for in {step}", answer, asked)


def unknown(noun: str, value: Any, known: Iterable[str]) -> Iterator[str]:
    if not isinstance(value, str) or value not in {*known}:
        yield f'"{value}" is no {noun}; {did_you_mean(str(value), known)}'


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
