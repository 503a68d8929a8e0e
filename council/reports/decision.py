"""What a debate between perspectives decided, as a document; and the issue that somebody is to work from.

Pure: both follow from the record alone. What a reply did not give is said to be missing, never filled in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from council.engine.planner import ENDED_BY_CAP, Plan
from council.engine.scene import Turn
from council.protocols import outcome
from council.protocols import perspectives as casting
from council.record.session import Session
from council.reports import archive
from council.text import one_line, slug

HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(\S.*)$", re.M)
UNDERLINE = re.compile(r"(?<=\S)[ \t]*\n(?= {0,3}(?:=+|-+)[ \t]*$)", re.M)
UNSAID = "*(The synthesis does not say.)*"
NONE = "None was named."


def text(session: Session, plan: Plan) -> str:
    """The decision document; empty where nobody was to write a synthesis, because there was no debate."""
    if not outcome.written(plan):
        return ""
    seats = perspectives(plan)
    parts = [
        f"# Decision: {one_line(session.metadata['topic'], 200)}",
        "\n".join([
            f"**Date:** {archive.ended_at(session):%Y-%m-%d}",
            f"**Debate ID:** {session.id}",
            f"**Rounds:** {max((turn.round for turns in seats.values() for turn in turns), default=0)}",
            f"**Perspectives:** {', '.join(seats) or 'none'}",
        ]),
        *missing_synthesis(plan),
        "## Question", *question(session, plan),
        "## Perspectives Considered", *considered(session, plan),
        "## Points of Agreement", listed(plan, "agreement"),
        "## Key Tensions", listed(plan, "tensions"), *left_open(plan),
        "## Recommendation", told(plan, "recommendation"), f"{confidence(plan)}\n{caveats(plan)}",
        "## Dissenting View", told(plan, "dissent"),
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def issue(session: Session, plan: Plan) -> str:
    """The decision as something to be worked on; empty where no person asked for it."""
    if not outcome.written(plan) or not wanted(plan):
        return ""
    parts = [
        f"# Carry out: {one_line(session.metadata['topic'], 200)}",
        f"From the decision of {archive.ended_at(session):%Y-%m-%d}, session {session.id}.",
        "## Context", *question(session, plan), f"**Perspectives:** {', '.join(perspectives(plan)) or 'none'}",
        "## Decision", told(plan, "recommendation"), confidence(plan),
        "## Constraints", listed(plan, "caveats"), *accepted(plan),
        "## Dissent", told(plan, "dissent"),
        "## Acceptance", listed(plan, "acceptance", "- [ ] "),
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def wanted(plan: Plan) -> bool:
    """Whether a person said yes; nobody else can."""
    asked = [turn for turn in plan.scene.turns if turn.seat.is_person]
    return any(turn.answers.get("create_workflow") == "yes" for turn in asked)


# ---- what was asked ----


def question(session: Session, plan: Plan) -> Iterator[str]:
    """The question in the words of who asked it, how it was put, and what was assumed or said by a person since."""
    yield "\n".join(f"> {line}".rstrip() for line in str(session.metadata["topic"]).splitlines())
    if put := casting.newest(plan.scene, "question"):
        yield f"**Put as:** {prose(put)}"
    if assumed := items(casting.newest(plan.scene, "assumed")):
        yield "\n".join(["**Assumed:**\n", *(f"- {item}" for item in assumed)])
    if said := [f"- {words}" for turn in plan.scene.turns if (words := of_a_person(turn))]:
        yield "\n".join(["**A person said:**\n", *said])


def of_a_person(turn: Turn) -> str:
    """What a person added to the question: in their own words, or by the answer `guidance`."""
    if not turn.seat.is_person or turn.absent:
        return ""
    if not turn.asked:
        return plain(turn.body)
    if turn.answers.get("decision") != "guide" or not turn.answers.get("guidance"):
        return ""
    return f"after round {turn.round}: {plain(turn.answers['guidance'])}"


# ---- the perspectives ----


def perspectives(plan: Plan) -> dict[str, list[Turn]]:
    """Who was cast and what they said, by title."""
    found: dict[str, list[Turn]] = {}
    for turn in plan.scene.turns:
        if casting.is_cast(turn.seat, plan.scene):
            found.setdefault(turn.seat.title, []).append(turn)
    return found


def considered(session: Session, plan: Plan) -> Iterator[str]:
    """A section each, with what the synthesis says of it. What it says of nobody who was there comes last."""
    seats = perspectives(plan)
    muted = {row["title"] for row in casting.table(plan.scene, session.workflow) if row["muted"]}
    for title, turns in seats.items():
        lines = [f"### {title}\n"]
        lines += ["- *(muted before the debate was over)*"] if title in muted else []
        lines += ["- *(absent: nothing was heard of it)*"] if all(turn.absent for turn in turns) else []
        for label, name in (("Key arguments", "arguments"), ("Trade-offs accepted", "trade_offs")):
            lines.append(_of(label, [rest for owner, rest in owned(plan, name, seats) if owner == title]))
        yield "\n".join(lines)
    strays = [rest for name in ("arguments", "trade_offs") for owner, rest in owned(plan, name, seats) if not owner]
    if strays:
        yield "\n".join(["*(The synthesis does not say whose these are:)*\n", *(f"- {one}" for one in strays)])
    for note in plan.notes:
        if note.kind == "ended" and note.outcome == ENDED_BY_CAP and "unmet" in note.verdict.tally:
            yield f"*(They were cast although {note.verdict.reason}.)*"


def _of(label: str, found: list[str]) -> str:
    if len(found) < 2:
        return f"- {label}: {found[0] if found else UNSAID}"
    return "\n".join([f"- {label}:", *(f"  - {one}" for one in found)])


def owned(plan: Plan, name: str, seats: dict[str, list[Turn]]) -> Iterator[tuple[str, str]]:
    """Each item of a list of `Perspective: what is said of it`, with that perspective's title, or with none."""
    for item in items(answers(plan).get(name)):
        head, colon, rest = item.partition(":")
        owner = whose(head, list(seats)) if colon else ""
        yield owner, rest.strip(" *_`") if owner else item


def whose(head: str, names: list[str]) -> str:
    """The one title that is meant: the same words, or the only one that has all of these."""
    words = set(slug(head, len(head)).split("-")) - {""}
    same = [name for name in names if slug(name, len(name)) == slug(head, len(head))]
    near = [name for name in names if words and words <= set(slug(name, len(name)).split("-"))]
    found = same or near
    return found[0] if len(found) == 1 else ""


def accepted(plan: Plan) -> Iterator[str]:
    if given := items(answers(plan).get("trade_offs")):
        yield "\n".join(["What each perspective accepted:\n", *(f"- {item}" for item in given)])


# ---- the synthesis ----


def answers(plan: Plan) -> dict[str, Any]:
    """What the last synthesis answered."""
    tries = outcome.written(plan)
    return dict(tries[-1].answers) if tries else {}


def missing_synthesis(plan: Plan) -> Iterator[str]:
    last = outcome.written(plan)[-1]
    if last.absent:
        yield f"*(There is no synthesis: the {last.seat.title.lower()} was absent: {one_line(last.absent, 200)}.)*"


def listed(plan: Plan, name: str, mark: str = "- ") -> str:
    value = answers(plan).get(name)
    if value is None:
        return UNSAID
    return "\n".join(f"{mark}{item}" for item in items(value)) or NONE


def told(plan: Plan, name: str) -> str:
    value = answers(plan).get(name)
    return UNSAID if value is None else prose(value)


def left_open(plan: Plan) -> Iterator[str]:
    """How the debate ended, where that says that something stayed open."""
    if casting.unsettled(plan.scene, ENDED_BY_CAP):
        yield "*(The debate reached its last round unsettled.)*"
    for turn in plan.scene.turns:
        if turn.seat.is_person and turn.answers.get("decision") == "end":
            yield f"*(A person ended the debate after round {turn.round}.)*"


def confidence(plan: Plan) -> str:
    if why := casting.lowered(plan.scene, ENDED_BY_CAP):
        return f"**Confidence:** {casting.LOW.capitalize()} *({why})*"
    value = answers(plan).get("confidence")
    return f"**Confidence:** {str(value).capitalize() if value else UNSAID}"


def caveats(plan: Plan) -> str:
    value = answers(plan).get("caveats")
    found = items(value)
    if len(found) < 2:
        return f"**Caveats:** {found[0] if found else UNSAID if value is None else NONE}"
    return "\n".join(["**Caveats:**\n", *(f"- {item}" for item in found)])


def items(value: Any) -> list[str]:
    given = value if isinstance(value, tuple) else () if value is None else (value,)
    return [words for item in given if (words := plain(str(item)))]


def plain(words: str) -> str:
    return " ".join(str(words).split())


def prose(value: Any) -> str:
    """Words as they were written; what would be a heading among them is none of the document's."""
    words = "\n\n".join(items(value)) if isinstance(value, tuple) else str(value)
    plain_headings = HEADING.sub(lambda found: f"**{found.group(1).rstrip(' #')}**", words)
    return UNDERLINE.sub("\n\n", plain_headings).strip()
