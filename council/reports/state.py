"""`state.json`: the whole debate as data, for programs that do not read Markdown. docs/state.schema.json describes it.

Like every derived file it follows from the record alone: no clock and no path.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from council.engine.anonymity import restore_names
from council.engine.planner import Plan
from council.engine.scene import Scene, Turn
from council.engine.views import look
from council.protocols import outcome
from council.protocols.concerns import list_concerns
from council.protocols.concessions import find_concessions
from council.protocols.mentions import find_mentioned
from council.protocols.mind_changes import is_control
from council.protocols.perspectives import ASK, list_cast
from council.protocols.stances import SCORE, STANCE, assess
from council.record.session import Session
from council.reports import tally
from council.text import slug
from council.workflow.model import Phase, Seat, Step

NAME = "state.json"
VERSION = 1
ANALYZING, IN_ROUND, CHECKPOINT, SYNTHESIZING, COMPLETE = (
    "analyzing", "in_round", "checkpoint", "synthesizing", "complete",
)  # fmt: skip


def as_json(session: Session, plan: Plan) -> str:
    return json.dumps(describe(session, plan), indent=2, ensure_ascii=False) + "\n"


def describe(session: Session, plan: Plan) -> dict[str, Any]:
    """The state of the debate so far."""
    state = _State(session, plan)
    now, scene = assess(plan.scene), plan.scene
    numbers = outcome.number_rounds(plan)
    rounds = [state.describe_round(numbers.get(key), *key) for key in outcome.passages(plan)]
    counted = [phase for phase in session.workflow.phases if phase.numbered and _is_in_debate(phase, scene)]
    return {
        "schema": VERSION,
        "debate_id": session.id,
        "workflow": session.workflow.name,
        "prompt": str(session.metadata["topic"]),
        "status": find_status(plan),
        "perspectives": [state.describe_member(seat) for seat in state.members.values()],
        "rounds": rounds,
        "current_round": len(numbers) + any(due.phase in counted for due in plan.due[:1]),
        "max_rounds": sum(phase.max_rounds for phase in counted),
        "human_guidance": [text for turn in scene.turns if turn.seat.is_person and (text := state.words(turn))],
        "scores": dict(now.scores),
        "stances": dict(now.stances),
        "ledger": list_concerns(scene, session.workflow, numbers),
        "concessions": [
            {
                "turn": one.turn.id,
                "perspective": one.turn.seat.name,
                "to": [seat.name for seat in one.to],
                "text": one.text,
            }
            for one in find_concessions(scene)
        ],
        "outcome": outcome.outcome(plan, now) if plan.done else None,
        "reason": outcome.reason(plan, now) if plan.done else None,
        "confidence": (tally.cap_confidence(plan) or None) if plan.done else None,
        "synthesis": state.describe_synthesis(),
    }


def find_status(plan: Plan) -> str:
    """What the debate does now, in the words of the schema."""
    if plan.done:
        return COMPLETE
    due = plan.due[0]
    if due.of_a_person:
        return CHECKPOINT
    if outcome.is_synthesis(due.phase.name, plan.scene):
        return SYNTHESIZING
    prepares = any(name == ASK for step in due.phase.steps for name, _ in step.reply)
    return ANALYZING if prepares or not _is_in_debate(due.phase, plan.scene) else IN_ROUND


def _is_in_debate(phase: Phase, scene: Scene) -> bool:
    """Whether a phase belongs to the debate: one with a role, such as the synthesis or the control, is beside it."""
    return phase.name not in scene.roles.values() and not is_control(phase.name, scene)


class _State:
    """What every part of the state needs to know: the members, and what each turn had read."""

    def __init__(self, session: Session, plan: Plan) -> None:
        self.session, self.plan = session, plan
        flow = session.workflow
        cast = {turn.seat.name: turn.seat for turn in plan.scene.turns if turn.seat.name not in flow.seat_names()}
        sided = [seat for seat in flow.table if not (cast and seat.name in _leaders(plan.scene, cast))]
        self.members: dict[str, Seat] = {seat.name: seat for seat in sided if not seat.is_person} | cast
        self.muted = {slug(one["title"]) for one in list_cast(plan.scene, flow) if one["muted"]}
        self.places: dict[tuple[str, str], Step] = {
            (phase.name, step.name): step for phase, step in session.workflow.steps()
        }

    def describe_member(self, seat: Seat) -> dict[str, Any]:
        focus = str(seat.attributes.get("focus") or "")
        about = str(seat.attributes.get("about") or "").strip("*_` ")
        return {
            "seat": seat.name,
            "name": seat.label,
            "priorities": [part.strip() for part in focus.split(",") if part.strip()] or [about] * bool(about),
            "trade_offs": str(seat.attributes.get("accepts") or ""),
            "muted": slug(seat.title) in self.muted,
        }

    def describe_round(self, number: int | None, phase: str, round: int) -> dict[str, Any]:
        turns = outcome.turns_of(self.plan, phase, round)
        said = [(turn, self.describe_turn(turn)) for turn in turns if turn.seat.name in self.members]
        led = [turn for turn in turns if turn.seat.name not in self.members and not turn.seat.is_person]
        human = [turn for turn in turns if turn.seat.is_person]
        return {
            "round_number": number,
            "phase": phase,
            "arguments": [one for turn, one in said if not self.is_rebuttal(turn)],
            "rebuttals": [one for turn, one in said if self.is_rebuttal(turn)],
            "moderator_summary": "\n\n".join(filter(None, map(self.words, led))) or None,
            "human_guidance": "\n\n".join(filter(None, map(self.words, human))) or None,
            "scores": {turn.seat.name: turn.answers.get(SCORE) for turn in turns if SCORE in turn.asked},
            "stances": {turn.seat.name: turn.answers.get(STANCE) for turn in turns if STANCE in turn.asked},
        }

    def describe_turn(self, turn: Turn) -> dict[str, Any]:
        others = [seat for seat in self.members.values() if seat.name != turn.seat.name]
        words = self.words(turn)
        return {
            "turn": turn.id,
            "perspective": turn.seat.name,
            "content": words,
            "answers": _list_answers(turn),
            "responding_to": [seat.name for seat in find_mentioned(words, others)] or None,
            "absent": turn.absent,
        }

    def is_rebuttal(self, turn: Turn) -> bool:
        """Whether a member who had spoken before answers others, whose turns it had read."""
        past = replace(self.plan.scene, turns=self.plan.scene.turns[: self.plan.expected[turn.id]])
        if not any(one.seat.name == turn.seat.name for one in past.turns):
            return False
        past = past.at(turn.phase, turn.round, past.cap)
        seen = (one.turn.seat.name for one in look(self.places[turn.phase, turn.step].sees, turn.seat, past))
        return any(name in self.members and name != turn.seat.name for name in seen)

    def describe_synthesis(self) -> dict[str, Any] | None:
        tries = outcome.find_syntheses(self.plan)
        if not tries or tries[-1].absent:
            return None
        last = tries[-1]
        return {"turn": last.id, "author": last.seat.name, "text": self.words(last), "answers": _list_answers(last)}

    def words(self, turn: Turn) -> str:
        """A turn's words, with the seats' names in place of labels."""
        if turn.absent:
            return ""
        return restore_names(turn.whole, turn, self.session.workflow, self.plan.scene).strip()


def _list_answers(turn: Turn) -> dict[str, str | int | float | list[str]]:
    """The answers that are words, numbers or lists of words. Findings and code have files of their own."""
    listed = {name: list(value) if isinstance(value, tuple) else value for name, value in turn.answers.items()}
    return {
        name: value
        for name, value in listed.items()
        if isinstance(value, str | int | float)
        or (isinstance(value, list) and all(isinstance(item, str) for item in value))
    }


def _leaders(scene: Scene, cast: Mapping[str, Seat]) -> set[str]:
    """Where seats were cast, those of the workflow's own who lead them."""
    return {turn.seat.name for turn in scene.turns if turn.seat.name not in cast}
