"""`review`: a patchlist of one or more documents, in the form that a person, a CI or another program reads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from council.cli.context import State
from council.cli.run import (
    begin,
    carry_on,
    options_of,
    output_options,
    paced,
    provide,
)
from council.config import overlays
from council.errors import Found, UsageError

if TYPE_CHECKING:
    from council.config.settings import Config
    from council.engine.planner import Plan
    from council.record.session import Session
    from council.reviews.formats.common import Review

FORMATS = ("md", "json", "sarif", "rdjson", "github")
GATES = ("blocking", "high", "medium", "low", "never")
MOST_TOKENS = 100_000


@click.command()
@click.argument("specs", nargs=-1)
@click.option("--session", metavar="SESSION", help="No new debate: the list of a review that was held already.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="md", show_default=True, help="How to print it.")
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE", help="Into a file, not on standard output.")
@click.option("--patch", type=click.Path(path_type=Path), metavar="FILE", help="Write the proposed edits as a diff.")
@click.option(
    "--fail-on", type=click.Choice(GATES), default="blocking", show_default=True, help="Exit 5 on such a finding."
)
@click.option("--baseline", type=click.Path(path_type=Path), metavar="FILE", help="Fail on what is not in this JSON.")
@click.option("--dismiss", multiple=True, metavar="ID=WHY", help="A person's word: this finding is none.")
@click.option("--diff", metavar="REVISION", help="Review what changed since a git revision, the files as context.")
@click.option("--most-tokens", type=click.IntRange(1), default=MOST_TOKENS, show_default=True, help="Refuse more.")
@click.option("--with", "with_", multiple=True, metavar="SEAT", help="Call in another member.")
@click.option("--only", multiple=True, metavar="SEAT", help="Only these members.")
@click.option("--rounds", type=int, metavar="N", help="3 asks for the closing round in any case.")
@click.option("--tier-map", multiple=True, metavar="TIER=TARGET", help="Another tier or model for a tier.")
@click.option("--speaker", metavar="NAME", help="auto, anthropic, claude, local or replay.")
@output_options
@click.pass_obj
def review(state: State, /, specs: tuple[str, ...], session: str | None, **given: Any) -> None:
    """Review SPECS (files, or globs), and print one merged list of findings.

    The exit code is 5 if one is open that --fail-on names, or a graver one. Nothing is ever applied.
    """
    from council.config import settings as config
    from council.reviews.report import baseline

    known = baseline(given["baseline"]) if given["baseline"] else frozenset()
    if bool(specs) is bool(session):
        raise UsageError("name the documents to review, or with --session a review that was held already")
    settings = config.load()
    if session:
        state.open(session).read_turns()
    else:
        debate(state, settings, specs, given)
    assert state.session is not None
    report(state, state.session, known, given)


def debate(state: State, settings: Config, specs: tuple[str, ...], given: dict[str, Any]) -> None:
    from council.runner.start import Request
    from council.speakers import select

    files = expanded(specs)
    text = topic(files, given["diff"])
    fitting(files, text, given["most_tokens"])
    wanted = given["speaker"] or settings.speaker
    paced(wanted, given)
    overlays.workflow_text("patchlist")
    name = select.choose(wanted, settings)
    select.warm_up(name)
    provide(settings, name, given)
    options = options_of({**given, "options": (), "normative": False})
    request = Request(text, "patchlist", given["with_"], given["only"], "patchlist", options, given["tier_map"], files)
    state.session = begin(request, settings, name, given["source"])
    carry_on(state, settings, given["source"], {**given, "as_json": False}, silent=True)


def expanded(specs: tuple[str, ...]) -> tuple[Path, ...]:
    """The files that are named, each once. A shell that expands no patterns leaves them to us."""
    found: list[Path] = []
    for spec in specs:
        exact = Path(spec).exists()
        matching = [Path(spec)] if exact else sorted(Path().glob(spec)) if set(spec) & set("*?[") else []
        if not matching:
            raise UsageError(f"{spec}: there is no such file")
        found += matching
    for path in found:
        if path.is_dir():
            raise UsageError(f"{path} is a directory; name the files in it, as in '{path}/*.md'")
    return tuple(dict.fromkeys(found))


def topic(files: tuple[Path, ...], revision: str | None) -> str:
    names = ", ".join(map(str, files))
    if revision is None:
        return f"Review {names}"
    if revision.startswith("-"):
        raise UsageError(f"--diff {revision}: that is no revision")
    command = ["git", "diff", "--no-ext-diff", "--no-color", "--unified=3", revision, "--", *map(str, files)]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise UsageError(f"--diff {revision}: {said[0] if said else 'git failed'}")
    if not done.stdout.strip():
        raise UsageError(f"--diff {revision}: nothing changed in {names}")
    told = done.stdout.decode("utf-8", "replace")
    return (
        f"Review what changed in {names} since {revision}. The documents stand below as they are now; findings are "
        f"about what changed, and about what the change breaks elsewhere.\n\n{told}"
    )


def fitting(files: tuple[Path, ...], text: str, most: int) -> None:
    """Too much for the members is refused before anything is spent."""
    from council.runner.prompt_cache import CHARS_A_TOKEN

    size = len(text) + sum(path.stat().st_size for path in files if path.is_file())
    if size // CHARS_A_TOKEN > most:
        raise UsageError(
            f"about {size // CHARS_A_TOKEN:,} tokens, and {most:,} is the most (--most-tokens): review fewer files at "
            "a time"
        )


# ---- what it comes to ----


def report(state: State, session: Session, known: frozenset[str], given: dict[str, Any]) -> None:
    from council.reviews import formats
    from council.reviews import report as review

    plan = session.plan()
    if not review.is_review(plan):
        raise UsageError(f"{session.id} is no review: its workflow is {session.workflow.name}")
    if given["dismiss"]:
        with session.hold():
            by_id = dict(map(decided, given["dismiss"]))
            session.merge(dismissed=review.dismissed(plan, session.metadata, by_id))
            published(session, plan)
    found = review.review(plan, session.topic, session.metadata)
    put(formats.render("json" if given["as_json"] else given["form"], found), given["output"])
    patch(found, given["patch"])
    failing = review.failing(found, given["fail_on"], known)
    if failing:
        state.go_on = f"council review --session {session.id}"
        listed = ", ".join(one.id for one in failing)
        raise Found(f"{len(failing)} open finding{'s' if len(failing) > 1 else ''} that --fail-on names: {listed}")


def published(session: Session, plan: Plan) -> None:
    """What is derived has the list in it, and so has the archived copy."""
    from council.config import settings as config
    from council.reports import archive, derived

    if plan.done:
        archive.finish(session, plan, config.load().archive)
    else:
        derived.build(session, plan)


def decided(word: str) -> tuple[str, str]:
    id, equals, why = word.partition("=")
    if not equals or not why.strip():
        raise UsageError(f'--dismiss {word}: give the finding and the reason, as in --dismiss "B1=it is behind a flag"')
    return id.strip().upper(), why.strip()


def put(text: str, output: Path | None) -> None:
    from council.record import files

    if output is None:
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
    else:
        files.replace(output.absolute(), files.encode(text))


def patch(found: Review, target: Path | None) -> None:
    from council.record import files
    from council.reviews import patch as edits

    if target is None:
        return
    proposed = edits.propose(found.findings, found.documents)
    for group in proposed.conflicts:
        ids = ", ".join("/".join(edit.ids) for edit in group)
        click.echo(f"council: not in the diff, because these edits exclude each other: {ids}", err=True)
    files.replace(target.absolute(), files.encode(edits.diff(proposed, found.documents)))


COMMANDS = (review,)
