"""What a template may use: plain data about the turn that is due."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from council.engine.anonymity import relabelled, with_names
from council.engine.conditions import judge
from council.engine.planner import Due
from council.engine.scene import Scene, Seen, Turn, Verdict
from council.protocols import consensus, perspectives
from council.protocols.consensus import measured
from council.protocols.stances import standing
from council.record.session import Session
from council.replies import parse, quotes
from council.reviews import state
from council.text import TOKENS_A_WORD, one_line, slug
from council.workflow import limits
from council.workflow.model import Seat, Workflow


def context(session: Session, due: Due) -> dict[str, Any]:
    """All that a template may use: plain data, no objects of ours."""
    options = dict(session.workflow.options)
    return {
        "topic": fence(session, "topic", session.topic, "topic"),
        "seat": _seat(due.seat),
        "members": [_seat(seat) for seat in session.workflow.table],
        "workflow": session.workflow.name,
        "phase": due.phase.name,
        "step": due.step.name,
        "round": due.round,
        "rounds": due.scene.cap,
        "options": options,
        "words": options.get("words", ""),
        "budget": _budget(session, due),
        "task": session.workflow.tasks.get(due.step.prompt, ""),
        "transcript": transcript(session, due),
        "format": parse.describe(due.step.reply),
        "again": _again(session, due),
        "yours": _yours(session, due),
        "measured": measured(due.scene, session.workflow),
        "because": _because(due),
        "lettered": _lettered(session, due),
        "left_out": _lacked(due.scene, session.workflow),
        "not_cited": _lacked(due.scene, session.workflow, "not_cited"),
        "tally": standing(due.scene).reason,
        "unmet": _unmet(due.scene, session.workflow),
        "catalog": catalog(due.seat),
        "cast": perspectives.table(due.scene, session.workflow),
        "outcomes": dict(due.scene.outcomes),
        "findings": _findings(session, due),
    }


def _seat(seat: Seat) -> dict[str, str]:
    fields = ("name", "focus", "accepts", "perspective", "about", "icon")
    known = {key: str(seat.attributes.get(key) or "") for key in fields}
    known["about"] = known["about"].strip("*_` ")  # what is left of `**Name:** what it stands for`
    return {**known, "seat": seat.name, "title": seat.title, "label": seat.label, "person": known["name"]}


def _budget(session: Session, due: Due) -> int:
    """The words that the reply has room for, where the workflow bounds its tokens; 0 is no bound."""
    share = limits.share(session.workflow, due.phase.steps, due.step, due.seat)
    return int((share or 0) / TOKENS_A_WORD) // 10 * 10


def _again(session: Session, due: Due) -> dict[str, Any] | None:
    if due.first is None:
        return None
    own = fence(session, "you", due.first.body, due.id)
    return {"problems": list(due.problems), "reply": own}


def _yours(session: Session, due: Due) -> str:
    """Which of the passages in the brief the seat wrote itself: what it says again is no echo of anybody."""
    own = [seen for seen in due.sees if seen.turn.seat.name == due.seat.name]
    keys = [_key(session, _shown(session, due, seen), seen.turn.id) for seen in own]
    return quotes.yours([*keys, *([_key(session, due.first.body, due.id)] if due.first else [])])


def _findings(session: Session, due: Due) -> str:
    """The merged list of a review: written by its members, so it stands between marks as what they say does."""
    labels = {seat.name: seat.label for seat in session.workflow.all_seats()}
    return fence(session, "the members", state.listed(state.reviewed(due.scene), labels), due.step.name)


def _because(due: Due) -> dict[str, Any]:
    """Why the step is spoken in this round: the rules of its `when` that hold, as before any of its turns."""
    before = tuple(turn for turn in due.scene.turns if turn.moment != (due.phase.name, due.round, due.step.name))
    why = judge(due.step.when, replace(due.scene, turns=before)) if due.step.when else Verdict(True)
    return {"fired": list(why.fired), "reason": why.reason}


def _lettered(session: Session, due: Due) -> str:
    """The options that a person is to choose from, each with its letter; empty where nobody put any."""
    turn, options = consensus.put(due.scene)
    if turn is None or not options:
        return ""
    return fence(session, turn.seat.label, "\n".join(f"{key}) {text}" for key, text in options.items()), turn.id)


def _lacked(scene: Scene, workflow: Workflow, kind: str = "left_out") -> list[str]:
    """What the last try at this phase lacked, where its `until` rule says so."""
    phase = next(phase for phase in workflow.phases if phase.name == scene.phase)
    if scene.round < 2:
        return []
    found = [judge(condition, scene).tally.get(kind, []) for _, condition in phase.until]
    return [one_line(item, 600) for items in found for item in items]


def _unmet(scene: Scene, workflow: Workflow) -> list[str]:
    """What was wrong with whom the last round of this phase cast, where its `until` rule says so."""
    phase = next(phase for phase in workflow.phases if phase.name == scene.phase)
    if scene.round < 2:
        return []
    return [one for _, condition in phase.until for one in judge(condition, scene).tally.get("unmet", [])]


def catalog(seat: Seat) -> list[dict[str, Any]]:
    """The perspectives that the seat may cast, each by the title that leads back to its section."""
    catalog: Mapping[str, Mapping[str, Any]] = seat.attributes.get("catalog", {})

    def title(name: str) -> str:
        own = str(catalog.get(name, {}).get("title", ""))
        return own if slug(own) == name else name.replace("-", " ").title()

    return [
        {
            "title": title(name),
            "focus": str(one.get("focus", "")),
            "accepts": str(one.get("accepts", "")),
            "opposes": [title(other) for other in perspectives.opponents(one)],
        }
        for name, one in catalog.items()
    ]


def transcript(session: Session, due: Due) -> list[dict[str, str]]:
    """What the seat may read, oldest first: each turn under a heading of its round, whole or as a gist."""
    shown = []
    for seen in due.sees:
        turn = seen.turn
        label = seen.label or turn.seat.label
        place = (
            f"{turn.phase.replace('-', ' ')}, round {turn.round}" if _repeats(session.workflow, turn) else turn.phase
        )
        text = fence(session, label, _shown(session, due, seen), turn.id)
        shown.append({"round": place.capitalize(), "by": label, "text": text, "id": turn.id})
    return shown


def _shown(session: Session, due: Due, seen: Seen) -> str:
    turn = seen.turn
    text = turn.gist if seen.gist else (turn.body if not turn.absent else f"(absent: {turn.absent})")
    if seen.label:
        return relabelled(text, turn, due.seat, session.workflow, due.scene)
    return with_names(text, turn, session.workflow, due.scene)


def _repeats(workflow: Workflow, turn: Turn) -> bool:
    return any(phase.max_rounds > 1 for phase in workflow.phases if phase.name == turn.phase)


def fence(session: Session, by: str, text: str, about: str) -> str:
    """The text between two marks that nothing inside of it can forge."""
    mark = f'said by="{one_line(by).replace(chr(34), chr(39))}" key="{_key(session, text, about)}"'
    return f"<{mark}>\n{text}\n</{mark}>"


def _key(session: Session, text: str, about: str) -> str:
    return session.key("fence", about, text)
