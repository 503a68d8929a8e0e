"""Whether a debate that is over has decided nothing, and nobody could be asked."""

from __future__ import annotations

from council.engine.conditions import rule
from council.engine.planner import ENDED_BY_CAP, Note, Plan
from council.protocols import outcome
from council.protocols.consensus import ADOPT, DECISION
from council.protocols.dissent import SYNTHESIS
from council.protocols.stances import INSUFFICIENT, UNDECIDED, assess
from council.workflow.model import Workflow


def explain_undecided(plan: Plan, workflow: Workflow) -> str:
    """Why there is no decision, as a sentence; empty if there is one, or if a person had a say in it."""
    people = [turn for turn in plan.scene.turns if turn.seat.is_person]
    if not plan.done or outcome.find_denial(plan) or any(not turn.absent for turn in people):
        return ""
    asked = "the person who was asked did not answer" if people else "no person was asked"
    now = assess(plan.scene)
    if stuck := next((note for note in plan.notes if is_stuck(note, workflow)), None):
        return f"no decision: the debate ended as {stuck.outcome}, and {asked}"
    if workflow.role(SYNTHESIS) and not outcome.find_syntheses(plan):
        return f"no decision: {outcome.reason(plan, now)}, and {asked}"
    if (ended := outcome.outcome(plan, now)) in (UNDECIDED, INSUFFICIENT):
        return f"no decision: the debate is {ended} ({outcome.reason(plan, now)}), and {asked}"
    return ""


def is_stuck(note: Note, workflow: Workflow) -> bool:
    """Whether a phase that may hand its question to a person ended without settling it."""
    replies = [dict(step.reply) for phase, step in workflow.steps() if phase.name == note.phase]
    escalates = any(DECISION in reply and ADOPT in reply[DECISION].options for reply in replies)
    gave_up = rule.with_trait("escalates") | rule.with_trait("in_round")
    return (
        note.kind == "ended" and escalates and (note.outcome == ENDED_BY_CAP or bool({*note.verdict.fired} & gave_up))
    )
