"""Sessions: `status`, `show`, and the commands that write files: `build`, `archive`, `decision`."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from council import text_width
from council.cli import completion
from council.cli.command import command
from council.cli.context import State
from council.cli.options import FILE, FORMATS, JSON, SESSION
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


@command()
@SESSION
@click.argument("turn", required=False, metavar="[TURN]", shell_complete=completion.parts)
@click.option("--html", is_flag=True, help="Print a self-contained HTML page.")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), help="Print the findings of a review, or of checkers, in a format."
)
@JSON
@click.option("-o", "--output", type=FILE, metavar="FILE", help="Write to this file.")
@click.option("--force", is_flag=True, help="With -o: overwrite a file that council did not write.")
@click.pass_obj
def show(
    state: State, /, session: str, turn: str | None, output: Path | None, force: bool, form: str | None, **how: bool
) -> None:
    """Show the transcript of SESSION as far as it goes; on a terminal, in $PAGER or less.

    With TURN, print only that reply. `synthesis` in its place prints the synthesis. With --format, print the findings
    of a review, or what checkers found in the code that won.
    """
    from council.record import files
    from council.reports import html as page
    from council.reports import markdown, summary
    from council.reports.transcript import compose

    html, as_json = how["html"], how["as_json"]
    plain = not (html or as_json or form)
    if html + as_json + bool(form) > 1:
        raise UsageError("only one of --html, --json and --format can be given")
    if html and output is None and sys.stdout.isatty():
        raise UsageError("a page is for a browser: add -o debate.html, or send it to a pipe")
    found = state.open(session)
    found.read_turns()
    if turn is not None:
        if output or not plain:
            raise UsageError("a turn or the synthesis is printed as it is; leave out --html, --json, --format and -o")
        from council.terminal.screen import Screen

        part = read_part(found, turn.removesuffix(".md"))
        if sys.stdout.isatty():
            Screen().out(part)
        else:
            echo(part)
        return
    if found.kept_from and plain and not output:
        echo(files.read(found.folder / "transcript.md").decode("utf-8", "replace").removesuffix("\n"))
        return
    debate = compose(found, found.plan())
    if sys.stdout.isatty() and plain and output is None:
        show_paged(debate, found)
        return
    if form:
        text = format_findings(found, form)
        text = text if output else text.removesuffix("\n")  # which printing adds
    elif as_json:
        text = as_text(summary.as_document(summary.summarize(found.folder)))
    else:
        text = page.page(debate) if html else markdown.whole(debate)
    put(text, output, force)


def put(text: str, output: Path | None, force: bool) -> None:
    """Print the text, or write it to a file of the user's alone."""
    from council.record import files

    if output is None:
        echo(text)
        return
    files.refuse_links(output)
    if not force:
        refuse_overwrite(output)
    with open(output, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(files.encode(text))
    click.echo(f"written: {output}", err=True)


def format_findings(found: Session, form: str) -> str:
    """What a review or its like found, in a format for programs."""
    from council.engine.contributions import findings_report
    from council.reports.transcript import read_record

    record = read_record(found, found.plan())
    for report in findings_report.known.values():
        if (text := report(record, form)) is not None:
            return text
    raise UsageError(
        f"{found.id} has no findings: it is not a review, and no checker looked at the code that won; "
        "`council code --after STEP=BENCH` runs one"
    )


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
    findings = begin.startswith(b"{") and TOOL_MARK in begin
    ours = page.OURS.encode() in begin or transcript or begin.startswith(JSON_MARK) or findings
    if begin and not ours:
        raise UsageError(f"{output} already exists and council did not write it; choose another file, or add --force")


MARK = b"\n**Session ID:** "
TOOL_MARK = b'"name": "council"'
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
@click.option("--as", "kind", metavar="KIND", default="", help="Another kind of document than the workflow's own.")
@click.option("--to", "folder", type=FILE, help="Target folder (default: the project's docs/decisions).")
@click.option("--with-record", "record", is_flag=True, help="File all that was said beside it, and link to it.")
@click.option("--new", is_flag=True, help="File it as a new document, even if there is one already.")
@click.option("--dry-run", is_flag=True, help="Print the document, and where it would be, and write nothing.")
@click.pass_obj
def decision(
    state: State, session: str, kind: str, folder: Path | None, record: bool, new: bool, dry_run: bool
) -> None:
    """Write the document of SESSION, such as an ADR, into the project's docs/decisions.

    A finished debate has already filed its own. `--as madr` makes another kind from the same record. A document that
    somebody has changed stays as it is.
    """
    from council.reports import filing, produce

    found = state.open(session)
    with found.hold():
        plan = found.plan()
        if not plan.done:
            raise UsageError(f"{found.id} has no document: the debate is not finished; `council next` says what is due")
        produce.check_kind(kind, found.workflow)
        made = filing.make(found, plan, kind)
        if not made.texts:
            raise UsageError(produce.explain_none(found, kind))
        home, why = filing.find_home(found)
        if folder is None and home is None and not dry_run:
            raise UsageError(f"{why}; choose a folder with --to")
        place = folder or (home or Path()) / filing.PLACE
        where = filing.Filing(place, record, update=True, new=new)
        if dry_run:
            for path, text in where.find(made)[1].items():
                click.echo(f"# {path if folder or home else path.name}", err=True)
                echo(text)
            return
        for path, current in filing.place(made, where).items():
            echo(str(path))
            if not current:
                click.echo("# somebody has changed it, so it stays; --new files this version beside it", err=True)
