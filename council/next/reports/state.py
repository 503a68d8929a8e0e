"""The state of a debate as one object, which state.json holds. Every other file and message is a view of it.

It follows from the record alone: no clock and no path. `state.schema.json` beside this file describes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from council.next.config.places import PROJECT
from council.next.engine.planner import Note, Plan
from council.next.engine.scene import Turn
from council.next.protocols import outcome as kinds
from council.next.protocols.checks import offered
from council.next.protocols.outcome import Act
from council.next.protocols.voices import count
from council.next.record.session import SCHEMA, Session
from council.next.reports.section import added_by_rooms
from council.next.reports.turns import describe_items, describe_turn, describe_votes, tokens_of
from council.next.workflow.model import Phase, Seat

# What the writer's answer is called where nobody agreed to it.
OPINION = {
    kinds.VETOED: "Answer that was vetoed",
    kinds.REJECTED: "Answer that was rejected",
    kinds.SPLIT: "The writer's opinion, as no answer leads",
    kinds.UNDECIDED_: "The writer's opinion, as no majority agrees",
    kinds.INSUFFICIENT: "The writer's opinion, as too few were heard",
    kinds.STOPPED: "The writer's opinion, as the debate was stopped",
}


def state(session: Session) -> dict[str, Any]:
    """The debate so far, as plain data."""
    plan, metadata, outcome = session.plan, session.metadata, session.outcome
    sections = dict(added_by_rooms(session))
    counted = [phase for phase in plan.workflow.phases if plan.workflow.is_of_the_debate(phase)]
    said = {turn.id: describe_turn(turn, plan, outcome, session.receipts[turn.id]) for turn in plan.scene.turns}
    seats = seats_of(plan)
    voices = {seat.name for seat in seats}
    rounds = [describe_round(*one, plan, said, voices) for one in rounds_of(plan)]
    receipts = session.receipts.values()
    chosen = {act.option for act in outcome.acts if act.what == "decided"}
    return {
        "schema": SCHEMA,
        "session_id": session.id,
        "debate_id": session.id,
        "workflow": plan.workflow.name,
        "prompt": session.topic,
        "status": find_status(plan),
        "started_at": metadata.get("started_at"),
        "last_turn_at": max((one.started for one in receipts if one.started), default=None),
        "members": metadata.get("members"),
        "perspectives": [*map(describe_seat, seats)],
        "rounds": rounds,
        "current_round": max((one["round_number"] or 0 for one in rounds), default=0),
        "max_rounds": sum(plan.workflow.span(phase)[1] for phase in counted),
        "human_guidance": [
            turn.prose or turn.text for turn in plan.scene.turns if turn.seat.is_person and not turn.absent
        ],
        "synthesis": said.get(outcome.synthesis),
        "answer_as": OPINION.get(outcome.kind or outcome.standing, "Answer"),
        "count": outcome.count.sentence,
        "outcome": outcome.as_data(),
        "acts": [describe_act(act, session) for act in outcome.acts],
        # What a person was offered last, and which of it the person chose.
        "options": [{"letter": one, "text": text, "chosen": one in chosen} for one, text in offered(plan.scene)],
        "items": describe_items(plan, outcome),
        "votes": describe_votes(seats, said, rounds),
        "due": [due.id for due in plan.due],
        "waits_for": [due.id for due in plan.due if due.seat.is_person],
        "notes": [describe_note(note) for note in plan.notes],
        "sections": {name: section.as_data() for name, section in sections.items()},
        "files": sorted(name for section in sections.values() for name in section.files),
        "totals": totals(session),
        "overlays": overlays_of(session),
        "replay_of": session.program.get("replay_of"),
        "replayed": sum(one.speaker == "replay" or one.replayed is not None for one in receipts),
        "turns_of": len(session.said),
        "head": session.head,
    }


def overlays_of(session: Session) -> list[dict[str, Any]]:
    """Whose files were in force in place of the kit's. A reader is not told in which folder of the author they were."""
    known = session.program.get("overlays")
    return [
        {"whose": "project" if folder.endswith(f"/{PROJECT}") else "user", "files": [*map(str, names)]}
        for folder, names in (known.items() if isinstance(known, dict) else ())
        if isinstance(names, list)
    ]


def convergence(session: Session) -> dict[str, Any]:
    """convergence.json: whether the members converged, why, and whether a third round was called for."""
    outcome = session.outcome
    return {
        "converged": outcome.converged,
        "reason": outcome.reason,
        "proceed_to_round3": outcome.proceed_to_round3,
        "kind": outcome.kind or None,
        "standing": outcome.standing or None,
    }


def totals(session: Session) -> dict[str, Any]:
    """The calls of a session, and what they cost. `usd` is null where the cost of a call is unknown.

    A call that gave no turn may have been billed too."""
    costs = [one.usd for one in session.said.values() if one.calls]
    costs += [one.get("usd") for one in fruitless(session)]
    known = [cost for cost in costs if isinstance(cost, int | float)]
    tokens = [tokens_of(one) for one in session.receipts.values()]
    return {
        "calls": len(costs),
        "tokens": None if costs and None in tokens and not any(tokens) else sum(one or 0 for one in tokens),
        "usd": round(float(sum(known)), 6) if len(known) == len(costs) else None,
    }


def fruitless(session: Session) -> Iterator[dict[str, Any]]:
    """The attempts that gave no turn. A receipt has the number of the one that gave its own."""
    for one in session.attempts():
        receipt = session.receipts.get(str(one.get("turn")))
        if receipt is None or receipt.attempts != one.get("number"):
            yield one


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
    number = 0
    for (name, round), turns in groupby(plan.scene.turns, lambda turn: (turn.phase, turn.round)):
        counts = plan.workflow.is_of_the_debate(phases[name])
        number += counts
        yield number if counts else None, phases[name], round, [*turns]


def describe_round(
    number: int | None, phase: Phase, round: int, turns: list[Turn], plan: Plan, said: dict[str, Any], voices: set[str]
) -> dict[str, Any]:
    """A round with its turns: what the debaters argued first, their answers, and what everybody else said."""
    own = [turn for turn in turns if turn.seat.name in voices]
    others = [turn for turn in turns if turn.seat.name not in voices]
    first = {turn.id for turn in own if plan.scene.turns_of(turn.seat.name)[0] is turn}
    persons = [turn.prose or turn.text for turn in turns if turn.seat.is_person and not turn.absent]
    return {
        "round_number": number,
        "phase": phase.name,
        "title": title_of(phase),
        "round": round,
        "steps": [step.name for step in phase.steps],
        "turns": [turn.id for turn in turns],
        "arguments": [said[turn.id] for turn in own if turn.id in first],
        "rebuttals": [said[turn.id] for turn in own if turn.id not in first],
        "others": [said[turn.id] for turn in others],
        "moderator_summary": "\n\n".join(one.prose for one in others if one.prose and not one.seat.is_person) or None,
        "human_guidance": "\n\n".join(persons) or None,
        "after": [*told_after(plan.scene.turns.index(turns[-1]) + 1, number, plan)],
    }


def title_of(phase: Phase) -> str:
    plain = "Council Synthesis" if phase.role == "synthesis" else phase.name.replace("-", " ").capitalize()
    return phase.title or plain


def told_after(spoken: int, number: int | None, plan: Plan) -> Iterator[str]:
    """What the planner decided after this number of turns: why a phase ended, and whether the next was needed."""
    phases = {phase.name: phase for phase in plan.workflow.phases}
    for note in plan.notes:
        phase, why = phases[note.phase], f": {note.verdict.reason}" if note.verdict.reason else ""
        if note.turns != spoken or note.step:
            continue
        if note.kind == "ended" and phase.until:
            yield f"{title_of(phase)} ended: {note.ending}{why.replace(':', ';', 1)}"
        elif note.kind in ("entered", "skipped"):
            counts = number and plan.workflow.is_of_the_debate(phase)
            name = f"Round {(number or 0) + 1}" if counts else title_of(phase)
            yield f"{name} {'needed' if note.kind == 'entered' else 'skipped'}{why}"


def seats_of(plan: Plan) -> list[Seat]:
    """Whose voices the debate is about: those who were cast, or those who vote, or the seats that share the table."""
    workflow, turns = plan.workflow, plan.scene.turns
    cast = {turn.seat.name: turn.seat for turn in turns if turn.seat.name not in workflow.all_seats()}
    if own := [seat for seat in cast.values() if not seat.is_person]:
        return own
    talk = {phase.name for phase in workflow.phases if workflow.is_of_the_debate(phase)}
    spoke = {turn.seat.name: turn.seat for turn in turns if turn.phase in talk and not turn.seat.is_person}
    if voters := [one.seat for one in count(plan.scene).voices]:
        return [spoke[name] for name in voters if name in spoke]
    return [*{**{seat.name: seat for seat in workflow.members}, **spoke}.values()]


def describe_seat(seat: Seat) -> dict[str, Any]:
    parts = (seat.get("stands_for") or seat.get("focus")).split(",")
    priorities = [part.strip() for part in parts if part.strip()]
    return {"seat": seat.name, "name": seat.label, "priorities": priorities, "trade_offs": seat.get("accepts")}


def describe_act(act: Act, session: Session) -> dict[str, Any]:
    """What somebody did at a person's seat. `who` is the person's name; a seat that a model spoke for names none."""
    receipt = session.receipts[act.by.turn]
    return {
        **{name: getattr(act, name) for name in ("what", "at", "option", "option_text")},
        "who": receipt.by or "",
        "is_person": bool(receipt.by) or receipt.speaker == "human",
        "words": act.by.text,
        "turn": act.by.turn,
    }


def describe_note(note: Note) -> dict[str, Any]:
    found = {**vars(note)}
    verdict = found.pop("verdict")
    return {**found, "holds": verdict.holds, "reason": verdict.reason, "rules": [*verdict.fired]}
