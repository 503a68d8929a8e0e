"""What a person was asked to settle in a debate, and what they decided, in their own words."""

from __future__ import annotations

from typing import Any

from council.engine.planner import Plan
from council.protocols.consensus import (
    DECISION,
    OPTION,
    OPTIONS,
    RECOMMENDED,
    TENSION,
    Escalation,
    find_escalations,
    name_kind,
    read_letter,
)
from council.record.session import Session
from council.replies.parse import format_heading
from council.reports.front_matter import name_person
from council.reports.kinds import GUIDANCE
from council.reports.sources import Sources
from council.text import one_line

SHOWN = (OPTIONS, TENSION, RECOMMENDED)
REASON = "reason"
SAID = (DECISION, OPTION, REASON, GUIDANCE)  # a person's answers that have a place of their own


def describe(session: Session, plan: Plan, sources: Sources) -> list[dict[str, Any]]:
    """Each escalation, oldest first: its question and its answer, with references to both."""
    return [
        {**_question(plan, one, sources), "answer": _answer(session, one, sources)}
        for one in find_escalations(plan.scene)
    ]


def _question(plan: Plan, one: Escalation, sources: Sources) -> dict[str, Any]:
    turn = one.asked or one.answered
    place = (one.phase, one.round, turn.step if turn else "")
    why = [note.verdict.fired for note in plan.notes if (note.phase, note.round, note.step) == place]
    asked = dict(one.asked.answers) if one.asked and not one.asked.absent else {}
    chosen = read_letter(str(one.answered.answers.get(OPTION, "")))[0] if one.answered and one.adopted else ""
    return {
        "round": sources.numbers.get((one.phase, one.round), one.round),
        # A checkpoint between rounds offers no options, and nothing was stuck.
        "kind": name_kind(why[0] if why else ()) if turn and {OPTION, OPTIONS} & set(turn.asked) else "",
        "tension": str(asked.get(TENSION, "")),
        "recommendation": str(asked.get(RECOMMENDED, "")),
        "options": [
            {"letter": letter, "text": words, "chosen": letter == chosen} for letter, words in one.options.items()
        ],
        "more": [
            {"title": format_heading(name), "text": "\n".join(value) if isinstance(value, tuple) else str(value)}
            for name, value in asked.items()
            if name not in SHOWN
        ],
        "source": sources.refer(one.asked),
    }


def _answer(session: Session, one: Escalation, sources: Sources) -> dict[str, Any] | None:
    """What the person decided; None if nobody was asked."""
    turn = one.answered
    if turn is None:
        return None
    beside = {name: value for name, value in turn.answers.items() if name not in SAID and value}
    reasons = [str(turn.answers.get(name, "")).strip() for name in (GUIDANCE, REASON)]
    return {
        "absent": one_line(turn.absent or "", 300),
        "by": "" if turn.absent else name_person(session, turn).replace("a person", "A person"),
        "adopted": one.adopted,
        "decision": str(turn.answers.get(DECISION, "nothing that could be read")),
        "choice": one_line(one.choice, len(one.choice) + 1),
        "more": ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in beside.items()),
        "words": "\n\n".join(filter(None, [turn.first.body if turn.first else "", *reasons, turn.prose])).strip(),
        "source": sources.refer(turn),
    }
