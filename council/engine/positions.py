"""Every rule of a workflow with its place: what was said by then, and how often its phase may repeat."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from council.engine.conditions import ANSWERS, rule
from council.engine.planner import GRANT
from council.workflow.model import (
    MOST_ROUNDS,
    AllOf,
    AnyOf,
    Condition,
    Not,
    Phase,
    Ref,
    Step,
    Workflow,
)
from council.workflow.registry import CheckedHook


@dataclass(frozen=True)
class RulePosition:
    """The place of a rule: the steps heard by then, those whose answers count, the finished phases, the last round."""

    what: str
    heard: tuple[Step, ...]
    counted: tuple[Step, ...]
    over: tuple[str, ...]
    max_rounds: int
    before: bool = False


def find_conditions(workflow: Workflow) -> Iterator[tuple[RulePosition, Condition]]:
    """Every condition of a workflow with its place."""
    everything = tuple(step for _, step in workflow.steps())
    names = tuple(phase.name for phase in workflow.phases)
    for outcome, condition in workflow.halt:
        longest = max(map(bound_rounds, workflow.phases))
        yield RulePosition(f"halt: {outcome}", everything, everything, names, longest), condition
    for number, phase in enumerate(workflow.phases):
        what, over = f"phase {phase.name}", names[:number]
        earlier = tuple(step for one in workflow.phases[:number] for step in one.steps)
        if phase.when is not None:
            yield RulePosition(f"{what}: when", earlier, earlier, over, 0, before=True), phase.when
        for outcome, condition in phase.until:
            heard = (*earlier, *phase.steps)
            yield RulePosition(f"{what}: until: {outcome}", heard, phase.steps, over, bound_rounds(phase)), condition
        for place, step in enumerate(phase.steps):
            if step.when is not None:
                heard = (*earlier, *phase.steps[: None if bound_rounds(phase) > 1 else place])
                yield (
                    RulePosition(f"{what}, step {step.name}: when", heard, heard, over, bound_rounds(phase)),
                    step.when,
                )


def bound_rounds(phase: Phase) -> int:
    """The maximum rounds of a phase: `MOST_ROUNDS` if a person may grant more, or if an option sets the number."""
    grants = any(name == GRANT for step in phase.steps for name, _ in step.reply)
    return MOST_ROUNDS if grants or not all(map(str.isdigit, phase.rounds)) else phase.max_rounds


def find_refs(condition: Condition) -> Iterator[Ref]:
    if isinstance(condition, Not):
        yield from find_refs(condition.of)
    elif isinstance(condition, (AnyOf, AllOf)):
        for one in condition.of:
            yield from find_refs(one)
    else:
        yield condition
        yield from find_inner(condition)


def find_inner(ref: Ref) -> Iterator[Ref]:
    """The rule inside a rule, as in `{vote: {among: {passes: trial}}}`."""
    inner = rule.traits(ref.name).inner
    held = rule.arguments(ref).get(inner) if inner else None
    if isinstance(held, dict) and len(held) == 1:
        yield Ref(*next(iter(held.items())))


def list_named(hook: CheckedHook[Any, Any], ref: Ref) -> list[str]:
    """The phases and steps that the arguments of a rule, an order or a view name."""
    given = hook.arguments(ref)
    held = (given.get(name) for name in hook.traits(ref.name).places)
    return [str(name) for one in held if one for name in (one if isinstance(one, list) else [one])]


def list_places(workflow: Workflow) -> set[str]:
    """The names of its phases and steps."""
    return {phase.name for phase in workflow.phases} | {step.name for _, step in workflow.steps()}


def list_answers(ref: Ref) -> dict[str, Any]:
    """The answers that a rule reads, each with the values that it looks for, or None for any."""
    traits, given = rule.traits(ref.name), rule.arguments(ref)
    if traits.further == ANSWERS:
        return rule.further(ref)
    read = {str(given[name]): given.get(traits.choices.get(name, "")) for name in traits.reads if given.get(name)}
    return {name: None if isinstance(values, dict) else values or None for name, values in read.items()}
