"""What can never happen in a workflow, whatever is said: phases and steps that never speak, endings that never come."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from council.next.engine.conditions import judge
from council.next.engine.scene import Scene
from council.next.errors import UsageError
from council.next.workflow.model import MOST_ROUNDS, AllOf, AnyOf, Condition, Not, Phase, Ref, Workflow

BOTH = frozenset((True, False))


def possible(
    condition: Condition, workflow: Workflow, cap: int, fixed: bool, ended: Mapping[str, set[str]] | None = None
) -> frozenset[bool]:
    """Whether a condition can hold, and whether it can fail, in a phase of at most `cap` rounds. With `fixed`, the
    options are what they are. `ended` has the endings that phases can have had."""
    if isinstance(condition, Not):
        return frozenset(not one for one in possible(condition.of, workflow, cap, fixed, ended))
    if isinstance(condition, AnyOf | AllOf):
        parts = [possible(one, workflow, cap, fixed, ended) for one in condition.of]
        decisive = isinstance(condition, AnyOf)  # the value of one part that is the value of the whole
        found = {decisive} if any(decisive in part for part in parts) else set()
        return frozenset(found | ({not decisive} if all((not decisive) in part for part in parts) else set()))
    if condition.name == "option" and fixed:
        return frozenset((judge(condition, Scene(workflow)).holds,))
    if condition.name == "last_round" and cap == 1:
        return frozenset((True,))
    if condition.name == "from_round" and first_round(condition, workflow) > cap:
        return frozenset((False,))
    if condition.name == "ended" and ended is not None and isinstance(condition.args, dict):
        can = all(can_have_ended(ended.get(name), value) for name, value in condition.args.items())
        return BOTH if can else frozenset((False,))
    return BOTH


def can_have_ended(endings: set[str] | None, wanted: object) -> bool:
    """Whether a phase with these endings can have ended so. Of a phase that comes later, `names` says what is wrong."""
    listed = [str(one) for one in (wanted if isinstance(wanted, list) else [wanted])]
    return endings is None or any(one in endings or (one == "any" and bool(endings)) for one in listed)


def first_round(ref: Ref, workflow: Workflow) -> float:
    value = ref.args.get("number") if isinstance(ref.args, dict) else ref.args
    try:
        return 1 if str(value) in workflow.options else workflow.number(value)  # an option can be set to anything
    except UsageError:
        return 1  # `names` says what is wrong with it


def find_unreachable(workflow: Workflow) -> Iterator[str]:
    """One sentence for each phase, step and ending that can never come, with any options."""
    ended: dict[str, set[str]] = {}
    for phase in workflow.phases:
        cap = most_rounds(phase, workflow)

        def can(condition: Condition | None, value: bool = True, cap: int = cap) -> bool:
            return condition is None or value in possible(condition, workflow, cap, False, ended)

        if not can(phase.when):
            yield f"phase {phase.name}: when: it can never hold, so this phase never begins"
            ended[phase.name] = set()
            continue
        spoken = [step for step in phase.steps if can(step.when)]
        for step in phase.steps:
            if step not in spoken:
                rounds = f"the phase has at most {cap} round{'s' * (cap != 1)}"
                yield f"phase {phase.name}, step {step.name}: when: it can never hold ({rounds}), so nobody speaks here"
        left, over = [name for name in phase.until if can(phase.until[name])], ""
        for name, condition in phase.until.items():
            if name not in left:
                yield f"phase {phase.name}: until {name}: it can never hold, so the phase never ends so"
            elif over:
                yield f'phase {phase.name}: until {name}: "{over}" always holds before it, so it is never looked at'
            over = over or (name if name in left and not can(condition, False) else "")
        ended[phase.name] = {*left, *workflow.halt, "limit" if phase.until else "done"}


def most_rounds(phase: Phase, workflow: Workflow) -> int:
    """The most rounds with any options."""
    return MOST_ROUNDS if phase.rounds[1] in workflow.options else workflow.span(phase)[1]
