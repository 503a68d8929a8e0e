"""The result of a debate, in one object that every surface shows. It follows from the record and the count alone.

No conclusion outranks the count: without a majority council says so, whatever the synthesis claims.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator

from council.engine.anonymity import restore_names
from council.engine.contributions import ReportSection
from council.engine.planner import ENDED, ENDED_BY_CAP, Plan
from council.engine.scene import Turn
from council.protocols import mind_changes, outcome
from council.protocols.consensus import find_escalations
from council.protocols.dissent import DISAGREES, OPPOSED, find_dissent
from council.protocols.perspectives import CONFIDENCE, LOW
from council.protocols.stances import (
    AGREE,
    AGREED_WITH_DISSENT,
    BLOCKING,
    CONSENSUS,
    CONSENSUS_WITH_DISSENT,
    DISAGREE,
    INSUFFICIENT,
    MIXED,
    SCORE,
    STANCE,
    Standing,
    assess,
)
from council.record.session import Session
from council.replies import parse
from council.reports.model import Cell, DebateVerdict, Grid, GridRow, Objection, Spending
from council.reports.totals import totals
from council.speakers import registry
from council.text import fold, join_words, one_line
from council.workflow.model import Seat

UNHEARD, UNREADABLE = "not heard", "unreadable"
LONGEST_ANSWER = 300
LONGEST_DISSENT = 400
SENTENCE = re.compile(r".+?[.!?…](?=\s|$)", re.S)
ABBREVIATED = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|no|Dr|Mr|Ms|St)|\b[A-Z])\.$")
LEAD = re.compile(r"^\s*(?:[-*+•]\s+|\d+[.)]\s+|>\s?)")
MARKS = re.compile(r"\*\*|__|`")
HEADING = re.compile(r"\s*(?:#{1,6}\s|```|~~~|\|)")


def decide(session: Session, plan: Plan, sections: Collection[ReportSection] = ()) -> DebateVerdict:
    """The verdict so far."""
    now = assess(plan.scene)
    ending, path = outcome.outcome(plan, now), _path(session, plan)
    carried = plan.done and _is_carried(plan, now, ending)
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
        path_title=path[0] if carried else f"What the {_author(plan)} thinks, though no majority does",
        confidence=_confidence(plan, carried),
        spending=_spending(session),
    )


# ---- the answer ----


def _is_carried(plan: Plan, now: Standing, ending: str) -> bool:
    """Whether the conclusion was decided: by a majority, by the rules on scores, by a person or by a phase."""
    if now.own:
        return True
    if now.stances:
        return bool(now.answer) and 2 * list(now.stances.values()).count(now.answer) > len(now.stances)
    if now.scores:
        return ending in (CONSENSUS, CONSENSUS_WITH_DISSENT) or any(
            one.adopted for one in find_escalations(plan.scene)[-1:]
        )
    return ending != ENDED_BY_CAP


def _answer(plan: Plan, now: Standing, path: str, carried: bool) -> str:
    """The answer in one sentence: the synthesis's words, labelled by the count."""
    said = first_sentence(path)
    if fold(said).rstrip(".!") == fold(now.answer):  # only the bare answer: the text above it says more
        said = next((first_sentence(turn.prose) for turn in reversed(outcome.find_syntheses(plan))), "")
    if not plan.done:
        waiting = join_words(due.seat.label for due in plan.due)
        return f"Not decided yet: {plan.due[0].phase.name} is waiting for {waiting}."
    if not carried:
        if now.stances:
            return f"No answer leads: {_format_count(now)}."
        return f"No consensus: {now.reason}." if now.scores else f"Not settled: {outcome.reason(plan, now)}."
    if now.stances and now.answer != AGREE:
        return f"{now.answer.capitalize()}: {said}" if said else f"{now.answer.capitalize()}."
    return said or (f"{_votes(now)}." if now.stances else "No synthesis was written.")


def _votes(now: Standing) -> str:
    """`3 of 4 agree`, or `3 of 5 say yes`"""
    votes = list(now.stances.values()).count(now.answer)
    return f"{votes} of {len(now.stances)} {'agree' if now.answer == AGREE else f'say {now.answer}'}"


def _tally(plan: Plan, now: Standing, carried: bool) -> str:
    """The count in a few words; empty if the outcome already says it."""
    if now.own:
        return ""
    if now.stances:
        return _votes(now) if carried else "no majority"
    if now.scores:
        return f"mean {sum(score or 0 for score in now.scores.values()) / len(now.scores):.1f}"
    endings = (ending for phase, ending in plan.scene.outcomes.items() if not outcome.is_synthesis(phase, plan.scene))
    return "" if not plan.done or any(ending != ENDED for ending in endings) else "no vote was taken"


def _format_count(now: Standing) -> str:
    """`2 agree, 1 mixed and 1 not heard`"""
    silent = {name: UNREADABLE if name in now.unreadable else UNHEARD for name in now.missing}
    counts = Counter(stance or silent[name] for name, stance in now.stances.items())
    order = sorted(counts, key=lambda said: (said in (UNREADABLE, UNHEARD), said != now.answer, said == MIXED))
    return join_words(f"{counts[stance]} {stance}" for stance in order) + f", of {len(now.stances)}"


def _path(session: Session, plan: Plan) -> tuple[str, str]:
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


def _author(plan: Plan) -> str:
    return next((turn.seat.title.lower() for turn in outcome.find_syntheses(plan)), "chair")


def first_sentence(text: str) -> str:
    """The first sentence of a Markdown text as plain text; empty if it has none."""
    return one_line(next(sentences(text), ""), LONGEST_ANSWER)


def sentences(text: str) -> Iterator[str]:
    """The sentences of a Markdown text as plain text, without headings and markup."""
    lines = (line for line in text.splitlines() if line.strip() and not HEADING.match(line))
    words = " ".join(MARKS.sub("", " ".join(LEAD.sub("", line) for line in lines)).split())
    begin = 0
    for end in (*(found.end() for found in SENTENCE.finditer(words)), len(words)):
        if end > begin and not ABBREVIATED.search(words[begin:end]):
            yield words[begin:end].strip()
            begin = end
    if words[begin:].strip():
        yield words[begin:].strip()


def _outcome_tone(ending: str, carried: bool) -> str:
    if not carried:
        return DISAGREE
    if ending == INSUFFICIENT:
        return "silent"  # nobody was asked to vote
    return MIXED if ending in (AGREED_WITH_DISSENT, CONSENSUS_WITH_DISSENT, ENDED_BY_CAP) else AGREE


def _confidence(plan: Plan, carried: bool) -> str:
    """The confidence of the synthesis, but never more than the count allows."""
    tries = outcome.find_syntheses(plan)
    said = tries[-1].answers.get(CONFIDENCE) if tries else None
    return "" if said is None else str(said) if carried else LOW


def preface(plan: Plan) -> str:
    """A warning above the synthesis that no answer has a majority; empty if one has."""
    now = assess(plan.scene)
    if now.own or not now.stances or _is_carried(plan, now, outcome.outcome(plan, now)):
        return ""
    return f"No answer leads: {_format_count(now)}. What follows is the {_author(plan)}'s opinion."


def explain_capped_confidence(plan: Plan) -> str:
    """The confidence that the count allows, and why, if the synthesis claims more; otherwise empty."""
    tries = outcome.find_syntheses(plan)
    said = tries[-1].answers.get(CONFIDENCE) if tries and preface(plan) else None
    if said is None or said == LOW:
        return ""
    return f"{LOW} *(set by council: no answer has a majority; “{said}” was written)*"


# ---- the grid of stances ----


def _grid(session: Session, plan: Plan, now: Standing) -> Grid:
    """One column per round, with the last stance or score that each seat gave in it."""
    field = STANCE if now.stances else SCORE if now.scores else ""
    rounds = outcome.rounds(plan)
    flips = {flip.turn.id: flip for flip in mind_changes.find_flips(plan.scene, field)} if field else {}
    rows = []
    for seat in _seats(session, plan, now):
        cells = []
        for key in rounds:
            turns = [turn for turn in outcome.turns_of(plan, *key) if turn.seat.name == seat.name]
            cells.append(_cell(turns, field, now, flips))
        rows.append(GridRow(seat.name, seat.label, str(seat.attributes.get("icon") or ""), tuple(cells)))
    words = {"absent": UNHEARD, "silent": UNREADABLE}
    last = Counter(
        (cell.text or words.get(cell.tone, UNHEARD), tone(cell.text, now.answer) if cell.text else "silent")
        for cell in (row.cells[-1] for row in rows if row.cells and field == STANCE)
    )
    counts = tuple((said, kind, number) for (said, kind), number in last.items())
    return Grid(tuple(outcome.heading(phase) for phase, _ in rounds), tuple(rows), counts)


def _seats(session: Session, plan: Plan, now: Standing) -> Iterator[Seat]:
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
    moved = (_format_answer(flip.before), flip.kind) if flip else ("", "")
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
    for turn, items in plan.scene.last_words(BLOCKING).values():
        for item in items:
            yield Objection(turn.seat.label, restore_names(str(item), turn, session.workflow, plan.scene), turn.id)


def _strongest(session: Session, plan: Plan) -> Objection | None:
    """The strongest dissent: disagreeing and blocking outranks only disagreeing, which outranks only blocking."""
    against = find_dissent(plan.scene)
    opposed = {turn.seat.name for turn, words in against if words == DISAGREES}
    blocks = {turn.seat.name for turn, words in against if words != DISAGREES}
    ranked = sorted(against, key=lambda one: (one[0].seat.name not in opposed, one[0].seat.name not in blocks))
    if not ranked:
        return None
    turn, words = ranked[0]
    text = _against(turn.prose or turn.body) if words == DISAGREES else words
    said = restore_names(text, turn, session.workflow, plan.scene)
    return Objection(turn.seat.label, one_line(MARKS.sub("", said), LONGEST_DISSENT), turn.id)


def _against(prose: str) -> str:
    """The sentence that states the disagreement, with the one before it; or else the opening sentences."""
    said = list(sentences(prose))
    place = next((at for at, sentence in enumerate(said) if OPPOSED.search(sentence)), 1)
    return " ".join(said[max(place - 1, 0) : place + 1])


def _spending(session: Session) -> Spending:
    called = [one for one in session.receipts.values() if not registry.describe(one.speaker).is_person]
    took = totals(session)
    cached = sum(one.cache_read for one in called)
    return Spending(
        len(called), took["failed_calls"], took["input_tokens"], cached, took["output_tokens"], took["usd"],
        took["usd_at_least"],
    )  # fmt: skip
