"""A debate as one HTML page, from the record alone: the same record gives the same bytes.

Everything that anybody wrote is escaped before the little Markdown that is understood gives it its form, and the page
forbids itself scripts, addresses and any style but its own: it loads nothing and sends nothing.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator
from html import escape
from itertools import pairwise

from council.checks import cost
from council.engine.planner import Plan
from council.protocols import outcome
from council.protocols.outcome import Decision
from council.record.session import Session
from council.replies.compact import compact
from council.reports import markdown
from council.reports.model import Fact, Statement, Transcript
from council.reports.totals import totals
from council.reports.transcript import compose
from council.text import FENCE, harmless, one_line

DEEPEST = 20  # columns
ITEM = re.compile(r"\s*(?:[-*+•]|(\d{1,3})[.)])\s+(.*)")
HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(.+?)\s*#*\s*")
QUOTE = re.compile(r"\s{0,3}>\s?(.*)")
PIPE = re.compile(r"(?<!\\)\|")
RULE = re.compile(r":?-+:?")
LANGUAGE = re.compile(r"[\w+#.-]*")
CODE, STRONG, EMPHASIS = (
    re.compile(pattern)
    for pattern in (
        r"`([^`\n]+)`",
        r"\*\*(\S(?:[^*\n]*\S)?)\*\*",
        r"(?<![\w*])\*([^*<>\s](?:[^*<>\n]*[^*<>\s])?)\*(?![\w*])",
    )
)
OURS = '<meta name="generator" content="council">'
STYLE = """
:root { color-scheme: light dark; --ink: #1c1d22; --soft: #5d6070; --paper: #fbfaf7; --card: #fff; --line: #dedbd2;
  --accent: #0b6b7d; --good: #1d6f3a; --bad: #a8262b; --warn: #8a5a00; --tint: #eef6f7; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e4df; --soft: #a2a3ad; --paper: #16171b; --card: #1e2025;
  --line: #363841; --accent: #6cc6d6; --good: #79cf95; --bad: #f08c8c; --warn: #e2b55f; --tint: #17282c; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); line-height: 1.55; overflow-wrap: anywhere;
  font: 1rem/1.55 system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
main { max-width: 46rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.55rem; line-height: 1.25; margin: .2rem 0 1rem; }
h2 { font-size: 1.2rem; margin: 2.4rem 0 .8rem; padding-bottom: .3rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 0; }
h4, h5, h6 { font-size: 1rem; margin: 1rem 0 .3rem; }
p, ul, ol, pre, blockquote { margin: .6rem 0; }
ul, ol { padding-left: 1.4rem; }
li { margin: .2rem 0; }
.kind, dt, .remark, footer, .after { color: var(--soft); font-size: .875rem; }
.kind { margin: 0; text-transform: uppercase; letter-spacing: .06em; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem .9rem; margin: 0 0 1rem; }
dd { margin: 0; }
article { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .8rem 1rem;
  margin: .8rem 0; }
article header { display: flex; flex-wrap: wrap; gap: .3rem .6rem; align-items: baseline; }
.remark { font-style: italic; margin: .3rem 0; }
.badge { font-size: .8rem; border: 1px solid; border-radius: 1rem; padding: 0 .55rem; color: var(--soft); }
.agree, .yes, .agreed { color: var(--good); } .disagree, .no { color: var(--bad); } .mixed { color: var(--warn); }
.decision, .note { border-left: 4px solid var(--accent); padding: .1rem .9rem; margin: 1.2rem 0;
  background: var(--tint); }
.note { border-color: var(--warn); }
.synthesis { border: 2px solid var(--accent); background: var(--tint); padding: 1rem 1.2rem; }
.dissent { border: 2px solid var(--bad); }
pre, code { font-family: ui-monospace, "Cascadia Mono", Menlo, Consolas, monospace; font-size: .875rem; }
pre { background: var(--paper); border: 1px solid var(--line); border-radius: .4rem; padding: .6rem .8rem;
  overflow-x: auto; overflow-wrap: normal; }
blockquote { border-left: 3px solid var(--line); margin-left: 0; padding-left: .9rem; color: var(--soft); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .875rem; margin: .6rem 0; overflow-wrap: normal; }
th, td { text-align: left; padding: .3rem .9rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
.receipts { font-size: .8rem; width: 100%; }
.receipts th, .receipts td { white-space: nowrap; padding-right: .6rem; }
th.number, td.number { text-align: right; font-variant-numeric: tabular-nums; }
summary { cursor: pointer; color: var(--accent); }
@media (max-width: 30rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: .4rem; } }
@media print { body { background: none; font-size: 10.5pt; } main { max-width: none; padding: 0; }
  article { border-radius: 0; -webkit-box-decoration-break: clone; box-decoration-break: clone; }
  pre, blockquote, tr { break-inside: avoid; } .scroll { overflow: visible; }
  .receipts { font-size: 7.5pt; } .receipts th, .receipts td { white-space: normal; }
  h2, h3, article header { break-after: avoid; } pre { white-space: pre-wrap; } }
"""


def page(session: Session, plan: Plan) -> str:
    """The whole page."""
    topic = clean(one_line(str(session.metadata["topic"]), 200))
    debate = compose(session, plan)
    body = "\n".join([*heading(debate, plan), *rounds(debate), *last_part(debate, plan), *receipts(session)])
    own = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{own}'; base-uri 'none'; form-action 'none'"
    return f"""<!DOCTYPE html>
<html lang="und">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
{OURS}
<title>{topic}</title>
<style>{STYLE}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def clean(text: str) -> str:
    """Text as it may stand in a page: nothing in it is markup, moves the reading direction or is no character."""
    return escape(harmless(text).encode("utf-8", "replace").decode(), quote=True)


def heading(debate: Transcript, plan: Plan) -> Iterator[str]:
    yield f'<p class="kind">Council {clean(debate.workflow)}</p>'
    yield f'<h1 dir="auto">{clean(debate.title)}</h1>'
    facts = list(debate.facts)
    if plan.done and (found := outcome.convergence(plan)):
        facts.append(Fact("Outcome", f"{found['outcome']} ({found['reason']})"))
    pairs = (f'<dt>{clean(fact.name)}</dt><dd dir="auto">{clean(fact.text)}</dd>' for fact in facts)
    yield f"<dl>{''.join(pairs)}</dl>"
    if " ".join(debate.question.split()) != debate.title:
        told = markup(debate.question)
        yield f'<details><summary>The whole question</summary>\n<div dir="auto">{told}</div></details>'
    if debate.absent:
        told = clean("; ".join(debate.absent))
        yield f'<div class="note"><p><strong>Degraded:</strong> absent: {told}</p></div>'


def rounds(debate: Transcript) -> Iterator[str]:
    """Phase by phase, with what the program decided where it decided it."""
    for stage in debate.stages:
        yield from decided(stage.before)
        for round in stage.rounds:
            yield f"<section>\n<h2>Round {round.number}: {clean(round.title)}</h2>"
            yield from map(card, round.statements)
            yield "</section>"
        yield from decided(stage.after)


def decided(decisions: tuple[Decision, ...]) -> Iterator[str]:
    for one in decisions:
        told = f"<strong>{clean(one.title)}:</strong> {clean(one.text)}"
        yield f'<div class="decision" dir="auto"><p>{told}</p></div>'


def card(turn: Statement) -> str:
    step = f' <span class="after">{clean(turn.step)}</span>' if turn.step else ""
    head = f'<header><h3 dir="auto">{clean(label(turn))}</h3>{step}{"".join(badges(turn))}</header>'
    remarks = (f'<p class="remark" dir="auto">{clean(told)}</p>' for told in turn.remarks)
    return "\n".join(["<article>", head, *remarks, *words(turn), "</article>"])


def label(turn: Statement) -> str:
    return " ".join(filter(None, [turn.icon, turn.label]))


def badges(turn: Statement) -> Iterator[str]:
    """Answers of a word, for whoever only skims."""
    for answer in turn.answers:
        if answer.short:
            kind = answer.text if answer.text in ("agree", "mixed", "disagree", "yes", "no") else ""
            yield f' <span class="badge {kind}">{clean(answer.title)}: {clean(answer.text)}</span>'


def words(turn: Statement) -> Iterator[str]:
    if turn.absent:
        yield f'<p class="remark" dir="auto">absent: {clean(turn.absent)}</p>'
        return
    if turn.first is not None:
        first = markup(compact(turn.first, turn.reply))
        yield f'<details><summary>The first reply, which could not be read in full</summary>\n<div dir="auto">{first}'
        yield "</div></details>"
    yield f'<div dir="auto">{markup(compact(turn.text, turn.reply))}</div>'


def last_part(debate: Transcript, plan: Plan) -> Iterator[str]:
    """The synthesis, what it left out, and how it was checked; or what the debate waits for."""
    for section in debate.sections.values():
        yield f'<section dir="auto">\n<h2>{clean(section.title)}</h2>\n{markup(section.text)}'
        yield from (f"<h3>{clean(part.title)}</h3>\n{markup(part.text)}" for part in section.parts)
        yield "</section>"
    if debate.synthesis:
        yield "<section>\n<h2>Council Synthesis</h2>"
        yield f'<article class="synthesis">\n<h3>{clean(label(debate.synthesis.statement))}</h3>'
        yield from words(debate.synthesis.statement)
        yield "</article>"
        for addition in debate.synthesis.additions:
            yield f'<div class="note" dir="auto">{markup(markdown.addition_text(addition))}</div>'
        yield "</section>"
    if plan.done and (facts := outcome.convergence(plan)):
        told = f"{facts['outcome']} ({facts['reason']})"
        yield f'<div class="decision"><p dir="auto"><strong>Outcome:</strong> {clean(told)}</p></div>'
    if debate.effect:
        moves = "".join(f"<li>{clean(move)}</li>" for move in debate.effect.moves)
        yield f"<section>\n<h2>{clean(debate.effect.title)}</h2>\n<p>{clean(debate.effect.text)}</p>"
        yield f'<ul dir="auto">{moves}</ul>' if moves else ""
        yield from map(card, debate.effect.alone)
        yield "</section>"
    if debate.waiting:
        told = f"This debate is not finished: {debate.waiting.phase} waits for {', '.join(debate.waiting.labels)}."
        spoken = ", ".join(debate.waiting.spoken)
        kept = f" Spoken already, and shown once all have: {spoken}." if spoken else ""
        yield f'<div class="note"><p dir="auto">{clean(told + kept)}</p></div>'


def receipts(session: Session) -> Iterator[str]:
    names, numbers = ("turn", "speaker", "asked", "answered"), ("tokens in", "out", "usd", "seconds")
    heads = [*(f"<th>{name}</th>" for name in names), *(f'<th class="number">{name}</th>' for name in numbers)]
    yield '<h2>Receipts</h2>\n<div class="scroll"><table class="receipts">'
    yield f"<thead><tr>{''.join(heads)}</tr></thead>\n<tbody>"
    for turn, one in sorted(session.receipts.items()):
        speaker = f"{one.speaker}, absent" if one.absent else one.speaker
        sent = one.input + one.cache_read + one.cache_write
        usd = "unknown" if one.usd is None else f"{one.usd:.4f}"
        yield row(
            [turn, speaker, one.asked or "-", one.answered or "-"],
            [f"{sent:,}", f"{one.output:,}", usd, f"{one.seconds:.1f}"],
        )
    yield "</tbody></table></div>"
    facts = totals(session)
    cached = sum(one.cache_read for one in session.receipts.values())
    taken = cost.Taken(facts["calls"], facts["input_tokens"], facts["output_tokens"], facts["usd"], cached)
    yield f"<footer><p>{cost.told(taken)}</p></footer>"


def row(told: Iterable[str], numbers: Iterable[str]) -> str:
    cells = [f"<td>{clean(cell)}</td>" for cell in told] + [f'<td class="number">{clean(n)}</td>' for n in numbers]
    return f"<tr>{''.join(cells)}</tr>"


def markup(text: str) -> str:
    """Paragraphs, headings, lists, quotes and code of a text. What else stands in it stays what it is: characters."""
    lines = harmless(text).replace("\t", "    ").split("\n")
    return "\n".join(_blocks(lines))


def _blocks(lines: list[str]) -> Iterator[str]:
    place = 0
    while place < len(lines):
        line = lines[place]
        end = place + 1
        if fence := FENCE.match(line):
            while end < len(lines) and not _closes(lines[end], fence.group(1)):
                end += 1
            language = fence.group(2).strip()
            told = [] if LANGUAGE.fullmatch(language) else [language]
            yield f"<pre><code>{clean(chr(10).join([*told, *lines[place + 1 : end]]))}</code></pre>"
            end += 1
        elif found := HEADING.fullmatch(line):
            level = max(4, min(len(found.group(1)) + 2, 6))
            yield f"<h{level}>{_inline(found.group(2))}</h{level}>"
        elif line.strip():
            kind = _kind(line)
            while end < len(lines) and lines[end].strip() and _goes_on(kind, lines[end]):
                end += 1
            yield _block(kind, lines[place:end])
        place = end


def _closes(line: str, fence: str) -> bool:
    return (found := FENCE.match(line)) is not None and found.group(1).startswith(fence) and not found.group(2).strip()


def _kind(line: str) -> str:
    if item := ITEM.fullmatch(line):
        return "ol" if item.group(1) else "ul"
    if QUOTE.fullmatch(line):
        return "blockquote"
    return "pre" if line.lstrip().startswith("|") else "p"


def _goes_on(kind: str, line: str) -> bool:
    """Whether a line belongs to the block above it; a list takes in the lines that are indented below an item."""
    if FENCE.match(line) or HEADING.fullmatch(line):
        return False
    return _kind(line) == kind or (kind in ("ul", "ol") and line.startswith("  ") and _kind(line) in ("p", "ul", "ol"))


def _block(kind: str, lines: list[str]) -> str:
    if kind == "p":
        return f"<p>{'<br>'.join(_inline(line.strip()) for line in lines)}</p>"
    if kind == "pre":
        return _table(lines) or f"<pre>{clean(chr(10).join(lines))}</pre>"
    if kind == "blockquote":
        return f"<blockquote>{'<br>'.join(_inline(line.strip().removeprefix('>')) for line in lines)}</blockquote>"
    start = ITEM.fullmatch(lines[0])
    number = f' start="{int(start.group(1))}"' if start and start.group(1) else ""
    return f"<{kind}{number}>{''.join(f'<li>{item}</li>' for item in _items(lines))}</{kind}>"


def _items(lines: list[str]) -> Iterator[str]:
    """Each item of a list, with the lines that hang on it, and the list inside of it."""
    margin, starts = _indent(lines[0]), []
    for place, line in enumerate(lines):
        if ITEM.fullmatch(line) and _indent(line) < margin + 2:
            starts.append(place)
    for begin, end in pairwise([*starts, len(lines)]):
        item, below = ITEM.fullmatch(lines[begin]), lines[begin + 1 : end]
        inner = next((place for place, line in enumerate(below) if ITEM.fullmatch(line)), len(below))
        said = [item.group(2) if item else "", *(line.strip() for line in below[:inner])]
        nested = _block(_kind(below[inner]), below[inner:]) if below[inner:] else ""
        yield "<br>".join(map(_inline, said)) + nested


def _indent(line: str) -> int:
    """Of what is indented further it does not matter how far: no text makes lists without end inside of each other."""
    return min(len(line) - len(line.lstrip()), DEEPEST)


def _table(lines: list[str]) -> str:
    """Rows of as many cells as the heading has; empty where the lines are no such table."""
    rows = [[cell.strip() for cell in PIPE.split(line.strip().removeprefix("|").removesuffix("|"))] for line in lines]
    if len(rows) < 3 or not all(map(RULE.fullmatch, rows[1])) or len({len(row) for row in rows}) > 1:
        return ""
    head, *body = [
        "".join(f"<{tag}>{_inline(cell)}</{tag}>" for cell in row)
        for tag, row in (("th", rows[0]), *(("td", row) for row in rows[2:]))
    ]
    return (
        f'<div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>{''.join(f'<tr>{row}</tr>' for row in body)}</tbody></table></div>"
    )


def _inline(text: str) -> str:
    """Code as it stands, and strong and emphasised words around it. All of it is escaped before it gets a tag."""
    parts = CODE.split(text)
    return "".join(
        f"<code>{clean(part)}</code>" if odd % 2 else _stressed(clean(part)) for odd, part in enumerate(parts)
    )


def _stressed(escaped: str) -> str:
    return EMPHASIS.sub(r"<em>\1</em>", STRONG.sub(r"<strong>\1</strong>", escaped))
