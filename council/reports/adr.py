"""The facts of an architecture decision record (ADR): who proposed what, in which round, and who decided.

Pure over the session and its plan: no clock and no path, so the same record gives the same bytes. The number is not
known here: `filing` replaces `NNNN` when it files the document.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from council.engine.conditions import judge
from council.engine.planner import Plan
from council.engine.scene import GIST, Turn
from council.protocols import outcome as ending
from council.protocols.consensus import (
    DECISION,
    OPTIONS,
    Escalation,
    find_escalations,
    find_score_field,
    list_scores,
    name_kind,
)
from council.protocols.dissent import DISAGREES, find_dissent
from council.protocols.stances import BLOCKING, CONSENSUS, CONSENSUS_WITH_DISSENT, assess_stances
from council.record.session import Session
from council.replies.parse import format_heading
from council.reports import kinds, tally
from council.reports.outline import find_outline
from council.reports.totals import ended_at
from council.reports.verdict import find_path
from council.text import first_line, one_line
from council.workflow import declare
from council.workflow.model import DeclaredDocument

WHOLE = 100_000  # characters: a person's words are never cut short
# Answers of the synthesis that have a section of their own; the others are the design.
APART = {"implementation_notes": "Implementation notes", "open_questions": "Open questions"}


def facts(session: Session, plan: Plan) -> dict[str, Any]:
    """The data for the template `adr.md.j2`."""
    topic, written = str(session.metadata["topic"]).strip(), find_outline(session.workflow, plan)
    document = session.workflow.document or DeclaredDocument(kinds.ADR)
    parts = {part: document.answer(part) for part in declare.document.known[kinds.ADR].parts}
    return {
        "title": one_line(first_line(topic), 120),
        "status": status(session, plan),
        "date": f"{ended_at(session):%Y-%m-%d}",
        "session_id": session.id,
        "topic": topic,
        "attached": [str(name) for name in session.metadata.get("attachments") or ()],
        "participants": list(_participants(session, plan)),
        "rounds": [_round(session, plan, *key) for key in ending.rounds(plan)],
        "preface": tally.preface(plan, find_path(session, plan)[1]),
        "introduction": written.preface,
        "design": [
            {"title": format_heading(name), "text": text}
            for name, text in written.answers.items()
            if name not in parts.values()
        ],
        "scores": _scores(session, plan),
        "escalations": [_escalation(plan, one) for one in find_escalations(plan.scene)],
        "dissent": [
            {"label": turn.seat.label, "text": _describe_dissent(turn, words)}
            for turn, words in find_dissent(plan.scene)
        ],
        "unsatisfied": [{"label": label, "text": score} for label, score in list_unsatisfied(session, plan)],
        "dissents": written.answers.get(parts["dissents"], ""),
        "apart": [{"title": title, "text": written.answers.get(parts[name], "")} for name, title in APART.items()],
    }


def status(session: Session, plan: Plan) -> str:
    """One line on how the question was decided."""
    phase = find_deciding_phase(session, plan)
    outcome = plan.scene.outcomes.get(phase, "not over")
    last = max((turn.round for turn in plan.scene.named(phase)), default=0)
    rounds = f"after {last} round{'' if last == 1 else 's'}"
    if outcome == CONSENSUS:
        now = assess_stances(plan.scene).outcome
        return f"accepted by {now if now == CONSENSUS_WITH_DISSENT else CONSENSUS} {rounds}"
    asked = [one for one in find_escalations(plan.scene) if (one.phase, one.round) == (phase, last)]
    if asked and asked[0].adopted:
        if not asked[0].choice:
            return f"ended by a person, who chose no option, {rounds} ({outcome})"
        return f"decided by a person, {one_line(asked[0].choice, WHOLE)}, {rounds} ({outcome})"
    return f"undecided {rounds} ({outcome})" if find_score_field(session.workflow, phase) else f"{outcome} {rounds}"


def find_deciding_phase(session: Session, plan: Plan) -> str:
    """The phase that decides: the last one that asks for scores, or else the last one before the synthesis."""
    phases = [name for name, _ in ending.rounds(plan)]
    scored = [name for name in phases if find_score_field(session.workflow, name)]
    return (scored or phases or [""])[-1]


def _participants(session: Session, plan: Plan) -> Iterator[dict[str, str]]:
    spoke = {turn.seat.name: turn.seat for turn in plan.scene.turns}
    seats = {seat.name: seat for seat in session.workflow.table} | spoke
    for seat in seats.values():
        focus = str(seat.attributes.get("focus") or seat.attributes.get("about") or "")
        yield {"label": seat.label, "focus": one_line(focus, 300)}


# ---- rounds and scores ----


def _round(session: Session, plan: Plan, phase: str, number: int) -> dict[str, Any]:
    field = find_score_field(session.workflow, phase)
    means = {one["round"]: one["mean"] for one in list_scores(plan.scene, session.workflow, phase)}
    said = [turn for turn in ending.turns_of(plan, phase, number) if not field or field in turn.asked]
    return {
        "title": ending.heading(phase),
        "number": number,
        "mean": means.get(number),
        "scored": bool(field),
        "positions": [
            {
                "label": turn.seat.label,
                "score": turn.describe_silence(field, short=True) or _score(turn.answers.get(field)) if field else "",
                "gist": str(turn.answers.get(GIST) or turn.gist),
            }
            for turn in said
        ],
        "blocking": [
            {"label": turn.seat.label, "text": item} for turn in said for item in turn.answers.get(BLOCKING, ())
        ],
    }


def _score(score: Any) -> str:
    return f"{score:g}"


def _scores(session: Session, plan: Plan) -> dict[str, Any] | None:
    """One row per seat, one column per round; None if nobody was asked for scores."""
    rounds = list_scores(plan.scene, session.workflow, find_deciding_phase(session, plan))
    if not rounds:
        return None
    seats = {one["seat"]: one["by"] for round in rounds for one in round["scores"]}
    given = [{one["seat"]: one["silence"] or _score(one["score"]) for one in round["scores"]} for round in rounds]
    return {
        "rounds": [round["round"] for round in rounds],
        "rows": [
            {"label": label, "scores": [column.get(seat, "-") for column in given]} for seat, label in seats.items()
        ],
        "means": [round["mean"] for round in rounds],
    }


# ---- the decision ----


def format_answer(value: Any) -> str:
    return "\n".join(f"- {item}" for item in value) if isinstance(value, tuple) else str(value)


def _escalation(plan: Plan, one: Escalation) -> dict[str, Any]:
    turn = one.asked or one.answered
    place = (one.phase, one.round, turn.step if turn else "")
    why = [note.verdict.fired for note in plan.notes if (note.phase, note.round, note.step) == place]
    asked = one.asked.answers if one.asked and not one.asked.absent else {}
    return {
        "round": one.round,
        "kind": name_kind(why[0] if why else ()),
        "question": [
            {
                "title": format_heading(name),
                "text": format_answer(value),
                "choices": [{"letter": letter, "text": words} for letter, words in one.options.items()],
                "is_choice": name == OPTIONS,
            }
            for name, value in asked.items()
        ],
        "answer": _describe_decision(one),
    }


def _describe_decision(one: Escalation) -> dict[str, str] | None:
    """What the person decided; None if nobody was asked."""
    if one.answered is None:
        return None
    words = [said.body for said in (one.answered.first, one.answered.said) if said]
    decided = [str(one.answered.answers.get(DECISION, "none that could be read")), one.choice]
    return {
        "absent": one_line(one.answered.absent or "", 300),
        "decision": ", ".join(filter(None, decided)),
        "words": "\n\n".join(words).strip(),
    }


def _describe_dissent(turn: Turn, words: str) -> str:
    said = f"disagrees: {turn.prose or turn.body}" if words == DISAGREES else words
    return one_line(said, 600)


def list_unsatisfied(session: Session, plan: Plan) -> Iterator[tuple[str, str]]:
    """The members whose last score is below the workflow's consensus rule, or missing."""
    phase = find_deciding_phase(session, plan)
    field = find_score_field(session.workflow, phase)
    rules = [dict(one.until).get(CONSENSUS) for one in session.workflow.phases if one.name == phase]
    if not field or not rules or rules[0] is None:
        return
    content = judge(rules[0], plan.scene).tally.get(field, {}).get("for", ())
    for turn in plan.scene.latest(field):
        if turn.seat.name not in content:
            score = turn.answers.get(field)
            yield turn.seat.label, "gave no score" if score is None else f"satisfaction {score:g}"
