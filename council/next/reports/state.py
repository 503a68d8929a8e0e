"""The state of a debate as one object, which state.json holds. Every other file and message is a view of it.

It follows from the record alone: no clock and no path. `state.schema.json` beside this file describes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from council.next.engine.planner import Note, Plan
from council.next.engine.scene import Turn
from council.next.protocols.ids import Register, items_of
from council.next.record.session import SCHEMA, Session
from council.next.replies.kinds import split_id
from council.next.reports.section import added_by_rooms
from council.next.workflow.model import Phase, Seat


def state(session: Session) -> dict[str, Any]:
    """The debate so far, as plain data."""
    plan, metadata = session.plan, session.metadata
    sections = dict(added_by_rooms(session))
    counted = [phase for phase in plan.workflow.phases if plan.workflow.is_of_the_debate(phase)]
    rounds = [describe_round(*one, plan) for one in rounds_of(plan)]
    written = next((turn for turn in plan.scene.turns if turn.id == session.outcome.synthesis), None)
    return {
        "schema": SCHEMA,
        "debate_id": session.id,
        "workflow": plan.workflow.name,
        "prompt": session.topic,
        "status": find_status(plan),
        "started_at": metadata.get("started_at"),
        "members": metadata.get("members"),
        "perspectives": [describe_seat(seat) for seat in seats_of(plan)],
        "rounds": rounds,
        "current_round": max((one["round_number"] or 0 for one in rounds), default=0),
        "max_rounds": sum(plan.workflow.span(phase)[1] for phase in counted),
        "human_guidance": [
            turn.prose or turn.text for turn in plan.scene.turns if turn.seat.is_person and not turn.absent
        ],
        "synthesis": describe_turn(written, plan) if written else None,
        "outcome": session.outcome.as_data(),
        "due": [due.id for due in plan.due],
        "waits_for": [due.id for due in plan.due if due.seat.is_person],
        "notes": [describe_note(note) for note in plan.notes],
        "sections": {name: section.as_data() for name, section in sections.items()},
        "files": sorted(name for section in sections.values() for name in section.files),
        "turns_of": len(session.said),
        "head": session.head,
    }


def convergence(session: Session) -> dict[str, Any]:
    """convergence.json: whether the members converged, why, and whether a third round was called for."""
    found = session.outcome
    return {
        "converged": found.converged,
        "reason": found.reason,
        "proceed_to_round3": found.proceed_to_round3,
        "kind": found.kind or None,
        "standing": found.standing or None,
    }


def find_status(plan: Plan) -> str:
    """What the debate does now: analyzing, in_round, checkpoint, synthesizing or complete."""
    if plan.done:
        return "complete"
    due = plan.due[0]
    if due.seat.is_person:
        return "checkpoint"
    if due.phase is plan.workflow.phase("synthesis"):
        return "synthesizing"
    return "in_round" if plan.workflow.is_of_the_debate(due.phase) else "analyzing"


def rounds_of(plan: Plan) -> Iterator[tuple[int | None, Phase, int, list[Turn]]]:
    """The turns by round, with the number of the round in the debate. Rounds beside the debate have none."""
    phases = {phase.name: phase for phase in plan.workflow.phases}
    rounds: dict[tuple[str, int], list[Turn]] = {}
    for turn in plan.scene.turns:
        rounds.setdefault((turn.phase, turn.round), []).append(turn)
    number = 0
    for (name, round), turns in rounds.items():
        counts = plan.workflow.is_of_the_debate(phases[name])
        number += counts
        yield number if counts else None, phases[name], round, turns


def describe_round(number: int | None, phase: Phase, round: int, turns: list[Turn], plan: Plan) -> dict[str, Any]:
    voices = {seat.name for seat in seats_of(plan)}
    own = [turn for turn in turns if turn.seat.name in voices]
    said = {turn.id: describe_turn(turn, plan) for turn in own}
    first = {turn.id for turn in own if plan.scene.first_of(turn.seat.name) is turn}
    led = [turn.prose for turn in turns if turn.seat.name not in voices and not turn.seat.is_person and turn.prose]
    persons = [turn.prose or turn.text for turn in turns if turn.seat.is_person and not turn.absent]
    return {
        "round_number": number,
        "phase": phase.name,
        "title": phase.title or phase.name.replace("-", " ").capitalize(),
        "round": round,
        "arguments": [one for id, one in said.items() if id in first],
        "rebuttals": [one for id, one in said.items() if id not in first],
        "moderator_summary": "\n\n".join(led) or None,
        "human_guidance": "\n\n".join(persons) or None,
    }


def describe_turn(turn: Turn, plan: Plan) -> dict[str, Any]:
    kinds = next(step.reply for step in plan.workflow.steps() if step.name == turn.step)
    return {
        "turn": turn.id,
        "perspective": turn.seat.name,
        "label": turn.seat.label,
        "step": turn.step,
        "content": turn.prose,
        "answers": {name: kinds[name].data(value) for name, value in turn.answers.items()},
        "problems": list(turn.problems),
        "responding_to": answered_by(turn, plan) or None,
        "absent": turn.absent,
    }


def answered_by(turn: Turn, plan: Plan) -> list[str]:
    """The seats whose texts, conditions or blocking items a turn names by their ids."""
    register = Register.of(plan.scene)
    items = [item for name in ("challenges", "rulings", "conditions") for item in items_of(turn.answers, name)]
    named = [split_id(item)[0] for item in items]
    named += [one.side for one in register.votes.get(turn.moment, ()) if one.turn == turn.id]
    owners = (register.items[id].by.seat for id in named if id in register.items)
    return list(dict.fromkeys(seat for seat in owners if seat != turn.seat.name))


def seats_of(plan: Plan) -> list[Seat]:
    """Whose voices the debate is about: those who were cast or, where nobody was, the seats that share the table."""
    workflow = plan.workflow
    cast = {turn.seat.name: turn.seat for turn in plan.scene.turns if turn.seat.name not in workflow.all_seats()}
    talk = {phase.name for phase in workflow.phases if workflow.is_of_the_debate(phase)}
    spoke = {turn.seat.name: turn.seat for turn in plan.scene.turns if turn.phase in talk and not turn.seat.is_person}
    members = {seat.name: seat for seat in workflow.members}
    own = {name: seat for name, seat in cast.items() if not seat.is_person}
    return [*own.values()] if own else [*{**members, **spoke}.values()]


def describe_seat(seat: Seat) -> dict[str, Any]:
    focus = seat.get("stands_for") or seat.get("focus")
    return {
        "seat": seat.name,
        "name": seat.label,
        "priorities": [part.strip() for part in focus.split(",") if part.strip()],
        "trade_offs": seat.get("accepts"),
    }


def describe_note(note: Note) -> dict[str, Any]:
    found = asdict(note)
    verdict = found.pop("verdict")
    return {**found, "holds": verdict["holds"], "reason": verdict["reason"], "rules": list(verdict["fired"])}
