"""Composes the model that every report of a debate is rendered from.

Nothing here reads a clock, a path or an earlier result, so the same record always gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator

from council.config import command_line
from council.engine import contributions
from council.engine.anonymity import restore_names
from council.engine.contributions import Addition, Record, following, shortfall
from council.engine.planner import RETRY, Plan
from council.engine.scene import Turn
from council.protocols import outcome
from council.protocols.dissent import DISAGREES, find_missing_dissent
from council.protocols.mind_changes import is_control
from council.protocols.outcome import Decision
from council.protocols.perspectives import LOW
from council.protocols.specialists import list_table
from council.protocols.stances import STANCE, find_leading_answer
from council.record import chain, files
from council.record.session import Session
from council.record.turn_file import HOOK, MEMBER, sha256
from council.replies import parse
from council.reports import did_it_help, documents, tally, verdict
from council.reports.concerns import describe_ledger, read_concerns
from council.reports.course import compose_course
from council.reports.heading import absences, cast, facts, kind, title
from council.reports.model import (
    Answer,
    Effect,
    Fact,
    OpenTurns,
    ReceiptLine,
    Round,
    Stage,
    Statement,
    Synthesis,
    Transcript,
)
from council.reports.totals import ended_at
from council.speakers import registry
from council.speakers.base import Caption
from council.text import WORD, one_line
from council.workflow import limits
from council.workflow.model import Phase


def compose(session: Session, plan: Plan) -> Transcript:
    """The whole debate, from the heading to the receipts. One that is kept is not composed again."""
    session.refuse_kept()
    ends = sections(read_record(session, plan)) if plan.done else {}
    return Transcript(
        id=session.id,
        head=chain.head(session),
        workflow=kind(session),
        title=title(session),
        topic=str(session.metadata["topic"]),
        question=session.topic,
        ended_at=ended_at(session),
        facts=(*facts(session, cast(session, plan), plan=plan), Fact("Head", chain.head(session))),
        members=tuple(seat.name for seat in list_table(session.workflow, plan.scene)),
        absent=tuple(absences(plan)),
        verdict=verdict.decide(session, plan, ends.values()),
        stages=tuple(_stage(session, plan, phase) for phase in session.workflow.phases),
        sections=ends,
        synthesis=synthesis(session, plan) if plan.done else None,
        effect=_effect(session, plan) if plan.done else None,
        waiting=_waiting(session, plan),
        receipts=tuple(_receipts(session)),
        ledger=describe_ledger(session, plan, lambda turn: f"`{turn.id}`"),
        concerns=tuple(read_concerns(session, plan)),
        beside=_beside_briefs(session),
        course=compose_course(session, plan),
        overlaid=documents.frozen_templates(session),
    )


def read_record(session: Session, plan: Plan) -> Record:
    """The session as contributions may read it."""
    trials = {turn: receipt.trial for turn, receipt in session.receipts.items() if receipt.trial}
    return Record(session.workflow, plan, session.topic, session.metadata, session.extra, trials)


def explain_shortfall(session: Session) -> str:
    """Why a debate that is over did not reach what it was for; empty if it did, or has no such aim."""
    record = read_record(session, session.plan())
    return next((why for explain in shortfall.known.values() if (why := explain(record))), "")


def list_following(session: Session, plan: Plan) -> list[str]:
    """The commands that may come next, as rooms know them."""
    record = read_record(session, plan)
    lines = [line for name in sorted(following.known) for line in following.known[name](record, session.folder)]
    return list(map(command_line.name_commands, lines))


# ---- rounds and turns ----


def _stage(session: Session, plan: Plan, phase: Phase) -> Stage:
    rounds = [compose_round(session, plan, *key) for key in outcome.passages(plan) if key[0] == phase.name]
    before: list[Decision] = []
    after: list[Decision] = []
    for note in plan.notes:
        if note.phase == phase.name:
            (after if note.kind in ("ended", "halted") else before).extend(outcome.decisions(plan, note))
    return Stage(phase.name, tuple(before), tuple(rounds), tuple(after))


def compose_round(session: Session, plan: Plan, phase: str, round: int) -> Round:
    """One round, or a part without a number, that is over."""
    turns = outcome.turns_of(plan, phase, round)
    steps = len({turn.step for turn in turns}) > 1
    statements = tuple(compose_statement(session, plan, turn, step=steps) for turn in turns)
    number = outcome.number_rounds(plan).get((phase, round), 0)
    declared = next(one for one in session.workflow.phases if one.name == phase)
    place = f"round-{number}" if number else phase + (f"-{round}" if round > 1 else "")
    heading = outcome.round_heading(number, declared, round)
    return Round(number, phase, outcome.title(declared), heading, place, statements)


def compose_statement(session: Session, plan: Plan, turn: Turn, step: bool = False) -> Statement:
    """One turn. Its title names the step if the round has several."""
    again, caption = session.said.get(f"{turn.id}.2"), _caption(turn)
    return Statement(
        id=turn.id,
        seat=turn.seat.name,
        label=turn.seat.label,
        icon=str(turn.seat.attributes.get("icon") or ""),
        step=outcome.heading(turn.step) if step else "",
        digest=sha256(files.encode(turn.body)),
        text="" if turn.absent else restore_names(turn.body, turn, session.workflow, plan.scene).rstrip("\n"),
        absent=one_line(turn.absent, 300) if turn.absent else "",
        remarks=(*([caption.text] if caption.text else []), *_remarks(session, plan, turn)),
        first=turn.first.body.rstrip() if turn.first is not None else None,
        again="asked again, it gave none" if again and again.absent else "asked again, it wrote what follows",
        answers=tuple(_answers(turn, find_leading_answer(plan.scene))),
        reply=next(
            step.reply for phase, step in session.workflow.steps() if (phase.name, step.name) == (turn.phase, turn.step)
        ),
        by=_person(session, turn),
        caption=caption.text,
        tone=caption.tone,
    )


def _caption(turn: Turn) -> Caption:
    """What a machine did, from the receipt of its turn."""
    machine = registry.machine_of(turn.seat)
    return machine.caption(turn.said.trial) if machine and turn.said.trial is not None else Caption()


def _person(session: Session, turn: Turn) -> str:
    """The person who answered; empty for a model's turn."""
    tries = (session.receipts.get(id) for id in (f"{turn.id}{RETRY}", turn.id))
    return next((one_line(receipt.by, 100) for receipt in tries if receipt and receipt.by), "")


def _answers(turn: Turn, leading: str) -> Iterator[Answer]:
    for name, value in turn.answers.items():
        if isinstance(value, tuple):
            yield Answer(name, parse.format_heading(name), points=tuple(map(str, value)))
        elif isinstance(value, str | int | float):
            tone = verdict.tone(str(value), leading) if name == STANCE else ""
            yield Answer(name, parse.format_heading(name), str(value), tone=tone)


def _remarks(session: Session, plan: Plan, turn: Turn) -> Iterator[str]:
    """What readers have to know about a turn besides its text."""
    if turn.absent:
        return
    if remark := length_remark(session, turn):
        yield remark
    answered_again = turn.first is not None and f"{turn.id}.2" in session.receipts
    receipt = session.receipts.get(f"{turn.id}.2" if answered_again else turn.id)
    if receipt and registry.typed_in(receipt):
        yield "entered by hand (no API receipt)"
    if receipt and registry.is_from_member(receipt):
        yield "recorded by: member (no API receipt)"
    if receipt and not same_model(receipt.asked, receipt.answered):
        yield f"asked of {receipt.asked}, answered by {receipt.answered}"
    if by := _person(session, turn):
        yield f"answered by {by}"
    if receipt and receipt.stop == "max_tokens":
        yield "cut off: the model reached its limit of tokens"
    for problem in turn.problems:
        yield f"not answered: {problem}"
    record = read_record(session, plan)
    for function in contributions.remark.known.values():
        yield from function(turn, record)
    yield from documents.remarks(session, plan, turn)


def length_remark(session: Session, turn: Turn) -> str:
    """Whether a turn was far from the number of words that the round asked for; its answers do not count as words."""
    low, dash, high = str(session.workflow.options.get(limits.WORDS, "")).partition("-")
    if not dash or not low.isdigit() or not high.isdigit() or outcome.is_synthesis(turn.phase, session.workflow):
        return ""
    words = len(WORD.findall(turn.prose))
    near = int(low) * 2 <= words * 3 and words * 3 <= int(high) * 4  # up to a third more or less is not worth a remark
    return "" if near else f"{words} word{'s' if words != 1 else ''}; {low}-{high} were requested"


def same_model(asked: str | None, answered: str | None) -> bool:
    """Whether the requested model answered; a dated name of that model counts."""
    return asked is None or answered is None or answered == asked or answered.startswith(f"{asked}-20")


# ---- the conclusion ----


def sections(record: Record) -> dict[str, contributions.ReportSection]:
    """What protocols produce besides a synthesis, by file name."""
    made = {name: function(record) for name, function in contributions.section.known.items()}
    return {name: section for name, section in made.items() if section is not None}


def synthesis(session: Session, plan: Plan) -> Synthesis | None:
    """The last synthesis with what council adds: dissent that it left out, and problems found in it."""
    if not (tries := outcome.find_syntheses(plan)):
        return None
    statement = compose_statement(session, plan, tries[-1])
    author = tries[-1].seat.title.lower()
    before = tally.preface(plan, verdict.find_path(session, plan)[1]) if plan.done else ""
    return Synthesis(author, outcome.synthesis_body(plan), tuple(_additions(session, plan)), statement, before)


def _additions(session: Session, plan: Plan) -> Iterator[Addition]:
    if lost := find_missing_dissent(plan.scene, outcome.synthesis_whole(plan)):
        aside = "added by council: not found in the synthesis"
        yield Addition("Dissent on record", aside=aside, points=tuple(_dissent(*one) for one in lost))
    if wrong := outcome.describe_citation_problems(plan):
        yield Addition("Citations not in order", f"{one_line(wrong, 600)}.", "checked by council")
    if plan.done and (capped := tally.explain_capped_confidence(plan)):
        yield Addition("Confidence", f"{LOW} *({capped})*")
    record = read_record(session, plan)
    made = (function(record) for function in contributions.addition.known.values())
    yield from (one for one in made if one is not None)


def _dissent(turn: Turn, words: str) -> str:
    if words == DISAGREES:
        return f"{turn.seat.label}: disagrees. In their own words: “{one_line(turn.passage, 400)}”"
    return f"{turn.seat.label}: blocking: “{one_line(words, 600)}”"


def _effect(session: Session, plan: Plan) -> Effect | None:
    """Whether the debate helped, who changed their mind and why, and the answer given without a debate, if any."""
    comparison = did_it_help.measure(session, plan)
    if comparison is None:
        return None
    alone = (turn for turn in plan.scene.turns if is_control(turn.phase, plan.scene))
    moves = did_it_help.moves(session, plan, comparison)
    statements = tuple(compose_statement(session, plan, turn) for turn in alone)
    return Effect(did_it_help.HEADING, did_it_help.sentence(comparison), tuple(moves), statements)


def _waiting(session: Session, plan: Plan) -> OpenTurns | None:
    if plan.done:
        return None
    shown = {turn.id for turn in plan.scene.turns}
    spoken = {turn for turn in session.said if turn.removesuffix(".2") not in shown}
    return OpenTurns(plan.due[0].phase.name, tuple(due.seat.label for due in plan.due), tuple(sorted(spoken)))


def _beside_briefs(session: Session) -> str:
    """That members whom an assistant asked may have read more than their briefs, which are all that receipts cover."""
    asked = sum(one.recorded_by in (HOOK, MEMBER) for one in session.receipts.values())
    if not asked:
        return ""
    return (
        f"An assistant asked for {asked} of these replies. Such a program adds text of its own to each brief, for "
        "example its rules for agents and the state of Git, which no receipt covers."
    )


def _receipts(session: Session) -> Iterator[ReceiptLine]:
    for turn, one in sorted(session.receipts.items()):
        state = "absent" if one.absent else "typed in" if registry.typed_in(one) else ""
        state = "recorded by: member" if registry.is_from_member(one) else state
        for call in one.attempts:
            ended = "failed" if call.why else "interrupted"
            yield ReceiptLine(
                turn, call.speaker, ended, call.model or "", "", call.sent, call.output, call.usd, call.seconds or 0.0
            )
        yield ReceiptLine(
            turn, one.speaker, state, one.asked or "", one.answered or "", one.sent, one.output, one.usd, one.seconds
        )
