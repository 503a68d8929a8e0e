"""The facts of an architecture decision record (ADR), in either form: what was decided, why, and who did not agree.

Pure over the session and its plan: no clock and no path, so the same record gives the same bytes. The number is not
known here: `filing` replaces `NNNN` when it files the document.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import partial
from itertools import groupby
from typing import Any

from council.engine.planner import Plan
from council.protocols import outcome as ending
from council.protocols.consensus import list_scores
from council.protocols.evidence import describe_use
from council.protocols.specialists import describe_seating, find_seating, list_table
from council.protocols.stances import assess
from council.record import chain
from council.record.session import Session
from council.reports import escalated, kinds, tally, verdict
from council.reports.concerns import describe_ledger
from council.reports.dissents import describe_dissents, find_target, read_position
from council.reports.front_matter import list_people
from council.reports.numbering import find_title
from council.reports.outline import is_nothing
from council.reports.parts import read_confidence, read_parts
from council.reports.sources import POINT_TO_ALL, Sources, find_sources, name_seat
from council.reports.status import describe_deciders, describe_status, find_deciding_phase, is_accepted, name_status
from council.reports.totals import ended_at

DISSENTS = "dissents"  # the part whose items are sorted before they are cited
SAID = {"absent": "not heard", "silent": "unreadable", "spoke": "spoke"}  # cells of the table without a stance


def facts(session: Session, plan: Plan, kind: str = kinds.ADR) -> dict[str, Any]:
    """The data for the templates `adr.md.j2` and `madr.md.j2`."""
    topic, sources = str(session.metadata["topic"]).strip(), find_sources(plan)
    found = read_parts(session, plan, kind, plain=(DISSENTS,))
    parts = {part: found.texts.get(part, "") for part in kinds.RECORD_PARTS}
    author = ending.find_syntheses(plan)[-1]
    written = not is_nothing(parts["decision"] or found.introduction)
    return {
        **{part: text for part, text in parts.items() if part != "confidence"},
        "title": find_title(topic),
        "accepted": is_accepted(plan, written),
        "status_word": name_status(plan, written),
        "date": f"{ended_at(session):%Y-%m-%d}",
        "session_id": session.id,
        "topic": topic,
        "attached": [str(name) for name in session.metadata.get("attachments") or ()],
        "preface": tally.preface(plan, verdict.find_path(session, plan)[1]),
        "introduction": found.introduction,
        "others": list(found.others),
        "asked": list(found.texts),
        "author": {"title": name_seat(author.seat), "source": sources.refer(author)},
        "summary": verdict.opening(found.texts.get("decision") or found.introduction),
        "guidance": list(_guidance(plan, sources)),
        **describe_dissents(session, plan, parts["dissents"], sources),
        "confidence": read_confidence(session, plan, kind),
        **describe_record(session, plan, written),
    }


def describe_record(session: Session, plan: Plan, written: bool, roles: str = "") -> dict[str, Any]:
    """How it came about: on what evidence, who took part, who said what in which round, what a person was asked.

    `written` is whether the synthesis states the decision. `roles` is what the members are called together, where the
    document lists them anyway."""
    sources = find_sources(plan)
    return {
        "status": describe_status(session, plan, written),
        "chained": chain.is_recorded(session),
        "escalations": escalated.describe(session, plan, sources),
        "rounds": _rounds(session, plan, sources),
        "analysis": _analysis(session, plan, sources),
        "whole": POINT_TO_ALL,
        "ledger": asdict(found) if (found := describe_ledger(session, plan, sources.refer)) else None,
        "evidence": asdict(used) if (used := describe_use(session.extra, plan.scene.turns)) else None,
        **_people(session, plan, written, roles),
    }


def _analysis(session: Session, plan: Plan, sources: Sources) -> dict[str, Any] | None:
    """What the topic touches, who sits because of it, and why; None if nobody asked."""
    found = find_seating(session.workflow, plan.scene)
    if found is None:
        return None
    labels = {seat.name: name_seat(seat) for seat in session.workflow.members}
    return {
        "told": describe_seating(found, len(labels)),
        "parts": list(found.parts),
        "reasons": [{"label": labels[seat], "why": why} for seat, why in found.seated.items() if why],
        "why": found.reason,
        "source": sources.refer(found.turn),
    }


madr = partial(facts, kind=kinds.MADR)


# ---- who took part ----


def _people(session: Session, plan: Plan, written: bool, together: str) -> dict[str, Any]:
    """Who decided, who was heard, and who took part in which role. A seat is named by its title alone."""
    author = [turn.seat for turn in ending.find_syntheses(plan)][-1:]
    spoke = {turn.seat.name: turn.seat for turn in plan.scene.turns}
    seats = {seat.name: seat for seat in list_table(session.workflow, plan.scene)} | spoke
    counted = list(verdict.find_members(session, plan, assess(plan.scene)))
    members = {seat.name for seat in counted}
    roles: dict[str, list[str]] = {"members": [], "author": [name_seat(seat) for seat in author], "also heard": []}
    for seat in seats.values():
        if not seat.is_person and seat not in author:
            roles["members" if seat.name in members else "also heard"].append(name_seat(seat))
    people = [list_people(session, plan, deciding=deciding) for deciding in (True, False)]
    debated = [seat for seat in seats.values() if seat.name in members]
    return {
        "deciders": describe_deciders(session, plan, debated, written, together),
        "decided_by": people[0] or [f"{title} (model)" for title in dict.fromkeys(roles["members"])],
        "consulted": [*(dict.fromkeys(roles["members"]) if people[0] else ()), *people[1]],
        "participants": [
            {"role": role, "names": list(dict.fromkeys(names))}
            for role, names in {**roles, "people": [*people[0], *people[1]]}.items()
            if names
        ],
    }


def _guidance(plan: Plan, sources: Sources) -> Iterator[dict[str, str]]:
    """What people said to the debate in words of their own, other than at an escalation."""
    for turn in plan.scene.turns:
        if turn.seat.is_person and not turn.absent and not turn.asked:
            yield {"text": turn.whole.strip(), "source": sources.refer(turn)}


# ---- the rounds ----


def _rounds(session: Session, plan: Plan, sources: Sources) -> dict[str, Any]:
    """One row for each member, one column for each round, and the member's last position."""
    grid, turns = verdict.decide(session, plan).grid, sources.turns
    rows = []
    for row in grid.rows:
        spoken = [turns[cell.turn] for cell in row.cells if cell.turn]
        heard = [turn for turn in spoken if not turn.absent]
        cells = [sources.point(turns.get(cell.turn), cell.text or SAID.get(cell.tone, "-")) for cell in row.cells]
        rows.append(
            {"label": name_seat(spoken[-1].seat), "cells": cells, "position": read_position((heard or spoken)[-1])}
        )
    spans = [
        f"{first}{f'-{last}' if last > first else ''} {title.lower()}" for title, first, last in _spans(grid.columns)
    ]
    return {
        "titles": list(grid.columns),
        "spans": spans,
        "rows": rows,
        "means": list(_means(session, plan)),
        "target": find_target(session, plan),
    }


def _spans(titles: Iterable[str]) -> Iterator[tuple[str, int, int]]:
    """The phases, each with the numbers of its first and its last round."""
    for title, group in groupby(enumerate(titles, 1), key=lambda pair: pair[1]):
        numbers = [number for number, _ in group]
        yield title, numbers[0], numbers[-1]


def _means(session: Session, plan: Plan) -> Iterator[float | None]:
    phase = find_deciding_phase(session, plan)
    means = {one["round"]: one["mean"] for one in list_scores(plan.scene, session.workflow, phase)}
    for name, number in ending.rounds(plan) if means else ():
        yield means.get(number) if name == phase else None
