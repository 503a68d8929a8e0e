"""Finds what can never happen: a rule that counts answers that nobody gives by then, a view of later turns.

It only checks the order of the steps. `lint` checks the names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from council.engine.conditions import ANSWERS, COMPARISON, PHASES, matches, rule
from council.engine.orders import order
from council.engine.planner import GRANT
from council.engine.views import inner_views, view
from council.protocols.dissent import SYNTHESIS
from council.text import join_words
from council.workflow.model import (
    MOST_ROUNDS,
    AllOf,
    AnyOf,
    Cast,
    Condition,
    Kind,
    Not,
    Phase,
    Ref,
    Step,
    Workflow,
)
from council.workflow.registry import CheckedHook
from council.workflow.types import answer_types


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
    held = rule.arguments(ref).get(rule.traits(ref.name).inner)
    if isinstance(held, dict) and len(held) == 1:
        yield Ref(*next(iter(held.items())))


def list_named(hook: CheckedHook[Any, Any], ref: Ref) -> list[str]:
    """The phases and steps that the arguments of a rule, an order or a view name."""
    given = hook.arguments(ref)
    held = (given.get(name) for name in hook.traits(ref.name).places)
    return [str(name) for one in held if one for name in (one if isinstance(one, list) else [one])]


def list_answers(ref: Ref) -> dict[str, Any]:
    """The answers that a rule reads, each with the values that it looks for, or None for any."""
    traits, given = rule.traits(ref.name), rule.arguments(ref)
    if traits.further == ANSWERS:
        return rule.further(ref)
    read = {str(given[name]): given.get(traits.choices.get(name, "")) for name in traits.reads if given.get(name)}
    return {name: None if isinstance(values, dict) else values or None for name, values in read.items()}


def list_phases(ref: Ref) -> dict[str, Any]:
    """The phases whose outcome a rule reads, each with the outcomes that it looks for."""
    return rule.further(ref) if rule.traits(ref.name).further == PHASES else {}


def find_unreachable(workflow: Workflow) -> Iterator[str]:
    """Every rule, view and cast that needs something that cannot exist by then."""
    for place, condition in find_conditions(workflow):
        for ref in find_refs(condition):
            yield from (f"{place.what}: {ref.name}: {why}" for why in _explain_never(ref, place, workflow))
    for number, phase in enumerate(workflow.phases):
        earlier = [step for one in workflow.phases[:number] for step in one.steps]
        for before, step in enumerate(phase.steps):
            in_turn = not order.traits(step.order.name).parallel
            inner = phase.steps if bound_rounds(phase) > 1 else phase.steps[: before + in_turn]
            what = f"phase {phase.name}, step {step.name}"
            spoken = {one.name for one in (*earlier, *inner)} | {one.name for one in workflow.phases[:number]}
            spoken |= {phase.name} if inner else set()
            yield from (f"{what}: {why}" for why in _find_unseen(step, spoken, list_places(workflow)))


def _explain_never(ref: Ref, place: RulePosition, workflow: Workflow) -> Iterator[str]:
    given, names, traits = rule.arguments(ref), set(list_answers(ref)), rule.traits(ref.name)
    steps = place.counted if traits.counts else place.heard
    asking = [{name for name, _ in step.reply} for step in steps]
    everywhere = {name for _, step in workflow.steps() for name, _ in step.reply}
    if names and names <= everywhere and not any(names <= one for one in asking):
        by_then = "of this phase" if steps != place.heard else "spoken by then"
        yield f"no step {by_then} asks for {join_words(sorted(names))}{' together' * (len(names) > 1)}"
    if traits.in_round and place.before:
        yield "the `when` of a phase is checked before its first round; put it on a step"
    elif traits.since and (number := find_first_round(ref)) > (last := place.max_rounds):
        yield f"there are at most {last} rounds, so round {number} never comes; give the phase more `rounds`"
    if traits.author and given:
        yield from _find_unwritten(ref, str(given[traits.author]), workflow)
    if traits.never and (why := traits.never(given)):
        yield why
    spoken = {step.name for step in place.heard}
    spoken |= {phase.name for phase in workflow.phases if spoken & {step.name for step in phase.steps}}
    for name in list_named(rule, ref):
        if name in list_places(workflow) - spoken:
            yield f'"{name}" comes later, so there is nothing to judge yet'
    for phase in list_phases(ref):
        if phase not in place.over and phase in list_places(workflow):
            yield f"the phase {phase} is not over by then, so it has no outcome yet"


def _find_unwritten(ref: Ref, by: str, workflow: Workflow) -> Iterator[str]:
    written = f"{{{ref.name}: {{{rule.traits(ref.name).author}: …}}}}"
    if not by and not workflow.role(SYNTHESIS):
        yield f"no phase has the role {SYNTHESIS}; name the step that writes it: {written}"
    if by and by not in list_places(workflow):
        yield f'there is no phase or step "{by}"; name the one that writes it: {written}'


def find_first_round(condition: Condition) -> int:
    """The first round of its phase in which a condition can hold."""
    if isinstance(condition, AllOf):
        return max(map(find_first_round, condition.of))
    if isinstance(condition, AnyOf):
        return min(map(find_first_round, condition.of))
    if isinstance(condition, Not):
        return 1
    number = str(rule.arguments(condition).get(rule.traits(condition.name).since))
    return int(number) if re.fullmatch(r"[1-9]\d?", number) else 1


def list_places(workflow: Workflow) -> set[str]:
    """The names of its phases and steps."""
    return {phase.name for phase in workflow.phases} | {step.name for _, step in workflow.steps()}


def _find_unseen(step: Step, spoken: set[str], known: set[str]) -> Iterator[str]:
    """A view or a cast that refers to a later step."""
    for name in list_views(step.sees):
        if name in known - spoken:
            yield f'sees: "{name}" comes later, so there is nothing to see yet'
    for name in list_named(order, step.order):
        if name in known - spoken:
            yield f'order: "{name}" comes later, so it says of nobody anything yet'
    for cast in step.seats:
        source = cast.source[0] if isinstance(cast, Cast) else ""
        if source in known - spoken:
            yield f'seats: "{source}" comes later, so nobody is named yet'


def list_views(views: Iterable[Ref]) -> Iterator[str]:
    """The names of views, of the views inside them, and of the phases and steps that they name."""
    for ref in views:
        yield ref.name
        yield from list_named(view, ref)
        yield from list_views(inner_views(ref))


def can_match(kind: Kind, wanted: Any) -> bool:
    """Whether an answer of this type can ever match a value."""
    text, compares = str(wanted), COMPARISON.fullmatch(str(wanted).strip()) is not None
    if text == "any" or kind.type in answer_types():
        return True
    if kind.type == "choice":
        return any(matches(option, wanted) for option in kind.options)
    if kind.type not in ("range", "integer"):
        return not compares
    low, high = (kind.low, kind.high) if kind.type == "range" else (-1e12, 1e12)
    named = [float(found) for found in re.findall(r"-?\d+(?:\.\d+)?", text)]
    near = [value + step for value in named for step in (-1, -0.001, 0, 0.001, 1)]
    return any(matches(value, wanted) for value in (low, high, *near) if low <= value <= high)


def describe_type(kind: Kind) -> str:
    """A type of answer in words."""
    if kind.type == "range":
        return f"a number from {kind.low:g} to {kind.high:g}"
    return {"integer": "a whole number", "list": "a list", "code": "code"}.get(kind.type, "text")
