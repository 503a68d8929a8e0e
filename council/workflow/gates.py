"""Gates by name: after a phase, a person approves, rejects or vetoes; only an approval lets the debate go on.

A gate is a phase of its own, put into the workflow when its options are set. It has the number of the phase that it
follows, so no other turn moves, and the option is frozen with the session like every other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from council.errors import UsageError
from council.text import did_you_mean
from council.workflow import declare
from council.workflow.model import HUMAN, LONGEST_NAME, Condition, Kind, Phase, Ref, Step, Workflow

AFTER = declare.option(
    "gate_after", "phases, with commas between them, after which a person must approve; `--gate PHASE` sets it"
)
TIMEOUT = declare.option(
    "gate_timeout", "seconds that a waiting run leaves for an answer at a gate; then it is recorded as absent"
)
EVERYWHERE = {AFTER: "none", TIMEOUT: "1800"}  # options of every workflow; the timeout only with a gate
NONE = "none"
GATE = declare.answer("gate", "at a gate: approve, reject or veto")
REASON = "reason"
PROMPT = "phase-gate"
APPROVE, REJECT, VETO = ANSWERS = ("approve", "reject", "veto")
REPLY = ((GATE, Kind("choice", options=ANSWERS)), (REASON, Kind("text")))
REJECTED, VETOED, NOT_APPROVED = "rejected", "vetoed", "not approved"
DENIED = "denied"  # the rule that ends the debate


def insert(workflow: Workflow) -> Workflow:
    """The workflow with the gates that its options ask for. Raises UsageError for a gate that would mean nothing."""
    plain = tuple(phase for phase in workflow.phases if not phase.gates)
    names = [name.strip() for name in str(workflow.options.get(AFTER, NONE)).split(",")]
    gated = [] if names == [NONE] else [find_phase(workflow, name) for name in names]
    workflow = replace(workflow, phases=plain, halt=tuple(_without_gates(workflow)))
    if not gated:
        return workflow
    taken = {name for phase in plain for name in (phase.name, *(step.name for step in phase.steps))}
    if clash := next((name for phase in gated if (name := _name(phase)) in taken), ""):
        raise UsageError(f'{workflow.name}: a gate would be named "{clash}", as another phase or step is; rename that')
    phases = [part for phase in plain for part in ((phase, make_gate(phase)) if phase in gated else (phase,))]
    at = [_name(phase) for phase in gated]
    halt = tuple((outcome, Ref(DENIED, {"at": at, "how": outcome})) for outcome in (VETOED, REJECTED, NOT_APPROVED))
    options = {**workflow.options, TIMEOUT: workflow.options.get(TIMEOUT, EVERYWHERE[TIMEOUT])}
    return replace(workflow, phases=tuple(phases), halt=(*workflow.halt, *halt), options=options)


def add(asked: str, more: str) -> str:
    """The gates that either asks for."""
    names = [name.strip() for name in f"{asked},{more}".split(",")]
    return ",".join(dict.fromkeys(name for name in names if name not in ("", NONE))) or NONE


def find_phase(workflow: Workflow, name: str) -> Phase:
    """The phase of that name, or with that role."""
    phases = {phase.name: phase for phase in workflow.phases if not phase.gates}
    phase = phases.get(name) or phases.get(workflow.role(name))
    if phase is None:
        raise UsageError(f'{workflow.name} has no phase "{name}" to put a gate after; {did_you_mean(name, phases)}')
    if all(_by_people(workflow, step) for step in phase.steps):
        raise UsageError(f"{workflow.name}: in {name}, a person decides already; a gate after it would ask them again")
    return phase


def _by_people(workflow: Workflow, step: Step) -> bool:
    named = [name for name in step.seats if isinstance(name, str)]
    return len(named) == len(step.seats) and all(seat.is_person for seat in workflow.declared_seats(named))


def make_gate(phase: Phase) -> Phase:
    """The gate after a phase. It is skipped where the phase was."""
    name = _name(phase)
    held = Ref("outcome", {phase.name: "any"})
    step = Step(name, PROMPT, (HUMAN,), Ref("parallel"), (Ref(phase.name),), REPLY, "sonnet", None)
    return Phase(
        name=name, number=phase.number, min_rounds=1, max_rounds=1, when=None if phase.when is None else held,
        until=(("approved", Ref("some", {GATE: APPROVE})),), steps=(step,), gates=phase.name, numbered=False,
        title=f"Gate after {phase.title or phase.name.replace('-', ' ')}"[:LONGEST_NAME],
    )  # fmt: skip


def _name(phase: Phase) -> str:
    return f"{phase.name[: LONGEST_NAME - 5]}-gate"


def _without_gates(workflow: Workflow) -> Iterator[tuple[str, Condition]]:
    for outcome, condition in workflow.halt:
        if not (isinstance(condition, Ref) and condition.name == DENIED):
            yield outcome, condition
