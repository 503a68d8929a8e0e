"""Where a debate stands, and how it ended: the rounds, the check, the outcome, the synthesis and its dissent. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from council.engine.planner import ENDED_BY_CAP, Note, Plan
from council.engine.scene import Scene, Turn
from council.protocols import board, perspectives
from council.protocols.dissent import DISAGREES, SYNTHESIS, lost_dissent
from council.protocols.mind_changes import is_control
from council.protocols.stances import SCORE, Standing, standing, where_they_stand
from council.text import one_line
from council.workflow.model import Workflow

STANDS = ("stance", SCORE)  # the answers by which a seat says where it stands


def rounds(plan: Plan) -> list[tuple[str, int]]:
    """Every round that is over, or halted, as (phase, round); the synthesis is no round, nor is a control."""
    closed = [(note.phase, note.round) for note in plan.notes if note.kind in ("round", "halted")]
    beside = {phase for phase, _ in closed if is_synthesis(phase, plan.scene) or is_control(phase, plan.scene)}
    return [key for key in dict.fromkeys(closed) if key[0] not in beside and turns_of(plan, *key)]


def is_synthesis(phase: str, of: Workflow | Scene) -> bool:
    """Whether a phase writes what the debate is for."""
    return phase == of.role(SYNTHESIS)


def turns_of(plan: Plan, phase: str, round: int) -> list[Turn]:
    return [turn for turn in plan.scene.turns if (turn.phase, turn.round) == (phase, round)]


def numbers(plan: Plan) -> dict[tuple[str, int], int]:
    """Which of all rounds a round is, as in the names of the files."""
    return {key: number for number, key in enumerate(rounds(plan), 1)}


def heading(name: str) -> str:
    return name.replace("-", " ").replace("_", " ").title()


def closing(plan: Plan) -> Note | None:
    """The decision on the first phase that has a condition: in a debate, whether a third round is needed.

    Where nobody says where they stand, no phase is decided on by that.
    """
    if not any(any(plan.scene.rounds_that_ask(name)) for name in STANDS):
        return None
    decided = (note for note in plan.notes if note.kind in ("entered", "skipped") and note.round == 0 and not note.step)
    return next(decided, None)


def convergence(plan: Plan) -> dict[str, Any] | None:
    """The convergence check, once it was made: by stances where they were asked for, else by how the phases ended."""
    decision = closing(plan)
    if decision is None and not plan.done:
        return None
    now = where_they_stand(plan.scene)
    entered = decision is not None and decision.kind == "entered"
    return {
        "converged": now.converged,
        "reason": reason(plan, now),
        "proceed_to_round3": entered,
        "why": decision.verdict.reason if decision else "",
        "rules_fired": list(decision.verdict.fired) if decision and entered else [],
        "outcome": outcome(plan, now),
        "stances": now.stances,
        **({"scores": dict(now.scores)} if now.scores else {}),
        "blocking": {seat: list(items) for seat, items in now.blocking.items()},
        "moved": list(now.moved),
        "missing": sorted({turn.seat.name for turn in plan.scene.turns if turn.absent} | set(now.missing)),
        "phases": dict(plan.scene.outcomes),
        "after_round": len(rounds(plan)),
    }


def outcome(plan: Plan, now: Standing | None = None) -> str:
    """In a word or three: by the stances or scores, or else by why the last phase with a rule of its own ended."""
    now = now or where_they_stand(plan.scene)
    if now.stances or now.scores or now.own:
        return now.outcome
    ended = [
        note.outcome
        for note in plan.notes
        if note.kind in ("ended", "halted") and not is_synthesis(note.phase, plan.scene)
    ]
    told = [word for word in ended if word != "done"]
    return told[-1] if told else now.outcome


def reason(plan: Plan, now: Standing) -> str:
    """Why the outcome is what it is: by where the seats stand, or else as the rule said that ended the last phase."""
    ended = [
        note for note in plan.notes if note.kind in ("ended", "halted") and not is_synthesis(note.phase, plan.scene)
    ]
    ruled = [note.verdict.reason for note in ended if note.outcome != "done"]
    return ruled[-1] if ruled and not (now.stances or now.scores or now.own) else now.reason


def _endings(plan: Plan) -> list[Note]:
    """How each phase of the debate itself ended."""
    ended = (note for note in plan.notes if note.kind in ("ended", "halted"))
    return [note for note in ended if not is_synthesis(note.phase, plan.scene)]


def absences(plan: Plan) -> list[Turn]:
    return [turn for turn in plan.scene.turns if turn.absent]


def synthesis(plan: Plan) -> str:
    """The last synthesis; below it what the program adds: whatever dissent it left out, and how it was checked."""
    if not (tries := written(plan)):
        return ""
    body = _synthesis_body(plan) or f"*(There is none: the {tries[-1].seat.title.lower()} was absent.)*"
    added = filter(None, [dissent_on_record(plan), uncited(plan), board.checked(plan.scene), confidence_set(plan)])
    return "\n".join(["### Council Synthesis\n", body, *(f"\n{told}" for told in added)]) + "\n"


def uncited(plan: Plan) -> str:
    """What is wrong with the turns that the synthesis cites, where its workflow asks for them; empty for nothing."""
    ended = [note.verdict for note in plan.notes if note.kind == "ended" and is_synthesis(note.phase, plan.scene)]
    wrong = [one for verdict in ended for one in verdict.tally.get("not_cited", ())]
    return f"**Citations not in order** *(checked by council)*: {one_line('; '.join(wrong), 600)}." if wrong else ""


def confidence_set(plan: Plan) -> str:
    """The confidence where the program sets it, and why; empty where it stays as it was written."""
    lowered = perspectives.lowered(plan.scene, ENDED_BY_CAP)
    return f"**Confidence:** {perspectives.LOW} *({lowered})*" if lowered else ""


def written(plan: Plan) -> list[Turn]:
    """The tries at the synthesis: the first step of its phase writes it; what is said of it then is no part of it."""
    turns = [turn for turn in plan.scene.turns if is_synthesis(turn.phase, plan.scene)]
    return [turn for turn in turns if turn.step == turns[0].step]


def _synthesis_body(plan: Plan) -> str:
    turns = written(plan)
    return turns[-1].body.strip() if turns and not turns[-1].absent else ""


def dissent_on_record(plan: Plan) -> str:
    """The dissent that the synthesis lacks, empty where it lacks none."""
    lost = [
        f"- {turn.seat.label}: {_dissent(turn, words)}"
        for turn, words in lost_dissent(plan.scene, _synthesis_body(plan))
    ]
    heading = "**Dissent on record** *(added by council: the synthesis left it out)*\n"
    return "\n".join([heading, *lost]) if lost else ""


def _dissent(turn: Turn, words: str) -> str:
    if words == DISAGREES:
        return f"disagrees. In their own words: “{one_line(turn.prose or turn.body, 400)}”"
    return f"blocking: “{one_line(words, 600)}”"


def decision_text(plan: Plan, note: Note) -> str:
    """What the program decided, in a line, where a reader has to know it."""
    if note == closing(plan):
        now = f"**Convergence check:** {check_text(plan)}\n"
        number = len([key for key in rounds(plan) if _before(plan, key[0], note.phase)]) + 1
        if note.kind == "skipped":
            return f"{now}\n**Round {number} skipped:** nothing calls for it. Proceeding to synthesis.\n"
        return f"{now}\n**Round {number} needed:** {note.verdict.reason}.\n"
    if note.kind == "halted":
        return f"**Halted ({note.outcome}):** {note.verdict.reason}.\n"
    if note.kind == "ended" and note.outcome != "done" and not is_synthesis(note.phase, plan.scene):
        return f"**{heading(note.phase)} ended ({note.outcome}):** {note.verdict.reason}.\n"
    return ""


def _before(plan: Plan, one: str, other: str) -> bool:
    order = list(dict.fromkeys(note.phase for note in plan.notes))
    return order.index(one) < order.index(other)


def check_text(plan: Plan) -> str:
    """The standing when the check was made: by what had been said then, not by what came later."""
    note = closing(plan)
    scene = plan.scene if note is None else replace(plan.scene, turns=plan.scene.turns[: note.turns])
    now = standing(scene)
    return f"{now.outcome} ({now.reason})"


def degraded(plan: Plan) -> list[str]:
    """A line for the heading that names who was missing."""
    gone = [f"{turn.seat.label} in {turn.phase} ({one_line(turn.absent or '', 120)})" for turn in absences(plan)]
    return [f"**Degraded:** absent: {'; '.join(gone)}\n"] if gone else []
