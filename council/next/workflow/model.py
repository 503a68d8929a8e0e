"""A workflow as objects. `loader` makes them from a file; what rules, orders and views mean is the engine's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from council.next.errors import UsageError
from council.next.replies.read import Reply
from council.next.text import did_you_mean, one_line, slug

HUMAN = "human"  # the seat of a person, in every workflow
RESERVED = ("shared", HUMAN)  # no other seat has these names: `shared` is the file of what a batch has in common
OF_THE_SEAT = ("persona", "speaker", "weight", "of")  # what only a workflow says of its seats
MOST_ROUNDS = 99
MOST_PARTS = 1_000  # seats, and phases with their steps: a workflow may come from a project, and must have an end
MOST = 1e12  # of any number in a workflow; what is larger, negative or no number at all is a mistake


@dataclass(frozen=True)
class Ref:
    """A rule, an order or a view by name, with its arguments: none, one value, or several by name."""

    name: str
    args: Any = None


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


def refs(condition: Condition) -> Iterator[Ref]:
    """The rules that a condition names."""
    if isinstance(condition, AnyOf | AllOf):
        for one in condition.of:
            yield from refs(one)
    elif isinstance(condition, Not):
        yield from refs(condition.of)
    else:
        yield condition


@dataclass(frozen=True)
class Seat:
    """A place at the table. `attributes` are its persona's, and what the workflow says of the seat itself."""

    name: str
    group: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    about: str = ""  # the seat whose work it is about, where the workflow has one such seat for each of a group

    def get(self, key: str) -> str:
        return str(self.attributes.get(key) or "")

    @property
    def is_person(self) -> bool:
        return HUMAN in (self.name, self.get("speaker"))

    @property
    def persona(self) -> str:
        return self.get("persona") or self.name

    @property
    def title(self) -> str:
        return self.get("title").strip("*_` ") or self.name.replace("-", " ").title()

    @property
    def label(self) -> str:
        """The seat's name for readers, as in `Engineer (Marcus)`."""
        first = self.get("name").split()[:1]
        return f"{self.title} ({first[0]})" if first else self.title


@dataclass(frozen=True)
class Cast:
    """The seats that a reply names while the debate runs, but for those that another reply names."""

    source: str  # step.answer
    without: str = ""


@dataclass(frozen=True)
class Step:
    name: str
    prompt: str
    seats: tuple[str | Cast, ...]
    order: Ref
    sees: tuple[Ref, ...]
    reply: Reply
    tier: str
    when: Condition | None = None


@dataclass(frozen=True)
class Phase:
    name: str
    number: int
    rounds: tuple[str, str]  # the least and the most: numbers, or options with a number
    when: Condition | None
    until: Mapping[str, Condition]  # the name of each ending, with its rule
    steps: tuple[Step, ...]
    role: str = ""
    title: str = ""
    numbered: bool = True  # its rounds count as rounds of the debate
    gates: str = ""  # the phase that a person approves here

    def folder(self, round: int, step: Step, repeats: bool) -> str:
        """The folder of a step's turns of one round. What the phase has only one of is left out of the name."""
        place = f"{self.number:02}-{self.name}" + (f"-r{round:02}" if repeats or round > 1 else "")
        return place + (f"-{self.steps.index(step) + 1}-{step.name}" if len(self.steps) > 1 else "")


@dataclass(frozen=True)
class Workflow:
    name: str
    description: str
    groups: Mapping[str, tuple[Seat, ...]]
    options: Mapping[str, Any]
    halt: Mapping[str, Condition]
    phases: tuple[Phase, ...]
    document: str = ""
    tasks: Mapping[str, str] = field(default_factory=dict)  # the prompts in the file's body, by name
    personas: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # of every persona that can be cast

    @property
    def members(self) -> tuple[Seat, ...]:
        """The first group. It speaks in every step that names no seats, and `--with` and `--only` change it."""
        return next(iter(self.groups.values()))

    def steps(self) -> Iterator[Step]:
        return (step for phase in self.phases for step in phase.steps)

    def refs(self) -> Iterator[Ref]:
        """Every rule, order and view that it names."""
        conditions: list[Condition | None] = [*self.halt.values()]
        for phase in self.phases:
            conditions += [phase.when, *phase.until.values(), *(step.when for step in phase.steps)]
        yield from (ref for condition in conditions if condition for ref in refs(condition))
        yield from (ref for step in self.steps() for ref in (step.order, *step.sees))

    def words(self) -> set[str]:
        """The names of all rules, orders and views, and the keys of all seats: what an optional room may have."""
        keys = {key for seat in self.all_seats().values() for key in seat.attributes}
        return keys | {ref.name for ref in self.refs()}

    def phase(self, name: str) -> Phase | None:
        """The phase of this name, or the one that has this role."""
        named = {phase.role: phase for phase in self.phases} | {phase.name: phase for phase in self.phases}
        return named.get(name)

    def is_of_the_debate(self, phase: Phase) -> bool:
        """Whether the rounds of a phase count as rounds of the debate."""
        return phase.numbered and not phase.role and phase is not self.phase("synthesis")

    def writes_result(self, phase: str, step: str) -> bool:
        """Whether this step writes the result of the debate. Nobody can do without it."""
        writer = self.phase("synthesis")
        return writer is not None and (phase, step) == (writer.name, writer.steps[0].name)

    def endings(self) -> Iterator[Ref]:
        """The rules that can end a phase."""
        return (ref for phase in self.phases for condition in phase.until.values() for ref in refs(condition))

    def places(self) -> set[str]:
        """The names of all phases and steps."""
        return {phase.name for phase in self.phases} | {step.name for step in self.steps()}

    def all_seats(self) -> dict[str, Seat]:
        """Every seat by name. Where two groups have a seat of one name, the first counts."""
        return {seat.name: seat for group in [*self.groups.values()][::-1] for seat in group}

    def seats(self, names: Iterable[str]) -> tuple[Seat, ...]:
        """The seats of these groups and the seats of these names, each once, in the order named.

        A seat that is `of` a group stands for one seat for each member of that group.
        """
        known, found = {HUMAN: Seat(HUMAN, HUMAN), **self.all_seats()}, dict[str, Seat]()
        for name in dict.fromkeys(names):
            if name not in self.groups and name not in known:
                meant = did_you_mean(name, {*known, *self.groups})
                raise UsageError(f'{self.name}: no seat or group "{name}"; {meant}')
            for seat in self.groups.get(name) or (known[name],):
                members = self.groups.get(seat.get("of"), ())
                if len(members) > 1:
                    each = [replace(seat, name=f"{seat.name}-{one.name}", about=one.name) for one in members]
                else:
                    each = [replace(seat, about=members[0].name if members else seat.get("of"))]
                for one in each:
                    found.setdefault(one.name, one)
        return tuple(found.values())

    def number(self, value: Any) -> float:
        """A number that the workflow writes, or that of the option which it names instead."""
        found = self.options.get(str(value), value)
        try:
            number = float("nan" if isinstance(found, bool) else found)
        except (TypeError, ValueError):
            number = float("nan")
        if not 0 <= number <= MOST:
            if str(value) in self.options:
                raise UsageError(f'{self.name}: the option "{value}" must be a number from 0 on, not "{found}"')
            numeric = [name for name, one in self.options.items() if str(one).isdecimal()]
            meant = did_you_mean(str(value), numeric)
            raise UsageError(f'{self.name}: "{value}" is neither a number nor an option with one; {meant}')
        return number

    def whole(self, value: Any, least: int = 1) -> int:
        """A number of rounds in a rule, an order or a view."""
        number = self.number(value)
        if not (least <= number <= MOST_ROUNDS and number == int(number)):
            raise UsageError(f'{self.name}: "{value}" is not a whole number from {least} to {MOST_ROUNDS}')
        return int(number)

    def span(self, phase: Phase) -> tuple[int, int]:
        """The least and the most rounds of a phase."""
        least, most = (self.number(end) for end in phase.rounds)
        if not (1 <= least <= most <= MOST_ROUNDS and least == int(least) and most == int(most)):
            shown = f"{least:g} to {most:g}"
            raise UsageError(f"{self.name}: {phase.name}: {shown} rounds; they must be whole, from 1 to {MOST_ROUNDS}")
        return int(least), int(most)

    def with_options(self, chosen: Mapping[str, Any]) -> Workflow:
        for name, value in chosen.items():
            if name not in self.options:
                raise UsageError(f'{self.name} has no option "{name}"; {did_you_mean(name, self.options)}')
            is_flag = isinstance(self.options[name], bool)
            if is_flag != isinstance(value, bool) or not isinstance(value, str | int | float):
                wanted = "true or false" if is_flag else "one word or number"
                raise UsageError(f'{self.name}: the option "{name}" must be {wanted}, not {value!r}')
        changed = replace(self, options={**self.options, **chosen})
        for phase in changed.phases:
            changed.span(phase)
        return changed

    def with_members(self, names: Iterable[str]) -> Workflow:
        """The workflow with these members, by the names of seats or of personas."""
        names, group, known = tuple(dict.fromkeys(names)), next(iter(self.groups)), self.all_seats()
        is_named = all(slug(name) == name and name not in RESERVED for name in names)
        if not is_named or not 0 < len(names) <= MOST_PARTS:
            shown = one_line(repr(names))
            raise UsageError(f"{self.name}: members must be from 1 to {MOST_PARTS:,} names of seats, not {shown}")
        seats = tuple(replace(known.get(name, Seat(name)), group=group) for name in names)
        return replace(self, groups={**self.groups, group: seats})

    def with_personas(self, personas: Mapping[str, Mapping[str, Any]]) -> Workflow:
        """Each seat with its persona's attributes. What the workflow says of the seat itself wins.

        A persona may come from a project: it says who speaks, never by which program or with how many votes."""

        def without(keys: Iterable[str], name: str) -> dict[str, Any]:
            return {key: value for key, value in personas.get(name, {}).items() if key not in keys}

        def dressed(seat: Seat) -> Seat:
            own_names = ("title", "name") * (seat.persona != seat.name)  # two seats may share a persona
            return replace(seat, attributes={**without((*OF_THE_SEAT, *own_names), seat.persona), **seat.attributes})

        groups = {name: tuple(map(dressed, seats)) for name, seats in self.groups.items()}
        return replace(self, groups=groups, personas={name: without(OF_THE_SEAT, name) for name in personas})
