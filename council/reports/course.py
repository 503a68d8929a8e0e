"""How a debate went through its protocol: the phases and why they ended, the votes, and what each round cost."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator

from council.checks.diagram import find_kind, find_seats
from council.engine.planner import ENDED, Note, Plan
from council.protocols import outcome
from council.record.attempts import Attempt
from council.record.session import Session
from council.reports.model import Course, PhaseCourse, RoundSpending, StepCourse, Vote
from council.speakers import registry
from council.workflow.model import Cast, Phase, Step


def compose_course(session: Session, plan: Plan) -> Course:
    """The course of the debate so far."""
    phases = tuple(_compose_phase(session, plan, phase) for phase in session.workflow.phases)
    return Course(phases, tuple(_find_votes(plan)), tuple(_add_up_rounds(session)))


# ---- phases ----


def _compose_phase(session: Session, plan: Plan, phase: Phase) -> PhaseCourse:
    notes = [note for note in plan.notes if note.phase == phase.name]
    due = [one for one in plan.due if one.phase.name == phase.name]
    last = max([note.round for note in notes] + [one.round for one in due], default=0)
    state, note = _find_state(plan, notes, is_now=bool(due))
    steps = tuple(_compose_step(session, plan, phase, step, last) for step in phase.steps)
    return PhaseCourse(
        title=outcome.heading(phase.name),
        state=state,
        rounds=last,
        max_rounds=max(phase.max_rounds, last),
        sure=phase.when is None,
        outcome=note.outcome if note and note.outcome != ENDED else "",
        reason=_find_reason(notes, note),
        absent=sum(1 for turn in plan.scene.turns if turn.phase == phase.name and turn.absent),
        steps=() if state in ("skipped", "unreached") else steps,
    )


def _find_state(plan: Plan, notes: Iterable[Note], is_now: bool) -> tuple[str, Note | None]:
    """The state of a phase, and the decision that led to it."""
    decisive = {"ended": "done", "halted": "halted", "skipped": "skipped"}
    for note in notes:
        if note.kind in decisive and not note.step:
            return decisive[note.kind], note
    return "now" if is_now else "unreached" if plan.done else "ahead", None


def _find_reason(notes: Iterable[Note], decisive: Note | None) -> str:
    """Why a phase ended or was skipped. One that ended as planned has none, but may have one for being needed."""
    if decisive and (decisive.outcome != ENDED or decisive.kind == "skipped"):
        return decisive.verdict.reason
    return next((note.verdict.reason for note in notes if note.kind == "entered" and not note.step), "")


def _compose_step(session: Session, plan: Plan, phase: Phase, step: Step, round: int) -> StepCourse:
    moment = (phase.name, round, step.name)
    spoken = {turn.seat.name for turn in plan.scene.turns if turn.moment == moment}
    due = {one.seat.name for one in plan.due if (one.phase.name, one.round, one.step.name) == moment}
    skipped = any(note.kind == "skipped" and (note.phase, note.round, note.step) == moment for note in plan.notes)
    planned = () if any(isinstance(one, Cast) for one in step.seats) else find_seats(session.workflow, step)
    state = "now" if due else "skipped" if skipped else "done" if spoken else "ahead"
    over = spoken if state == "done" else due | spoken | {seat.name for seat in planned}
    return StepCourse(outcome.heading(step.name), find_kind(session.workflow, step), state, len(over))


# ---- votes ----


def _find_votes(plan: Plan) -> Iterator[Vote]:
    """The last vote of each phase, whether it decided anything or not."""
    notes = {note.phase: note for note in plan.notes if {"votes", "method"} <= note.verdict.tally.keys()}
    for phase, note in notes.items():
        tally = note.verdict.tally
        winner = [tally["winner"]] if tally.get("winner") is not None else []
        yield Vote(
            title=outcome.heading(phase),
            method=str(tally["method"]),
            outcome=str(tally["outcome"]),
            summary=note.verdict.reason,
            counts=tuple((str(option), float(count)) for option, count in tally["votes"].items()),
            leading=tuple(map(str, winner or tally.get("tied", ()))),
            of=float(tally["of"]),
            silent=tuple(map(str, tally.get("not_heard", ()))),
        )


# ---- what each round cost ----


def _add_up_rounds(session: Session) -> Iterator[RoundSpending]:
    """The calls of each round, those that failed included, in the order of the workflow."""
    rounds: dict[tuple[int, int], list[tuple[Attempt, bool]]] = {}
    for turn, receipt in session.receipts.items():
        if registry.describe(receipt.speaker).is_called:
            calls = rounds.setdefault(_find_round(session, turn), [])
            calls += [(call, place >= len(receipt.attempts)) for place, call in enumerate(receipt.calls)]
    for turn, attempts in session.pending.items():
        rounds.setdefault(_find_round(session, turn), []).extend((call, False) for call in attempts)
    for number, round in sorted(rounds):
        phase = session.workflow.phases[number - 1]
        several = phase.max_rounds > 1 or round > 1
        yield _add_up(outcome.heading(phase.name) + (f" {round}" if several else ""), rounds[number, round])


def _find_round(session: Session, turn: str) -> tuple[int, int]:
    """The number of the phase and of the round, from the folder of a turn."""
    number = int(turn[:2])
    repeated = re.match(rf"\d\d-{re.escape(session.workflow.phases[number - 1].name)}-r(\d\d)", turn)
    return number, int(repeated[1]) if repeated else 1


def _add_up(title: str, calls: list[tuple[Attempt, bool]]) -> RoundSpending:
    prices, sent, received = ([getattr(call, name) for call, _ in calls] for name in ("usd", "sent", "output"))
    known = round(math.fsum(price or 0.0 for price in prices), 6)
    return RoundSpending(
        title=title,
        calls=sum(replied for _, replied in calls),
        failed=sum(not replied for _, replied in calls),
        input=None if None in sent else sum(sent),
        output=None if None in received else sum(received),
        usd=None if None in prices else known,
        usd_at_least=known,
    )
