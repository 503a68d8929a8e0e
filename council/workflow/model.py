"""The workflow language: the objects that make up a workflow. `loader` builds them from a file.

They know the shape of a workflow, not which rules, orders, views, templates or personas exist: `lint` checks those.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from council.errors import UsageError
from council.text import did_you_mean
from council.workflow import declare

NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
WORD = re.compile(r"[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*")
LONGEST_NAME = 40
LONGEST_TITLE = 200  # characters: what members call each other may be in a text as often as they like
MOST_ROUNDS = 99
PROMPTS = "prompts"  # the heading in a workflow's body under which a section may be a step's prompt
HUMAN = declare.seat("human", "a person, who answers on the terminal or with `council record`")
IMPACT = declare.role(
    "impact", "who should sit, asked before the debate; its number is 0, so all other turns are named as without it"
)
DOCUMENT = declare.option("document", "the document that the synthesis becomes, or `none`")
NO_DOCUMENT = "none"
VIEWPOINT = "accepts"  # only a persona that is a viewpoint to argue for, not a person, has this field


def is_name(value: str) -> bool:
    """Whether a workflow, a phase, a step or a seat may have this name."""
    return NAME.fullmatch(value) is not None and len(value) <= LONGEST_NAME


@dataclass(frozen=True)
class Ref:
    """A named rule, order or view with its arguments: none, a word, a list or named ones. `written` are the arguments
    as the workflow has them, where options stand for numbers in them.
    """

    name: str
    args: Any = None
    written: Any = field(default=None, compare=False)


@dataclass(frozen=True)
class AnyOf:
    of: tuple[Condition, ...]


@dataclass(frozen=True)
class AllOf:
    of: tuple[Condition, ...]


@dataclass(frozen=True)
class Not:
    of: Condition


Condition = Ref | AnyOf | AllOf | Not


@dataclass(frozen=True)
class Seat:
    """A participant. Rules, orders, views and briefs decide what its attributes mean."""

    name: str
    group: str
    attributes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def speaker(self) -> str | None:
        return self.attributes.get("speaker") or (HUMAN if self.name == HUMAN else None)

    @property
    def is_person(self) -> bool:
        return self.speaker == HUMAN

    @property
    def gives(self) -> tuple[str, ...]:
        """What each of its replies without declared answers has to name."""
        return tuple(map(str, self.attributes.get("gives", ())))

    @property
    def of(self) -> str:
        """The seat, or the group, whose work it is about; empty if it names none."""
        return str(self.attributes.get("of") or "")

    @property
    def under(self) -> str:
        """The seat above it in a tree; empty if there is none."""
        return str(self.attributes.get("under") or "")

    @property
    def about(self) -> str:
        """The seat whose work this is about: its own, if it names none."""
        return self.of or self.name

    @property
    def persona(self) -> str:
        return str(self.attributes.get("persona", self.name))

    @property
    def title(self) -> str:
        given = str(self.attributes.get("title") or "").strip("*_` ")
        return given[:LONGEST_TITLE] or self.name.replace("-", " ").title()

    @property
    def label(self) -> str:
        """The seat's name for readers: `Engineer (Marcus)`."""
        person = str(self.attributes.get("name") or "")
        return f"{self.title} ({person.split(maxsplit=1)[0][:LONGEST_TITLE]})" if person.split() else self.title


@dataclass(frozen=True)
class Cast:
    """Seats that a reply names while the debate runs, without those that another reply names."""

    source: tuple[str, str]
    without: tuple[str, str] | None = None


@dataclass(frozen=True)
class Kind:
    """The type of one answer of a reply."""

    type: str
    options: tuple[str, ...] = ()
    low: float = 0
    high: float = 0
    required: bool = False
    optional: bool = False  # nobody is asked again for it


Reply = tuple[tuple[str, Kind], ...]


@dataclass(frozen=True)
class Step:
    name: str
    prompt: str
    seats: tuple[str | Cast, ...]
    order: Ref
    sees: tuple[Ref, ...]
    reply: Reply
    tier: str
    when: Condition | None


@dataclass(frozen=True)
class Phase:
    name: str
    number: int
    min_rounds: int
    max_rounds: int
    when: Condition | None
    until: tuple[tuple[str, Condition], ...]
    steps: tuple[Step, ...]
    rounds: tuple[str, ...] = ("1",)
    role: str = ""
    title: str = ""
    gates: str = ""  # the phase that a person approves in this one
    numbered: bool = True  # whether its rounds count as rounds of the debate

    def with_options(self, options: Mapping[str, Any]) -> Phase:
        """The phase with the values of the options that its `rounds`, rules, orders and views name."""
        from council.workflow.numbers import fill_condition, fill_step

        ends = [str(options.get(end, end)) for end in self.rounds]
        if not all(re.fullmatch(r"\d{1,2}", end) for end in ends):
            if option := next((end for end in self.rounds if end in options), ""):
                raise UsageError(
                    f"the option {option} must be a number from 1 to {MOST_ROUNDS}, not {options[option]}: the phase "
                    f"{self.name} has that many rounds"
                )
            raise UsageError(
                f"phase {self.name}: rounds must be a number or [min, max], at most {MOST_ROUNDS}, or names of options "
                f"with such numbers; not {', '.join(ends)}"
            )
        min_, max_ = int(ends[0]), int(ends[-1])
        if not 1 <= min_ <= max_:
            raise UsageError(f"phase {self.name}: rounds: [{min_}, {max_}] is not a range that begins at 1 or more")
        try:
            return replace(
                self,
                min_rounds=min_,
                max_rounds=max_,
                when=None if self.when is None else fill_condition(self.when, options),
                until=tuple((outcome, fill_condition(rule, options)) for outcome, rule in self.until),
                steps=tuple(fill_step(step, options) for step in self.steps),
            )
        except UsageError as wrong:
            raise UsageError(f"phase {self.name}: {wrong}") from None

    def folder(self, round: int, step: Step) -> str:
        """The folder for the turns of one step in one round. Its name omits what the phase has only one of."""
        place = f"{self.number:02}-{self.name}"
        if self.max_rounds > 1 or round > 1:  # a person may grant more rounds than the workflow has
            place += f"-r{round:02}"
        if len(self.steps) > 1:
            place += f"-{self.steps.index(step) + 1}-{step.name}"
        return place


@dataclass(frozen=True)
class DeclaredDocument:
    """The document that the synthesis becomes: its kind, and which answers are its parts."""

    kind: str
    answers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Workflow:
    name: str
    description: str
    groups: Mapping[str, tuple[Seat, ...]]
    options: Mapping[str, Any]
    halt: tuple[tuple[str, Condition], ...]
    phases: tuple[Phase, ...]
    body: str = ""
    tasks: Mapping[str, str] = field(default_factory=dict)
    catalog: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    document_answers: Mapping[str, str] = field(default_factory=dict)

    @property
    def members(self) -> tuple[Seat, ...]:
        """The first group. It speaks in every step without `seats`, and `--with` and `--only` change it."""
        return next(iter(self.groups.values()))

    @property
    def document(self) -> DeclaredDocument | None:
        """The document that this debate produces, according to its option `document`."""
        kind = str(self.options.get(DOCUMENT, NO_DOCUMENT))
        return None if kind == NO_DOCUMENT else DeclaredDocument(kind, self.document_answers)

    @property
    def roles(self) -> dict[str, str]:
        """The phase of each role: the one that declares it, else the one named after it, as in older workflows."""
        roles = {phase.role: phase.name for phase in self.phases if phase.role}
        for phase in self.phases:
            word = declare.role.known.get(phase.name) if not phase.role else None
            if word and (not word.option or word.option in self.options):
                roles.setdefault(phase.name, phase.name)
        return roles

    def role(self, name: str) -> str:
        """The phase that has this role; empty if none has it."""
        return self.roles.get(name, "")

    @property
    def table(self) -> tuple[Seat, ...]:
        """The members, and the seats that share a step with them."""
        first = next(iter(self.groups))
        shared = [step.seats for _, step in self.steps() if first in step.seats]
        return self.seats(name for seats in shared for name in seats if isinstance(name, str)) or self.members

    def seats(self, names: Iterable[str], spoken: Iterable[Seat] = ()) -> tuple[Seat, ...]:
        """The seats behind names of groups and of seats, each once, in the order named.

        A seat `of` a group stands for one seat for each member of it, as `tester-engineer` and `tester-designer`. The
        members of a group that a reply casts are among those that have `spoken`.
        """
        seats: dict[str, Seat] = {}
        for named in self.declared_seats(names):
            for seat in self.one_for_each(named, spoken):
                seats.setdefault(seat.name, seat)
        return tuple(seats.values())

    def declared_seats(self, names: Iterable[object]) -> Iterator[Seat]:
        """The seats behind names of groups and of seats, as the workflow declares them: one that is `of` a group is
        one seat. Names that a reply casts are left out."""
        for name in names:
            if isinstance(name, str):
                yield from self.groups.get(name) or (self.seat(name),)

    def one_for_each(self, seat: Seat, spoken: Iterable[Seat]) -> Iterator[Seat]:
        """The seat itself, or one for each member of the group that it is `of`."""
        if not seat.of or any(other.name == seat.of for other in self.all_seats()):
            yield seat
            return
        members = self.groups.get(seat.of) or {one.name: one for one in spoken if one.group == seat.of}.values()
        for member in members:
            own = {"of": member.name, "persona": seat.persona, "title": f"{seat.title} of {member.title}"}
            yield replace(seat, name=f"{seat.name}-{member.name}", attributes={**seat.attributes, **own})

    def seat(self, name: str) -> Seat:
        for seat in self.all_seats():
            if seat.name == name:
                return seat
        if name == HUMAN:
            return Seat(HUMAN, HUMAN)
        raise UsageError(f'{self.name}: no seat or group "{name}"; {did_you_mean(name, self.seat_names())}')

    def all_seats(self) -> Iterator[Seat]:
        for group in self.groups.values():
            yield from group

    @property
    def benches(self) -> set[str]:
        """What machines run for its seats: benches, and options that name some. If there are any, code is tried."""
        return {str(seat.attributes["run"]) for seat in self.all_seats() if "run" in seat.attributes}

    def seat_names(self) -> set[str]:
        return set(self.groups) | {seat.name for seat in self.all_seats()} | {HUMAN}

    def persona_names(self) -> set[str]:
        """The personas of all seats, of which a seat may have one that is not called as it is."""
        return self.seat_names() | {seat.persona for seat in self.all_seats()}

    def steps(self) -> Iterator[tuple[Phase, Step]]:
        for phase in self.phases:
            for step in phase.steps:
                yield phase, step

    def casting(self) -> set[str]:
        """The names of the seats whose replies cast others."""
        sources = {cast.source[0] for _, step in self.steps() for cast in step.seats if isinstance(cast, Cast)}
        seats = (seat for _, step in self.steps() if step.name in sources for seat in step.seats)
        return {seat.name for seat in self.seats(name for name in seats if isinstance(name, str))}

    def with_members(self, members: Iterable[Seat]) -> Workflow:
        """The workflow with other members. Their names must be valid, because the files of their turns have them."""
        group = next(iter(self.groups))
        seated = tuple(replace(seat, group=group) for seat in members)
        for seat in seated:
            if not is_name(seat.name):
                raise UsageError(
                    f'"{seat.name}" cannot be a seat: names consist of lowercase letters, digits and hyphens'
                )
        return replace(self, groups={**self.groups, group: seated})

    def with_attributes(self, known: Mapping[str, Mapping[str, Any]]) -> Workflow:
        """The workflow with each seat's persona, given all personas by name. The seat's own attributes win.

        Seats that cast others also get the catalog: the personas that are viewpoints rather than persons.
        """
        casting, catalog = self.casting(), {name: persona for name, persona in known.items() if persona.get(VIEWPOINT)}
        castable = {"catalog": catalog, "persons": tuple(name for name in known if name not in catalog)}

        def with_persona(seat: Seat) -> Seat:
            """A seat that borrows a persona keeps its own name: two seats may borrow the same one."""
            own = ("title", "name") if seat.persona != seat.name else ()
            persona = {key: value for key, value in known.get(seat.persona, {}).items() if key not in own}
            added = castable if catalog and seat.name in casting else {}
            return replace(seat, attributes={**persona, **seat.attributes, **added})

        groups = {name: tuple(map(with_persona, seats)) for name, seats in self.groups.items()}
        return replace(self, groups=groups, catalog=known)

    def with_options(self, chosen: Mapping[str, Any]) -> Workflow:
        from council.workflow import gates
        from council.workflow.numbers import fill_condition

        for name in chosen:
            if name not in self.options and name not in gates.EVERYWHERE:
                raise UsageError(f'{self.name} has no option "{name}"; {did_you_mean(name, self.options)}')
        options = {**self.options, **chosen}
        phases = tuple(phase.with_options(options) for phase in self.phases)
        halt = tuple((outcome, fill_condition(rule, options)) for outcome, rule in self.halt)
        return gates.insert(replace(self, options=options, phases=phases, halt=halt))
