"""The result of a debate, in one object that every surface shows. It follows from the record and the count alone.

No conclusion outranks the count: without a majority council says so, whatever the synthesis claims.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator

from council.engine.anonymity import restore_names
from council.engine.contributions import ReportSection
from council.engine.planner import ENDED_BY_CAP, Plan
from council.engine.scene import Turn
from council.protocols import consensus, mind_changes, outcome
from council.protocols.concerns import join_wordings, list_concerns
from council.protocols.dissent import DISAGREES, OPPOSED, find_dissent
from council.protocols.settling import split_ids
from council.protocols.stances import (
    AGREE,
    AGREED_WITH_DISSENT,
    ANSWERED,
    BLOCKING,
    CONSENSUS_WITH_DISSENT,
    DISAGREE,
    MIXED,
    SCORE,
    STANCE,
    Standing,
    assess,
    find_blocking,
)
from council.record.session import Session
from council.replies import parse
from council.reports import tally
from council.reports.model import Cell, DebateVerdict, Grid, GridRow, Objection, Spending
from council.reports.totals import totals
from council.speakers import registry
from council.text import fold, join_words, one_line, split_passages
from council.workflow.model import Seat

LONGEST_DISSENT = 400
BLOCK_END = re.compile(r"\n[ \t]*(?=\n)|\n(?=[ \t]*#{1,6}[ \t])")
TITLES = re.compile(r"\A(?:[ \t]*(?:#{1,6}[ \t].*)?(?:\n|\Z))+")  # the headings above a paragraph
GOES_ON = re.compile(rf"{tally.ITEM.pattern}|[ \t]")  # the next item of a list, or more of the same one


def decide(session: Session, plan: Plan, sections: Collection[ReportSection] = ()) -> DebateVerdict:
    """The verdict so far."""
    now = assess(plan.scene)
    ending, path = outcome.outcome(plan, now), find_path(session, plan)
    carried = plan.done and tally.is_carried(plan, now)
    own = next((section for section in sections if section.answer), None)
    return DebateVerdict(
        answer=own.answer[:1].upper() + own.answer[1:] if own else _answer(plan, now, path[1], carried),
        carried=carried,
        outcome=ending if plan.done else "not finished",
        reason=outcome.reason(plan, now),
        tally=_tally(plan, now, carried),
        tone=own.tone if own else _outcome_tone(ending, carried) if plan.done else MIXED,
        grid=_grid(session, plan, now),
        blocking=tuple(_blocking(session, plan)),
        dissent=_strongest(session, plan),
        path=path[1],
        path_title=path[0] if carried else f"What the {tally.name_author(plan)} thinks, though no majority does",
        confidence=tally.cap_confidence(plan),
        spending=_spending(session),
    )


# ---- the answer ----


def _answer(plan: Plan, now: Standing, path: str, carried: bool) -> str:
    """The answer: the first paragraph of the synthesis's conclusion, labelled by the count."""
    said = opening(path)
    if fold(said).rstrip(".!") == fold(now.answer):  # only the bare answer: the text above it says more
        said = next((opening(turn.prose) for turn in reversed(outcome.find_syntheses(plan))), "")
    if not plan.done:
        waiting = join_words(due.seat.label for due in plan.due)
        return f"Not decided yet: {plan.due[0].phase.name} is waiting for {waiting}."
    if not carried:
        return f"{tally.describe_lack(plan, now)}."
    if claim := tally.find_wrong_claim(now, path):
        return f"{tally.format_votes(now)}, though the {tally.name_author(plan)} writes: “{claim}”"
    if now.stances and now.answer != AGREE:
        return f"{now.answer.capitalize()}: {said}" if said else f"{now.answer.capitalize()}."
    return said or (f"{tally.format_votes(now)}." if now.stances else "No synthesis was written.")


def _tally(plan: Plan, now: Standing, carried: bool) -> str:
    """The count in a few words; empty if the outcome already says it."""
    if now.own:
        return ""
    if now.stances:
        return tally.format_votes(now) if carried else "no majority"
    if now.scores:
        return f"mean {sum(score or 0 for score in now.scores.values()) / len(now.scores):.1f}"
    return tally.NO_STANCE if tally.asked_no_stance(plan, now) else ""


def find_path(session: Session, plan: Plan) -> tuple[str, str]:
    """The recommendation with its title: the first text answer of the synthesis, or else its prose."""
    tries = outcome.find_syntheses(plan)
    if not tries or tries[-1].absent:
        return "Recommended path", ""
    moment = (tries[-1].phase, tries[-1].step)
    reply = next(step.reply for phase, step in session.workflow.steps() if (phase.name, step.name) == moment)
    for name, kind in reply:
        if kind.type == "text" and (value := str(tries[-1].answers.get(name, "")).strip()):
            return parse.format_heading(name), value
    return "Synthesis", (tries[-1].prose if reply else tries[-1].body).strip()


def opening(text: str) -> str:
    """The first paragraph or list of a Markdown text, whole and in one line, with what it introduces if it ends with a
    colon. Empty if that is code or a table."""
    blocks = [block for part in BLOCK_END.split(text) if (block := TITLES.sub("", part).strip("\n").rstrip())]
    listed = bool(blocks) and tally.ITEM.match(blocks[0]) is not None
    end = 1
    while blocks[end:] and (blocks[end - 1].endswith(":") or (listed and GOES_ON.match(blocks[end]))):
        end += 1
    return "" if any(tally.HEADING.match(block) for block in blocks[:end]) else tally.plain(" ".join(blocks[:end]))


def _outcome_tone(ending: str, carried: bool) -> str:
    if not carried:
        return DISAGREE
    if ending == ANSWERED:
        return "silent"  # nobody was asked to vote
    return MIXED if ending in (AGREED_WITH_DISSENT, CONSENSUS_WITH_DISSENT, ENDED_BY_CAP) else AGREE


# ---- the grid of stances ----


def _grid(session: Session, plan: Plan, now: Standing) -> Grid:
    """One column per round, with the last stance or score that each seat gave in it."""
    field = STANCE if now.stances else SCORE if now.scores else ""
    rounds = outcome.rounds(plan)
    flips = {flip.turn.id: flip for flip in mind_changes.find_flips(plan.scene, field)} if field else {}
    rows = []
    for seat in find_members(session, plan, now):
        cells = []
        for key in rounds:
            turns = [turn for turn in outcome.turns_of(plan, *key) if turn.seat.name == seat.name]
            cells.append(_cell(turns, field, now, flips))
        rows.append(GridRow(seat.name, seat.label, str(seat.attributes.get("icon") or ""), tuple(cells)))
    last = Counter(
        (
            said or (tally.UNREADABLE if seat in now.unreadable else tally.UNHEARD),
            tone(said, now.answer) if said else "",
        )
        for seat, said in now.stances.items()
    )
    counts = tuple((said, kind or "silent", number) for (said, kind), number in last.items())
    titles = tuple(outcome.heading(phase) for phase, _ in rounds)
    return Grid(titles, tuple(rows), counts, consensus.find_target(session.workflow, field) if field == SCORE else None)


def find_members(session: Session, plan: Plan, now: Standing) -> Iterator[Seat]:
    """The seats that were asked for a stance or score; if none were, every seat that spoke in a round."""
    spoke = {turn.seat.name: turn.seat for key in outcome.rounds(plan) for turn in outcome.turns_of(plan, *key)}
    asked = {**now.stances, **now.scores}
    order = [*(seat.name for seat in session.workflow.table), *spoke]
    for name in dict.fromkeys(order):
        if name in spoke and (name in asked or not asked) and not spoke[name].is_person:
            yield spoke[name]


def _cell(turns: list[Turn], field: str, now: Standing, flips: dict[str, mind_changes.Flip]) -> Cell:
    asked = [turn for turn in turns if field and field in turn.asked] or turns
    if not asked:
        return Cell()
    turn = asked[-1]
    said = turn.answers.get(field) if field else None
    flip = flips.get(turn.id)
    if said is None:
        return Cell("", "absent" if turn.absent else "silent" if field in turn.asked else "spoke", turn.id)
    peer = flip.source.seat.title if flip and flip.source else ""
    moved = (_format_answer(flip.before), flip.kind, peer) if flip else ()
    return Cell(_format_answer(said), tone(str(said), now.answer) if field != SCORE else "score", turn.id, *moved)


def _format_answer(said: object) -> str:
    return f"{said:g}" if isinstance(said, int | float) else str(said)


def tone(stance: str, leading: str) -> str:
    """How a stance is drawn: with the leading answer, undecided, or against it."""
    if stance == MIXED:
        return MIXED
    return AGREE if stance == leading else DISAGREE


# ---- objections ----


def _blocking(session: Session, plan: Plan) -> Iterator[Objection]:
    for turn, item in find_blocking(plan.scene, accepted=True):
        yield Objection(turn.seat.label, _write_out(session, plan, turn, item), turn.id)


def _write_out(session: Session, plan: Plan, turn: Turn, item: str) -> str:
    """An objection in words: one that only names a concern by its id has those of the concern."""
    said = restore_names(item, turn, session.workflow, plan.scene)
    if not split_ids(said)[0] and item in map(str, turn.answers.get(BLOCKING, ())):
        return said
    for one in list_concerns(plan.scene, session.workflow):
        if any((event["turn"], event["text"]) == (turn.id, said) for event in one["history"]):
            return join_wordings(one["wordings"][0], one["text"])
    return said


def _strongest(session: Session, plan: Plan) -> Objection | None:
    """The strongest dissent: disagreeing and blocking outranks only disagreeing, which outranks only blocking."""
    against = find_dissent(plan.scene)
    opposed = {turn.seat.name for turn, words in against if words == DISAGREES}
    blocks = {turn.seat.name for turn, words in against if words != DISAGREES}
    ranked = sorted(against, key=lambda one: (one[0].seat.name not in opposed, one[0].seat.name not in blocks))
    if not ranked:
        return None
    turn, words = ranked[0]
    text = _against(turn.passage) if words == DISAGREES else words
    said = _write_out(session, plan, turn, text)
    return Objection(turn.seat.label, one_line(tally.plain(said), LONGEST_DISSENT), turn.id)


def _against(words: str) -> str:
    """The paragraph that states the disagreement, or else the first one."""
    parts = [TITLES.sub("", part) for part in split_passages(words)]
    return next((part for part in parts if OPPOSED.search(part)), parts[0] if parts else "")


def _spending(session: Session) -> Spending:
    called = [one for one in session.receipts.values() if registry.describe(one.speaker).is_called]
    took = totals(session)
    cached = sum(one.cache_read for one in called)
    return Spending(
        len(called), took["failed_calls"], took["input_tokens"], cached, took["output_tokens"], took["usd"],
        took["usd_at_least"],
    )  # fmt: skip
