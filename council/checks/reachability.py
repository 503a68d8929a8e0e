"""Finds what can never happen: a rule that counts answers that nobody gives by then, a view of later turns.

It only checks the order of the steps. `lint` checks the names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from council.engine.conditions import COMPARISON, PHASES, matches, rule
from council.engine.orders import order
from council.engine.positions import (
    RulePosition,
    bound_rounds,
    find_conditions,
    find_refs,
    list_answers,
    list_named,
    list_places,
)
from council.engine.views import inner_views, view
from council.protocols.dissent import SYNTHESIS
from council.text import join_words
from council.workflow.model import (
    AllOf,
    AnyOf,
    Cast,
    Condition,
    Kind,
    Not,
    Ref,
    Step,
    Workflow,
)
from council.workflow.types import answer_types


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


def list_tree_words(step: Step) -> list[str]:
    """The names of its order and its views that follow the seat key `under`."""
    orders = [step.order.name] if order.traits(step.order.name).of_tree else []
    return [*orders, *(name for name in list_views(step.sees) if view.traits(name).of_tree)]


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
