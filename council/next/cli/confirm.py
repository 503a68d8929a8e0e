"""`confirm`: has each specialist check, against the changes since, what a document says that it promised."""

from __future__ import annotations

import difflib
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from council.next import git
from council.next.cli import debate, options
from council.next.cli.commands import Context
from council.next.cli.options import load_settings, open_session
from council.next.config import places
from council.next.config.settings import Settings
from council.next.errors import Paused, StorageError, Unmet, UsageError, Waiting
from council.next.record import catalog, files
from council.next.record.session import Session
from council.next.reports import filing
from council.next.reports.render import in_line
from council.next.reports.state import state
from council.next.runner import attachments
from council.next.runner.prepare import Request
from council.next.schema import read_markdown
from council.next.terminal.output import echo, note, print_json
from council.next.text import encode

WORKFLOW, CHANGES = "confirm", "changes.diff"
RESULTS = {"kept": "kept", "partly": "partly kept", "broken": "broken", "untouched": "untouched by these changes"}
SHORT = 12  # characters of a commit


@click.command()
@click.argument("document", type=options.FILE)
@options.word("--diff", "A..B", "The changes (default: since the document was committed).")
@options.words("--only", "SEAT", "Ask these (default: who sat in the document's session).")
@options.word("--session", "SESSION", "Use the answers of this earlier confirmation.")
@options.ID
@options.HOLD
@options.OVERLAYS
@click.pass_obj
def confirm(context: Context, /, document: Path, diff: str, only: tuple[str, ...], session: str, **given: Any) -> None:
    """Have the changes since checked against what DOCUMENT promises. Each specialist checks its own promises.

    The chair checks those of everybody who has no seat. The result is shown as a change of the document, and added to
    it after a yes; without a terminal, only --yes adds it. A broken promise exits with 5.

    \b
    Example:
      council confirm docs/adr/0007-one-queue.md --diff v1.2..HEAD
    """
    # What is checked must not choose who checks it.
    settings = load_settings({**given, "overlays": given["overlays"] or False})
    text = read_document(document)
    before, after, changes = read_changes(document, diff)
    topic = f"Do the changes {before[:SHORT]}..{after[:SHORT]} keep what {document.name} promises?"
    documents = ((document.name, encode(text)), (CHANGES, encode(changes)))
    if session:
        found = find_earlier(settings, session, topic, [text, changes])
    else:
        seats = only or who_promised(settings, text, document.name)
        request = Request(topic, WORKFLOW, only=seats, documents=documents, id=given["id"])
        try:
            found = debate.begin(context, request, settings, given)
        except (Paused, Waiting):
            if context.session:
                note(f"when it is finished: `council confirm {document} --session {context.session.id}`")
            raise
    made = add_entry(text, describe(found, f"{before[:SHORT]}..{after[:SHORT]}", changes))
    lines = difflib.unified_diff(text.splitlines(), made.splitlines(), str(document), str(document), lineterm="", n=2)
    if not given["as_json"]:
        echo("\n".join(lines))
    added = given["yes"] or (debate.can_ask(given) and debate.confirm(f"Add this to {document}?"))
    if added:
        replace_document(document, text, made)
    if given["as_json"]:
        print_json({"session_id": found.id, "document": str(document), "text": made, "added": added})
    elif not added:
        note(f"not written; to add it: `council confirm {document} --session {found.id} --yes`")
    if broken := [turn.seat.label for turn in found.plan.scene.turns if turn.answers.get("kept") == "broken"]:
        raise Unmet(f"a promise is broken, says {broken[0]}")


def find_earlier(settings: Settings, word: str, topic: str, documents: list[str]) -> Session:
    """A confirmation that is finished, if it is about these documents."""
    found = open_session(settings, word)
    if (found.topic, [*found.attached.values()]) != (topic, documents):
        raise UsageError(f"{found.id} is about another state of the document, or other changes (--diff)")
    if found.plan.due:
        raise UsageError(f"{found.id} is not finished: `{catalog.next_command(found)}`, then run this again")
    return found


def read_document(path: Path) -> str:
    if path.is_symlink():
        raise UsageError(f"{path} is a link; name the document itself")
    return attachments.read_text(*attachments.read(path))


def read_changes(document: Path, diff: str) -> tuple[str, str, str]:
    """Two commits, and what changed between them. Without a range: since the commit that brought the document."""
    top = git.repository(document.absolute().parent)
    if not diff and not (first := git.first_commit(document, top)):
        raise UsageError(f"{document} was never committed, so name the changes to check: --diff A..B")
    before, after = git.range_of(diff or f"{first}..HEAD", top)
    if not (changes := git.diff(before, after, top)):
        raise UsageError(f"nothing changed in {before[:SHORT]}..{after[:SHORT]}, so nothing can be confirmed")
    return before, after, changes


def who_promised(settings: Settings, text: str, name: str) -> tuple[str, ...]:
    """Who sat in the session that the document is of, if that session began on this machine."""
    with suppress(UsageError):
        session = places.find_session(settings.home, str(read_markdown(text, name)[0].get("session") or "-"))
        if catalog.is_ours(places.marks(settings.home), session):
            return tuple(one["seat"] for one in state(session)["perspectives"])
    raise UsageError(f"the session that {name} is of is not here, so name who checks it: --only SEAT")


def describe(session: Session, between: str, changes: str) -> str:
    """What each specialist found. Evidence in a file that the changes do not have is marked."""
    changed = {line[6:] for line in changes.splitlines() if line.startswith(("--- a/", "+++ b/"))}
    lines = [f"On {session.metadata['completed_at'][:10]}, for {between} (session {session.id}):", ""]
    for turn in session.plan.scene.turns:
        result = RESULTS.get(str(turn.answers.get("kept")), f"not heard ({turn.absent or 'unreadable'})")
        lines.append(f"- **{turn.seat.label}:** {in_line(result)}")
        for item in turn.answers.get("evidence") or ():
            mark = "" if item.partition(":")[0].strip("` ") in changed else " *(not in the changes)*"
            lines.append(f"  - {in_line(item)}{mark}")
        lines += [f"  - missing: {in_line(item)}" for item in turn.answers.get("missing") or ()]
    return "\n".join(lines)


def add_entry(text: str, entry: str) -> str:
    made = f"{text.rstrip()}\n\n## Confirmation\n\n{entry}\n"
    return made.replace("\r\n", "\n").replace("\n", "\r\n") if "\r\n" in text else made


def replace_document(path: Path, text: str, made: str) -> None:
    """Replace the document at once, unless somebody changed it meanwhile."""
    with filing.lock_folder(path.absolute().parent):
        if read_document(path) != text:
            raise StorageError(f"{path} was changed meanwhile, so nothing was added; run this again with --session")
        mode = path.stat().st_mode & 0o777
        files.write(path, encode(made))
        path.chmod(mode)
