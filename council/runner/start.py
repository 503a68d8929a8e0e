"""How a session begins: the workflow is found and checked, the members sit down, and all of it is frozen on disk."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from council import __version__, speakers
from council.checks.lint import Known, check
from council.config import overlays, personas, places, project
from council.config.models import Model
from council.config.settings import Config
from council.errors import UsageError
from council.prompts import templates
from council.prompts.invocation import MODES, PATCHLIST, seats
from council.prompts.phrases import split_names
from council.protocols import outcome
from council.record import catalog, moments
from council.record.create import Content, create
from council.record.program import Program
from council.record.session import Session, derive_key
from council.reports import documents, filing, markdown
from council.runner import attachments
from council.runner.attachments import LARGEST, LARGEST_WORDS
from council.runner.budget import explain_unpriced, find_unpriced
from council.runner.in_force import list_overlays
from council.speakers import registry, select
from council.text import did_you_mean, fence
from council.workflow.loader import load
from council.workflow.model import Cast, Seat, Workflow
from council.workflow.opening import Opening, settle
from council.workflow.types import answer_types


class Freezable(Protocol):
    """What a room adds to the files that a session freezes."""

    def encode(self) -> Mapping[str, bytes]: ...


@dataclass(frozen=True)
class Request:
    """What a person asked for, in their words. `documents` are attached texts with their names. With `find_files`, the
    files that the topic of a review names are attached too. `base` is what candidates are written on.
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

    def __post_init__(self) -> None:
        if self.id is not None:
            catalog.check_id(self.id)


def workflow_of(request: Request, known: Mapping[str, Any]) -> Workflow:
    """The workflow with the members and options that were asked for; `begin` checks the rest."""
    workflow = load(*overlays.workflow_text(request.workflow))
    members = seat_members(workflow, request, known)
    return workflow.with_members(members).with_options(choose_options(workflow, request))


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


def lay_table(request: Request, settings: Config) -> Table:
    """The table for a request. It is laid once for all requests that differ only in what they are about.

    What is reviewed does not choose its reviewers: a project's files change a review only if the command asks for them.
    """
    if overlays.project_folder() and not project.counts_explicitly() and is_shared_review(request.workflow):
        with project.decided(False):
            return lay_table(request, settings)
    named = (request.with_, request.only, request.without)
    same = (request.workflow, *named, request.mode, tuple(sorted((request.options or {}).items())))
    if os.sep in request.workflow or request.workflow.endswith(".md"):
        return _lay_table(request, settings)  # a path, which no overlay accounts for
    key = (*same, overlays.read_state(), repr(settings.tiers), tuple(speakers.names()))
    if key not in _tables:
        while len(_tables) >= MOST_TABLES:
            _tables.pop(next(iter(_tables)), None)
        _tables[key] = _lay_table(request, settings)
    return _tables[key]


def is_shared_review(name: str) -> bool:
    """Whether a workflow of the kit or the user is about documents, whatever the project has under that name."""
    with project.decided(False):
        return name.lower() in overlays.workflows() and bool(needs_documents(load(*overlays.workflow_text(name))))


def needs_documents(workflow: Workflow) -> str:
    """Why a debate of this workflow is refused without a document; empty if it is about none."""
    asked = {kind.type for _, step in workflow.steps() for _, kind in step.reply}
    return next((one.documents for one in answer_types().values() if one.name in asked and one.documents), "")


MOST_TABLES = 8
_tables: dict[tuple[object, ...], Table] = {}


def _lay_table(request: Request, settings: Config) -> Table:
    text, where = overlays.workflow_text(request.workflow)
    known = personas.load()
    workflow = load(text, where)
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
    in_force = tuple(list_overlays(Path(where), text, program))
    return Table(text, checked, tuple(members), options, known, program, in_force)


def begin(request: Request, settings: Config, held: bool = False) -> Session:
    """A new session on disk, ready for its first turn. Whatever is wrong is said before anything is written."""
    table = lay_table(request, settings)
    checked = table.workflow
    check_quorum(checked, request.quorum)
    select.check_machines(checked, request.speaker, settings)
    tiers = freeze_tiers(checked, request, settings, table.personas)
    if request.max_cost is not None and (model := find_unpriced(checked, settings, tiers, request.speaker)):
        raise UsageError(explain_unpriced(model))
    seed = secrets.token_hex(16)
    attached = [*read_outcome(request.after), *read_documents(request, checked)]
    extra = request.base.encode() if request.base else {}
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
        "attachments": [name for name, _ in attached],
        "council": __version__,
        "project": find_project(),
    }
    if model := registry.describe(request.speaker).own_model():
        facts["model"] = model
    if request.replay_of:
        facts["replay_of"] = request.replay_of
    if request.after:
        facts["after"] = request.after.id
    fenced = "".join(f"\n\n{fence(f'file {name}', words, derive_key(seed, name, words))}" for name, words in attached)
    if len(fenced) > LARGEST:
        raise UsageError(f"the attachments are larger than {LARGEST_WORDS} together; attach the parts that matter")
    if table.overlays:
        facts["overlays"] = list(table.overlays)
    content = Content(table.text, request.topic + fenced, table.program, extra)
    return _create(settings, content, facts, request.id, held)


def begin_again(source: Session, settings: Config, speaker: str, id: str | None = None, held: bool = False) -> Session:
    """The same question to the same table, for a replay: everything that decides the plan is taken over."""
    same = ("topic", "workflow", "members", "output_mode", "rounds_planned", "options", "seed", "tiers", "overlays")
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


def check_topic(text: str) -> str:
    if not text.strip():
        raise UsageError("the topic is empty; say what the council should debate")
    if "\0" in text:
        raise UsageError("the topic contains a NUL character; it must be text")
    if len(text) > LARGEST:
        raise UsageError(
            f"the topic is larger than {LARGEST_WORDS}; ask the question, and attach the part it is about with --file"
        )
    return text


def read_documents(request: Request, workflow: Workflow) -> list[tuple[str, str]]:
    """The attached documents by name. A workflow whose answers are about documents is refused without any."""
    needs = needs_documents(workflow)
    given = {path.absolute() for path in request.files}
    named = attachments.find(request.topic) if needs and request.find_files else ()
    paths = (*request.files, *(path for path in named if path.absolute() not in given))
    found = [*request.documents, *((attachments.format_name(path), attachments.read(path)) for path in paths)]
    if needs and not found and request.after is None:
        missing = attachments.find_missing(request.topic) if request.find_files else ""
        raise UsageError(f"{missing}: no such file; {needs}" if missing else needs)
    return found


def read_outcome(before: Session | None) -> Iterator[tuple[str, str]]:
    """What an earlier debate came to, as a document that the next one has before it."""
    if before is not None:
        plan = before.plan()
        if not (plan.done and outcome.find_syntheses(plan)):
            raise UsageError(f"--from {before.id}: that debate has no synthesis yet; `council recover {before.id}`")
        yield f"synthesis of session {before.id}", markdown.synthesis_of(before, plan)


def seat_members(workflow: Workflow, request: Request, known: Mapping[str, Any]) -> list[Seat]:
    """The members: the workflow's own or `only` these, those called in `with` them, and not those `without` whom it is
    held. A group means its seats.
    """
    listed = (request.only, request.with_, request.without)
    only, with_, without = (expand_groups(workflow, split_names(",".join(names))) for names in listed)
    own = {seat.name: seat for seat in workflow.members}
    seats(",".join((*only, *with_, *without)), {*known, *own})
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


def expand_groups(workflow: Workflow, names: Iterable[str]) -> list[str]:
    """The names, with the seats of a group in the place of its name."""
    return [seat for name in names for seat in [one.name for one in workflow.groups.get(name, ())] or [name]]


def choose_options(workflow: Workflow, request: Request) -> dict[str, Any]:
    """The options that differ from the workflow's own, each of a kind that the workflow's value has."""
    if request.mode not in MODES:
        raise UsageError(f'there is no output mode "{request.mode}"; {did_you_mean(request.mode, MODES)}')
    alike = {name.replace("-", "_"): name for name in workflow.options}
    wanted = {
        name if name in workflow.options else alike.get(name.replace("-", "_"), name): value
        for name, value in (request.options or {}).items()
    }
    if request.mode == PATCHLIST:
        wanted[PATCHLIST] = True
    workflow.with_options(wanted)
    for name, value in wanted.items():
        if isinstance(workflow.options[name], bool) != isinstance(value, bool):
            raise UsageError(
                f'the option {name} takes {"a word" if isinstance(value, bool) else "true or false"}, not "{value}"'
            )
    filing.check(workflow.with_options(wanted))
    return wanted


def describe_rounds(workflow: Workflow) -> str:
    return (
        "adaptive"
        if any(phase.when or phase.min_rounds < phase.max_rounds for phase in workflow.phases)
        else str(len(workflow.phases))
    )


def has_cast(workflow: Workflow) -> bool:
    return any(isinstance(one, Cast) for _, step in workflow.steps() for one in step.seats)


def freeze_tiers(
    workflow: Workflow, request: Request, settings: Config, known: Mapping[str, Any]
) -> dict[str, dict[str, str]]:
    """What each tier of this debate stands for: frozen, so that a recovered debate asks the same models."""
    models = models_of(workflow, request, settings, known)
    return {tier: {"endpoint": model.endpoint.name, "model": model.name} for tier, model in models.items()}


def models_of(workflow: Workflow, request: Request, settings: Config, known: Mapping[str, Any]) -> dict[str, Model]:
    """The model of each tier that the debate uses."""
    changed = {}
    for pair in request.tier_map:
        tier, equals, target = pair.partition("=")
        if not equals:
            raise UsageError(f"--tier-map {pair}: write {tier or 'TIER'}=TARGET, as in haiku=sonnet")
        if tier not in settings.tiers:
            raise UsageError(f'--tier-map {pair}: unknown tier "{tier}"; {did_you_mean(tier, settings.tiers)}')
        changed[tier] = settings.map_tier(tier, target)
    used = {step.tier for _, step in workflow.steps()}
    used |= {
        str(seat.attributes.get("tier") or known.get(seat.name, {}).get("tier", "")) for seat in workflow.all_seats()
    } - {""}
    return {tier: changed.get(tier) or settings.model(tier) for tier in sorted(used)}
