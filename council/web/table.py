"""The table as the page shows it: who has spoken, who speaks, who waits for whom, and how far the protocol is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from council.engine import planner
from council.engine.planner import Due, Plan
from council.engine.scene import RecordedTurn, Turn
from council.protocols import outcome
from council.protocols.specialists import list_table
from council.record.session import Session
from council.reports import html as page
from council.reports import transcript
from council.reports.model import Statement, Transcript, plain
from council.speakers import registry

STILL = "has not spoken yet"


def card(turn: Statement, seats: Sequence[str]) -> dict[str, Any]:
    """A turn, with its words as HTML."""
    return {
        "turn": turn.id,
        "seat": turn.seat,
        "label": turn.label,
        "icon": turn.icon,
        "colour": colour(turn.seat, seats),
        "step": turn.step,
        "state": "absent" if turn.absent else "spoken",
        "badges": [{"title": one.title, "text": one.text, "tone": one.tone} for one in turn.answers if one.short],
        "caption": turn.caption,
        "tone": turn.tone,
        "remarks": [remark for remark in turn.remarks if remark != turn.caption],
        "by": turn.by,
        "html": "\n".join(page.words(turn)),
    }


def colour(seat: str, seats: Sequence[str]) -> int | None:
    """The number of a seat's colour; None for the chair and others beside the members."""
    return seats.index(seat) % page.SEAT_COLOURS if seat in seats else None


def seats_of(found: Session, plan: Plan) -> tuple[str, ...]:
    """The seats that have a colour: the members, in the order of `show --html`, and those who were cast later."""
    known = found.workflow.seat_names()
    cast = [*(turn.seat.name for turn in plan.scene.turns), *(due.seat.name for due in plan.due)]
    table = (seat.name for seat in list_table(found.workflow, plan.scene))
    return tuple(dict.fromkeys([*table, *(name for name in cast if name not in known)]))


def strip(found: Session, plan: Plan) -> Iterator[dict[str, Any]]:
    """The phases of the protocol: over, skipped, current, or still to come (and whether it is sure to)."""
    current = plan.due[0].phase.name if plan.due else ""
    skipped = {note.phase for note in plan.notes if note.kind == "skipped" and note.round == 0 and not note.step}
    closed = [note.phase for note in plan.notes if note.kind in ("round", "halted")]
    for phase in found.workflow.phases:
        name = phase.name
        over = "done" if name in closed else "skipped" if name in skipped or plan.done else "ahead"
        yield {
            "phase": name,
            "title": outcome.heading(name),
            "state": "current" if name == current else over,
            "rounds": closed.count(name) + (name == current),
            "most": phase.max_rounds,
            "sure": phase.when is None,
            "outcome": "" if (ending := plan.scene.outcomes.get(name, "")) == planner.ENDED else ending,
        }


def open_round(found: Session, plan: Plan, debate: Transcript, seats: Sequence[str]) -> dict[str, Any] | None:
    """The round that is not over: a card for each seat, in the order in which they speak. None if all is over."""
    if plan.done:
        return None
    first = plan.due[0]
    ahead, waves = look_ahead(found, plan)
    cards = [_spoken(found, plan, ahead, turn, seats) for turn in open_turns(found, plan, ahead)]
    cards += [_silent(due, "due", seats) for due in plan.due]
    before = [due.seat.label for due in plan.due]
    for wave in waves:
        cards += [_silent(due, "waits", seats) | {"after": before} for due in wave]
        before = [due.seat.label for due in wave]
    stages = (one for one in debate.stages if one.phase == first.phase.name)
    return {
        "phase": first.phase.name,
        "title": outcome.title(first.phase),
        "step": outcome.heading(first.step.name) if len(first.phase.steps) > 1 else "",
        "round": first.round,
        "most": first.phase.max_rounds,
        "before": [plain(decision) for stage in stages for decision in stage.before],
        "cards": cards,
    }


def look_ahead(found: Session, plan: Plan) -> tuple[Plan, list[tuple[Due, ...]]]:
    """The plan as if those who have not spoken were absent, and who speaks after them in the same step.

    The scene of a plan ends before the batch that is due; this one also has what was said in that batch.
    """
    said, waves, next_ = dict(found.said), list[tuple[Due, ...]](), plan
    moment = _moment(plan.due[0]) if plan.due else None
    while next_.due and _moment(next_.due[0]) == moment:
        waves.append(next_.due)
        said |= {due.id: RecordedTurn("", absent=STILL) for due in next_.due}
        next_ = planner.plan(found.workflow, said, found.metadata["seed"])
    return next_, waves[1:]


def _moment(due: Due) -> tuple[str, int, str]:
    return due.phase.name, due.round, due.step.name


def open_turns(found: Session, plan: Plan, ahead: Plan) -> list[Turn]:
    """What was said since the last round was closed; also a conclusion, which is not a round."""
    closed = set(outcome.rounds(plan))
    late = {due.id.removesuffix(planner.RETRY) for due in plan.due}
    return [
        turn
        for turn in ahead.scene.turns
        if (turn.phase, turn.round) not in closed and turn.id in found.said and turn.id not in late
    ]


def _spoken(found: Session, plan: Plan, ahead: Plan, turn: Turn, seats: Sequence[str]) -> dict[str, Any]:
    """The card of a turn in an open round. A person who speaks in the same batch does not get to read it before."""
    steps = next(len(phase.steps) for phase in found.workflow.phases if phase.name == turn.phase)
    made = card(transcript.compose_statement(found, ahead, turn, step=steps > 1), seats)
    people = {_moment(due) for due in plan.due if due.of_a_person}
    blind = turn.id not in {one.id for one in plan.scene.turns}
    if blind and (turn.phase, turn.round, turn.step) in people:
        return made | {"html": "", "badges": [], "remarks": [], "state": "hidden"}
    return made


def _silent(due: Due, state: str, seats: Sequence[str]) -> dict[str, Any]:
    seat = due.seat
    return {
        "turn": due.id,
        "seat": seat.name,
        "label": seat.label,
        "icon": str(seat.attributes.get("icon") or ""),
        "colour": colour(seat.name, seats),
        "state": state,
        "person": due.of_a_person,
        "machine": registry.machine_of(seat) is not None,
        "again": due.first is not None,
    }
