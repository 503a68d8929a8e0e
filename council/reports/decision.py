"""The facts of a decision between perspectives, and of the issue that can follow from it.

Pure: both follow from the record alone. They keep the synthesis as its author wrote it. Parts that it lacks are
reported as missing, never filled in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from council.engine.planner import ENDED_BY_CAP, Plan
from council.engine.scene import Turn
from council.protocols import casting, outcome
from council.protocols import perspectives as sides
from council.protocols.concessions import find_concessions
from council.protocols.consensus import DECISION, END
from council.record.session import Session
from council.reports import kinds, outline, tally
from council.reports.adr import describe_record
from council.reports.dissents import describe_dissents
from council.reports.kinds import ASSUMED, CLEAR, CREATE_WORKFLOW, GUIDANCE, QUESTION
from council.reports.numbering import find_title
from council.reports.parts import read_confidence, read_parts
from council.reports.sources import find_sources, name_seat
from council.reports.totals import ended_at
from council.reports.verdict import find_path, opening
from council.text import slug

HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(\S.*)$", re.M)
UNDERLINE = re.compile(r"(?<=\S)[ \t]*\n(?= {0,3}(?:=+|-+)[ \t]*$)", re.M)
OWNED = ("arguments", "trade_offs")
DISSENT = "dissent"


def facts(session: Session, plan: Plan) -> dict[str, Any]:
    """The data for the templates `decision.md.j2` and `issue.md.j2`."""
    author = outcome.find_syntheses(plan)[-1]
    seats, given = perspectives(plan), read_parts(session, plan, kinds.DECISION, plain=(*OWNED, DISSENT))
    texts, sources = given.texts, find_sources(plan)
    owned = {name: split_by_owner(texts.get(name, ""), list(seats)) for name in OWNED}
    return {
        "title": find_title(str(session.metadata["topic"])),
        "date": f"{ended_at(session):%Y-%m-%d}",
        "session_id": session.id,
        "summary": opening(texts.get("recommendation", "")),  # for overlays that begin with it
        "author": {"title": name_seat(author.seat), "source": sources.refer(author)},
        **describe_dissents(session, plan, texts.get(DISSENT), sources),
        **describe_record(
            session,
            plan,
            not outline.is_nothing(texts.get("recommendation", "")),
            f"the {author.seat.title.lower()} and the perspectives" if seats else "",
        ),
        "rounds_held": max((turn.round for turns in seats.values() for turn in turns), default=0),
        "perspectives": list(seats),
        "question": question(session, plan),
        "introduction": given.introduction,
        "considered": [_considered(session, plan, title, turns, owned) for title, turns in seats.items()],
        "ungrouped": {name: texts[name] for name in OWNED if owned[name] is None},
        "strays": [text for name in OWNED for owner, text in owned[name] or () if not owner],
        "added": [
            {"title": seat.title, "opposes": title}
            for seat, title in sides.list_opposites(plan.scene, session.workflow)
        ],
        "concessions": [
            {"label": one.turn.seat.title, "text": one.text, "source": find_sources(plan).refer(one.turn)}
            for one in find_concessions(plan.scene)
        ],
        "unmet": [
            note.verdict.reason
            for note in plan.notes
            if note.kind == "ended" and note.outcome == ENDED_BY_CAP and "unmet" in note.verdict.tally
        ],
        **{
            name: texts.get(name)
            for name in (
                "arguments",
                "trade_offs",
                "agreement",
                "tensions",
                "recommendation",
                "caveats",
                DISSENT,
                "acceptance",
                "next_steps",
            )
        },
        "others": list(given.others),
        "unsettled": sides.ended_unsettled(plan.scene, ENDED_BY_CAP),
        "ended_after": [
            turn.round for turn in plan.scene.turns if turn.seat.is_person and turn.answers.get(DECISION) == END
        ],
        "preface": tally.preface(plan, find_path(session, plan)[1]),
        "confidence": read_confidence(session, plan, kinds.DECISION),
    }


def wants_issue(plan: Plan) -> bool:
    """Whether a person asked for an issue; nobody else can."""
    asked = [turn for turn in plan.scene.turns if turn.seat.is_person]
    return any(turn.answers.get(CREATE_WORKFLOW) == "yes" for turn in asked)


# ---- the question ----


def question(session: Session, plan: Plan) -> dict[str, Any]:
    """The original question, how it was put to the members, what was assumed, and what a person added since."""
    put = casting.find_newest(plan.scene, QUESTION)
    return {
        "topic": str(session.metadata["topic"]),
        "put": prose(put) if put else "",
        "unclear": casting.find_newest(plan.scene, CLEAR) == "no",
        "assumed": items(casting.find_newest(plan.scene, ASSUMED)),
        "said": [words for turn in plan.scene.turns if (words := read_person(turn))],
    }


def read_person(turn: Turn) -> str:
    """What a person added to the question, as free text or as the answer `guidance`."""
    if not turn.seat.is_person or turn.absent:
        return ""
    if not turn.asked:
        return plain(turn.body)
    if turn.answers.get(DECISION) != "guide" or not turn.answers.get(GUIDANCE):
        return ""
    return f"after round {turn.round}: {plain(turn.answers[GUIDANCE])}"


# ---- the perspectives ----


def perspectives(plan: Plan) -> dict[str, list[Turn]]:
    """The perspectives and their turns, by title."""
    found: dict[str, list[Turn]] = {}
    for turn in plan.scene.turns:
        if sides.is_cast(turn.seat, plan.scene):
            found.setdefault(turn.seat.title, []).append(turn)
    return found


def _considered(
    session: Session, plan: Plan, title: str, turns: list[Turn], owned: Mapping[str, list[tuple[str, str]] | None]
) -> dict[str, Any]:
    """A perspective, with what the synthesis says about it; None where it does not say it in such a list."""
    muted = {row["title"] for row in sides.list_cast(plan.scene, session.workflow) if row["muted"]}
    return {
        "title": title,
        "muted": title in muted,
        "absent": all(turn.absent for turn in turns),
        "source": find_sources(plan).refer(next((turn for turn in reversed(turns) if not turn.absent), None)),
        **{name: None if of is None else [text for owner, text in of if owner == title] for name, of in owned.items()},
    }


def split_by_owner(text: str, titles: list[str]) -> list[tuple[str, str]] | None:
    """The items of a list of `Perspective: text`, each with the perspective's title, or without one.

    None if the text is anything but such a list: then it can only be kept whole."""
    if outline.is_nothing(text):
        return []
    items = outline.split_list(text)
    return None if items is None else [_split_owner(item, titles) for item in items]


def _split_owner(item: str, titles: list[str]) -> tuple[str, str]:
    head, colon, rest = item.partition(":")
    owner = find_owner(head, titles) if colon and "\n" not in head else ""
    if not owner:
        return "", item
    rest = re.sub(r"^(?:\*\*|__|[*_`])", "", rest).lstrip()
    return owner, rest.removesuffix("**") if rest.count("**") % 2 else rest


def find_owner(head: str, names: list[str]) -> str:
    """The title that is meant: one with the same words, or the only one that contains all of them."""
    words = set(slug(head, len(head)).split("-")) - {""}
    same = [name for name in names if slug(name, len(name)) == slug(head, len(head))]
    near = [name for name in names if words and words <= set(slug(name, len(name)).split("-"))]
    found = same or near
    return found[0] if len(found) == 1 else ""


# ---- words of others ----


def items(value: Any) -> list[str]:
    given = value if isinstance(value, tuple) else () if value is None else (value,)
    return [words for item in given if (words := plain(str(item)))]


def plain(words: str) -> str:
    return " ".join(str(words).split())


def prose(value: Any) -> str:
    """Text as it was written, with its headings turned into bold text: the document has its own headings."""
    words = "\n\n".join(items(value)) if isinstance(value, tuple) else str(value)
    plain_headings = HEADING.sub(lambda found: f"**{found.group(1).rstrip(' #')}**", words)
    return UNDERLINE.sub("\n\n", plain_headings).strip()
