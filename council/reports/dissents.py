"""The dissents of a document: what its author wrote of everybody who dissents by the record, and what council adds.

What an author lists of members who do not dissent, such as those who scored below the target and would sign, is a
remaining reservation. No word of the author is lost, and nobody is named as a dissenter whom the status does not name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from council.engine.anonymity import restore_names
from council.engine.conditions import judge
from council.engine.planner import Plan
from council.engine.scene import GIST, Turn
from council.protocols import consensus
from council.protocols.consensus import find_score_field
from council.protocols.dissent import DISAGREES, find_missing
from council.protocols.dissenters import BlockingItem, Dissenter, describe_stance, find_dissenters
from council.protocols.stances import BLOCKING, CONSENSUS, MIXED, STANCE
from council.record.session import Session
from council.replies.values import BULLET
from council.reports.outline import is_nothing, split_list
from council.reports.sources import Sources, name_seat
from council.reports.status import find_deciding_phase
from council.reports.verdict import opening
from council.text import one_line

WHOLE = 100_000  # characters: nobody's dissent is cut short


def describe_dissents(session: Session, plan: Plan, written: str | None, sources: Sources) -> dict[str, Any]:
    """The data for the templates `_dissent.md.j2` and `_reservations.md.j2`."""
    dissenters = find_dissenters(plan.scene)
    kept, moved = _sort(plan, written or "", dissenters, sources)
    named = {owner for item in moved for owner in sources.find_owners(item)}
    named |= {one.turn.seat.name for one in dissenters}
    return {
        "dissents": "\n".join(_cite(text, dissenters, sources) for text in kept),
        "missing_dissent": list(_add_missing(session, plan, "\n".join(kept), dissenters, sources)),
        "reservations": sources.cite("\n".join(moved)),
        "unsatisfied": list(_find_unsatisfied(session, plan, named, sources)),
        "target": find_target(session, plan),
    }


# ---- what the author wrote ----


def _sort(plan: Plan, written: str, dissenters: Collection[Dissenter], sources: Sources) -> tuple[list[str], list[str]]:
    """What the author wrote of those who dissent, and of those who do not: the items of a list, or the whole text."""
    if is_nothing(written):
        return [], []
    names = {one.turn.seat.name for one in dissenters}
    items = split_list(written)
    if not any(any(plan.scene.rounds_that_ask(name)) for name in (STANCE, BLOCKING)):
        return [written], []  # who dissents is only what the author says
    if items is None or not names:
        return ([written], []) if names else ([], [written])
    kept: list[str] = []
    moved: list[str] = []
    for item in items:
        owners = sources.find_owners(item)
        (moved if owners and not owners & names else kept).append(f"- {item}")
    return kept, moved


def _cite(text: str, dissenters: Collection[Dissenter], sources: Sources) -> str:
    """An author's dissent, with the turns in which those whom it names dissent. If it keeps a blocking item, they say
    which concern that is."""
    kept = [item for one in dissenters for item in one.items if _keeps(text, item.turn, item.text)]
    notes = [f"{_note(item)}, {sources.refer(item.turn)}" for item in kept]
    titles = {one.turn.id: rf"(?<!\w){re.escape(name_seat(one.turn.seat))}(?!\w)" for one in dissenters}
    named = [one.turn for one in dissenters if re.search(titles[one.turn.id], text)]  # no Test in "the latest"
    notes = notes or [f"dissent: {sources.refer(turn)}" for turn in named]
    if not notes or not BULLET.match(text):
        return sources.cite(text)
    first, gap, rest = sources.cite(text).partition("\n\n")
    return f"{first} ({', '.join(notes)}){gap}{rest}"


def _keeps(text: str, turn: Turn, words: str) -> bool:
    """Whether a text keeps a dissent, where it is below a heading that says that it is one."""
    return not find_missing(f"### Dissents\n\n{text}", [(turn, words)])


def _note(item: BlockingItem) -> str:
    accepted = ", accepted by a person" if item.accepted else ""
    return f"blocking{f' concern {item.concern}' if item.concern else ''}{accepted}"


# ---- what council adds ----


def _add_missing(
    session: Session, plan: Plan, text: str, dissenters: Iterable[Dissenter], sources: Sources
) -> Iterator[dict[str, str]]:
    """What the author leaves out, in its owner's words."""

    def add(turn: Turn, verb: str, words: str, note: str = "") -> dict[str, str]:
        said = one_line(restore_names(words, turn, session.workflow, plan.scene), WHOLE)
        source = ", ".join(filter(None, [note, sources.refer(turn)]))
        return {"label": name_seat(turn.seat), "verb": verb, "text": said, "source": source}

    for one in dissenters:
        if one.stance and not _keeps(text, one.turn, DISAGREES):
            words = read_position(one.turn) if one.stance == MIXED else one.turn.passage
            yield add(one.turn, describe_stance(one.stance), words)
        for item in one.items:
            if not _keeps(text, item.turn, item.text):
                yield add(item.turn, "blocked" if item.accepted else "blocks", item.text, _note(item))


def _find_unsatisfied(session: Session, plan: Plan, named: set[str], sources: Sources) -> Iterator[dict[str, Any]]:
    """The members whose last score does not reach the workflow's consensus rule, but for those who are `named`."""
    phase = find_deciding_phase(session, plan)
    field = find_score_field(session.workflow, phase)
    rules = [dict(one.until).get(CONSENSUS) for one in session.workflow.phases if one.name == phase]
    if not field or not rules or rules[0] is None:
        return
    content = judge(rules[0], plan.scene).tally.get(field, {}).get("for", ())
    for turn in plan.scene.latest(field):
        if turn.seat.name not in {*content, *named}:
            score = turn.answers.get(field)
            words = "gave no score" if score is None else read_position(turn)
            label = name_seat(turn.seat) + ("" if score is None else f" ({score:g})")
            yield {"label": label, "text": words, "scored": score is not None, "source": sources.refer(turn)}


def find_target(session: Session, plan: Plan) -> str:
    """The score that ends the debate; empty if there is none."""
    field = find_score_field(session.workflow, find_deciding_phase(session, plan))
    target = consensus.find_target(session.workflow, field) if field else None
    return "" if target is None else f"{target:g}"


def read_position(turn: Turn) -> str:
    """What a member said last: its gist, or its first paragraph. Numbers and stances are in columns of their own."""
    said = str(turn.answers.get(GIST, "")) or opening(turn.passage)
    return said if said and not turn.absent else turn.gist
