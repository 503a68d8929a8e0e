"""The documents that a debate can end in, each made from the record alone: the workflow's own kind, or another.

A kind of document is a declaration in `kinds`, an entry in `KINDS` here, and a template in `templates/documents/`. A
workflow can have a kind of its own, which is only a template.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from council.engine.planner import Plan
from council.errors import UsageError
from council.protocols import outcome
from council.protocols.perspectives import CONFIDENCE, LOW
from council.record.session import Session
from council.reports import adr, decision, documents, front_matter, kinds, sources, tally
from council.reports.lint_comment import put_comment
from council.reports.model import Transcript, plain
from council.reports.outline import find_outline
from council.reports.words import tidy
from council.text import did_you_mean, join_words
from council.workflow import declare
from council.workflow.model import DOCUMENT, NO_DOCUMENT, Workflow

MAIN, ISSUE = "decision.md", "issue.md"  # in a session's folder, whatever the kind


@dataclass(frozen=True)
class DocumentKind:
    """How a kind of document is made.

    `facts` gives the data for its template. A `numbered` kind is filed under the
    next free number, any other under its day; the name of a `named` kind ends with it. `beside` makes the further
    `files` that are filed with it, by name.
    """

    facts: Callable[[Session, Plan], dict[str, Any]]
    numbered: bool = False
    named: bool = False
    files: tuple[str, ...] = ()
    beside: Callable[[Session, Plan], dict[str, str]] | None = None


KINDS: dict[str, DocumentKind] = {
    kinds.ADR: DocumentKind(adr.facts, numbered=True),
    kinds.MADR: DocumentKind(adr.madr, numbered=True),
    kinds.DECISION: DocumentKind(decision.facts),
    kinds.SPEC: DocumentKind(partial(adr.facts, kind=kinds.SPEC), named=True),
    kinds.PLAN: DocumentKind(partial(adr.facts, kind=kinds.PLAN), named=True),
}
NAMES = (MAIN, ISSUE, *(name for kind in KINDS.values() for name in kind.files))


def check(workflow: Workflow) -> None:
    """Refuse a kind of document that has no template."""
    if workflow.document:
        check_kind(workflow.document.kind, workflow, f"the option {DOCUMENT}: ", NO_DOCUMENT)


def check_kind(kind: str, workflow: Workflow, place: str = "", *others: str) -> None:
    from council.prompts import templates

    prompts = {step.prompt for _, step in workflow.steps()}
    known = {*templates.documents(""), *(templates.documents(workflow.name) - prompts), *others}
    if kind and kind not in known:
        raise UsageError(f'{place}"{kind}" is not a kind of document; {did_you_mean(kind, known)}')


def explain_none(session: Session, kind: str) -> str:
    """Why a finished debate has none of this kind, and what to do."""
    if not kind and not find_kind(session):
        return f"{session.id} has no document: its workflow writes none; `--as adr` makes one from its record"
    about = declare.document.known.get(kind or find_kind(session))
    wanted = f", such as {join_words(list(about.parts)[:3])}" if about else ""
    return f"the record of {session.id} cannot fill this document: nobody wrote what it is made of{wanted}"


def find_kind(session: Session) -> str:
    """The kind of document that this debate produces; empty for none."""
    return session.workflow.document.kind if session.workflow.document else ""


def is_numbered(kind: str) -> bool:
    return kind in KINDS and KINDS[kind].numbered


def is_named(kind: str) -> bool:
    return kind in KINDS and KINDS[kind].named


def derive(debate: Transcript, session: Session, plan: Plan, kind: str = "", record: str = "") -> dict[str, str]:
    """The document of a finished debate with the files beside it, by name; nothing if the record cannot fill it, and
    nothing without a synthesis: no document is a decision that nobody wrote.

    `kind` may be another one than the workflow's own, and `record` a folder beside it that the sources are links to."""
    name = kind or find_kind(session)
    if not plan.done or not name or not outcome.synthesis_body(plan):
        return {}
    template = documents.find(debate.overlaid, f"{session.workflow.name}/{name}", f"{documents.FOLDER}/{name}")
    if not template:
        return {}
    data = KINDS[name].facts(session, plan) if name in KINDS else parts(debate, session, plan)
    text = documents.render(template, debate.overlaid, **data)
    if (warning := debate.synthesis.preface if debate.synthesis else "") not in text:
        text += f"\n*({warning})*\n"
    made = {MAIN: put_comment(tidy(sources.resolve(text, plan, record)))}
    made = {file: front_matter.stamp(text, debate, session, plan, name) for file, text in made.items()}
    if decision.wants_issue(plan):  # plain Markdown, for any tracker
        issue = documents.render(f"{documents.FOLDER}/issue", debate.overlaid, **decision.facts(session, plan))
        made[ISSUE] = front_matter.add_notes(tidy(sources.resolve(issue, plan, record)), debate)
    beside = KINDS[name].beside if name in KINDS else None
    return {**made, **(beside(session, plan) if beside else {})}


def parts(debate: Transcript, session: Session, plan: Plan) -> dict[str, Any]:
    """The data for a custom document: the whole debate, and the answers of the synthesis by name.

    `parts` are those that the workflow lists under `document`, by their names there. `written` has each answer as its
    author wrote it, and `introduction` what comes before them."""
    author = outcome.find_syntheses(plan)[-1]
    given = {name: plain(value) for name, value in author.answers.items()}
    if tally.explain_capped_confidence(plan):
        given[CONFIDENCE] = LOW
    reply = next((step.reply for _, step in session.workflow.steps() if step.name == author.step), ())
    answers = {**documents.blanks(reply), **given}
    named = {part: answers.get(name) for part, name in session.workflow.document_answers.items()}
    day, text = f"{debate.ended_at:%Y-%m-%d}", find_outline(session.workflow, plan)
    written = {**dict.fromkeys(answers, ""), **text.answers}
    more = {"date": day, "session_id": session.id, "introduction": text.preface, "written": written}
    return {**plain(debate), **more, "answers": answers, "parts": named}
