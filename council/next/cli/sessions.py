"""What to do with sessions: list, status, show, verify, build, archive, and file their documents."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from council.next.cli.commands import Context
from council.next.cli.options import (
    COUNT,
    FILE,
    JSON,
    SESSION,
    complete,
    flag,
    load_settings,
    open_session,
    read_kinds,
    word,
)
from council.next.errors import CouncilError, Damaged, StorageError, Unmet, UsageError
from council.next.record.files import tilde
from council.next.terminal.output import columns, echo, note, print_columns, print_json, say
from council.next.text import did_you_mean, join_words

if TYPE_CHECKING:
    from council.next.config.settings import Settings
    from council.next.record.session import Session

STATES = ("complete", "running", "waiting", "interrupted", "damaged")
AGES = ((86_400, "d"), (3_600, "h"), (60, "m"), (0, "s"))


def age_of(row: Mapping[str, Any]) -> str:
    import time
    from datetime import datetime

    with suppress(TypeError, ValueError, OverflowError):
        seconds = max(0.0, time.time() - datetime.fromisoformat(row["started_at"]).timestamp())
        return next(f"{seconds / (size or 1):.0f}{unit}" for size, unit in AGES if seconds >= size)
    return "?"


# What a list shows of a session, each from this width of the window on.
COLUMNS: dict[str, tuple[int, Callable[[Mapping[str, Any]], str]]] = {
    "SESSION": (0, lambda row: row["session_id"]),
    "STATE": (60, lambda row: row["kind"] or row["status"]),
    "AGE": (70, age_of),
    "COST": (90, lambda row: "?" if row["usd"] is None else f"${row['usd']:.2f}"),
    "TOPIC": (0, lambda row: row["topic"]),
}


@click.command("list")
@word("-n newest", "N", "How many (default: 30).", type=COUNT, default=30)
@flag("--all all_", "List them all.")
@word("-w --workflow", "NAME", "Only sessions of this workflow.")
@word("--outcome", "KIND", "Only sessions that came to this: agreed,split.")
@click.option("--state", type=click.Choice(STATES), help="Only sessions in this state.")
@JSON
def list_(newest: int, all_: bool, workflow: str, outcome: str, state: str, as_json: bool) -> None:
    """List your sessions, newest first. Sessions of the project around you follow under their own heading."""
    from council.next.config import places
    from council.next.reports.listing import rows

    settings = load_settings({})
    kinds = read_kinds({"outcome": outcome}, "outcome") if outcome else []
    wanted = {"workflow": [workflow.lower()] * bool(workflow), "kind": kinds, "status": [state] * bool(state)}
    wanted = {key: values for key, values in wanted.items() if values}
    found = {}
    known = {*places.workflows(settings.overlays)}
    for root in places.session_folders(settings.home):
        listed = rows(root, 0 if all_ or wanted else newest)[::-1]
        known |= {row["workflow"] for row in listed if isinstance(row["workflow"], str)}
        fit = [row for row in listed if all(row[key] in values for key, values in wanted.items())]
        found[root] = fit if all_ else fit[:newest]
    if workflow and workflow.lower() not in known:
        raise UsageError(f'there is no workflow "{workflow}", and no session of one; {did_you_mean(workflow, known)}')
    if as_json:
        print_json([
            {**row, "folder": str(root / row["session_id"]), "in_project": number > 0}
            for number, (root, fit) in enumerate(found.items())
            for row in fit
        ])  # fmt: skip
    elif not any(found.values()):
        note("no such session" if wanted else 'no session yet; begin one: `council run "Should we …?"`')
    shown = {title: cell for title, (least, cell) in COLUMNS.items() if columns(sys.stdout) >= least}
    for number, fit in enumerate(found.values() if not as_json else ()):
        if fit and number:
            say("In this project; each is found by its whole id only:")
        if fit:
            print_columns([[*shown], *([cell(row) for cell in shown.values()] for row in fit)], loose=len(shown) - 1)


@click.command()
@SESSION
@JSON
def status(session: str, as_json: bool) -> None:
    """Show how far SESSION is. It is complete, running, waiting, interrupted or damaged."""
    from council.next.config import places
    from council.next.reports import listing

    folder = places.find_folder(load_settings({}).home, session)
    row = listing.status(folder)
    if as_json:
        print_json({**row, "folder": str(folder)})
        return
    kind = f" ({row['kind']})" if row["kind"] else ""
    waits = f" for {join_words(row['waits_for'])}" if row["waits_for"] else " for replies by hand" * row["by_hand"]
    standing = f"; the votes so far give: {row['standing']}" if row["standing"] else ""
    say(f"{row['session_id']}: {row['status']}{waits}{kind}{standing}")
    if row["is_stale"] and row["status"] != "running":
        say("its derived files are not of these turns, so its result is not said; `council build` makes them again")
    say(row["topic"])
    if row["problem"]:
        raise Damaged(folder, row["problem"])
    if row["due"]:
        say(f"{row['turns']} turn{'s' * (row['turns'] != 1)} on record; due: {join_words(row['due'])}")
    waiting = "next" if row["by_hand"] else "answer"
    next_ = {"waiting": waiting, "interrupted": "recover", "complete": "show"}.get(row["status"])
    if next_:
        note(f"next: `council {next_} {row['session_id']}`")


@click.command()
@click.argument("words", nargs=-1, metavar="[SESSION] [PART]", shell_complete=complete)
@flag("--html", "The debate as one HTML page that loads nothing.")
@JSON
@word("-o --output", "FILE", "Write to this file.", type=FILE, default=None)
@flag("--force", "With -o: overwrite a file.")
def show(words: tuple[str, ...], html: bool, as_json: bool, output: Path | None, force: bool) -> None:
    """Show a debate, or a part of it. The default is the transcript of the newest SESSION, as far as it goes. A PART is
    `synthesis`, `round 2`, or a turn, as in `02-challenges/engineer`.

    \b
    Examples:
      council show last synthesis
      council show last --html -o debate.html
    """
    from council.next.reports.build import derive, page, view
    from council.next.reports.state import state
    from council.next.terminal.markdown import print_markdown

    is_part = bool(words) and (words[0] in ("synthesis", "round") or "/" in words[0])
    word, part = ("last", words) if is_part or not words else (words[0], words[1:])
    if html and (part or as_json):
        raise UsageError("--html shows a whole debate: leave the part and --json out")
    if html and output is None and sys.stdout.isatty():
        raise UsageError("a page is for a browser: write it to a file, as in `council show --html -o debate.html`")
    session = open_session(load_settings({}), word)
    now = state(session)
    if html:
        text = page(session)
    elif as_json:
        found: Any = now
        if part:
            name = name_of(session, part)
            rounds = {f"round-{one['round_number']}.md": one for one in now["rounds"]}
            # A turn whose batch is not whole, and a second try, are words that no state describes yet.
            bare = {"turn": name, "content": session.said[name].body if name in session.said else ""}
            found = now["synthesis"] if name == "synthesis.md" else {**rounds, **view(now)["turns"]}.get(name, bare)
        text = json.dumps(found, ensure_ascii=False, indent=2).encode("utf-8", "backslashreplace").decode() + "\n"
    else:
        name = name_of(session, part) if part else "transcript.md"
        text = session.said[name].body if name in session.said else derive(session, now)[name].decode()
    if output is not None:
        write_to(output, text, force)
    elif html or as_json:
        click.echo(text, nl=False)  # to the byte: it holds no control characters of its own
    else:
        print_markdown(text)
        if not part and (more := [id for id in session.plan.open if id in session.said]):
            note(f"Also on record, but not shown until all of this step have spoken: {join_words(more)}")


def name_of(session: Session, part: tuple[str, ...]) -> str:
    """The derived file or the turn that somebody asks for."""
    names = {"synthesis": "synthesis.md"} if session.outcome.synthesis else {}
    names |= {f"round {number}": f"round-{number}.md" for number in range(1, session.outcome.rounds + 1)}
    names |= {id: id for id in session.said}
    wanted = " ".join(part).removesuffix(".md")
    if wanted not in names:
        raise UsageError(f'{session.id} has no "{wanted}" yet; {did_you_mean(wanted, names)}')
    return names[wanted]


def write_to(path: Path, text: str, force: bool) -> None:
    try:
        flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if force else os.O_EXCL)
        with os.fdopen(os.open(path, flags, 0o600), "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(f"{path} is there already; --force overwrites it") from None
    except OSError as failure:
        raise StorageError(f"{path}: {failure.strerror}") from None
    echo(str(path))


@click.command()
@SESSION
@word("--head", "HASH", "The head that you noted: what it covers is proven.")
@JSON
def verify(session: str, head: str, as_json: bool) -> None:
    """Check the files of SESSION, also against a head that you noted. Exits with 5 if anything is wrong.

    \b
    Example:
      council verify last --head 0f3c…
    """
    from council.next.config import places
    from council.next.record.session import Session
    from council.next.reports.verify import Report
    from council.next.reports.verify import verify as check

    folder = places.find_folder(load_settings({}).home, session)
    try:
        report = check(Session(folder), head)
    except CouncilError as damage:
        report = Report("", 0, (str(damage),), ("The record cannot be read as a whole, so nothing is proven.",))
    if as_json:
        facts = {"session_id": folder.name, "head": report.head, "turns": report.turns}
        print_json({**facts, "findings": report.problems, "sentences": report.sentences})
    else:
        for line in (*report.problems, *report.sentences, f"Head: {report.head or 'none'}"):
            say(line)
    if report.problems:
        found = len(report.problems)
        raise Unmet(f"{folder.name}: {found} problem{'s' * (found > 1)} found; restore the files named from a backup")


@click.command()
@SESSION
@click.pass_obj
def build(context: Context, /, session: str) -> None:
    """Make the derived files of SESSION again. They are made from its turns, byte for byte."""
    from council.next.reports import build as reports

    found = context.session = open_session(load_settings({}), session)
    with found.hold():
        names = [*reports.derive(found, reports.build(found))]
    for name in names:
        echo(tilde(found.folder / name))


@click.command()
@SESSION
@click.pass_obj
def archive(context: Context, /, session: str) -> None:
    """Copy the transcript of SESSION to the archive again. The debate must be over."""
    from council.next.record import catalog
    from council.next.reports.finish import finish, keep_copy

    settings = load_settings({})
    found = context.session = open_session(settings, session)
    with found.hold():
        now = finish(found, settings.home)
        if now["status"] != "complete":
            raise UsageError(f"{found.id} is not over; `{catalog.next_command(found)}` continues it")
        echo(keep_copy(found, now, settings.home))


@click.command()
@SESSION
@word("--as kind", "KIND", "Another kind of document: adr, madr, issue, …")
@word("--to place", "PATH", "The folder (default: docs/decisions in the debate's project).", type=FILE, default=None)
@flag("--new", "File it as a new document, even if there is one already.")
@flag("--dry-run", "Print the document and where it would be, and write nothing.")
def decision(session: str, kind: str, place: Path | None, new: bool, dry_run: bool) -> None:
    """File the document of SESSION, such as an ADR, in its project. One that somebody has changed stays as it is.

    \b
    Example:
      council decision last --to docs/adr
    """
    from council.next.reports.filing import EDITED, PLACE, file_document

    settings = load_settings({})
    found = open_session(settings, session)
    top = project_of(found, settings)
    if place is not None:
        top, folder = place.absolute().parent, place.absolute().name  # `.` has no name of its own
    elif top is not None:
        folder = PLACE
    else:
        raise UsageError(f"{found.id} did not begin in a project of yours; name a folder with --to")
    filed = file_document(found, top, kind, folder, own_template(found, kind, settings), new, dry_run)
    if dry_run:
        note(f"# {tilde(filed.path)}")
        echo(filed.text)
        return
    echo(str(filed.path))
    if filed.became == EDITED:
        note("somebody has changed it, so it stays as it is; --new files this version beside it")


def project_of(session: Session, settings: Settings) -> Path | None:
    """The project in which a debate began, if it is there. A session from elsewhere chooses no folder here."""
    from council.next.config import places
    from council.next.record import catalog

    began = str(session.program.get("project") or "")
    ours = catalog.is_ours(places.marks(settings.home), session)
    return Path(began) if ours and began and Path(began).is_dir() else None


def own_template(session: Session, kind: str, settings: Settings) -> str:
    """The user's own template for this kind of document. Empty if there is none: then it is the kit's."""
    from council.next.config import places

    path = places.find_template(f"report/{kind or session.workflow.document or 'adr'}.md.j2", settings.overlays)
    return "" if path is None or path.is_relative_to(places.KIT) else places.read(path)


def file_all(session: Session, settings: Settings) -> Path | None:
    """File what a debate that has just ended is filed as. A folder that cannot be written loses nothing."""
    from council.next.reports.filing import file_document, kinds_of

    filed = None
    if (top := project_of(session, settings)) is None:
        return None
    for kind in kinds_of(session)[::-1]:
        try:
            filed = file_document(session, top, kind, template=own_template(session, kind, settings)).path
        except CouncilError as problem:
            note(f"the {kind} was not filed: {problem}; `council decision {session.id}` tries again")
    return filed
