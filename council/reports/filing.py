"""The decision document of a debate, in the session and in the project under `docs/decisions`.

The workflow's option `document: adr | decision | none` selects the kind. The copy in the project belongs to the
project: once it exists it is never overwritten, even if it was edited.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from council.config.project import NAME, has_only_sessions
from council.engine.planner import Plan
from council.errors import StorageError, UsageError
from council.protocols import outcome
from council.protocols.perspectives import CONFIDENCE, LOW
from council.record import catalog, files
from council.record.session import Session
from council.record.tracked import is_in_project
from council.reports import adr, decision, documents, front_matter, kinds, tally
from council.reports.model import Transcript, plain
from council.reports.outline import find_outline
from council.reports.totals import ended_at
from council.reports.transcript import compose
from council.text import did_you_mean, first_line, slug
from council.workflow.model import DOCUMENT, NO_DOCUMENT, Workflow

KINDS = {kinds.ADR: adr.facts, kinds.DECISION: decision.facts}
PLACE = Path("docs") / "decisions"
NUMBER = "ADR-NNNN"
NUMBERED = re.compile(r"adr[-_ ]?(\d+)(?!\w)|(0\d{3})[-_. ]", re.I)  # also as other tools number them: 0007-x.md
LONGEST_OPENING = 1_000_000  # bytes of a document, in which it says whose it is
NAMES = ("decision.md", "issue.md")


def check(workflow: Workflow) -> None:
    """Refuse a kind of document that has no template."""
    from council.prompts import templates

    document = workflow.document
    known = {*templates.documents(workflow.name), NO_DOCUMENT}
    if document and document.kind not in known:
        raise UsageError(f'the option {DOCUMENT}: there is no "{document.kind}"; {did_you_mean(document.kind, known)}')


def kind(session: Session) -> str:
    """The kind of document that this debate produces; empty for none."""
    return session.workflow.document.kind if session.workflow.document else ""


def derive(debate: Transcript, session: Session, plan: Plan) -> dict[str, str]:
    """The document of a finished debate, and the issue if one was requested, by file name."""
    if not plan.done or not kind(session):
        return {}
    name, own = kind(session), f"{session.workflow.name}/{kind(session)}"
    template = documents.find(debate.overlaid, own, f"{documents.FOLDER}/{name}")
    data = KINDS[name](session, plan) if name in KINDS else parts(debate, session, plan)
    made = {}
    if data is not None and template:
        text = documents.render(template, debate.overlaid, **data)
        if (warning := debate.synthesis.preface if debate.synthesis else "") not in text:
            text += f"\n*({warning})*\n"
        made[NAMES[0]] = text
    if decision.wants_issue(plan) and (data := decision.facts(session, plan)):
        made[NAMES[1]] = documents.render(f"{documents.FOLDER}/issue", debate.overlaid, **data)
    return {name: front_matter.stamp(text, debate, session, plan) for name, text in made.items()}


def parts(debate: Transcript, session: Session, plan: Plan) -> dict[str, Any] | None:
    """The data for a custom document: the whole debate, and the answers of the synthesis by name.

    `parts` are those that the workflow lists under `document`, by their names there. `written` has each answer as its
    author wrote it, and `introduction` what comes before them. None without a synthesis."""
    tries = outcome.find_syntheses(plan)
    if not tries:
        return None
    given = {name: plain(value) for name, value in tries[-1].answers.items()}
    if tally.explain_capped_confidence(plan):
        given[CONFIDENCE] = LOW
    reply = next((step.reply for _, step in session.workflow.steps() if step.name == tries[-1].step), ())
    answers = {**documents.blanks(reply), **given}
    named = {part: answers.get(name) for part, name in session.workflow.document_answers.items()}
    day, text = f"{debate.ended_at:%Y-%m-%d}", find_outline(session.workflow, plan)
    written = {**dict.fromkeys(answers, ""), **text.answers}
    more = {"date": day, "session_id": session.id, "introduction": text.preface, "written": written}
    return {**plain(debate), **more, "answers": answers, "parts": named}


def is_of(session: Session, text: str) -> bool:
    """Whether this document is of the session: its front matter says so, or the line of an earlier version."""
    id, matter = re.escape(session.id), front_matter.MATTER.match(text)
    if matter and re.search(rf'^session: "?{id}"?$', matter[1], re.M):
        return True
    return re.search(rf"^\*\*\w+ ID:\*\* {id}$", text, re.M) is not None


def describe_places(session: Session, plan: Plan) -> str:
    """Say where the documents are, one line each; empty if the debate produces none."""
    made = derive(compose(session, plan), session, plan)
    home, why = find_home(session)
    stem = _find_stem(session, home / PLACE) if made and home else ""
    places = {name: home / PLACE / file_name(stem, name) if home and stem else session.folder / name for name in made}
    lines = [f"{name.removesuffix('.md')}: {files.tilde(path)}" for name, path in places.items()]
    if lines and not stem:
        lines[0] += f" ({why or 'not filed'}; `council decision {session.id} --to FOLDER` files it)"
    return "\n".join(lines)


def find_home(session: Session) -> tuple[Path | None, str]:
    """The project in which the debate began, where its document belongs; or None, and why there is none.

    Sessions of earlier versions do not say where they began: for them, it is the project that this command is in. One
    that is kept in a project writes into no other: a stranger may have made it, or the project may have been moved."""
    began = session.metadata.get("project", project(Path.cwd()))
    if began and is_in_project(session.folder):
        top = session.folder.parents[2]
        began = began if Path(began).resolve().is_relative_to(top.resolve()) else project(top)
    if not began:
        return None, "the debate did not begin in a project" if "project" in session.metadata else "not in a project"
    home = Path(began)
    if project(home) != home:
        return None, f"the project in which the debate began is gone: {files.tilde(home)}"
    if not (home / PLACE).resolve().is_relative_to(home.resolve()):
        return None, f"{PLACE} leads out of the project"
    return home, ""


def file_name(stem: str, name: str) -> str:
    return f"{stem}.md" if name == NAMES[0] else f"{stem}-issue.md"


def project(here: Path) -> Path | None:
    """The enclosing project: the nearest folder that contains `.git`, or a `.council` that is more than sessions."""
    for folder in (here, *here.parents):
        own = folder / NAME
        if (folder / ".git").exists() or (own.exists() and not has_only_sessions(own)):
            return folder
    return None


def place(session: Session, plan: Plan, folder: Path) -> list[Path]:
    """Write the documents of the session into a folder of a project, unless they exist there."""
    made = derive(compose(session, plan), session, plan)
    if not made:
        return []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with lock_folder(folder):
            return _place_all(session, made, folder)
    except OSError as failure:
        raise files.storage_error(folder, failure) from failure


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Keep others from taking a number meanwhile. The folder itself is locked: no lock file is left in the project."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _place_all(session: Session, made: dict[str, str], folder: Path) -> list[Path]:
    stem = _find_stem(session, folder) or _new_stem(session, folder)
    temp, placed = folder / f".{session.id}{files.TEMP}", []
    files.remove(temp)  # left by a process that was killed
    for name, text in made.items():
        path = folder / file_name(stem, name)
        if not path.exists():
            number = re.match(r"adr-(\d+)", stem)
            named = re.sub(rf"^# {NUMBER}", f"# ADR-{number.group(1)}", text, count=1, flags=re.M) if number else text
            if not files.claim(path, files.encode(named), temp, 0o644):
                raise StorageError(f"{path} was written by somebody else at the same time; try again")
        placed.append(path)
    return placed


def _find_stem(session: Session, folder: Path) -> str:
    """The name of this session's document if the folder already has it: a line in it names the session."""
    for path in sorted(folder.glob("*.md")):
        if not path.stem.endswith("-issue") and path.is_file():
            with path.open("rb") as file:
                opening = file.read(LONGEST_OPENING).decode("utf-8", "replace")
            if is_of(session, opening):
                return path.stem
    return ""


def _new_stem(session: Session, folder: Path) -> str:
    about = slug(first_line(str(session.metadata["topic"]))) or session.workflow.name
    if kind(session) == kinds.ADR:
        taken = [int(found[1] or found[2]) for path in folder.iterdir() if (found := NUMBERED.match(path.name))]
        return f"adr-{max(taken, default=0) + 1:04}-{about}"
    stem = f"{ended_at(session):%Y-%m-%d}-{about}"
    return f"{stem}-{catalog.shorten(session.id)}" if (folder / f"{stem}.md").exists() else stem
