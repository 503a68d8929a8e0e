"""A debate on a terminal: the same model as the page and the Markdown, drawn with rules and colours."""

from __future__ import annotations

from collections.abc import Iterator

from council.protocols.outcome import Decision
from council.reports import markdown
from council.reports.model import Statement, Transcript
from council.terminal.markdown import SEATS, Paint


def lines(debate: Transcript, paint: Paint) -> Iterator[str]:
    """The whole debate but for its receipts, which are a table of their own."""
    yield paint.rule(f"Council {debate.workflow}: {debate.title}")
    yield ""
    yield from (paint.text(f"**{fact.name}:** {fact.text}") for fact in debate.facts)
    yield ""
    if debate.absent:
        yield paint.text(f"**Degraded:** absent: {'; '.join(debate.absent)}\n")
    for stage in debate.stages:
        yield from (decision(one, paint) for one in stage.before)
        for round in stage.rounds:
            yield paint.rule(f"Round {round.number}: {round.title}") + "\n"
            yield from (statement(turn, debate, paint) for turn in round.statements)
        yield from (decision(one, paint) for one in stage.after)
    yield from conclusion(debate, paint)


def conclusion(debate: Transcript, paint: Paint) -> Iterator[str]:
    """What a protocol's list holds, the synthesis, and whether the debate helped."""
    for section in debate.sections.values():
        yield paint.rule(section.title) + f"\n\n{paint.text(section.text)}\n"
        for part in section.parts:
            yield f"{paint.style(part.title, 'bold')}\n\n{paint.text(part.text)}\n"
    if debate.synthesis:
        yield paint.rule("Council Synthesis") + "\n"
        yield paint.text(debate.synthesis.text or debate.synthesis.missing)
        yield from (f"\n{paint.text(markdown.addition_text(addition))}" for addition in debate.synthesis.additions)
    if debate.effect:
        yield paint.rule(debate.effect.title) + "\n"
        yield paint.text("\n".join([debate.effect.text, "", *(f"- {move}" for move in debate.effect.moves)]))
        yield from (statement(turn, debate, paint) for turn in debate.effect.alone)
    if debate.waiting:
        waiting = f"{debate.waiting.phase} waits for {', '.join(debate.waiting.labels)}"
        yield paint.text(f"(This debate is not finished: {waiting}.)\n")


def decision(one: Decision, paint: Paint) -> str:
    return paint.text(f"**{one.title}:** {one.text}\n")


def statement(turn: Statement, debate: Transcript, paint: Paint) -> str:
    """A turn below the name of its seat, in that seat's colour."""
    step = f" ({turn.step})" if turn.step else ""
    label = f"{turn.icon} {turn.label}{step}".strip()
    colour = SEATS[debate.members.index(turn.seat) % len(SEATS)] if turn.seat in debate.members else ""
    said = f"*absent: {turn.absent}*" if turn.absent else turn.text
    first = ""
    if turn.first is not None:
        note = f"(The first reply could not be read in full; {turn.again}. First reply:)"
        first = f"{paint.style(note, 'dim')}\n{paint.text(turn.first, turn.reply)}\n{paint.style('(Then:)', 'dim')}\n"
    remarks = "".join(f"{paint.style(paint.text(f'({remark})'), 'dim')}\n" for remark in turn.remarks)
    return paint.speech(label, colour, said, turn.reply, remarks + first)
