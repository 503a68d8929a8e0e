"""The record of a decision (ADR) that a debate came to: who designed what, in which rounds, and who decided.

Pure over the session and its plan: no clock and no path, so the same record gives the same bytes. Its number is not
known here; whoever files it puts it in the place of `NNNN`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from council.engine.conditions import judge
from council.engine.planner import Plan
from council.engine.scene import Turn
from council.protocols import outcome as ending
from council.protocols.consensus import DECISION, OPTIONS, Escalation, escalations, kind, score_field, trajectory
from council.protocols.dissent import DISAGREES, standing_dissent
from council.protocols.stances import CONSENSUS
from council.record.session import Session
from council.replies.parse import heading
from council.reports import archive
from council.text import one_line

# Answers of the synthesis that have a section of their own; the others are the design.
APART = {"implementation_notes": "Implementation notes", "open_questions": "Open questions"}
DISSENTS = "dissents"
NONE = "None."


def text(session: Session, plan: Plan) -> str:
    """The whole document."""
    topic = str(session.metadata["topic"])
    parts = [
        f"# ADR-NNNN: {one_line(topic, 120)}",
        "\n".join(_facts(session, plan)),
        section("Topic and motivation", quoted(topic), *_attached(session)),
        section("Participants", "\n".join(_participants(session, plan))),
        section("Rounds", *_rounds(session, plan)),
        section("Design", *_design(plan)),
        section("Satisfaction scores", _scores(session, plan)),
        section("Escalations", *_escalations(plan)),
        section("Dissent on record", "\n".join(_dissent(session, plan))),
        *(section(title, _answer(plan, name) or NONE) for name, title in APART.items()),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def section(title: str, *parts: str) -> str:
    """A part of the document; where there is nothing to tell, it is not there."""
    told = [part for part in parts if part]
    return "\n\n".join([f"## {title}", *told]) if told else ""


def quoted(words: str) -> str:
    """Somebody's words as they stand. No line of them can be taken for one of the document."""
    return "\n".join(f"> {line}".rstrip() for line in words.strip().splitlines())


def cell(words: str) -> str:
    return one_line(words, 300).replace("\\", "\\\\").replace("|", "\\|")


def row(cells: Iterable[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _facts(session: Session, plan: Plan) -> Iterator[str]:
    yield f"**Status:** {status(session, plan)}"
    yield f"**Date:** {archive.ended_at(session):%Y-%m-%d}"
    yield f"**Session ID:** {session.id}"


def status(session: Session, plan: Plan) -> str:
    """How it was decided, in a line."""
    phase = debated(session, plan)
    outcome = plan.scene.outcomes.get(phase, "not over")
    last = max((turn.round for turn in plan.scene.named(phase)), default=0)
    rounds = f"after {last} round{'' if last == 1 else 's'}"
    if outcome == CONSENSUS:
        return f"accepted by consensus {rounds}"
    asked = [one for one in escalations(plan.scene) if (one.phase, one.round) == (phase, last)]
    if asked and asked[0].adopted:
        choice = f", {one_line(asked[0].choice, 300)}," if asked[0].choice else ""
        return f"decided by a person{choice} {rounds} ({outcome})"
    return f"undecided {rounds} ({outcome})" if score_field(session.workflow, phase) else f"{outcome} {rounds}"


def debated(session: Session, plan: Plan) -> str:
    """The phase that decides: the last one that asked for scores, else the last one before the synthesis."""
    phases = [name for name, _ in ending.rounds(plan)]
    scored = [name for name in phases if score_field(session.workflow, name)]
    return (scored or phases or [""])[-1]


def _attached(session: Session) -> Iterator[str]:
    if names := session.metadata.get("attachments"):
        yield f"Attached: {one_line(', '.join(map(str, names)), 600)}"


def _participants(session: Session, plan: Plan) -> Iterator[str]:
    spoke = {turn.seat.name: turn.seat for turn in plan.scene.turns}
    seats = {seat.name: seat for seat in session.workflow.table} | spoke
    for seat in seats.values():
        focus = str(seat.attributes.get("focus") or seat.attributes.get("about") or "")
        told = f": {one_line(focus, 300)}" if focus else ""
        yield f"- **{seat.label}**{told}"


# ---- what was said ----


def _rounds(session: Session, plan: Plan) -> Iterator[str]:
    for phase, number in ending.rounds(plan):
        field = score_field(session.workflow, phase)
        turns = [turn for turn in plan.scene.turns if (turn.phase, turn.round) == (phase, number)]
        means = {one["round"]: one["mean"] for one in trajectory(plan.scene, session.workflow, phase)}
        mean = f", mean {means[number]:.1f}" if number in means else ""
        yield f"### {ending.heading(phase)}, round {number}{mean}"
        said = [turn for turn in turns if not field or field in turn.asked]
        if said:
            yield "\n".join(_positions(said, field))
        if blocking := [f"- {turn.seat.label}: {item}" for turn in said for item in turn.answers.get("blocking", ())]:
            yield "\n".join(["Blocking:", "", *blocking])


def _positions(turns: list[Turn], field: str) -> Iterator[str]:
    columns = ["specialist", "score", "position"] if field else ["member", "position"]
    yield row(columns)
    yield "|" + "---|" * len(columns)
    for turn in turns:
        gist = cell(str(turn.answers.get("gist") or turn.gist))
        yield row([cell(turn.seat.label), *([_score(turn.answers.get(field))] if field else []), gist])


def _score(score: Any) -> str:
    return "not heard" if score is None else f"{score:g}"


def _scores(session: Session, plan: Plan) -> str:
    """A row a seat, a column a round."""
    rounds = trajectory(plan.scene, session.workflow, debated(session, plan))
    if not rounds:
        return ""
    seats = {one["seat"]: one["by"] for round in rounds for one in round["scores"]}
    given = [{one["seat"]: _score(one["score"]) for one in round["scores"]} for round in rounds]
    rows = [["specialist", *(f"round {round['round']}" for round in rounds)]]
    rows += [[cell(label), *(column.get(seat, "-") for column in given)] for seat, label in seats.items()]
    rows.append(["**mean**", *(f"**{round['mean']:.1f}**" for round in rounds)])
    return "\n".join([row(rows[0]), "|" + "---|" * len(rows[0]), *map(row, rows[1:])])


# ---- what came of it ----


def _design(plan: Plan) -> Iterator[str]:
    """The synthesis: its answers under headings, or its words where it was not asked for answers."""
    tries = ending.written(plan)
    if not tries or tries[-1].absent:
        yield "*(There is none: nobody wrote it.)*"
        return
    own = {name: told(value) for name, value in tries[-1].answers.items() if name not in (*APART, DISSENTS)}
    for name, value in own.items():
        yield f"### {heading(name)}\n\n{value or NONE}"
    if not own:
        yield tries[-1].body.strip()


def _answer(plan: Plan, name: str) -> str:
    tries = ending.written(plan)
    return told(tries[-1].answers.get(name, "")) if tries else ""


def told(value: Any) -> str:
    return "\n".join(f"- {item}" for item in value) if isinstance(value, tuple) else str(value)


def _escalations(plan: Plan) -> Iterator[str]:
    for one in escalations(plan.scene):
        why = [note.verdict.fired for note in plan.notes if (note.phase, note.round, note.step) == _place(one)]
        yield f"### Round {one.round}: {kind(why[0] if why else ())}"
        yield from _question(one)
        if one.answered is None:
            continue
        if one.answered.absent:
            yield f"No person answered: {one_line(one.answered.absent, 300)}"
        else:
            words = [said.body for said in (one.answered.first, one.answered.said) if said]
            decided = [str(one.answered.answers.get(DECISION, "none that could be read")), one.choice]
            yield f"The person's decision: {', '.join(filter(None, decided))}"
            yield quoted("\n\n".join(words))


def _place(one: Escalation) -> tuple[str, int, str]:
    turn = one.asked or one.answered
    return (one.phase, one.round, turn.step if turn else "")


def _question(one: Escalation) -> Iterator[str]:
    if one.asked is None or one.asked.absent:
        return
    for name, value in one.asked.answers.items():
        options = "\n".join(f"- {letter}) {words}" for letter, words in one.options.items())
        yield f"{heading(name)}:\n\n{options or NONE}" if name == OPTIONS else f"{heading(name)}: {told(value)}"


def _dissent(session: Session, plan: Plan) -> Iterator[str]:
    """What blocks still, in its owner's words, and whoever the rules do not find satisfied."""
    found = [f"- {turn.seat.label}: {_opposed(turn, words)}" for turn, words in standing_dissent(plan.scene)]
    found += [f"- {label}: {score}" for label, score in unsatisfied(session, plan)]
    yield from found or [NONE]


def _opposed(turn: Turn, words: str) -> str:
    said = f"disagrees: {turn.prose or turn.body}" if words == DISAGREES else words
    return f"“{one_line(said, 600)}”"


def unsatisfied(session: Session, plan: Plan) -> Iterator[tuple[str, str]]:
    """Who gave less at last than the workflow's rule of consensus asks for, or no score."""
    phase = debated(session, plan)
    field = score_field(session.workflow, phase)
    rules = [dict(one.until).get(CONSENSUS) for one in session.workflow.phases if one.name == phase]
    if not field or not rules or rules[0] is None:
        return
    content = judge(rules[0], plan.scene).tally.get(field, {}).get("for", ())
    for turn in plan.scene.latest(field):
        if turn.seat.name not in content:
            score = turn.answers.get(field)
            yield turn.seat.label, "gave no score" if score is None else f"satisfaction {score:g}"
