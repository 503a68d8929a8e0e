"""A debate as one HTML page: the verdict first, then the evidence. The same record gives the same bytes.

Everything that members wrote is shown as text, never as their markup. The page's own policy forbids scripts, addresses
and foreign styles, so it loads nothing and sends nothing.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator

from council.checks import cost
from council.engine.contributions import ReportSection
from council.protocols.ledger import OPEN
from council.protocols.outcome import Decision
from council.replies.compact import pieces
from council.reports import markdown, pictures
from council.reports.concerns import list_shown
from council.reports.given import split_question
from council.reports.look import stylesheet
from council.reports.markup import clean, markup
from council.reports.model import Answer, DebateVerdict, Effect, Objection, Round, Statement, Transcript
from council.text import fold

OURS = '<meta name="generator" content="council">'
SEAT_COLOURS = 5
LONG = 120  # characters: an answer is a whole paragraph, and in large letters a long one would fill the screen


def page(debate: Transcript) -> str:
    """The whole page."""
    style = stylesheet()
    own = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{own}'; base-uri 'none'; form-action 'none'"
    body = "\n".join([*head(debate), *contents(debate), *conclusion(debate), *rounds(debate), *record(debate)])
    return f"""<!DOCTYPE html>
<html>
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
{OURS}
<title>{clean(debate.title)}</title>
<style>{style}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


# ---- the verdict ----


def head(debate: Transcript) -> Iterator[str]:
    """The question, the answer, and what supports and opposes it."""
    verdict = debate.verdict
    yield f'<header>\n<p class="kind">Council {clean(debate.workflow)} · {debate.ended_at:%Y-%m-%d}</p>'
    yield f'<h1 dir="auto">{clean(debate.title)}</h1>'
    long = " long" if len(verdict.answer) > LONG else ""
    yield f'<p class="answer{long}" dir="auto">{clean(verdict.answer)}</p>'
    yield pills(verdict)
    yield "</header>"
    if " ".join(debate.topic.split()) != debate.title:
        yield whole_question(debate)
    for fact in (fact for fact in debate.facts if fact.caution):
        yield f'<div class="note"><p dir="auto"><strong>{clean(fact.name)}:</strong> {clean(fact.text)}</p></div>'
    if debate.absent:
        missing = clean("; ".join(debate.absent))
        yield f'<div class="note"><p><strong>Degraded:</strong> absent: {missing}</p></div>'
    if debate.waiting:
        waiting = f"This debate is not finished: {debate.waiting.phase} waits for {', '.join(debate.waiting.labels)}."
        spoken = ", ".join(debate.waiting.spoken)
        kept = f" Spoken already, and shown once all have: {spoken}." if spoken else ""
        yield f'<div class="note"><p dir="auto">{clean(waiting + kept)}</p></div>'
    for section in debate.sections.values():
        yield from draw_section(section)
    yield from draw_evidence(debate)
    yield from draw_objections(verdict)
    answered = any(section.answer for section in debate.sections.values())
    if verdict.path and not answered and " ".join(verdict.path.split()) not in verdict.answer:
        kind = "path" if verdict.carried else "path opinion"
        yield f'<section class="panel {kind}" dir="auto">\n<h2>{clean(verdict.path_title)}</h2>\n{markup(verdict.path)}'
        yield "</section>"
    yield from draw_ledger(debate)


def whole_question(debate: Transcript) -> str:
    asked, given = split_question(debate.question, debate.topic)
    texts = "".join(
        f'<details class="given"><summary dir="auto">{clean(one.title)}</summary>\n'
        f"<pre>{clean(one.text)}</pre></details>"
        for one in given
    )
    return (
        "<details><summary>The whole question</summary>\n"
        f'<div class="panel" dir="auto">{markup(asked)}{texts}</div></details>'
    )


def pills(verdict: DebateVerdict) -> str:
    shown = [(verdict.outcome, f"outcome {verdict.tone}"), (verdict.tally, ""), *confidence(verdict)]
    moved = sum(bool(cell.moved_from) for row in verdict.grid.rows for cell in row.cells)
    shown.append((f"{moved} change{'s' if moved > 1 else ''} of mind" if moved else "", ""))
    pairs = (f'<li class="pill {kind}">{clean(text)}</li>' for text, kind in shown if text)
    return f'<ul class="pills">{"".join(pairs)}</ul>'


def confidence(verdict: DebateVerdict) -> Iterator[tuple[str, str]]:
    if verdict.confidence:
        yield f"confidence: {verdict.confidence}", ""


def draw_evidence(debate: Transcript) -> Iterator[str]:
    """Who stood where, the last count and the votes."""
    found = debate.verdict.grid
    stances, scores = pictures.draw_stances(found), pictures.draw_scores(found)
    if stances or scores:
        stood = ("Who stood where", stances) if stances else ("Scores by round", scores)
        yield panel("stances", stood, ("The last count", pictures.draw_count(found)))
    for vote in debate.course.votes:
        yield panel("", (f"The vote: {vote.title}", pictures.draw_vote(vote)))


def panel(place: str, *shown: tuple[str, str]) -> str:
    """A panel with titled pictures below one another; `place` is what links to it are called."""
    id = f' id="{place}"' if place else ""
    drawn = (f'<h2>{clean(title)}</h2>\n<div class="scroll">{svg}</div>' for title, svg in shown if svg)
    body = "\n".join(drawn)
    return f'<section class="panel"{id}>\n{body}\n</section>'


def draw_objections(verdict: DebateVerdict) -> Iterator[str]:
    """The strongest dissent, and the blocking objections."""
    others = [one for one in verdict.blocking if one != verdict.dissent]
    if not verdict.dissent and not others:
        return
    yield '<section class="panel against" dir="auto">'
    if verdict.dissent:
        yield f'<h2>The strongest dissent</h2>\n<blockquote class="quote">{clean(verdict.dissent.text)}</blockquote>'
        yield f'<p class="cite">{link(verdict.dissent)}</p>'
    if others:
        items = (f'<li>{clean(one.text)} <span class="cite">{link(one)}</span></li>' for one in others)
        yield f"<h2>What blocks</h2>\n<ul>{''.join(items)}</ul>"
    yield "</section>"


def link(one: Objection) -> str:
    return f'— <a href="#{one.turn}">{clean(one.label)}</a>'


def draw_ledger(debate: Transcript) -> Iterator[str]:
    """Every concern, what is open first; folded if nothing is."""
    if debate.ledger is None:
        return
    concerns = list_shown(debate.concerns, debate.speakers)
    unfolded = " open" if concerns[0].status == OPEN else ""
    yield f'<details class="round" id="concerns"{unfolded}>\n<summary><h2>Concerns</h2> '
    yield f'<span class="brief">{clean(debate.ledger.summary)}</span></summary>\n<ul class="ledger">'
    for one in concerns:
        who = [f'raised by <a href="#{one.turn}">{clean(one.label)}</a>, round {one.round}']
        who += [f'{one.ended} <a href="#{one.settled}">{clean(one.settled_by)}</a>'] if one.settled else []
        about = " · ".join(filter(None, [f"{one.id}, {clean(one.kind)}", *who, clean(one.more)]))
        badge = f'<span class="badge {one.tone}">{one.status}</span>'
        yield f'<li class="{one.tone}" dir="auto"><p>{clean(one.text)}</p>\n<p class="cite">{badge} {about}</p></li>'
    yield "</ul></details>"


def contents(debate: Transcript) -> Iterator[str]:
    """Links to the parts below."""
    places = [("synthesis", "Synthesis")] if debate.synthesis else []
    places += [("effect", debate.effect.title)] if debate.effect else []
    places += [(round.place, round.heading) for round in debate.rounds]
    places.append(("record", "Record"))
    links = (f'<li><a href="#{place}">{clean(title)}</a></li>' for place, title in places)
    yield f'<nav class="contents"><ul>{"".join(links)}</ul></nav>'


# ---- the conclusion ----


def draw_section(section: ReportSection) -> Iterator[str]:
    """A protocol's own list, its parts coloured by severity. One that is the answer needs no title of its own."""
    title = "" if section.answer else f"<h2>{clean(section.title)}</h2>\n"
    yield f'<section class="listed" dir="auto">\n{title}{markup(section.text)}'
    for part in section.parts:
        kind = f' class="graded {part.tone}"' if part.tone else ""
        yield f"<div{kind}>\n<h3>{clean(part.title)}</h3>\n{markup(part.text)}\n</div>"
    yield "</section>"


def conclusion(debate: Transcript) -> Iterator[str]:
    """The synthesis with what council adds to it, and whether the debate helped."""
    if debate.synthesis:
        made = debate.synthesis.statement
        yield '<section id="synthesis">\n<h2>Council Synthesis</h2>'
        if debate.synthesis.preface:
            yield f'<div class="note"><p dir="auto">{clean(debate.synthesis.preface)}</p></div>'
        yield f'<article class="synthesis" id="{made.id}">\n<header><h3>{clean(label(made))}</h3></header>'
        yield from words(made)
        yield "</article>"
        for addition in debate.synthesis.additions:
            yield f'<div class="note" dir="auto">{markup(markdown.addition_text(addition))}</div>'
        outcome = f"{debate.verdict.outcome} ({debate.verdict.reason})"
        yield f'<div class="decision"><p dir="auto"><strong>Outcome:</strong> {clean(outcome)}</p></div>\n</section>'
    if debate.effect:
        yield from draw_effect(debate.effect, debate)


def draw_effect(effect: Effect, debate: Transcript) -> Iterator[str]:
    moves = "".join(f"<li>{clean(move)}</li>" for move in effect.moves)
    yield f'<section id="effect">\n<h2>{clean(effect.title)}</h2>\n<p>{clean(effect.text)}</p>'
    yield f'<ul dir="auto">{moves}</ul>' if moves else ""
    yield from (card(turn, debate) for turn in effect.alone)
    yield "</section>"


# ---- rounds and turns ----


def rounds(debate: Transcript) -> Iterator[str]:
    """Phase by phase, folded, with council's decisions where they were made."""
    yield '<section id="rounds">\n<h2>The debate</h2>'
    yield f'<div class="panel protocol"><div class="scroll">{pictures.draw_protocol(debate.course)}</div></div>'
    for stage in debate.stages:
        yield from draw_decisions(stage.before)
        for round in stage.rounds:
            yield f'<details class="round" id="{round.place}">\n<summary>'
            yield f"<h2>{clean(round.heading)}</h2> "
            yield f'<span class="brief">{clean(brief(round))}</span></summary>'
            yield from (card(turn, debate) for turn in round.statements)
            yield "</details>"
        yield from draw_decisions(stage.after)
    yield "</section>"


def brief(round: Round) -> str:
    """The number of turns and their stances: `4 turns · 3 agree, 1 mixed`."""
    said = [answer.text for turn in round.statements for answer in turn.answers if answer.name == "stance"]
    counts = ", ".join(f"{said.count(one)} {one}" for one in dict.fromkeys(said))
    count = len(round.statements)
    return " · ".join(filter(None, [f"{count} turn{'s' if count != 1 else ''}", counts]))


def draw_decisions(decisions: Iterable[Decision]) -> Iterator[str]:
    for one in decisions:
        text = f"<strong>{clean(one.title)}:</strong> {clean(one.text)}"
        yield f'<div class="decision" dir="auto"><p>{text}</p></div>'


def card(turn: Statement, debate: Transcript) -> str:
    colour = f' class="seat-{debate.members.index(turn.seat) % SEAT_COLOURS}"' if turn.seat in debate.members else ""
    step = f' <span class="after">{clean(turn.step)}</span>' if turn.step else ""
    marks = " ".join(badge(answer) for answer in turn.answers if answer.short)
    if turn.caption:
        marks = f'<span class="badge {turn.tone}">{clean(turn.caption)}</span>'
    anchor = f'<a class="anchor" href="#{turn.id}">#</a>'
    top = f'<header><h3 dir="auto">{clean(label(turn))}</h3>{step} {marks}{anchor}</header>'
    said = (remark for remark in turn.remarks if remark != turn.caption)
    remarks = (f'<p class="remark" dir="auto">{clean(remark)}</p>' for remark in said)
    return "\n".join([f'<article{colour} id="{turn.id}">', top, *remarks, *words(turn), "</article>"])


def label(turn: Statement) -> str:
    return " ".join(filter(None, [turn.icon, turn.label]))


def badge(answer: Answer) -> str:
    """A one-word answer, for readers who skim."""
    return f'<span class="badge {answer.tone}">{clean(answer.title)}: {clean(answer.text)}</span>'


def words(turn: Statement) -> Iterator[str]:
    """The text of a turn, without the answers that a badge already shows."""
    if turn.absent:
        yield f'<p class="remark" dir="auto">absent: {clean(turn.absent)}</p>'
        return
    if turn.first is not None:
        yield '<details><summary>The first reply, which could not be read in full</summary>\n<div dir="auto">'
        yield f"{markup(turn.first)}</div></details>"
    shown = {fold(answer.title): fold(answer.text) for answer in turn.answers if answer.short}
    for piece in pieces(turn.text, turn.reply):
        if piece.title and shown.get(fold(piece.title)) == fold(piece.text):
            continue
        if not piece.title:
            yield f'<div dir="auto">{markup(piece.text)}</div>'
        elif piece.short:
            yield f'<p class="named" dir="auto">{clean(piece.title)}: <span>{clean(piece.text)}</span></p>'
        else:
            yield f'<p class="named">{clean(piece.title)}:</p>\n<div dir="auto">{markup(piece.text)}</div>'


# ---- the record ----


def record(debate: Transcript) -> Iterator[str]:
    """Which session this is, and what each turn cost."""
    pairs = (
        f'<dt>{clean(fact.name)}</dt><dd dir="auto">{clean(fact.text)}</dd>'
        for fact in debate.facts
        if not fact.caution
    )
    yield f'<section id="record">\n<h2>Record</h2>\n<dl class="facts">{"".join(pairs)}</dl>'
    if debate.question.strip() != debate.topic.strip() and " ".join(debate.topic.split()) == debate.title:
        yield whole_question(debate)
    if spent := pictures.draw_spending(debate.course.spending):
        yield panel("cost", ("Cost by round", spent))
    yield '<details><summary>Receipts</summary>\n<div class="scroll" tabindex="0"><table class="receipts">'
    names, numbers = ("turn", "speaker", "asked", "answered"), ("tokens in", "out", "usd", "seconds")
    heads = [*(f"<th>{name}</th>" for name in names), *(f'<th class="number">{name}</th>' for name in numbers)]
    yield f"<thead><tr>{''.join(heads)}</tr></thead>\n<tbody>"
    for one in debate.receipts:
        speaker = f"{one.speaker}, {one.state}" if one.state else one.speaker
        sent, received = ("unknown" if count is None else f"{count:,}" for count in (one.input, one.output))
        usd = "unknown" if one.usd is None else f"{one.usd:.4f}"
        yield cells(
            [one.turn, speaker, one.asked or "-", one.answered or "-"], [sent, received, usd, f"{one.seconds:.1f}"]
        )
    beside = f"<p>{clean(debate.beside)}</p>" if debate.beside else ""
    yield f"</tbody></table></div>{beside}</details>"
    took = debate.verdict.spending
    used = cost.DebateCost(took.calls, took.input, took.output, took.usd, took.cached, took.failed, took.usd_at_least)
    told = cost.format_usage(used)
    yield f"<footer><p>{told}</p></footer>\n</section>"


def cells(texts: Iterable[str], numbers: Iterable[str]) -> str:
    row = [f"<td>{clean(text)}</td>" for text in texts] + [f'<td class="number">{clean(n)}</td>' for n in numbers]
    return f"<tr>{''.join(row)}</tr>"
