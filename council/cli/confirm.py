"""`confirm`: has each specialist check, against the changes since, what a document says that it promised."""

from __future__ import annotations

import difflib
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from council.cli import completion, promises
from council.cli.command import command
from council.cli.context import State
from council.cli.options import (
    EVIDENCE,
    EVIDENCE_COMMAND,
    ID,
    OUTPUT,
    OVERLAYS,
    PACE,
    SOURCE,
    SPEAKER,
    TIER_MAP,
    options,
)
from council.cli.run import begin, can_ask, carry_on
from council.config import project
from council.errors import StorageError, UsageError
from council.terminal.output import advise, echo, print_json
from council.text import one_line

if TYPE_CHECKING:
    from council.cli.promises import Promised
    from council.config.settings import Config
    from council.git import CommitDiff
    from council.record.session import Session
    from council.speakers.select import Choice

WORKFLOW = "confirm"
DIFF = "changes.diff"


@command()
@click.argument("document", type=click.Path(path_type=Path))
@click.option("--diff", metavar="A..B", help="The changes to check (default: since the document was committed).")
@click.option("--only", multiple=True, metavar="NAME", help="Ask only these of those who promised something.")
@click.option("--yes", is_flag=True, help="Begin, and add the result to the document, without asking.")
@click.option(
    "--session", metavar="SESSION", shell_complete=completion.sessions, help="Use this earlier confirmation again."
)
@options(EVIDENCE, EVIDENCE_COMMAND, SPEAKER, TIER_MAP, ID, *OUTPUT, SOURCE, PACE, OVERLAYS)
@click.pass_obj
def confirm(
    state: State,
    /,
    document: Path,
    diff: str | None,
    only: tuple[str, ...],
    yes: bool,
    session: str | None,
    **given: Any,
) -> None:
    """Have each specialist check what DOCUMENT says that it promised against the changes made since.

    The promises are those of the document's section on responsibilities. The result is shown as a change of the
    document, and added to it as "Confirmation" after a yes. Without a terminal, only --yes adds it.
    """
    from council.config import settings as config
    from council.reports import confirmation

    if not project.counts_explicitly():
        project.decide(False)  # what is checked must not choose who checks it
    if session and only:
        raise UsageError("--session uses a confirmation that was made, so --only can leave nobody out of it")
    text = read_document(document)
    changes = read_changes(document, diff)
    settings = config.load()
    if session:
        check_session(state.open(session), settings, text, changes)
    else:
        promised = promises.find(text, settings).limit_to(only)
        check(state, settings, ConfirmationRequest(document, text, changes, promised), {**given, "yes": yes})
    found = state.session
    assert found is not None
    plan = found.plan()
    if not plan.done:
        again = f"council confirm {document} --session {found.id}"
        raise UsageError(f"the confirmation is not finished: `council recover {found.id}`, then `{again}`")
    made = confirmation.add_entry(text, plan, changes.text, describe_source(found, changes))
    if not given["as_json"]:
        show_and_add(document, text, made, yes, can_ask(given), found)
        return
    if yes:
        add(document, text, made)
    print_json({"session_id": found.id, "document": str(document), "text": made, "added": yes})


def read_document(path: Path) -> str:
    from council.runner import attachments

    if path.is_symlink():
        raise UsageError(f"{path}: a link; name the document itself")
    return attachments.read(path)


def read_changes(document: Path, diff: str | None) -> CommitDiff:
    """The changes in question. Without a range, everything since the commit that brought the document."""
    from council import git

    top = git.repository(document.absolute().parent)
    if next(git.find_repositories(top), None) is None:
        raise UsageError(f"{document} is not in a git repository, so there are no changes to check")
    if diff is None:
        first = git.find_first_commit(document, top)
        if not first:
            raise UsageError(f"{document} was never committed, so name the changes to check: --diff A..B")
        diff = f"{first}..HEAD"
    found = git.diff_commits(diff, top)
    if not found.text:
        raise UsageError(f"nothing changed in {diff}, so nothing can be confirmed")
    return found


# ---- the check ----


@dataclass(frozen=True)
class ConfirmationRequest:
    """What is asked: whether the changes keep what the text of the document promises."""

    document: Path
    text: str
    changes: CommitDiff
    promised: Promised


def check(state: State, settings: Config, asked: ConfirmationRequest, given: dict[str, Any]) -> None:
    """Begin a session for the document, say what it can cost, and run it to its end."""
    from council.reports import confirmation, front_matter
    from council.runner import attachments
    from council.runner.start import Request

    promised, changes = asked.promised, asked.changes
    question = confirmation.describe_question(front_matter.find_title(asked.text), promised.promises, promised.titles)
    about = f"{confirmation.MARK}{attachments.format_name(asked.document)}{describe(asked.text, changes)}"
    notes = [about, *promised.notes(), *(f"Not shown: {one_line(cut, 300)}" for cut in changes.cut)]
    tiers = tuple(pair for pairs in given["tier_map"] for pair in pairs.split(","))
    request = Request(
        "\n".join([question, *notes]), WORKFLOW, only=tuple(promised.promises),
        personas=promised.personas, documents=((DIFF, changes.text),), tier_map=tiers, find_files=False,
        evidence=given["evidence"], evidence_commands=given["evidence_commands"],
        id=given["id"], quorum=given["quorum"], max_cost=given["max_cost"],
    )  # fmt: skip
    choice = begin(state, request, settings, given)
    assert state.session is not None
    if not (given["quiet"] or given["as_json"]):
        describe_cost(state.session, settings, choice)
    source = given["source"] if choice.speaker.replays else None
    carry_on(state, settings, source, {**given, "as_json": False}, choice, silent=True)


def describe_cost(session: Session, settings: Config, choice: Choice) -> None:
    """Who is asked, and the most that it can take, before anybody is."""
    from council.checks.cost import format_bounds
    from council.terminal.watch import bound_usage

    most, asked = bound_usage(session, settings, choice.name), len(session.workflow.members)
    calls = f"{asked} calls, {2 * asked} if each reply had to be asked for again" if asked > 1 else "1 call, or 2"
    money = format_bounds(most) if most else "free of charge" if not choice.speaker.costs else "at an unknown price"
    click.echo(f"confirm: {calls}; {money}", err=True)


def describe(text: str, changes: CommitDiff) -> str:
    """The state of the document and the commits that a session is about, so that it is used for no other."""
    from council.reports import confirmation

    digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
    return f"{confirmation.DIGEST}{digest}), {changes.first}..{changes.second}"


def check_session(session: Session, settings: Config, text: str, changes: CommitDiff) -> None:
    """Refuse a session that is about something else. What else was edited in the document meanwhile does not matter."""
    from council.reports import confirmation
    from council.reports.front_matter import find_title

    session.read_turns()
    if session.workflow.name != WORKFLOW:
        raise UsageError(f"{session.id} is not a confirmation; its workflow is {session.workflow.name}")
    if confirmation.has_entry(text, session.id):
        raise UsageError(f"the document has what session {session.id} found already")
    topic, asked = str(session.metadata["topic"]), [seat.name for seat in session.workflow.members]
    named = [line for line in topic.splitlines() if line.startswith(confirmation.MARK)]
    same = any(line.endswith(describe(text, changes)) for line in named)
    promised = None if same else promises.find(text, settings)
    if promised and promised.promises.keys() >= set(asked):
        promised = promised.limit_to(asked)
        same = topic.startswith(confirmation.describe_question(find_title(text), promised.promises, promised.titles))
        same = same and any(line.endswith(f"), {changes.first}..{changes.second}") for line in named)
    if not same:
        raise UsageError(
            f"session {session.id} is about another document, other promises of it, or other commits (--diff)"
        )


def describe_source(session: Session, changes: CommitDiff) -> Any:
    from council.protocols import evidence
    from council.record import chain
    from council.reports.confirmation import ConfirmationSource
    from council.reports.heading import count_replayed
    from council.reports.totals import ended_at

    day, head = f"{ended_at(session):%Y-%m-%d}", chain.head(session)
    replayed = count_replayed(session)
    lines = str(session.metadata["topic"]).splitlines()
    notes = [line for line in lines if line.startswith(promises.NOTES)]
    facts = "; ".join(f"{one.id}: {one.title}" for one in evidence.read(session.extra).values())
    note = " ".join(
        [*notes, *([f"Facts: {facts}."] if facts else []), *([f"Replayed: {replayed}."] if replayed else [])]
    )
    return ConfirmationSource(day, changes.first, changes.second, session.id, head, changes.cut, note)


# ---- into the document ----


def show_and_add(path: Path, text: str, made: str, yes: bool, ask: bool, session: Session) -> None:
    lines = difflib.unified_diff(text.splitlines(), made.splitlines(), str(path), str(path), lineterm="", n=2)
    echo("\n".join(lines))
    if not yes and not (ask and click.confirm(f"Add this to {path}?", default=False, err=True)):
        advise(f"not written; to add it: council confirm {path} --session {session.id} --yes", err=True)
        return
    add(path, text, made)
    echo(f"added to {path}")


def add(path: Path, text: str, made: str) -> None:
    """Replace the document at once, unless somebody changed it meanwhile."""
    from council.record import files
    from council.reports import filing

    with filing.lock_folder(path.absolute().parent):
        if read_document(path) != text:
            raise StorageError(
                f"{path} was changed meanwhile, so nothing was added; run the command again, with --session"
            )
        mode = path.stat().st_mode & 0o777
        files.export(path, files.encode(made))
        path.chmod(mode)
