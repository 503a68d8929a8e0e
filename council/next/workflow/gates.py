"""Gates: after a phase that the user names, a person approves, rejects or vetoes what came out of it.

A gate is a phase of its own with the number of the phase that it follows, so no other turn's place changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from council.next.errors import UsageError
from council.next.replies.kinds import Choice, Text
from council.next.text import did_you_mean
from council.next.workflow.model import HUMAN, Phase, Ref, Step, Workflow

REPLY = {"gate": Choice(options=("approve", "reject", "veto")), "reason": Text(optional=True)}
ENDINGS = {"vetoed": "veto", "rejected": "reject"}  # how a debate ends at a gate, by the person's word
UNANSWERED = "unanswered"  # how it ends where a person was needed and is recorded as absent: silence approves nothing


def insert(workflow: Workflow, after: Iterable[str]) -> Workflow:
    """The workflow with a gate after each of these phases, by their names or roles."""
    gated = {find_phase(workflow, name).name for name in dict.fromkeys(after)}
    if not gated:
        return workflow
    phases: list[Phase] = []
    for phase in workflow.phases:
        phases += [phase, gate(workflow, phase)] if phase.name in gated else [phase]
    halt = {ending: Ref("denied", {"how": word}) for ending, word in ENDINGS.items()}
    return replace(workflow, phases=tuple(phases), halt={**workflow.halt, **halt})


def find_phase(workflow: Workflow, name: str) -> Phase:
    phase = workflow.phase(name)
    if phase is None:
        known = [one.name for one in workflow.phases]
        raise UsageError(f'{workflow.name} has no phase "{name}" to put a gate after; {did_you_mean(name, known)}')
    seats = workflow.seats(one for step in phase.steps for one in step.seats if isinstance(one, str))
    if seats and all(seat.is_person for seat in seats):
        raise UsageError(f"{workflow.name}: a person already decides in {phase.name}; it needs no gate")
    return phase


def gate(workflow: Workflow, phase: Phase) -> Phase:
    """The gate after a phase. It is skipped where the phase was."""
    name = f"{phase.name}-gate"
    if name in workflow.places():
        raise UsageError(f'{workflow.name}: a gate would be named "{name}", as a phase or step is; rename that')
    return Phase(
        name=name,
        number=phase.number,
        rounds=("1", "1"),
        when=Ref("ended", {phase.name: "any"}) if phase.when else None,
        until={"approved": Ref("some", {"gate": "approve"})},
        steps=(Step(name, "phase-gate", (HUMAN,), Ref("parallel"), (Ref(phase.name),), REPLY, "sonnet"),),
        title=f"Approval of {phase.title or phase.name.replace('-', ' ')}",
        numbered=False,
        gates=phase.name,
    )
