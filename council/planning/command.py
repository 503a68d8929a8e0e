"""`planning`: from a question to work, in four councils with a person between them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from council.cli import completion
from council.cli.command import command
from council.cli.context import State
from council.cli.options import FILE, OUTPUT, OVERLAYS, SPEAKER, TIER_MAP, YES, options, read_topic, workflow_options
from council.errors import CouncilError, UsageError
from council.planning.store import COUNCILS
from council.terminal.output import advise, echo, print_json
from council.text import first_line, one_line

if TYPE_CHECKING:
    from council.config.settings import Config
    from council.planning.progress import CouncilStage
    from council.planning.store import Planning

TITLE = re.compile(r"^#[ \t]+(?:[\w -]{1,20}:[ \t]+)?(.+)$", re.M)
MOST_LISTED = 10


@command()
@click.argument("topic", nargs=-1, metavar="[TOPIC|ID]")
@click.option(
    "--from",
    "first",
    type=click.Choice(COUNCILS),
    default=COUNCILS[0],
    show_default=True,
    help="Begin with this council.",
)
@click.option("--document", type=FILE, metavar="FILE", help="The document that the first council starts from.")
@click.option("-f", "--file", "files", multiple=True, type=FILE, help="Attach a text file to the first council.")
@click.option("--max-rounds", type=click.IntRange(1), metavar="N", help="Maximum rounds of challenge in each council.")
@click.option("-o", "--option", "options", multiple=True, metavar="NAME=VALUE", help="Set an option of all councils.")
@options(TIER_MAP, SPEAKER, *OUTPUT, YES)
@click.option(
    "--replies",
    type=FILE,
    metavar="FOLDER",
    shell_complete=completion.sessions,
    help="With --speaker replay: a folder with a script for each council, as board.yaml.",
)
@click.option("--status", is_flag=True, help="Show where a planning is, and do nothing.")
@click.option(
    "--issues", type=FILE, metavar="FOLDER", help="Copy the work plan and its issues there, and do nothing else."
)
@OVERLAYS
@click.pass_obj
def planning(state: State, /, topic: tuple[str, ...], **given: Any) -> None:
    """Plan TOPIC in four councils: board, planning-1 (ADR), planning-2 (specification), planning-3 (work plan).

    After each council you approve its document, and what you say with that is handed on; if you reject it, the planning
    ends. With the ID of a planning, go on with it. Alone, list your plannings, and where the newest is.
    """
    from council.config import settings as config
    from council.planning import store
    from council.record import catalog

    settings = config.load()
    if len(topic) > 1 and catalog.GENERATED.match(topic[0]):
        raise UsageError(f"{topic[0]} is an id, and takes no further words; a topic is one text, in quotation marks")
    known = store.find(settings, topic[0]) if len(topic) == 1 and topic != ("-",) else None
    if given["issues"] is not None:
        export_issues(settings, known or (topic[0] if topic else "last"), given["issues"])
    elif not topic and not given["document"]:
        refuse_to_guess(given)
        show_all(settings, given)
    elif given["status"]:
        if known is None:
            raise UsageError("--status takes the id of a planning; `council planning` lists them")
        show(settings, store.read(settings, known), given)
    elif known is not None:
        refuse_changes(given)
        go_on(state, settings, store.read(settings, known), given)
    else:
        go_on(state, settings, begin(settings, read_topic(topic), given), given)


def begin(settings: Config, topic: str, given: dict[str, Any]) -> Planning:
    """Write a new planning, once all of its councils have been checked; say what it can cost."""
    from council.checks import cost
    from council.cli.run import agree, can_ask
    from council.planning import drive, store
    from council.record.turn_file import sha256
    from council.runner import attachments
    from council.runner.material import check_topic
    from council.speakers.base import Billing

    named = [(path, attachments.read(path)) for path in given["files"]]
    documents = [(attachments.format_name(path), text) for path, text in named]
    if given["document"]:
        text = attachments.read(given["document"])
        name = f"{attachments.format_name(given['document'])}, sha256 {sha256(text.encode())}"
        documents.insert(0, (name, text))
        topic = topic or find_title(text) or given["document"].stem
    id, began = store.new_id()
    tier_map = tuple(pair for pairs in given["tier_map"] for pair in pairs.split(","))
    planning = store.Planning(
        id, began, check_topic(topic), str(Path.cwd()), given["speaker"] or settings.speaker,
        store.name_sessions(id, given["first"]), workflow_options(given), tier_map, tuple(documents),
        str(given["replies"].absolute()) if given["replies"] else "",
        given["quorum"], given["max_calls"], given["max_cost"],
    )  # fmt: skip
    choice = drive.check(planning, settings, given["speaker"], can_ask(given))
    rows = drive.bound(planning, settings)
    bound = cost.sum_bounds(rows)
    agree(bound if choice.speaker.billing is Billing.PRICES else None, settings, given)
    store.write(settings, planning)
    if not (given["quiet"] or given["as_json"]):
        least, most = (sum(getattr(row, name) for row in rows) for name in ("least", "most"))
        count = f"{len(planning.sessions)} council{'s' * (len(planning.sessions) > 1)}"
        money = cost.format_bounds(bound) if choice.speaker.costs else "free of charge"
        click.echo(f"planning: {id}: {count}, {least} to {most} calls, {money}", err=True)
    return planning


def find_title(document: str) -> str:
    """The title of a document, without the kind of document before it."""
    found = TITLE.search(document)
    return one_line(first_line(found[1]), 200) if found else ""


def refuse_changes(given: Mapping[str, Any]) -> None:
    """What a planning was begun with stays; only who speaks, and the limits, may change."""
    fixed = {"--document": "document", "--file": "files", "--max-rounds": "max_rounds", "--option": "options"}
    fixed |= {"--tier-map": "tier_map"}
    context = click.get_current_context()
    if context.get_parameter_source("first") is click.core.ParameterSource.COMMANDLINE:
        raise UsageError("--from begins another planning; give it a topic, and the document with --document")
    for flag, name in fixed.items():
        if given[name]:
            raise UsageError(f"{flag} is set when a planning begins; leave it out to go on with this one")


def refuse_to_guess(given: Mapping[str, Any]) -> None:
    """Without a topic, the command only shows; what belongs to a planning that begins or goes on is not ignored."""
    known, context = ("as_json", "status"), click.get_current_context()
    for param in context.command.params:
        wanted = param.name in given and param.name not in known
        if wanted and context.get_parameter_source(str(param.name)) is click.core.ParameterSource.COMMANDLINE:
            raise UsageError(f'{param.opts[0]} needs a topic, as in council planning "TOPIC", or the id of a planning')


def go_on(state: State, settings: Config, planning: Planning, given: dict[str, Any]) -> None:
    """Carry it on until a person has to answer, or it ends; then say where it is."""
    from council.planning.drive import Driver

    stages = Driver(state, settings, planning, given).run()
    if given["as_json"]:
        print_json(as_data(settings, planning, stages))
    else:
        print_stages(planning, stages)


# ---- showing ----


def show_all(settings: Config, given: Mapping[str, Any]) -> None:
    """All plannings in a line each, and the newest in full."""
    from council.planning import progress, store

    found = list(store.read_all(settings))
    if given["as_json"]:
        print_json([as_data(settings, one) for one in found if not isinstance(one, CouncilError)])
        return
    for one in found[1:MOST_LISTED]:
        if isinstance(one, CouncilError):
            echo(str(one))
        else:
            where = progress.describe(progress.read_stages(settings, one))
            echo(f"{one.id}  {where}  {one_line(one.topic, 60)}")
    if len(found) > 1:
        echo("")
    if not found:
        advise('no plannings yet; start one with: council planning "TOPIC"', err=True)
    elif isinstance(found[0], CouncilError):
        raise found[0]
    else:
        print_stages(found[0], progress.read_stages(settings, found[0]))


def show(settings: Config, planning: Planning, given: Mapping[str, Any]) -> None:
    from council.planning import progress

    if given["as_json"]:
        print_json(as_data(settings, planning))
    else:
        print_stages(planning, progress.read_stages(settings, planning))


def print_stages(planning: Planning, stages: list[CouncilStage]) -> None:
    """Where one planning is, with the command that comes next."""
    from council.planning import progress
    from council.record import files

    where = progress.describe(stages)
    echo(f"{planning.id}: {where}")
    echo(f"  {one_line(planning.topic, 100)}")
    for stage in stages:
        what = stage.session if stage.state != progress.NOT_BEGUN else ""
        what = files.tilde(stage.document) if stage.document else what
        echo(f"  {stage.council:<11} {stage.state:<12} {what}".rstrip())
        if stage.remark:
            echo(f"  {'':<24} “{one_line(stage.remark, 200)}”")
    if unfiled := next((stage.unfiled for stage in stages if stage.unfiled), ""):
        advise(f"not filed ({unfiled}): council decision SESSION --to FOLDER")
    waiting = next((stage for stage in stages if stage.state == "waiting"), None)
    if waiting:
        advise(f"answer it: council answer {waiting.session}")
    if where != "complete" and not where.startswith("ended"):
        advise(f"go on with: council planning {planning.id}")


def as_data(settings: Config, planning: Planning, stages: list[CouncilStage] | None = None) -> dict[str, Any]:
    """As docs/cli.schema.json describes it."""
    from council.planning import progress

    stages = stages or progress.read_stages(settings, planning)
    spent = [
        call.usd for stage in stages if (one := progress.open_session(settings, stage.session)) for call in one.calls()
    ]
    return {
        "id": planning.id, "started_at": planning.started_at, "topic": planning.topic, "folder": planning.folder,
        "state": progress.describe(stages), "max_cost": planning.max_cost,
        "usd": None if None in spent else round(math.fsum(usd for usd in spent if usd is not None), 6),
        "stages": [
            {"council": one.council, "session": one.session, "state": one.state, "remark": one.remark,
             "document": str(one.document) if one.document else None} for one in stages
        ],
    }  # fmt: skip


# ---- issues ----


def export_issues(settings: Config, word: str, folder: Path) -> None:
    """Copy plan.json and the issues of a planning, or of a session, into a folder. What is there is never changed."""
    from council.config import places
    from council.planning import store, work
    from council.record import files

    known = store.find(settings, word)
    session = store.read(settings, known).sessions[COUNCILS[-1]] if known and not word.endswith(COUNCILS[-1]) else word
    if known and not places.exists(settings, session):
        raise UsageError(f"{known} has no work plan yet; planning-3 writes one")
    source = places.find(settings, session)
    paths = [source / work.PLAN, *sorted((source / work.ISSUES).glob("*.md"))]
    if not paths[0].is_file():
        raise UsageError(f"{source.name} has no work plan yet; planning-3 writes one")
    for path in paths:
        target, data = folder / path.relative_to(source), files.read(path)
        if (folder / work.ISSUES).is_symlink() or target.is_symlink():  # a repository may bring any
            raise UsageError(f"{folder}: it has a symbolic link where the plan would be; choose another folder")
        if target.exists() and (target.stat().st_size != len(data) or target.read_bytes() != data):
            raise UsageError(f"{target} is there already, and differs; choose another folder")
    for path in paths:
        target = folder / path.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        files.export(target, files.read(path))
        echo(str(target))
