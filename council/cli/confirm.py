"""`confirm`: has each specialist check, against the changes since, what a document says that it promised."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from council.cli import completion
from council.cli.command import command
from council.cli.context import State
from council.cli.options import ID, OUTPUT, OVERLAYS, PACE, SOURCE, SPEAKER, TIER_MAP, options
from council.cli.run import begin, can_ask, carry_on
from council.config import project
from council.errors import StorageError, UsageError
from council.terminal.output import echo, print_json
from council.text import one_line

if TYPE_CHECKING:
    from council.config.settings import Config
    from council.git import CommitDiff
    from council.record.session import Session

WORKFLOW = "confirm"
DIFF = "changes.diff"


@dataclass(frozen=True)
class Promised:
    """What a document promises: by seat, with the seats' labels and personas, and a note on where it was read."""

    promises: Mapping[str, list[str]]
    labels: Mapping[str, str]
    personas: Mapping[str, Mapping[str, Any]]
    note: str = ""


@command()
@click.argument("document", type=click.Path(path_type=Path))
@click.option("--diff", metavar="A..B", help="The changes to check (default: since the document was committed).")
@click.option("--yes", is_flag=True, help="Add the result to the document without asking.")
@click.option(
    "--session", metavar="SESSION", shell_complete=completion.sessions, help="Use this earlier confirmation again."
)
@options(SPEAKER, TIER_MAP, ID, *OUTPUT, SOURCE, PACE, OVERLAYS)
@click.pass_obj
def confirm(state: State, /, document: Path, diff: str | None, yes: bool, session: str | None, **given: Any) -> None:
    """Have each specialist check what DOCUMENT says that it promised against the changes made since.

    The promises are those of the document's section on responsibilities. The result is shown as a change of the
    document, and added to it as "Confirmation" after a yes. Without a terminal, only --yes adds it.
    """
    from council.config import settings as config
    from council.reports import confirmation

    if not project.counts_explicitly():
        project.decide(False)  # what is checked must not choose who checks it
    text = read_document(document)
    changes = read_changes(document, diff)
    if session:
        check_session(state.open(session), text, changes)
    else:
        check(state, config.load(), document, text, changes, given)
    found = state.session
    assert found is not None
    plan = found.plan()
    if not plan.done:
        again = f"council confirm {document} --session {found.id}"
        raise UsageError(f"the confirmation is not finished: `council recover {found.id}`, then `{again}`")
    made = confirmation.add_entry(text, plan, changes.text, describe_source(found, changes))
    if given["as_json"]:
        print_json({"session_id": found.id, "document": str(document), "text": made, "added": yes})
    if yes or not given["as_json"]:
        show_and_add(document, text, made, yes, can_ask(given), found, quiet=given["as_json"])


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


# ---- what was promised ----


def find_promised(text: str, settings: Config) -> Promised:
    """The promises, from the document as it is now; from the debate's session if the document lists none."""
    from council.config import personas
    from council.protocols import outcome
    from council.protocols.specialists import list_table
    from council.reports import confirmation

    session, note = find_session(text, settings)
    if session is None:
        promises, known = confirmation.find_promises(text, {}), personas.load()
        labels = {seat: seat.replace("-", " ").capitalize() for seat in promises}
        unknown = {seat: {"title": labels[seat], "perspective": ""} for seat in promises if seat not in known}
        found = Promised(promises, labels, unknown, note)
    else:
        plan = session.plan()
        seats = {seat.name: seat for seat in list_table(session.workflow, plan.scene)}
        titles = {name: seat.title for name, seat in seats.items()}
        texts = (text, outcome.synthesis_whole(plan))
        promises = next(filter(None, (confirmation.find_promises(one, titles) for one in texts)), {})
        personas_of = {name: seats[name].attributes for name in promises}
        found = Promised(promises, {name: seat.label for name, seat in seats.items()}, personas_of, note)
    if not found.promises:
        raise UsageError("the document says of no specialist what it is responsible for, so nothing can be confirmed")
    return found


def find_session(text: str, settings: Config) -> tuple[Session | None, str]:
    """The session that the document came from, if it is here; else why it is not read."""
    from council.config import places
    from council.record import chain
    from council.record import session as sessions
    from council.reports import front_matter

    facts = front_matter.read(text)
    if "session" not in facts:
        return None, "The document names no session: the promises are as it says them."
    try:
        session = sessions.open_(places.find(settings, str(facts["session"])))
    except UsageError:
        session = None
    if session is None or session.id != facts["session"]:  # a document may say `last`
        return None, "The session of the document is not on this machine: the promises are as the document says them."
    session.read_turns()
    if facts.get("head") not in (None, chain.head(session)):
        raise UsageError(
            f"the document names the head {facts['head']}, and session {session.id} has another: one of them was "
            f"changed; `council verify {session.id}` says more"
        )
    return session, ""


# ---- the check ----


def check(
    state: State, settings: Config, document: Path, text: str, changes: CommitDiff, given: dict[str, Any]
) -> None:
    """Begin a session for the document, and run it to its end."""
    from council.reports import confirmation, front_matter
    from council.runner import attachments
    from council.runner.start import Request

    promised = find_promised(text, settings)
    question = confirmation.describe_question(front_matter.find_title(text), promised.promises, promised.labels)
    about = f"{confirmation.MARK}{attachments.format_name(document)}{describe(text, changes)}"
    notes = [about, promised.note, *(f"Not shown: {one_line(cut, 300)}" for cut in changes.cut)]
    tiers = tuple(pair for pairs in given["tier_map"] for pair in pairs.split(","))
    request = Request(
        "\n".join([question, *filter(None, notes)]), WORKFLOW, only=tuple(promised.promises),
        personas=promised.personas, documents=((DIFF, changes.text),), tier_map=tiers, find_files=False,
        id=given["id"], quorum=given["quorum"], max_cost=given["max_cost"],
    )  # fmt: skip
    choice = begin(state, request, settings, given)
    source = given["source"] if choice.speaker.replays else None
    carry_on(state, settings, source, {**given, "as_json": False}, choice, silent=True)


def describe(text: str, changes: CommitDiff) -> str:
    """The state of the document and the commits that a session is about, so that it is used for no other."""
    from council.reports import confirmation

    digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
    return f"{confirmation.DIGEST}{digest}), {changes.first}..{changes.second}"


def check_session(session: Session, text: str, changes: CommitDiff) -> None:
    from council.reports import confirmation

    session.read_turns()
    if session.workflow.name != WORKFLOW:
        raise UsageError(f"{session.id} is no confirmation; its workflow is {session.workflow.name}")
    named = [line for line in str(session.metadata["topic"]).splitlines() if line.startswith(confirmation.MARK)]
    if not any(line.endswith(describe(text, changes)) for line in named):
        raise UsageError(
            f"session {session.id} is about another document, another state of it, or other commits (--diff)"
        )


def describe_source(session: Session, changes: CommitDiff) -> Any:
    from council.record import chain
    from council.reports.confirmation import ConfirmationSource
    from council.reports.heading import count_replayed
    from council.reports.totals import ended_at

    day, head = f"{ended_at(session):%Y-%m-%d}", chain.head(session)
    replayed = count_replayed(session)
    note = next((line for line in str(session.metadata["topic"]).splitlines() if line.startswith("The ")), "")
    note = " ".join(filter(None, [note, f"Replayed: {replayed}." if replayed else ""]))
    return ConfirmationSource(day, changes.first, changes.second, session.id, head, changes.cut, note)


# ---- into the document ----


def show_and_add(path: Path, text: str, made: str, yes: bool, ask: bool, session: Session, quiet: bool = False) -> None:
    if quiet:
        add(path, text, made)
        return
    lines = difflib.unified_diff(text.splitlines(), made.splitlines(), str(path), str(path), lineterm="", n=2)
    echo("\n".join(lines))
    if not yes and not (ask and click.confirm(f"Add this to {path}?", default=False, err=True)):
        click.echo(f"not written; to add it: council confirm {path} --session {session.id} --yes", err=True)
        return
    add(path, text, made)
    echo(f"added to {path}")


def add(path: Path, text: str, made: str) -> None:
    """Replace the document at once, unless somebody changed it meanwhile."""
    from council.record import files
    from council.reports import filing

    with filing.lock_folder(path.absolute().parent):
        if read_document(path) != text:
            raise StorageError(f"{path} was changed meanwhile, so nothing was added; run the command again")
        mode = path.stat().st_mode & 0o777
        files.export(path, files.encode(made))
        path.chmod(mode)
