"""The parts of a document, from the synthesis as its author wrote it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from council.engine.planner import ENDED_BY_CAP, Plan
from council.protocols import outcome
from council.protocols import perspectives as sides
from council.record.session import Session
from council.replies.parse import format_heading
from council.reports import tally
from council.reports.outline import find_outline
from council.reports.sources import find_sources
from council.reports.words import HEADING
from council.text import fold, mark_code
from council.workflow import declare
from council.workflow.model import Workflow

MAIN = ("decision", "recommendation")  # the part of a document whose headings may be parts of their own


@dataclass(frozen=True)
class Parts:
    """`texts` has the parts of the document that the synthesis gives, `others` its further answers by title.

    `introduction` is what comes before the first answer."""

    introduction: str
    texts: Mapping[str, str]
    others: tuple[dict[str, str], ...]


def read_parts(session: Session, plan: Plan, kind: str, plain: Collection[str] = ()) -> Parts:
    """The synthesis by the parts of this kind of document, with references to the turns that it draws on, except for
    those that are `plain`."""
    written, sources = find_outline(session.workflow, plan), find_sources(plan)
    names = find_answers(session.workflow, kind, written.answers)
    raw = {part: written.answers[name] for part, name in names.items()}
    raw = split_parts(raw, kind)
    texts = {part: text if part in plain else sources.cite(text) for part, text in raw.items()}
    others = [
        {"title": format_title(name), "text": sources.cite(text)}
        for name, text in written.answers.items()
        if name not in names.values()
    ]
    return Parts(sources.cite(written.preface), texts, tuple(others))


def format_title(name: str) -> str:
    """The heading of a document for an answer of this name: `Performance Targets`."""
    return " ".join(word[:1].upper() + word[1:] for word in format_heading(name).split(" "))


def split_parts(texts: Mapping[str, str], kind: str) -> dict[str, str]:
    """The parts, with those that the author wrote below a heading of the decision: "### Consequences".

    The confidence is none of them: it is a word, which the count may lower."""
    every = declare.document.known[kind].parts
    main = next(part for part in MAIN if part in every)
    lines: dict[str, list[str]] = {main: []}
    known = {fold(format_heading(part)): part for part in every if part not in (*texts, "confidence")}
    known |= {f"considered {title}": part for title, part in known.items()}
    current, level = main, 0
    for line, code in mark_code(texts.get(main, "").split("\n")):
        found = None if code else HEADING.match(line)
        title = fold(line[found.end() :].strip(" #*:")) if found else ""
        if found and not found[1].strip() and (title in known or len(found[2]) <= level):
            current, level = known.get(title, main), len(found[2])
            if current != main:
                continue
        lines.setdefault(current, []).append(line)
    return {
        **texts,
        **{part: "\n".join(given).strip("\n") for part, given in lines.items() if part in texts or any(given)},
    }


def find_answers(workflow: Workflow, kind: str, given: Collection[str]) -> dict[str, str]:
    """The answer that is each part: what the workflow names, else one of the part's name, else one that fills it."""
    declared, word = workflow.document_answers, declare.document.known[kind]
    found: dict[str, str] = {}
    for part in word.parts:
        usual = (part, *word.fills.get(part, ()))
        for name in (declared[part],) if part in declared else usual:
            if name in given and name not in found.values() and (part in declared or name not in declared.values()):
                found[part] = name
                break
    return found


def read_confidence(session: Session, plan: Plan, kind: str) -> dict[str, str]:
    """The synthesis's confidence, or the one that council sets instead and why. `text` is more that it says of it."""
    tries = outcome.find_syntheses(plan)
    written = find_outline(session.workflow, plan).answers
    name = find_answers(session.workflow, kind, written).get("confidence", "")
    value = tries[-1].answers.get(name) if tries else None
    word, text = str(value or "").capitalize(), written.get(name, "")
    text = "" if fold(text).strip(" *_`.") == fold(word) else text
    if why := sides.explain_low_confidence(plan.scene, ENDED_BY_CAP) or tally.explain_capped_confidence(plan):
        return {"word": sides.LOW.capitalize(), "why": why, "text": text}
    return {"word": word, "why": "", "text": text}
