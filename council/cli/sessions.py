"""Sessions: `status`, `list`, `show`, and the commands that write files: `build`, `archive`, `decision`."""

from __future__ import annotations

import os
import signal
import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from council import text_width
from council.cli import completion
from council.cli.command import command
from council.cli.context import State
from council.cli.options import FILE, JSON, SESSION
from council.errors import Damaged, UsageError
from council.terminal.output import as_text, echo, print_json
from council.text import harmless, one_line

if TYPE_CHECKING:
    from council.checks.cost import DebateCost
    from council.record.session import Session
    from council.reports.model import Transcript
    from council.reports.verify import Status


@command()
@SESSION
@JSON
@click.pass_obj
def status(state: State, session: str, as_json: bool) -> None:
    """Show the state of SESSION: complete, running, waiting, paused, interrupted or damaged."""
    folder = state.folder(session)
    from council.record import tracked
    from council.reports import verify

    found = verify.status(folder)
    if as_json:
        print_json(status_row(folder, found))
    else:
        echo(wrap_for(f"{folder.name}: {found.state} ({found.why})", sys.stdout))
        if why := tracked.explain(folder):
            echo(wrap_for(f"it cannot be continued: {why}", sys.stdout))
        if found.session and (spent := sum_costs(found.session)):
            from council.checks import cost

            click.echo(wrap_for(cost.format_usage(*spent), sys.stderr), err=True)
    if found.state == "damaged":
        state.next_step = f"council verify {folder.name}"
        raise Damaged(folder.name, "damaged, see above")


def status_row(folder: Path, found: Status) -> dict[str, Any]:
    from council.record import chain
    from council.reports import summary
    from council.terminal import watch

    row = summary.as_row(summary.summarize(folder, found))
    if found.session is None:
        return row | {"head": None}
    row["head"] = chain.head(found.session)
    return row | watch.list_costs(found.session, *(sum_costs(found.session) or (watch.sum_usage(found.session), None)))


def wrap_for(text: str, stream: TextIO) -> str:
    """Wrap a sentence if a terminal shows it."""
    from council.terminal import screen

    return "\n".join(text_width.wrap(harmless(text), screen.size(stream)[0] - 1)) if stream.isatty() else text


def sum_costs(found: Session) -> tuple[DebateCost, DebateCost | None] | None:
    """The usage of a session and its upper bound; None if no tokens were used."""
    from council.config import settings
    from council.terminal import watch

    spent = watch.sum_usage(found)
    if (spent.input, spent.output, spent.failed) == (0, 0, 0):
        return None
    return spent, watch.bound_usage(found, settings.load())


@command("list")
@JSON
@click.option(
    "-n", "most", type=click.IntRange(1), default=30, show_default=True, metavar="N", help="Number of sessions to list."
)
def list_(as_json: bool, most: int) -> None:
    """List your sessions, newest first, then those in the project's .council."""
    from council.config import places, settings
    from council.reports import listing

    rows = listing.list_rows(settings.load().sessions, most)
    in_project = [listing.describe(folder) for folder in islice(places.list_in_project(), most)]
    if as_json:
        print_json([*rows, *in_project])
        return
    if not rows and not in_project:
        click.echo('no sessions yet; start one with: council run "QUESTION"', err=True)
        return
    from council.terminal import table

    if rows:
        table.show(rows)
    if in_project:
        echo(("\n" if rows else "") + "In this project; each is found by its whole id only:")
        table.show(in_project, whole=True)


@command()
@SESSION
@click.argument("turn", required=False, metavar="[TURN]", shell_complete=completion.parts)
@click.option("--html", is_flag=True, help="Print a self-contained HTML page.")
@JSON
@click.option("-o", "--output", type=FILE, metavar="FILE", help="Write to this file.")
@click.option("--force", is_flag=True, help="With -o: overwrite a file that council did not write.")
@click.pass_obj
def show(
    state: State, session: str, turn: str | None, html: bool, as_json: bool, output: Path | None, force: bool
) -> None:
    """Show the transcript of SESSION as far as it goes; on a terminal, in $PAGER or less.

    With TURN, print only that reply. `synthesis` in its place prints the synthesis.
    """
    from council.record import files
    from council.reports import html as page
    from council.reports import markdown, summary
    from council.reports.transcript import compose

    if html and as_json:
        raise UsageError("--html and --json cannot be combined")
    found = state.open(session)
    found.read_turns()
    if turn is not None:
        if html or as_json or output:
            raise UsageError("a turn or the synthesis is printed as it is; leave out --html, --json and -o")
        echo(read_part(found, turn.removesuffix(".md")))
        return
    if found.kept_from and not (html or as_json or output):
        echo(files.read(found.folder / "transcript.md").decode("utf-8", "replace").removesuffix("\n"))
        return
    debate = compose(found, found.plan())
    if sys.stdout.isatty() and not html and not as_json and output is None:
        show_paged(debate, found)
        return
    if as_json:
        text = as_text(summary.as_document(summary.summarize(found.folder)))
    else:
        text = page.page(debate) if html else markdown.whole(debate)
    if output is not None:
        if not force:
            refuse_overwrite(output)
        with open(output, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(files.encode(text))
        click.echo(f"written: {output}", err=True)
    else:
        echo(text)


def read_part(found: Session, part: str) -> str:
    """The reply of one turn, or the synthesis with what council adds to it."""
    from council.record import files
    from council.reports import markdown

    if part == "synthesis":
        if found.kept_from:
            return files.read(found.folder / "synthesis.md").decode("utf-8", "replace").removesuffix("\n")
        if not (text := markdown.synthesis_of(found, found.plan())):
            raise UsageError(f"{found.id} has no synthesis yet; `council show {found.id}` prints what was said so far")
        return text.removesuffix("\n")
    if part not in found.said:
        spoken = ", ".join(sorted(found.said)) or "none"
        raise UsageError(f"{one_line(part)} is not recorded in {found.id}; recorded so far: {spoken}")
    said = found.said[part]
    return f"absent: {said.absent}" if said.absent else said.body


def refuse_overwrite(output: Path) -> None:
    """Refuse to overwrite a file that council did not write. Its own pages and transcripts can be made again."""
    from council.reports import html as page

    if not output.is_file():  # new, a folder or a device: writing to it reports any problem
        return
    with output.open("rb") as file:
        begin = file.read(4000)
    transcript = begin.startswith(b"## Council ") and MARK in begin
    if begin and page.OURS.encode() not in begin and not transcript and not begin.startswith(JSON_MARK):
        raise UsageError(f"{output} already exists and council did not write it; choose another file, or add --force")


MARK = b"\n**Session ID:** "
JSON_MARK = b'{\n  "session_id": "'


def show_paged(debate: Transcript, found: Session) -> None:
    """Show the transcript in the pager, which handles Ctrl-C itself; the receipts fit the window."""
    from council.checks import cost
    from council.terminal import screen, table, transcript
    from council.terminal.markdown import Paint

    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        paint = Paint(screen.size(sys.stdout)[0], screen.has_colour(sys.stdout))
        said = transcript.lines(debate, paint)
        took = [paint.rule("Receipts"), "", *table.receipts(found, paint.columns, paint.colour)]
        spent = sum_costs(found)
        sums = ["", *text_width.wrap(cost.format_usage(*spent), paint.width)] if spent else []
        bare = "\n".join([*said, *took, *sums, ""])
        click.echo_via_pager(bare.encode("utf-8", "replace").decode())
    finally:
        signal.signal(signal.SIGINT, before)


@command()
@SESSION
@click.pass_obj
def build(state: State, session: str) -> None:
    """Rebuild the derived files of SESSION from its turns, byte for byte."""
    from council.reports import archive

    found = state.open(session)
    with found.hold():
        for path in archive.rebuild(found, found.plan()):
            echo(str(path))


@command()
@SESSION
@click.pass_obj
def archive(state: State, session: str) -> None:
    """Copy the transcript of a finished SESSION to the archive."""
    from council.config import places, settings
    from council.reports.archive import finish

    found = state.open(session)
    with found.hold():
        plan = found.plan()
        if not plan.done:
            raise UsageError(f"the debate is not finished; still to come: {', '.join(due.id for due in plan.due)}")
        echo(str(finish(found, plan, places.archive_of(settings.load(), found.folder))))


@command()
@SESSION
@click.option("--to", "folder", type=FILE, help="Target folder (default: the project's docs/decisions).")
@click.pass_obj
def decision(state: State, session: str, folder: Path | None) -> None:
    """Write the document that SESSION produced (an ADR or a decision) into the project's docs/decisions again."""
    from council.reports import filing
    from council.reports.transcript import compose

    found = state.open(session)
    with found.hold():
        plan = found.plan()
        if not filing.derive(compose(found, plan), found, plan):
            raise UsageError(
                f"{found.id} has no document: the debate is not finished, or its workflow writes none "
                "(-o document=adr or -o document=decision turns it on where the workflow has that option)"
            )
        home, why = filing.find_home(found)
        if folder is None and home is None:
            raise UsageError(f"{why}; choose a folder with --to")
        for path in filing.place(found, plan, folder or (home or Path()) / filing.PLACE):
            echo(str(path))
