"""Makes a session from a request. All that a debate needs is chosen and checked here, once, and then frozen."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from council.next.checks import names
from council.next.checks.cost import likely
from council.next.config import personas, places, specialists
from council.next.config.options import check_values, configured, spell
from council.next.config.personas import Personas
from council.next.config.settings import Settings
from council.next.errors import AuthError, UsageError
from council.next.prompts.brief import freeze
from council.next.prompts.phrases import MODES, Call
from council.next.record import catalog
from council.next.record.create import Birth, create
from council.next.record.files import tilde
from council.next.record.session import Session
from council.next.runner import attachments
from council.next.runner.budget import Limits
from council.next.speakers.base import Speaker, speakers
from council.next.speakers.choose import Mix
from council.next.text import did_you_mean, encode, join_words, one_line, slug
from council.next.workflow import gates, loader
from council.next.workflow.model import Cast, Seat, Workflow

PATCHLIST = "patchlist"
SPECIALISTS, ANALYSIS = "specialists", "analysis"  # options of workflows that seat specialists from a list
NO_GATES = "none"
LONGEST_LIST = 300  # characters
MARKS = 300  # bytes: of the marks around a document
FACTS = ("workflow", "members", "output_mode", "rounds_planned")  # of metadata.json, fixed at birth


Say = Callable[[str], None]


def say_nothing(_: str) -> None:
    """For callers whom nobody watches."""


@dataclass(frozen=True)
class Request:
    """What somebody asked for, in their words. `documents` are texts with their names, `files` are read. `after` is an
    earlier debate whose outcome the members are given. `rooms` are optional rooms that the session uses, with facts."""

    topic: str
    workflow: str = "debate"
    options: Mapping[str, Any] = field(default_factory=dict)
    mode: str = "deliberative"
    with_: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    feature_type: str = ""
    gates: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    documents: tuple[tuple[str, bytes], ...] = ()
    evidence: tuple[tuple[str, str], ...] = ()  # a kind of source, such as `file`, and what it is given
    frozen: Mapping[str, bytes] = field(default_factory=dict)
    rooms: Mapping[str, Any] = field(default_factory=dict)
    after: Session | None = None
    speaker: str = ""
    source: str = ""  # of a replay's words, to go on with it
    seats: Mapping[str, str] = field(default_factory=dict)  # the models of single seats
    id: str = ""
    root: Path | None = None  # the folder of its session, in place of the home's

    @property
    def size(self) -> int:
        """How many bytes its members may be given to read. A command is not run to find that out."""
        of_files = [(kind, given) for kind, given in self.evidence if kind == "file"]
        facts = (text for _, text in attachments.gather_facts(of_files, say_nothing).values())
        documents = (data for _, data in (*map(attachments.read, self.files), *self.documents))
        others = (len(self.evidence) - len(of_files)) * attachments.LARGEST
        return others + sum(len(data) + MARKS for data in (encode(self.topic), *documents, *facts))

    def called(self, call: Call) -> Request:
        """With what the sentence asks for that the topic begins with."""
        modes = [word for word in call.words if word in MODES]
        named = [word for word in call.words if word not in MODES]
        return replace(
            self,
            topic=call.topic,
            workflow=named[0] if named else self.workflow,
            mode=modes[0] if modes else self.mode,
            with_=(*self.with_, *call.with_),
            without=(*self.without, *call.without),
            only=(*self.only, *call.only),
            options={**({"three_rounds": True} if call.rounds == 3 else {}), **self.options},
        )


@dataclass(frozen=True)
class Table:
    """What a request and the settings make together, checked: the workflow, and all of it that a session freezes."""

    text: str
    workflow: Workflow
    members: tuple[str, ...]
    options: Mapping[str, Any]
    gates: tuple[str, ...]
    personas: Personas
    templates: Mapping[str, str]
    overlays: Mapping[str, list[str]]  # the files that the kit did not bring, by their folder


def lay(request: Request, settings: Settings) -> Table:
    """Everything that can be wrong with a request is said here, before anything is written or spent."""
    folders = settings.overlays
    read = [places.find_workflow(request.workflow, folders)]
    text = places.read(read[0])
    plain = loader.load(text, request.workflow)
    options = choose_options(request, plain, settings)
    known = personas.load(folders)
    own = [seat.name for seat in plain.members]
    if SPECIALISTS in plain.options:
        listed = specialists.load(str(options.get(SPECIALISTS, plain.options[SPECIALISTS])), folders)
        read.append(listed.path)
        own, known = listed.members(plain), listed.personas(known)
        groups = {name: tuple(map(Seat, seats)) for name, seats in listed.features().items()}
        plain = replace(plain, groups={**plain.groups, **groups})
    members = choose_members(request, plain.with_members(own), known)
    gated = choose_gates(request, plain, settings)
    workflow = gates.insert(plain.with_options(options).with_members(members), gated).with_personas(known)
    names.check(workflow)
    seats = workflow.all_seats()
    for seat in seats.values():  # a speaker that the workflow itself names must be able to speak here
        name = seat.get("speaker")
        if name and not seat.is_person and (why := speakers[name](settings).obstacle()):
            raise AuthError(f"{workflow.name}: {seat.name} is spoken by {name}, which cannot speak: {why}")
    if wrong := next((seat for seat in request.seats if seat not in seats), ""):
        raise UsageError(f'there is no seat "{wrong}" in {workflow.name}; {did_you_mean(wrong, seats)}')
    attachments.check_sources(request.evidence)
    if not casts(workflow):  # otherwise a reply may seat any of them
        called = {seat.persona for seat in seats.values()}
        known = {name: one for name, one in known.items() if name in called}
    templates = freeze(workflow, folders)
    read += [found for name in templates if (found := places.find_template(name, folders))]
    return Table(text, workflow, members, options, gated, known, templates, in_force(read, known, folders))


def in_force(read: Iterable[Path], seats: Iterable[str], folders: Iterable[Path]) -> dict[str, list[str]]:
    """Which of the files that were read, and whose descriptions of these seats, are a project's or the user's."""
    found = {}
    for folder in folders:
        names = [str(path.relative_to(folder)) for path in read if path.is_relative_to(folder)]
        names += [personas.FILE] if {*seats} & {*personas.load((folder,))} else []
        if names and folder != places.KIT:
            found[tilde(folder)] = sorted(names)
    return found


def agree_to_price(
    request: Request,
    table: Table,
    speaker: Speaker,
    settings: Settings,
    limits: Limits,
    ask: Callable[[str], bool] | None = None,
    say: Say = say_nothing,
) -> None:
    """Say the price before a large sum. Nothing is asked where a limit or `yes` says it already. `ask` is missing where
    nobody can be asked."""
    capped = limits.max_cost is not None or "max_cost" in settings.limits
    if speaker.replays or (limits.yes and not capped):
        return
    usd = likely(table.workflow, request.size, settings, speaker, table.templates).usd
    if capped and usd is None:
        raise UsageError("the price of this speaker is unknown, so --max-cost cannot hold; --max-calls can")
    if capped or not (speaker.calls_models or isinstance(speaker, Mix)):
        return
    if usd is None:
        say("the price of these models is unknown, so what this costs is unknown too; --max-calls limits it")
    elif usd > settings.ask_above:
        about = f"this is likely to cost about ${usd:.2f}"
        if ask is None:
            raise UsageError(f"{about}: add --max-cost USD to limit it, or --yes")
        if not ask(f"{about}. Begin?"):
            raise UsageError("you answered no, so it was not begun")


@contextmanager
def prepare(
    request: Request, settings: Settings, table: Table | None = None, say: Say = say_nothing
) -> Iterator[Session]:
    """A new session on disk, held from its birth on. `table` is what `lay` made of the request, if that was done. `say`
    is told which files of a project or the user count, and where the session is kept, if that is not the home."""
    table = table or lay(request, settings)
    workflow = table.workflow
    given = [*map(attachments.read, request.files), *request.documents]
    given += [attachments.outcome_of(request.after)] if request.after else []
    facts = attachments.gather_facts(request.evidence, say)
    program = {
        "workflow": workflow.name,
        "options": dict(table.options),
        "members": list(table.members),
        "gates": list(table.gates),
        "personas": table.personas,
        "templates": dict(table.templates),
        "speaker": request.speaker,
        "source": request.source,
        "models": {tier: settings.model(tier).full_name for tier in sorted({step.tier for step in workflow.steps()})},
        "seats": dict(request.seats),
        "overlays": dict(table.overlays),
        "project": str(places.project_top() or ""),
        "after": request.after.id if request.after else "",
        "rooms": dict(request.rooms),
        "evidence": {name: digest for name, (digest, _) in facts.items()},
    }
    for folder, files in table.overlays.items():
        whose = "project" if Path(folder).name == places.PROJECT else "user"
        say(f"{whose} overlay: {folder} ({one_line(join_words(files), LONGEST_LIST)})")
    metadata = {
        "workflow": workflow.name,
        "members": list(table.members),
        "output_mode": request.mode,
        "rounds_planned": describe_rounds(workflow),
    }
    attached = {**attachments.gather(given), **{name: text for name, (_, text) in facts.items()}}
    born = Birth(table.text, attachments.check_topic(request.topic), program, metadata, attached, request.frozen)
    with born_in(settings, born, request.id, request.root, say) as session:
        yield session


@contextmanager
def prepare_again(source: Session, settings: Settings, id: str = "", say: Say = say_nothing) -> Iterator[Session]:
    """The same question to the same table, for a replay: all that decides what is asked is taken over."""
    program = {name: value for name, value in source.program.items() if name not in ("files", "attached", "frozen")}
    metadata = source.metadata
    born = Birth(
        (source.folder / "workflow.md").read_bytes().decode(),
        source.topic,
        {**program, "replay_of": source.id, "speaker": "replay", "source": source.id},
        {name: metadata[name] for name in FACTS},
        {path: text.encode() for path, text in source.attached.items()},
        {path: source.read_frozen(path) for path in source.program["frozen"]},
    )
    with born_in(settings, born, id, None, say) as session:
        yield session


@contextmanager
def born_in(settings: Settings, born: Birth, id: str, root: Path | None, say: Say) -> Iterator[Session]:
    """A session in the user's home, or where that cannot be written in the project, with a mark that it is ours."""
    folder, why = places.choose_home(settings.home, settings.chosen_by("home"))
    if why and id and os.path.lexists(places.sessions(settings.home) / id):
        raise UsageError(
            f'your home has a session "{id}", which would be found in place of this one; choose another id'
        )
    with create(root or folder, born, id) as session:
        if why:  # nobody else can be kept from writing marks in a project
            say(f"{why}, so this session is in {tilde(session.folder)}; use its whole id in commands")
        else:
            catalog.mark_as_ours(places.marks(settings.home), session)
        yield session


def choose_members(request: Request, workflow: Workflow, known: Personas) -> tuple[str, ...]:
    """The members by name: the workflow's own or `only` these, those called in `with` them, but not `without`."""
    own = [seat.name for seat in workflow.members]
    feature = (request.feature_type,) if request.feature_type else ()
    if feature and request.feature_type not in workflow.groups:
        types = [name for name in workflow.groups if name not in workflow.all_seats()]
        raise UsageError(f'no type of feature is called "{request.feature_type}"; {did_you_mean(feature[0], types)}')
    only, with_, without = (
        [*find_names(names, workflow, known)] for names in ((*feature, *request.only), request.with_, request.without)
    )
    if (only or with_ or without) and casts(workflow):
        raise UsageError(f"{workflow.name} casts its members while it runs, so none can be added or left out")
    group = next(iter(workflow.groups))  # of the members
    elsewhere = {one for step in workflow.steps() for one in step.seats if isinstance(one, str)} - {group}
    others = {seat.name for seat in workflow.seats(elsewhere)} - {*own}
    if twice := [name for name in with_ if name in without]:
        raise UsageError(f"{join_words(twice)}: both added and left out")
    if taken := [name for name in (*only, *with_, *without) if name in others]:
        raise UsageError(f"{join_words(taken)}: another role in {workflow.name}, and no member")
    members = [*dict.fromkeys((*(only or own), *with_))]
    if absent := [name for name in without if name not in members]:
        raise UsageError(f"{join_words(absent)}: not a member, so not to be left out; there are {join_words(members)}")
    members = [name for name in members if name not in without]
    steps = [[one for one in step.seats if isinstance(one, str)] for step in workflow.steps() if group in step.seats]
    alone = all(seat.name in own for seated in steps for seat in workflow.seats(seated))
    if len(members) < (min(2, len(own)) if alone else 1):
        raise UsageError(f"{workflow.name} needs at least {'two members' if alone else 'one member'}")
    return tuple(members)


def find_names(names: Iterable[str], workflow: Workflow, known: Personas) -> Iterator[str]:
    """The seats that these words name: a seat, a group, or a persona by its name, title or first name."""
    called = {**personas.called(known), **{name: name for name in (*known, *workflow.all_seats())}}
    for word in (part.strip() for one in names for part in one.split(",")):
        if word in workflow.groups:
            yield from (seat.name for seat in workflow.groups[word])
        elif slug(word) in called:
            yield called[slug(word)]
        elif word:
            raise UsageError(f'there is no member "{word}"; {did_you_mean(slug(word), called)}')


def casts(workflow: Workflow) -> bool:
    """Whether replies name seats while the debate runs."""
    return any(isinstance(one, Cast) for step in workflow.steps() for one in step.seats)


def choose_options(request: Request, workflow: Workflow, settings: Settings) -> dict[str, Any]:
    """The options that differ from the workflow's own: those in the settings, and those that were asked for."""
    if request.mode not in MODES:
        raise UsageError(f'there is no mode "{request.mode}"; {did_you_mean(request.mode, MODES)}')
    wanted = {spell(workflow, name): value for name, value in request.options.items()}
    if request.mode == PATCHLIST:
        wanted[PATCHLIST] = True
    if ANALYSIS in workflow.options and (request.only or request.with_ or request.feature_type):
        wanted.setdefault(ANALYSIS, False)  # where somebody says who sits, nobody has to find out
    chosen = {**configured(settings, workflow), **wanted}
    workflow.with_options(chosen)
    check_values(chosen)
    return chosen


def choose_gates(request: Request, workflow: Workflow, settings: Settings) -> tuple[str, ...]:
    """The phases that a person approves: those asked for, and those in the settings that this workflow has."""
    if NO_GATES in request.gates:
        return tuple(name for name in request.gates if name != NO_GATES)
    usual = (name for name in settings.gates if workflow.phase(name))
    return tuple(dict.fromkeys((*usual, *request.gates)))


def describe_rounds(workflow: Workflow) -> str:
    """How many rounds there will be, as far as that is known before the first."""
    counted = [phase for phase in workflow.phases if phase.numbered and phase is not workflow.phase("synthesis")]
    spans = [workflow.span(phase) for phase in counted]
    if any(phase.when for phase in counted) or any(least < most for least, most in spans):
        return "adaptive"
    return str(sum(most for _, most in spans))
