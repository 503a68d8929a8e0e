"""A debate on a terminal: the same model as the page and the Markdown, rendered with rules and colours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from council import text_width
from council.engine.contributions import ReportSection
from council.protocols.outcome import Decision
from council.reports import markdown
from council.reports.model import Cell, DebateVerdict, Fact, Grid, Objection, Statement, Transcript
from council.terminal.markdown import SEATS, Paint
from council.text import harmless, one_line

DOTS = {"agree": "●", "mixed": "◐", "disagree": "○", "spoke": "·", "silent": "?", "absent": "-", "": ""}
TONES = {"agree": "green", "mixed": "yellow", "disagree": "red"}
GRAVE = {"blocking": "red", "high": "magenta", "medium": "yellow", "low": "cyan"}
NARROWEST = 8  # columns of a member's name
LONGEST_FIELD = 240
FIELD = len("Outcome: ")


def lines(debate: Transcript, paint: Paint) -> Iterator[str]:
    """The whole debate except its receipts, which have their own table."""
    yield from heading(debate.workflow, debate.title, debate.facts, paint)
    yield from (section(one, paint) for one in debate.sections.values())
    if not debate.waiting:
        yield card(debate, paint) + "\n"
    for stage in debate.stages:
        yield from (decision(one, paint) for one in stage.before)
        for round in stage.rounds:
            yield paint.rule(round.heading) + "\n"
            yield from (statement(turn, debate, paint) for turn in round.statements)
        yield from (decision(one, paint) for one in stage.after)
    yield from conclusion(debate, paint)


def heading(workflow: str, title: str, facts: Iterable[Fact], paint: Paint) -> Iterator[str]:
    """The heading of a debate."""
    yield paint.rule(f"Council {workflow}: {title}") + "\n"
    yield from (paint.field(fact.name, harmless(fact.text)) for fact in facts)
    yield ""


def conclusion(debate: Transcript, paint: Paint) -> Iterator[str]:
    """The synthesis, and whether the debate helped."""
    if debate.synthesis:
        yield paint.rule("Council Synthesis", heavy=True) + "\n"
        if debate.synthesis.preface:
            yield paint.text(f"({debate.synthesis.preface})") + "\n"
        yield from filter(None, [first_reply(debate.synthesis.statement, paint)])
        yield paint.text(debate.synthesis.text or debate.synthesis.missing, debate.synthesis.statement.reply) + "\n"
        yield from (paint.text(markdown.addition_text(addition)) for addition in debate.synthesis.additions)
    if debate.effect:
        yield paint.rule(debate.effect.title) + "\n"
        yield paint.text("\n".join([debate.effect.text, "", *(f"- {move}" for move in debate.effect.moves)])) + "\n"
        yield from (statement(turn, debate, paint) for turn in debate.effect.alone)
    if debate.waiting:
        waiting = f"{debate.waiting.phase} waits for {', '.join(debate.waiting.labels)}"
        yield paint.text(f"(This debate is not finished: {waiting}.)") + "\n"


def decision(one: Decision, paint: Paint) -> str:
    return paint.text(f"**{one.title}:** {one.text}") + "\n"


def statement(turn: Statement, debate: Transcript, paint: Paint) -> str:
    """A turn below the name of its seat, in that seat's colour."""
    step = f" ({turn.step})" if turn.step else ""
    said = f"*absent: {turn.absent}*" if turn.absent else turn.text
    remarks = "".join(f"{paint.style(paint.text(f'({remark})'), 'dim')}\n" for remark in turn.remarks)
    label, colour = f"{turn.icon} {turn.label}{step}".strip(), seat_colour(turn.seat, debate)
    return paint.speech(label, colour, said, turn.reply, remarks + first_reply(turn, paint))


def first_reply(turn: Statement, paint: Paint) -> str:
    """The reply that could not be read in full; empty if the turn was not asked for twice."""
    if turn.first is None:
        return ""
    note = f"(The first reply could not be read in full; {turn.again}. First reply:)"
    return f"{paint.style(note, 'dim')}\n{paint.text(turn.first, turn.reply)}\n{paint.style('(Then:)', 'dim')}\n"


def seat_colour(seat: str, debate: Transcript) -> str:
    return SEATS[debate.members.index(seat) % len(SEATS)] if seat in debate.members else ""


def section(found: ReportSection, paint: Paint) -> str:
    """A protocol's own list, its parts coloured by severity."""
    parts = [f"{paint.rule(found.title)}\n\n{paint.text(found.text)}\n"]
    for part in found.parts:
        title = paint.style(part.title.upper(), "bold", GRAVE.get(part.tone, ""))
        parts.append(f"{title}\n\n{paint.text(part.text)}\n")
    return "\n".join(parts)


# ---- the verdict ----


def card(debate: Transcript, paint: Paint) -> str:
    """The verdict in a few lines."""
    verdict = debate.verdict
    answer = text_width.wrap(harmless(verdict.answer), paint.width)
    parts = [paint.rule("Verdict", heavy=True), "", *(paint.style(line, "bold") for line in answer), ""]
    if any(cell.text for row in verdict.grid.rows for cell in row.cells):
        parts += [*grid(verdict.grid, debate, paint), ""]
    outcome = " ".join(paint.style(word, TONES.get(verdict.tone, "")) for word in verdict.outcome.split())
    counted = outcome if verdict.tally else f"{outcome} ({harmless(verdict.reason)})"
    fields = " · ".join(filter(None, [counted, verdict.tally, *confidence(verdict)]))
    parts.append(paint.field("Outcome", fields, column=FIELD))
    parts += objections(verdict, paint)
    if debate.absent:
        parts.append(paint.field("Absent", harmless("; ".join(debate.absent)), column=FIELD))
    return "\n".join(parts)


def confidence(verdict: DebateVerdict) -> Iterator[str]:
    if verdict.confidence:
        yield f"confidence: {verdict.confidence}"


def objections(verdict: DebateVerdict, paint: Paint) -> Iterator[str]:
    """What blocks, and the strongest dissent."""
    blocking = [one for one in verdict.blocking if one != verdict.dissent]
    yield from (objection("Blocks", one, paint) for one in blocking)
    if verdict.dissent:
        yield objection("Dissent", verdict.dissent, paint)


def objection(name: str, one: Objection, paint: Paint) -> str:
    return paint.field(name, f"{one.label}: {one_line(one.text, LONGEST_FIELD)}", column=FIELD)


def grid(found: Grid, debate: Transcript, paint: Paint) -> Iterator[str]:
    """A row for each member: a dot for where it stood in each round, with an arrow where it moved."""
    texts = [[DOTS.get(cell.tone, cell.text) for cell in row.cells] for row in found.rows]
    wide = max([2, *(text_width.width(text) + 1 for row in texts for text in row)])
    room = paint.width - 2 - (wide + 1) * len(found.columns)
    longest = max(min(max(text_width.width(row.label) for row in found.rows), room), NARROWEST)
    for row, shown in zip(found.rows, texts, strict=True):
        label = text_width.pad(text_width.cut(harmless(row.label), longest), longest)
        dots = (dot(cell, text, wide, paint) for cell, text in zip(row.cells, shown, strict=True))
        yield f"  {paint.style(label, seat_colour(row.seat, debate))} {' '.join(dots)}".rstrip()
    yield paint.style("\n".join(text_width.wrap(legend(found), paint.width, "  ", "  ")), "dim")


def dot(cell: Cell, text: str, wide: int, paint: Paint) -> str:
    arrow = "→" if cell.moved_from else " "
    return text_width.pad(arrow, wide - text_width.width(text), right=True) + paint.style(
        text, TONES.get(cell.tone, "")
    )


def legend(found: Grid) -> str:
    """What each sign of the grid means, in the members' words."""
    said = {(cell.tone, cell.text) for row in found.rows for cell in row.cells if cell.text and cell.tone in TONES}
    signs = [f"{DOTS[tone]} {text}" for tone, text in sorted(said, key=lambda one: (list(TONES).index(one[0]), one[1]))]
    tones = {cell.tone for row in found.rows for cell in row.cells}
    signs += [
        f"{DOTS[tone]} {word}" for tone, word in (("silent", "unreadable"), ("absent", "absent")) if tone in tones
    ]
    moved = any(cell.moved_from for row in found.rows for cell in row.cells)
    return ", ".join([*signs, *(["→ moved"] if moved else [])])
