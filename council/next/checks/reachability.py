"""What can never happen in a workflow, whatever is said: phases and steps that never speak, endings that never come."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from council.next.engine.conditions import judge
from council.next.engine.scene import Scene
from council.next.errors import UsageError
from council.next.workflow.model import MOST_ROUNDS, AllOf, AnyOf, Condition, Not, Workflow


def settled(condition: Condition | None, workflow: Workflow, cap: int, fixed: bool = False) -> bool | None:
    """What a condition always comes to in a phase of at most `cap` rounds, or None if that depends on what is said.

    With `fixed`, the options are what they are; otherwise they can be set to anything."""
    if condition is None:
        return True
    if isinstance(condition, Not):
        inner = settled(condition.of, workflow, cap, fixed)
        return None if inner is None else not inner
    if isinstance(condition, AnyOf | AllOf):
        parts = {settled(one, workflow, cap, fixed) for one in condition.of}
        decisive = isinstance(condition, AnyOf)  # the value of one part that is the value of the whole
        return decisive if decisive in parts else None if None in parts else not decisive
    if condition.name == "option" and fixed:
        return judge(condition, Scene(workflow)).holds
    if condition.name == "last_round" and cap == 1:
        return True
    if condition.name == "from_round":
        first = condition.args.get("number") if isinstance(condition.args, dict) else condition.args
        with suppress(UsageError):  # `names` says what is wrong with it
            if str(first) not in workflow.options and workflow.number(first) > cap:
                return False
    return None


def find_unreachable(workflow: Workflow) -> Iterator[str]:
    """One sentence for each phase, step and ending that can never come, with any options."""
    for phase in workflow.phases:
        cap = MOST_ROUNDS if phase.rounds[1] in workflow.options else workflow.span(phase)[1]
        if settled(phase.when, workflow, cap) is False:
            yield f"phase {phase.name}: when: it can never hold, so this phase never begins"
            continue
        for step in phase.steps:
            if settled(step.when, workflow, cap) is False:
                rounds = f"the phase has at most {cap} round{'s' * (cap != 1)}"
                yield f"phase {phase.name}, step {step.name}: when: it can never hold ({rounds}), so nobody speaks here"
        over = ""
        for name, condition in phase.until.items():
            holds = settled(condition, workflow, cap)
            if holds is False:
                yield f"phase {phase.name}: until {name}: it can never hold, so the phase never ends so"
            elif over:
                yield f'phase {phase.name}: until {name}: "{over}" always holds before it, so it is never looked at'
            over = over or (name if holds else "")
