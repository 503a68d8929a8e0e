"""How a session begins: the workflow is found and checked, the members sit down, and all of it is frozen on disk."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from council import __version__, speakers
from council.checks.lint import Known, check
from council.config import overlays, places, project, protocols
from council.config.settings import Config
from council.errors import UsageError
from council.prompts import templates
from council.prompts.invocation import MODES, PATCHLIST, seats
from council.prompts.phrases import split_names
from council.protocols.specialists import ANALYSIS
from council.record import catalog, moments
from council.record.create import Content, create
from council.record.program import Program
from council.record.session import Session, derive_key
from council.reports import documents, filing, produce
from council.runner import configured, evidence
from council.runner.budget import explain_unpriced, find_unpriced
from council.runner.in_force import list_overlays
from council.runner.material import check_topic, compose, needs_documents, read_documents
from council.runner.seating import find_workflow
from council.runner.tiers import freeze_tiers
from council.speakers import registry, select
from council.text import did_you_mean, join_words
from council.workflow import gates
from council.workflow.loader import load
from council.workflow.model import Cast, Seat, Workflow
from council.workflow.opening import Opening, settle


class Freezable(Protocol):
    """What a room adds to the files that a session freezes."""

    def encode(self) -> Mapping[str, bytes]: ...


@dataclass(frozen=True)
class Request:
    """What a person asked for, in their words. `documents` are attached texts with their names. With `find_files`, the
    files that the topic of a review names are attached too. `base` is what candidates are written on. `personas` are
    those of an earlier session, which count before the known ones.
    """

    topic: str
    workflow: str = "debate"
    with_: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    mode: str = "deliberative"
    options: Mapping[str, Any] | None = None
    tier_map: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    documents: tuple[tuple[str, str], ...] = ()
    find_files: bool = True
    speaker: str = speakers.AUTO
    after: Session | None = None
    replay_of: str | None = None
    quorum: int | None = None
    max_cost: float | None = None
    id: str | None = None
    without: tuple[str, ...] = ()
    base: Freezable | None = None
    personas: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    evidence: tuple[Path, ...] = ()
    evidence_commands: tuple[str, ...] = ()
    evidence_texts: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if self.id is not None:
            catalog.check_id(self.id)


def workflow_of(request: Request) -> Workflow:
    """The workflow with the members and options that were asked for; `begin` checks the rest."""
    found = find_workflow(request.workflow, request.options).with_personas(request.personas)
    members = seat_members(found.workflow, request, found.personas)
    options = choose_options(found.workflow, request)
    return found.workflow.with_members(members).with_options(options).with_attributes(found.personas)


def with_settings(request: Request, settings: Config) -> Request:
    """The request with the options of Config.md, and the gates in it, where it names none itself."""
    workflow = load(*overlays.workflow_text(request.workflow))
    return replace(request, options=configured.add_options(workflow, request.options or {}, settings))


@dataclass(frozen=True)
class Table:
    """What overlays and request make together: the checked workflow, and all of it that a session freezes."""

    text: str
    workflow: Workflow
    members: tuple[Seat, ...]
    options: Mapping[str, Any]
    personas: Mapping[str, Any]
    program: Program
    overlays: tuple[Mapping[str, Any], ...]
    configured: tuple[Mapping[str, Any], ...]


def lay_table(request: Request, settings: Config) -> Table:
    """The table for a request. It is laid once for all requests that differ only in what they are about.

    What is reviewed does not choose its reviewers: a project's files change a review only if the command asks for them.
    """
    if overlays.project_folder() and not project.counts_explicitly() and is_shared_review(request.workflow):
        with project.decided(False):
            return lay_table(request, settings)
    named = (request.with_, request.only, request.without)
    same = (request.workflow, *named, request.mode, tuple(sorted((request.options or {}).items())))
    if request.personas or os.sep in request.workflow or request.workflow.endswith(".md"):
        return _lay_table(request, settings)  # a path, which no overlay accounts for
    key = (
        *same,
        overlays.read_state(),
        repr(settings.tiers),
        tuple(speakers.names()),
        settings.gates,
        repr(settings.debates),
    )
    if key not in _tables:
        while len(_tables) >= MOST_TABLES:
            _tables.pop(next(iter(_tables)), None)
        _tables[key] = _lay_table(request, settings)
    return _tables[key]


def is_shared_review(name: str) -> bool:
    """Whether a workflow of the kit or the user is about documents, whatever the project has under that name."""
    with project.decided(False):
        return name.lower() in overlays.workflows() and bool(needs_documents(load(*overlays.workflow_text(name))))


MOST_TABLES = 8
_tables: dict[tuple[object, ...], Table] = {}


def _lay_table(request: Request, settings: Config) -> Table:
    asked, request = request.options or {}, with_settings(request, settings)
    found = find_workflow(request.workflow, request.options).with_personas(request.personas)
    workflow, known = found.workflow, found.personas
    sets = tuple(configured.list_configured(workflow, asked, settings))
    members = seat_members(workflow, request, known)
    options = choose_options(workflow, request)
    checked = check(
        workflow.with_members(members).with_options(options),
        Known(
            settings.tiers,
            templates.prompts(workflow.name),
            known,
            speakers.names(),
            templates.documents(workflow.name),
            registry.find_benches(workflow, settings),
        ),
    )
    if len(checked.table) < 2 <= len(workflow.table):
        raise UsageError(
            f"{workflow.name} needs at least two members; name another with --only or --with, or leave out fewer"
        )
    people = {name: persona for name, persona in known.items() if has_cast(checked) or name in checked.persona_names()}
    program = Program(templates.freeze(checked) | documents.freeze(checked), people)
    in_force = tuple(list_overlays(found, program))
    return Table(found.text, checked, tuple(members), options, known, program, in_force, sets)


def check_request(request: Request, settings: Config) -> tuple[Table, dict[str, dict[str, str]]]:
    """The table and the models of its tiers. What is wrong with a request is said here, before anything is written."""
    table = lay_table(request, settings)
    checked = table.workflow
    check_quorum(checked, request.quorum)
    check_project(checked, request)
    select.check_machines(checked, request.speaker, settings)
    tiers = freeze_tiers(checked, request, settings, table.personas)
    if request.max_cost is not None and (model := find_unpriced(checked, settings, tiers, request.speaker)):
        raise UsageError(explain_unpriced(model))
    return table, tiers


def begin(request: Request, settings: Config, held: bool = False) -> Session:
    """A new session on disk, ready for its first turn."""
    table, tiers = check_request(request, settings)
    checked = table.workflow
    seed = secrets.token_hex(16)
    documents = read_documents(request, checked)
    facts_given = evidence.gather(request.evidence, request.evidence_commands, request.evidence_texts)
    given = compose(request, documents, facts_given, partial(derive_key, seed))
    extra = {**(request.base.encode() if request.base else {}), **evidence.encode(facts_given)}
    settled = settle(checked.options, Opening(request.topic, extra, len(checked.table)))
    facts: dict[str, Any] = {
        "topic": check_topic(request.topic),
        "workflow": checked.name,
        "members": [seat.name for seat in table.members],
        "output_mode": request.mode,
        "rounds_planned": describe_rounds(checked),
        "options": {**table.options, **settled},
        "seed": seed,
        "speaker": request.speaker,
        "tiers": tiers,
        "attachments": list(given.attached),
        "council": __version__,
        "project": find_project(),
    }
    if model := registry.describe(request.speaker).own_model():
        facts["model"] = model
    if request.replay_of:
        facts["replay_of"] = request.replay_of
    if request.after:
        facts["after"] = request.after.id
    if table.overlays:
        facts["overlays"] = list(table.overlays)
    if table.configured:
        facts["configured"] = list(table.configured)
    content = Content(table.text, given.text, table.program, extra)
    return _create(settings, content, facts, request.id, held)


def begin_again(source: Session, settings: Config, speaker: str, id: str | None = None, held: bool = False) -> Session:
    """The same question to the same table, for a replay: everything that decides the plan is taken over."""
    same = (
        "topic",
        "workflow",
        "members",
        "output_mode",
        "rounds_planned",
        "options",
        "seed",
        "tiers",
        "overlays",
        "configured",
    )
    facts = {key: source.metadata[key] for key in same if key in source.metadata}
    text = (source.folder / "workflow.md").read_text("utf-8")
    facts |= {"speaker": speaker, "replay_of": source.id, "council": __version__, "project": find_project()}
    content = Content(text, source.topic, templates.load_program(source), source.extra)
    return _create(settings, content, facts, id, held)


def _create(settings: Config, content: Content, facts: Any, id: str | None, held: bool) -> Session:
    place = places.choose(settings, id)
    session = create(place.sessions, content, facts, id, held)
    session.moved = place.why
    moments.announce_begin(session)
    return session


def find_project() -> str:
    """The project in which the debate begins, or nothing: its document is filed there, wherever it is finished."""
    return str(filing.project(Path.cwd()) or "")


def seat_members(workflow: Workflow, request: Request, known: Mapping[str, Any]) -> list[Seat]:
    """The members: the workflow's own or `only` these, those called in `with` them, and not those `without` whom it is
    held. A group means its seats. Those that sit beside the members in every debate of this workflow may be named too.
    """
    only, with_, without = (read_names(workflow, names) for names in (request.only, request.with_, request.without))
    own, fixed = {seat.name: seat for seat in workflow.members}, find_fixed_seats(workflow)
    seats(",".join((*only, *with_, *without)), {*known, *own, *fixed})
    for name in without:
        if name in fixed:
            raise UsageError(f"{name} sits in every {workflow.name}, so it cannot be left out")
    if only and set(only) <= fixed:
        raise UsageError(f"{join_words(only)}: these sit in every {workflow.name}; name another member with --only")
    only, with_ = ([name for name in names if name not in fixed] for names in (only, with_))
    first = next(iter(workflow.groups))
    elsewhere = {name for _, step in workflow.steps() for name in step.seats if isinstance(name, str)} - {first}
    if {*only, *with_, *without} - set(own) and set(own) <= workflow.casting():
        raise UsageError(f"{workflow.name} casts its members while it runs, so none can be added or left out")
    taken = {seat.name for seat in workflow.seats(elsewhere)} - set(own)
    for name in (*only, *with_):
        if name in taken:
            raise UsageError(f"{name} has another role in {workflow.name} and cannot be a member too")
    members = list(dict.fromkeys((*(only or own), *with_)))
    for name in without:
        if name not in members:
            raise UsageError(f"{name} is not a member, so it cannot be left out; members: {', '.join(members)}")
    if set(members) <= set(without):
        raise UsageError(f"{workflow.name} needs at least two members; leave out fewer")
    return [own.get(name, Seat(name, "")) for name in members if name not in without]


def check_quorum(workflow: Workflow, quorum: int | None) -> None:
    """Refuse a quorum that no call could reach. How many a moderator casts is not known before."""
    if quorum is not None and not has_cast(workflow) and quorum > len(workflow.table):
        raise UsageError(f"--quorum {quorum}: this debate has only {len(workflow.table)} members")


def check_project(workflow: Workflow, request: Request) -> None:
    """Refuse a workflow that tries code if there is no project with tests to try it in: no attempt could pass."""
    tries = any(machine and machine.benches for machine in map(registry.machine_of, workflow.all_seats()))
    if tries and request.base is None and not registry.describe(request.speaker).replays:
        raise UsageError(
            f"{workflow.name} runs code that members write, and has no project to run it in. Begin it there: "
            f'council code --workflow {workflow.name} "…"'
        )


def read_names(workflow: Workflow, names: Iterable[str]) -> list[str]:
    """The names in what an option was given, with the seats of a group in the place of its name."""
    listed = split_names(",".join(names))
    return [seat for name in listed for seat in [one.name for one in workflow.groups.get(name, ())] or [name]]


def find_fixed_seats(workflow: Workflow) -> set[str]:
    """The seats that share a step with the members in every debate of this workflow."""
    return {seat.name for seat in workflow.table} - {seat.name for seat in workflow.members}


def choose_options(workflow: Workflow, request: Request) -> dict[str, Any]:
    """The options that differ from the workflow's own, each of a kind that the workflow's value has."""
    if request.mode not in MODES:
        raise UsageError(f'there is no output mode "{request.mode}"; {did_you_mean(request.mode, MODES)}')
    wanted = {protocols.spell(workflow, name): value for name, value in (request.options or {}).items()}
    if request.mode == PATCHLIST:
        wanted[PATCHLIST] = True
    named = read_names(workflow, (*request.only, *request.with_))
    if ANALYSIS in workflow.options and set(named) - find_fixed_seats(workflow):
        wanted.setdefault(ANALYSIS, False)  # who says who sits needs no analysis
    workflow.with_options(wanted)
    for name, value in wanted.items():
        if isinstance(workflow.options.get(name, gates.EVERYWHERE.get(name)), bool) != isinstance(value, bool):
            raise UsageError(
                f'the option {name} takes {"a word" if isinstance(value, bool) else "true or false"}, not "{value}"'
            )
    produce.check(workflow.with_options(wanted))
    return wanted


def describe_rounds(workflow: Workflow) -> str:
    return (
        "adaptive"
        if any(phase.when or phase.min_rounds < phase.max_rounds for phase in workflow.phases)
        else str(len(workflow.phases))
    )


def has_cast(workflow: Workflow) -> bool:
    return any(isinstance(one, Cast) for _, step in workflow.steps() for one in step.seats)
