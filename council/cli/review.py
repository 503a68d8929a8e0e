"""`review`: reviews documents and reports the findings to a person, a CI system or a program."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from council.cli import completion
from council.cli.command import command
from council.cli.context import State
from council.cli.options import (
    FILE,
    FORMATS,
    ID,
    ONLY,
    OUTPUT,
    PACE,
    ROUNDS,
    SOURCE,
    SPEAKER,
    TIER_MAP,
    WITH,
    WITHOUT,
    YES,
    options,
    workflow_options,
)
from council.cli.run import begin, carry_on
from council.config import project
from council.errors import OpenFindings, UsageError
from council.reviews.inputs import MAX_TOKENS, NothingToReview
from council.text import harmless

if TYPE_CHECKING:
    from council.config.settings import Config
    from council.engine.planner import Plan
    from council.record.session import Session
    from council.reviews.formats.common import Review

GATES = ("blocking", "high", "medium", "low", "never")
PATCHLIST = "patchlist"  # the workflow and the mode of a review


@command()
@click.argument("specs", nargs=-1, type=click.Path())
@click.option(
    "--session", metavar="SESSION", shell_complete=completion.sessions, help="Report on this earlier review again."
)
@click.option("--format", "form", type=click.Choice(FORMATS), default="md", show_default=True, help="Output format.")
@click.option("--output", type=FILE, metavar="FILE", help="Write to this file instead of standard output.")
@click.option("--patch", type=FILE, metavar="FILE", help="Write the proposed edits as a diff.")
@click.option(
    "--fail-on",
    type=click.Choice(GATES),
    default="blocking",
    show_default=True,
    help="Exit 5 if a finding of this severity or above is open.",
)
@click.option(
    "--baseline", type=FILE, metavar="FILE", help="Fail only on findings that are not in this earlier report (JSON)."
)
@click.option("--dismiss", multiple=True, metavar="ID=WHY", help="Dismiss a finding, with a reason.")
@click.option("--diff", metavar="REVISION", help="Review what changed since a git revision, with the files as context.")
@click.option(
    "--max-tokens",
    type=click.IntRange(1),
    default=MAX_TOKENS,
    metavar="N",
    show_default=True,
    help="Refuse inputs larger than this many tokens.",
)
@click.option("--most-tokens", "max_tokens", type=click.IntRange(1), hidden=True)
@WITH
@WITHOUT
@ONLY
@ROUNDS
@TIER_MAP
@ID
@SPEAKER
@options(*OUTPUT, YES, SOURCE, PACE)
@click.option(
    "--allow-empty", is_flag=True, help="Report no findings, and exit 0, if no file matches or nothing changed."
)
@click.option(
    "--overlays", is_flag=True, help="Also use the project's workflows, templates and personas, from its .council."
)
@click.pass_obj
def review(state: State, /, specs: tuple[str, ...], session: str | None, **given: Any) -> None:
    """Review SPECS (files or glob patterns) and print one merged list of findings.

    Exits 5 if an open finding is at or above --fail-on. Your files are never edited.
    """
    from council.config import settings as config
    from council.record import files
    from council.reviews.report import baseline

    for target in filter(None, (given["output"], given["patch"])):
        files.check_target(target)  # before anything is spent
    project.decide(given.pop("overlays"))  # what is reviewed must not choose its own reviewers
    known = baseline(given["baseline"]) if given["baseline"] else frozenset()
    if bool(specs) is bool(session):
        raise UsageError("name the files to review, or an earlier review with --session")
    settings = config.load()
    if session:
        state.open(session).read_turns()
    else:
        try:
            debate(state, settings, specs, given)
        except NothingToReview as nothing:
            if not given["allow_empty"]:
                raise
            report_nothing(str(nothing), given)
            return
    assert state.session is not None
    report(state, state.session, known, given)


def debate(state: State, settings: Config, specs: tuple[str, ...], given: dict[str, Any]) -> None:
    from council.reviews import inputs
    from council.runner.start import Request

    files = inputs.expand(specs, given["allow_empty"])
    text = inputs.topic_of(files, given["diff"])
    inputs.check_size(files, text, given["max_tokens"])
    options = workflow_options(given)
    request = Request(
        text, PATCHLIST, given["with_"], given["only"], PATCHLIST, options, given["tier_map"], files, id=given["id"],
        without=given["without"],
        max_cost=given["max_cost"],
    )  # fmt: skip
    choice = begin(state, request, settings, given)
    source = given["source"] if choice.speaker.replays else None
    carry_on(state, settings, source, {**given, "as_json": False}, choice, silent=True)


# ---- the report ----


def report(state: State, session: Session, known: frozenset[str], given: dict[str, Any]) -> None:
    from council.reports.transcript import compose
    from council.reviews import formats
    from council.reviews import report as review
    from council.terminal.closing import show_sections
    from council.terminal.screen import Screen

    plan = session.plan()
    if not review.is_review(plan):
        raise UsageError(f"{session.id} is not a review; its workflow is {session.workflow.name}")
    if given["dismiss"]:
        with session.hold():
            by_id = dict(map(parse_dismissal, given["dismiss"]))
            session.merge(dismissed=review.dismissed(plan, session.metadata, by_id))
            publish(session, plan)
    found = review.review(plan, session.topic, session.metadata)
    failing = review.failing(found, given["fail_on"], known)
    if given["fail_on"] != "never":
        found = replace(found, stops=frozenset(one.id for one in failing))
    form = "json" if given["as_json"] else given["form"]
    if form == "md" and given["output"] is None and plan.done and sys.stdout.isatty():
        show_sections(compose(session, plan), Screen())
    else:
        put(formats.render(form, found), given["output"])
    patch(found, given["patch"])
    if failing:
        state.next_step = f"council review --session {session.id}"
        listed = ", ".join(one.id for one in failing)
        several = "findings are" if len(failing) > 1 else "finding is"
        above = "" if given["fail_on"] == GATES[0] else " or above"
        raise OpenFindings(f"{len(failing)} open {several} {given['fail_on']}{above}: {listed}")


def report_nothing(why: str, given: dict[str, Any]) -> None:
    """The list of a review that was not needed, in its format."""
    from council.reviews import formats
    from council.reviews.formats.common import Review

    click.echo(f"council: {harmless(why)}: nothing to review", err=True)
    form = "json" if given["as_json"] else given["form"]
    put(formats.render(form, Review("Review", "", outcome=f"nothing to review ({why})")), given["output"])


def publish(session: Session, plan: Plan) -> None:
    """Rewrite the derived files and the archived copy, which contain the list."""
    from council.config import places
    from council.config import settings as config
    from council.reports import archive, derived

    if plan.done:
        archive.finish(session, plan, places.archive_of(config.load(), session.folder))
    else:
        derived.build(session, plan)


def parse_dismissal(word: str) -> tuple[str, str]:
    id, equals, why = word.partition("=")
    if not equals or not why.strip():
        raise UsageError(f'--dismiss {word}: give the finding and the reason, as in --dismiss "B1=it is behind a flag"')
    return id.strip().upper(), why.strip()


def put(text: str, output: Path | None) -> None:
    from council.record import files

    if output is None:
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
    else:
        files.export(output.absolute(), files.encode(text))


def patch(found: Review, target: Path | None) -> None:
    from council.record import files
    from council.reviews import patch as edits

    if target is None:
        return
    proposed = edits.propose(found.findings, found.documents)
    for group in proposed.conflicts:
        ids = ", ".join("/".join(edit.ids) for edit in group)
        click.echo(f"council: left out of the diff because these edits conflict: {ids}", err=True)
    files.export(target.absolute(), files.encode(edits.diff(proposed, found.documents)))
