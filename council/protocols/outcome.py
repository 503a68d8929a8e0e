"""The state and the outcome of a debate: its rounds, the convergence check, the outcome and the synthesis."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from council.engine.conditions import rule
from council.engine.planner import Due, Note, Plan
from council.engine.scene import Scene, Turn
from council.protocols.dissent import SYNTHESIS
from council.protocols.mind_changes import is_control
from council.protocols.stances import INSUFFICIENT, SCORE, STANCE, Standing, assess, assess_stances
from council.workflow import gates
from council.workflow.model import Phase, Workflow

STANCE_FIELDS = (STANCE, SCORE)  # the answers that give a seat's position


def rounds(plan: Plan) -> list[tuple[str, int]]:
    """Every finished or halted round of the debate, as (phase, round)."""
    return [key for key in passages(plan) if key[0] not in plan.scene.unnumbered]


def passages(plan: Plan) -> list[tuple[str, int]]:
    """Everything that was spoken to an end, as (phase, round), except for the synthesis and the control."""
    closed = [(note.phase, note.round) for note in plan.notes if note.kind in ("round", "halted")]
    beside = {phase for phase, _ in closed if is_synthesis(phase, plan.scene) or is_control(phase, plan.scene)}
    return [key for key in dict.fromkeys(closed) if key[0] not in beside and turns_of(plan, *key)]


def is_synthesis(phase: str, of: Workflow | Scene) -> bool:
    """Whether a phase writes the synthesis."""
    return phase == of.role(SYNTHESIS)


def writes_synthesis(due: Due, workflow: Workflow) -> bool:
    """Whether the words of this turn are the synthesis. In a second try there are words already."""
    return is_synthesis(due.phase.name, workflow) and due.step == due.phase.steps[0] and due.first is None


def turns_of(plan: Plan, phase: str, round: int) -> list[Turn]:
    return [turn for turn in plan.scene.turns if (turn.phase, turn.round) == (phase, round)]


def number_rounds(plan: Plan) -> dict[tuple[str, int], int]:
    """The number of each round: the same in briefs, reports, and the names of files."""
    return {key: number for number, key in enumerate(rounds(plan), 1)}


def number_of(plan: Plan, phase: Phase, round: int) -> int:
    """The number of a round, also of the one that is not over; 0 for a part without one."""
    key, numbers = (phase.name, round), number_rounds(plan)
    return numbers.get(key, len(numbers) + 1) if phase.numbered else 0


def title(phase: Phase) -> str:
    """The title of a phase's rounds."""
    return phase.title or heading(phase.name)


def round_heading(number: int, phase: Phase, round: int) -> str:
    """`Round 2: Challenges`; without a number, `Analysis`, and after that `Analysis, again`."""
    return f"Round {number}: {title(phase)}" if number else title(phase) + (", again" if round > 1 else "")


def heading(name: str) -> str:
    return name.replace("-", " ").replace("_", " ").title()


def find_closing_decision(plan: Plan) -> Note | None:
    """The decision on the first phase with a `when`: in a debate, whether a third round is needed.

    None if no step asks for a stance or a score, because then such a decision is not about convergence. Neither is one
    that is made before anybody has spoken.
    """
    if not any(any(plan.scene.rounds_that_ask(name)) for name in STANCE_FIELDS):
        return None
    decided = (note for note in plan.notes if note.kind in ("entered", "skipped") and note.round == 0 and not note.step)
    return next((note for note in decided if note.turns), None)


def was_checked(plan: Plan) -> bool:
    """Whether the convergence check was made: before the first phase that has a condition, or at the end."""
    return plan.done or find_closing_decision(plan) is not None


def convergence(plan: Plan) -> dict[str, Any] | None:
    """The convergence check, once it was made: by stances if there are any, else by how the phases ended."""
    if not was_checked(plan):
        return None
    decision = find_closing_decision(plan)
    now = assess(plan.scene)
    entered = decision is not None and decision.kind == "entered"
    return {
        "converged": now.converged and not find_denial(plan),
        "reason": reason(plan, now),
        "proceed_to_round3": entered,
        "why": decision.verdict.reason if decision else "",
        "rules_fired": list(decision.verdict.fired) if decision and entered else [],
        "outcome": outcome(plan, now),
        "stances": now.stances,
        **({"scores": dict(now.scores)} if now.scores else {}),
        "blocking": {seat: list(items) for seat, items in now.blocking.items()},
        "moved": list(now.moved),
        **({"unreadable": list(now.unreadable)} if now.unreadable else {}),
        "missing": sorted({turn.seat.name for turn in plan.scene.turns if turn.absent} | set(now.missing)),
        "phases": dict(plan.scene.outcomes),
        "after_round": len(rounds(plan)),
    }


def outcome(plan: Plan, now: Standing | None = None) -> str:
    """The outcome in a few words: by the stances or scores, else the outcome of the last phase with an `until`."""
    return _describe(plan, now or assess(plan.scene))[0]


def reason(plan: Plan, now: Standing) -> str:
    """The reason for the outcome: by the stances or scores, else that of the rule that ended the last phase."""
    return _describe(plan, now)[1]


def _describe(plan: Plan, now: Standing) -> tuple[str, str]:
    if denied := find_denial(plan):
        return denied.outcome, denied.verdict.reason
    if now.stances or now.scores or now.own:
        return now.outcome, now.reason
    if ended := _endings(plan):
        return ended[-1].outcome, ended[-1].verdict.reason
    said = [turn for key in rounds(plan) for turn in turns_of(plan, *key)]
    asked, heard = {turn.seat.name for turn in said}, {turn.seat.name for turn in said if not turn.absent}
    if asked and 2 * len(heard) <= len(asked):
        return INSUFFICIENT, f"only {len(heard)} of {len(asked)} members were heard"
    return now.outcome, now.reason


def find_denial(plan: Plan) -> Note | None:
    """How a person ended the debate at a gate; None if nobody did."""
    halted = (note for note in plan.notes if note.kind == "halted")
    return next((note for note in halted if any(rule.traits(name).final for name in note.verdict.fired)), None)


def _endings(plan: Plan) -> list[Note]:
    """How the phases of the debate itself ended. A person's approval counts only of the last one, and only if nothing
    else says how the debate ended."""
    noted = [note for note in plan.notes if note.kind in ("ended", "halted")]
    ended = [note for note in noted if note.outcome != "done" and not is_synthesis(note.phase, plan.scene)]
    gated = {turn.phase for turn in plan.scene.turns if gates.GATE in turn.asked}
    return [note for note in ended if note.phase not in gated] or [note for note in ended if note == noted[-1]]


def absences(plan: Plan) -> list[Turn]:
    return [turn for turn in plan.scene.turns if turn.absent]


def describe_citation_problems(plan: Plan) -> str:
    """What is wrong with the citations of the synthesis, if the workflow requires any; empty for nothing."""
    ended = [note.verdict for note in plan.notes if note.kind == "ended" and is_synthesis(note.phase, plan.scene)]
    return "; ".join(one for verdict in ended for one in verdict.tally.get("not_cited", ()))


def find_syntheses(plan: Plan) -> list[Turn]:
    """The versions of the synthesis, which the first step of its phase writes. Later steps only discuss it."""
    turns = [turn for turn in plan.scene.turns if is_synthesis(turn.phase, plan.scene)]
    return [turn for turn in turns if turn.step == turns[0].step]


def synthesis_body(plan: Plan) -> str:
    """The last version of the synthesis; empty if nobody wrote one."""
    turns = find_syntheses(plan)
    return turns[-1].body.strip() if turns and not turns[-1].absent else ""


def synthesis_whole(plan: Plan) -> str:
    """The last version of the synthesis with the reply that it completes, if it was asked for twice."""
    turns = find_syntheses(plan)
    return turns[-1].whole.strip() if turns and not turns[-1].absent else ""


@dataclass(frozen=True)
class Decision:
    """A decision of the program that readers need to know, with its reason, such as `Round 3 skipped`."""

    title: str
    text: str


def decisions(plan: Plan, note: Note) -> tuple[Decision, ...]:
    """What a note of the planner tells readers; most notes tell them nothing."""
    if note == find_closing_decision(plan):
        check = Decision("Convergence check", check_text(plan))
        order = list(dict.fromkeys(noted.phase for noted in plan.notes))
        number = sum(order.index(phase) < order.index(note.phase) for phase, _ in rounds(plan)) + 1
        part = heading(note.phase) if note.phase in plan.scene.unnumbered else f"Round {number}"
        if note.kind == "skipped":
            why = "High convergence detected" if _standing_at(plan, note).converged else "Nothing calls for it"
            return check, Decision(f"{part} skipped", f"{why}. Proceeding to synthesis.")
        return check, Decision(f"{part} needed", f"{note.verdict.reason}.")
    if note.kind == "halted":
        return (Decision(f"Halted ({note.outcome})", f"{note.verdict.reason}."),)
    if note.kind == "ended" and note.outcome != "done" and not is_synthesis(note.phase, plan.scene):
        return (Decision(f"{heading(note.phase)} ended ({note.outcome})", f"{note.verdict.reason}."),)
    return ()


def check_text(plan: Plan) -> str:
    """The standing at the time of the check, whatever was said later."""
    now = _standing_at(plan, find_closing_decision(plan))
    return f"{now.outcome} ({now.reason})"


def _standing_at(plan: Plan, note: Note | None) -> Standing:
    """The standing at the time of a decision."""
    return assess_stances(plan.scene if note is None else replace(plan.scene, turns=plan.scene.turns[: note.turns]))
