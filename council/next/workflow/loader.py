"""Loads a workflow from its file. What is not part of the language is an error that names its place."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from council.next import rooms
from council.next.errors import UsageError
from council.next.replies.kinds import kind
from council.next.replies.read import Reply
from council.next.schema import Table, read_markdown
from council.next.text import did_you_mean, slug
from council.next.workflow import gates, model
from council.next.workflow.model import RESERVED, AllOf, AnyOf, Cast, Condition, Not, Phase, Ref, Seat, Step, Workflow

WORKFLOW_KEYS = ("name", "description", "document", "seats", "options", "halt", "phases")
INHERITED = ("prompt", "seats", "order", "sees", "reply", "tier")
STEP_KEYS = (*INHERITED, "name", "when")
PHASE_KEYS = (*STEP_KEYS, "title", "role", "numbered", "rounds", "until", "steps")
SEAT_KEYS = ("persona", "speaker", "title", "tier", "weight", "of")
ROLES = ("synthesis", "impact", "control")  # what a phase is for, where the program has to know
NAME, ANSWER = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*"), re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
LONGEST_NAME, MOST_WEIGHT = 40, 1_000
ANSWERS: dict[str, tuple[str, ...]] = {}  # examples of the kinds that an answer may have; protocols add those they read


def load(text: str, where: str) -> Workflow:
    table, body = read_markdown(text, where, *WORKFLOW_KEYS)
    name = check_name(table.text("name"), table)
    phases = [Table(one, f"{where}: phases[{place}]", *PHASE_KEYS) for place, one in enumerate(table.items("phases"))]
    groups = read_groups(Table(table.mapping("seats"), f"{where}: seats"))
    members = next(iter(groups))
    first = 0 if phases and phases[0].values.get("role") == "impact" else 1
    document = Table(table.mapping("document", {}), f"{where}: document", "kind")
    workflow = Workflow(
        name=name,
        description=table.text("description", ""),
        groups=groups,
        options=read_options(table),
        halt=read_endings(table, "halt"),
        phases=tuple(read_phase(phase, number, members) for number, phase in enumerate(phases, first)),
        document=check_name(document.text("kind"), document) if document.values else "",
        tasks=read_tasks(body, where),
    )
    check(workflow, table)
    return workflow


def check(workflow: Workflow, table: Table) -> None:
    """What can be checked without knowing the rules: names are unique, seats exist, rounds are numbers."""
    if not workflow.phases:
        raise table.wrong("phases: there must be at least one")
    if taken := next((name for name in workflow.halt if name in (*gates.ENDINGS, gates.UNANSWERED)), ""):
        raise table.wrong(f'halt: "{taken}" is what a person says at a gate; give it another name')
    names = [phase.name for phase in workflow.phases]
    names += [step.name for phase in workflow.phases for step in phase.steps if len(phase.steps) > 1]
    if len(names) > model.MOST_PARTS:
        raise table.wrong(f"a workflow may have at most {model.MOST_PARTS:,} phases and steps")
    if twice := find_repeated(names):
        raise table.wrong(f'"{twice}" names two phases or steps')
    if twice := find_repeated(phase.role for phase in workflow.phases if phase.role):
        raise table.wrong(f'two phases have the role "{twice}"')
    for seat in workflow.all_seats().values():
        others = {*workflow.groups} - {seat.group}
        if (about := seat.get("of")) and about not in others:
            meant = did_you_mean(about, others)
            raise table.wrong(f'seats: {seat.name}: of: there is no other group "{about}"; {meant}')
    try:
        for step in workflow.steps():
            workflow.seats(name for name in step.seats if isinstance(name, str))
        workflow.with_options({})
    except UsageError as wrong:
        raise table.wrong(str(wrong)) from None


def find_repeated(names: Iterable[str]) -> str:
    """The first name that occurs twice. Empty if none does."""
    return next((name for name, times in Counter(names).items() if times > 1), "")


def read_phase(table: Table, number: int, members: str) -> Phase:
    name = check_name(table.text("name"), table)
    table.where = f"{table.where} ({name})"
    role = table.text("role", "")
    if role and role not in ROLES:
        raise table.wrong(f'"{role}" is not a role; known: {", ".join(ROLES)}')
    inherited = {key: table.values[key] for key in INHERITED if key in table.values}
    rounds = table.items("rounds", "1")
    if len(rounds) not in (1, 2) or not all(isinstance(end, str) for end in rounds):
        raise table.wrong('"rounds" must be a number or [least, most]')
    steps = table.items("steps", [{"name": name}])
    if not steps:
        raise table.wrong("steps: there must be at least one")
    return Phase(
        name=name,
        number=number,
        rounds=(rounds[0], rounds[-1]),
        when=read_when(table),
        until=read_endings(table, "until"),
        steps=tuple(
            read_step(Table(one, f"{table.where}: steps[{place}]", *STEP_KEYS), inherited, members)
            for place, one in enumerate(steps)
        ),
        role=role,
        title=table.text("title", ""),
        numbered=table.flag("numbered", role != "impact"),
    )


def read_step(own: Table, inherited: Mapping[str, Any], members: str) -> Step:
    name = check_name(own.text("name"), own)
    table = Table({"prompt": name, **inherited, **own.values}, f"{own.where} ({name})")
    seats = tuple(read_seat_name(one, table) for one in table.items("seats", members))
    if not seats:
        raise table.wrong("seats: there must be at least one")
    return Step(
        name=name,
        prompt=check_name(table.text("prompt"), table),
        seats=seats,
        order=read_ref(table.get("order", "parallel"), table),
        sees=tuple(read_ref(one, table) for one in table.items("sees", "so_far")),
        reply=read_reply(table),
        tier=read_word("tier", table.text("tier", "sonnet"), table),
        when=read_when(own),
    )


def read_reply(table: Table) -> Reply:
    reply = {}
    for name, declared in table.mapping("reply", {}).items():
        if not ANSWER.fullmatch(name):
            raise table.wrong(f'reply: "{name}" must be lowercase words joined by underscores')
        try:
            reply[name] = kind(declared)
        except UsageError as wrong:
            raise table.wrong(f"reply: {name}: {wrong}") from None
        examples = ANSWERS.get(name, (declared,))
        is_of_a_room = reply[name].room and "list" in examples
        if not is_of_a_room and not any(isinstance(reply[name], type(kind(one))) for one in examples):
            raise table.wrong(f'reply: {name} must be declared as {" or ".join(examples)}, not as "{declared}"')
    if sum(kind.whole for kind in reply.values()) > 1:
        raise table.wrong("reply: only one answer can be read from the whole reply")
    return reply


def read_options(table: Table) -> dict[str, Any]:
    options = table.mapping("options", {})
    for name, value in options.items():
        if not ANSWER.fullmatch(name) or isinstance(value, list | dict):
            raise table.wrong(f"options: {name}: {value!r} must be a name with one word, number, true or false")
    return options


def read_groups(table: Table) -> dict[str, tuple[Seat, ...]]:
    groups = {}
    for name in table.values:
        check_name(name, table)
        groups[name] = tuple(read_seat(one, name, table) for one in table.items(name))
        seats = [seat.name for seat in groups[name]]
        if not seats or find_repeated(seats):
            raise table.wrong(f"{name}: a group needs at least one seat, and each seat once")
    if not groups:
        raise table.wrong("there must be at least one group")
    if sum(map(len, groups.values())) > model.MOST_PARTS:
        raise table.wrong(f"a workflow may have at most {model.MOST_PARTS:,} seats")
    # A seat is described once. Other groups name it, and the first description counts.
    about = {seat.name: seat.attributes for group in [*groups.values()][::-1] for seat in group if seat.attributes}
    return {
        name: tuple(replace(seat, attributes=seat.attributes or about.get(seat.name, {})) for seat in seats)
        for name, seats in groups.items()
    }


def read_seat(one: Any, group: str, table: Table) -> Seat:
    """`engineer`, or `{engineer: {tier: opus}}`."""
    one = {one: {}} if isinstance(one, str) else one
    if not isinstance(one, dict) or len(one) != 1:
        raise table.wrong(f"{group}: {one!r} is not a seat, as in `engineer` or `{{engineer: {{tier: opus}}}}`")
    ((name, attributes),) = one.items()
    if name == model.HUMAN:
        raise table.wrong(f"{group}: a step seats a person with `seats: {model.HUMAN}`, and no group lists that seat")
    known = not isinstance(attributes, dict) or {*attributes} <= {*SEAT_KEYS}
    keys = SEAT_KEYS if known else (*SEAT_KEYS, *rooms.names("seat"))
    return Seat(check_name(name, table), group, read_attributes(Table(attributes, f"{table.where}: {name}", *keys)))


def read_attributes(table: Table) -> Mapping[str, Any]:
    """What a workflow says of a seat. Only its title may have several words."""
    for key in table.values:
        text = table.text(key)
        if key != "title":
            read_word(key, text, table)
    if "weight" in table.values and not 0 <= table.number("weight") <= MOST_WEIGHT:
        raise table.wrong(f'"weight" must be a number from 0 to {MOST_WEIGHT}')
    return table.values


def read_word(key: str, value: str, table: Table) -> str:
    if len(value) > LONGEST_NAME or [value] != value.split():
        raise table.wrong(f'"{key}" must be one word, not {value!r}')
    return value


def read_seat_name(one: Any, table: Table) -> str | Cast:
    if isinstance(one, str):
        return one
    cast = Table(one, f"{table.where}: seats", "from", "without")
    return Cast(cast.text("from"), cast.text("without", ""))


def read_endings(table: Table, key: str) -> dict[str, Condition]:
    """The names of endings with their rules, in the order in which they are tried."""
    endings = table.mapping(key, {})
    for name in endings:
        check_name(name, table)
    if "any" in endings:
        raise table.wrong(f'{key}: "any" means every ending; give this one another name')
    return {name: read_condition(rule, table) for name, rule in endings.items()}


def read_when(table: Table) -> Condition | None:
    return read_condition(table.values["when"], table) if "when" in table.values else None


def read_condition(value: Any, table: Table) -> Condition:
    """A rule; a list of rules, of which any must hold; `{all: […]}` or `{not: …}`."""
    if isinstance(value, list) and value:
        return AnyOf(tuple(read_condition(one, table) for one in value))
    if isinstance(value, dict) and len(value) == 1:
        ((name, inner),) = value.items()
        if name == "all" and isinstance(inner, list) and inner:
            return AllOf(tuple(read_condition(one, table) for one in inner))
        if name == "not":
            return Not(read_condition(inner, table))
    return read_ref(value, table)


def read_ref(value: Any, table: Table) -> Ref:
    if isinstance(value, str):
        return Ref(value)
    if isinstance(value, dict) and len(value) == 1:
        return Ref(*next(iter(value.items())))
    raise table.wrong(f"{value!r} must be one name, with its arguments as in {{share: {{move_on: yes}}}}")


def check_name(name: str, table: Table) -> str:
    if not NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        raise table.wrong(f'"{name}" must be at most {LONGEST_NAME} lowercase letters and digits, joined by hyphens')
    if name in RESERVED:
        raise table.wrong(f'"{name}" is a name that council itself uses')
    return name


def read_tasks(body: str, where: str) -> dict[str, str]:
    """The sections one level below the body's heading "Prompts". Each may be a step's prompt."""
    from council.next.replies.markdown import parser  # 40 ms, and few workflows have prompts of their own

    if "prompts" not in body.lower():
        return {}
    lines, tokens = body.split("\n"), parser().parse(body)
    headings = [
        (token.map[0], token.map[1], int(token.tag[1]), tokens[place + 1].content.strip())
        for place, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0 and token.map
    ]
    tasks: dict[str, str] = {}
    within = 0
    for place, (_, begin, level, title) in enumerate(headings):
        if not within or level <= within:
            within = level if title.lower() == "prompts" else 0
        elif level == within + 1:
            if slug(title) in tasks:
                raise UsageError(f'{where}: the body has two prompts "{title}"')
            end = next((first for first, _, other, _ in headings[place + 1 :] if other <= level), len(lines))
            tasks[slug(title)] = "\n".join(lines[begin:end]).strip()
    return {name: text for name, text in tasks.items() if text}
