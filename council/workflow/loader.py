"""Loads a workflow from its file. Anything that is not part of the language is an error that names it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from council.errors import UsageError
from council.text import did_you_mean, one_line, slug
from council.workflow import declare, frontmatter
from council.workflow.model import (
    DOCUMENT,
    IMPACT,
    LONGEST_NAME,
    MOST_ROUNDS,
    NAME,
    PROMPTS,
    WORD,
    AllOf,
    AnyOf,
    Cast,
    Condition,
    Kind,
    Not,
    Phase,
    Ref,
    Reply,
    Seat,
    Step,
    Workflow,
    is_name,
)
from council.workflow.types import answer_types
from council.workflow.vocabulary import (
    INHERITED,
    PHASE_KEYS,
    SEAT_KEYS,
    STEP_KEYS,
    WORKFLOW_KEYS,
    types,
)


def load(text: str, where: str) -> Workflow:
    """The workflow in a Markdown file. Raises UsageError for anything that is not part of the language."""
    if text not in _loaded:
        keys, body = frontmatter.split(text, where)
        workflow = _Loader(where).workflow(keys, body)
        if len(_loaded) >= MOST_LOADED:
            _loaded.clear()
        _loaded[text] = workflow
    return _loaded[text]


MOST_LOADED = 64
_loaded: dict[str, Workflow] = {}  # a workflow is immutable, and sessions of one program have the same text


class _Loader:
    def __init__(self, where: str) -> None:
        self.where = where

    def workflow(self, keys: dict[str, Any], body: str) -> Workflow:
        self.known(keys, WORKFLOW_KEYS, "a workflow")
        groups = self.groups(self.need(keys, "seats", "a workflow", dict))
        first = (next(iter(groups)),)
        phases = self.need(keys, "phases", "a workflow", list)
        if not phases:
            raise self.bad("phases: there must be at least one")
        options = self.typed(keys.get("options", {}), dict, "options")
        number = 0 if isinstance(phases[0], dict) and phases[0].get("role") == IMPACT else 1
        document = self.document(keys.get("document", {}))
        if kind := document.pop("kind", ""):
            options = {**options, DOCUMENT: options.get(DOCUMENT, kind)}
        workflow = Workflow(
            name=self.name(self.need(keys, "name", "a workflow", str), "name"),
            description=str(keys.get("description", "")),
            groups=groups,
            options=options,
            halt=self.outcomes(keys.get("halt", {}), "halt"),
            phases=tuple(self.phase(phase, number, first) for number, phase in enumerate(phases, number)),
            body=body,
            tasks=self.tasks(body),
            document_answers=document,
        )
        self.check_names(workflow)
        try:
            return workflow.with_options({})
        except UsageError as wrong:
            raise self.bad(str(wrong)) from None

    def document(self, value: Any) -> dict[str, str]:
        """The document's kind, and the answers that are its parts. `lint` checks that both exist."""
        keys = self.typed(value, dict, "document")
        if not keys:
            return {}
        kind = self.name(self.need(keys, "kind", "document", str), "document: kind")
        if kind in declare.document.known:  # another one is a template of the user's, whose parts nobody knows
            self.known(keys, ("kind", *declare.document.known[kind].parts), "document")
        return {part: self.word(name, f"document: {part}") for part, name in keys.items()}

    def tasks(self, body: str) -> dict[str, str]:
        """The prompts in the body, by name."""
        tasks: dict[str, str] = {}
        for title, text in frontmatter.find_sections(body, PROMPTS):
            name = slug(title, LONGEST_NAME)
            if name in tasks:
                raise self.bad(f'the body has two prompts "{name}"; give the section "{title}" another heading')
            tasks[name] = text
        return {name: text for name, text in tasks.items() if text}

    def phase(self, keys: Any, number: int, first: tuple[str, ...]) -> Phase:
        self.typed(keys, dict, f"phase {number}")
        name = self.name(self.need(keys, "name", f"phase {number}", str), f"phase {number}: name")
        what = f"phase {name}"
        self.known(keys, {**PHASE_KEYS, **STEP_KEYS}, what)
        inherited = {key: keys[key] for key in INHERITED if key in keys}
        steps = self.typed(keys.get("steps", [{"name": name}]), list, f"{what}: steps")
        return Phase(
            name=name,
            number=number,
            min_rounds=1,
            max_rounds=1,
            when=self.condition(keys["when"], f"{what}: when") if "when" in keys else None,
            until=self.outcomes(keys.get("until", {}), f"{what}: until"),
            steps=tuple(self.step(step, inherited, what, first) for step in steps),
            rounds=self.rounds(keys.get("rounds", "1"), what),
            role=self.declared(declare.role, keys["role"], f"{what}: role") if "role" in keys else "",
            title=one_line(self.typed(keys.get("title", ""), str, f"{what}: title"), LONGEST_NAME),
            numbered=self.typed(keys.get("numbered", keys.get("role") != IMPACT), bool, f"{what}: numbered"),
        )

    def step(self, own: Any, inherited: dict[str, Any], phase: str, first: tuple[str, ...]) -> Step:
        self.typed(own, dict, f"{phase}: a step")
        name = self.name(self.need(own, "name", f"a step of {phase}", str), f"{phase}: steps: name")
        what = f"{phase}, step {name}"
        self.known(own, STEP_KEYS, what)
        keys = inherited | own
        return Step(
            name=name,
            prompt=self.name(keys.get("prompt", name), f"{what}: prompt"),
            seats=self.seated(keys["seats"], what) if "seats" in keys else first,
            order=self.ref(keys.get("order", "parallel"), f"{what}: order"),
            sees=tuple(self.ref(one, f"{what}: sees") for one in _listed(keys.get("sees", "so_far"))),
            reply=self.reply(keys.get("reply", {}), what),
            tier=self.name(keys.get("tier", "sonnet"), f"{what}: tier"),
            when=self.condition(own["when"], f"{what}: when") if "when" in own else None,
        )

    def groups(self, keys: dict[str, Any]) -> dict[str, tuple[Seat, ...]]:
        groups: dict[str, tuple[Seat, ...]] = {}
        for group, seats in keys.items():
            named = tuple(self.seat(one, self.name(group, "seats")) for one in _listed(seats))
            if not named or len({seat.name for seat in named}) < len(named):
                raise self.bad(f'seats: the group "{group}" must name its seats, each once')
            groups[group] = named
        if not groups:
            raise self.bad("seats: there must be at least one group")
        described = {seat.name: seat for seats in groups.values() for seat in seats if seat.attributes}
        for group, seats in groups.items():  # a seat is described in one group, and only named in others
            groups[group] = tuple(
                replace(described[seat.name], group=group) if seat.name in described and not seat.attributes else seat
                for seat in seats
            )
        return groups

    def seat(self, one: Any, group: str) -> Seat:
        if isinstance(one, dict) and len(one) == 1:
            name, attributes = next(iter(one.items()))
            self.known(self.typed(attributes, dict, f"seat {name}"), SEAT_KEYS, f"seat {name}")
            for word in self.typed(attributes.get("gives", []), list, f"seat {name}: gives"):
                self.typed(word, str, f"seat {name}: gives")
            return Seat(self.name(name, f"seats: {group}"), group, attributes)
        return Seat(self.name(one, f"seats: {group}"), group)

    def seated(self, value: Any, what: str) -> tuple[str | Cast, ...]:
        if isinstance(value, dict):
            self.known(value, ("from", "without"), f"{what}: seats")
            source = self.answer(self.need(value, "from", f"{what}: seats", str), what)
            return (Cast(source, self.answer(value["without"], what) if "without" in value else None),)
        if any(isinstance(one, dict) for one in _listed(value)):
            raise self.bad(f"{what}: seats: a list may contain only names; write {{from: step.answer}} without a list")
        return tuple(self.name(one, f"{what}: seats") for one in _listed(value))

    def answer(self, value: Any, what: str) -> tuple[str, str]:
        step, dot, field_name = str(value).partition(".")
        if not dot or not NAME.fullmatch(step) or not WORD.fullmatch(field_name):
            raise self.bad(f'{what}: "{value}" must be a step and one of its answers, as in analyze.perspectives')
        return step, field_name

    def reply(self, keys: Any, what: str) -> Reply:
        self.typed(keys, dict, f"{what}: reply")
        return tuple((self.word(name, what), self.kind(kind, f"{what}: reply: {name}")) for name, kind in keys.items())

    def kind(self, value: Any, what: str) -> Kind:
        text = str(value).strip()
        if text.endswith("?"):
            return replace(self.kind(text.removesuffix("?"), what), optional=True)
        required = text.endswith("+")
        plain = text.removesuffix("+").strip()
        options = tuple(option.strip() for option in plain.split("|"))
        if plain in ("text", "list", "code"):
            return Kind(plain, required=required)
        if (plain == "integer" or plain in answer_types()) and not required:
            return Kind(plain)
        if match := re.fullmatch(r"(\d{1,6})-(\d{1,6})", text):
            low, high = map(float, match.groups())
            if low < high:
                return Kind("range", low=low, high=high)
        if len(options) > 1 and not required and len(set(options)) == len(options) and all(map(_option, options)):
            return Kind("choice", options=options)
        raise self.bad(
            f'{what}: "{text}" is not a type; known: {", ".join(types())}; the first three may end with +, all with ?'
        )

    def condition(self, value: Any, what: str) -> Condition:
        if isinstance(value, list) and value:
            return AnyOf(tuple(self.condition(one, what) for one in value))
        if isinstance(value, dict) and len(value) == 1:
            (name, inner), *_ = value.items()
            if name == "all" and isinstance(inner, list) and inner:
                return AllOf(tuple(self.condition(one, what) for one in inner))
            if name == "not":
                return Not(self.condition(inner, what))
        return self.ref(value, what)

    def ref(self, value: Any, what: str) -> Ref:
        if isinstance(value, str):
            return Ref(self.word(value, what))
        if isinstance(value, dict) and len(value) == 1:
            name, args = next(iter(value.items()))
            return Ref(self.word(name, what), args)
        raise self.bad(f"{what}: it must be a name, or one name with its arguments, as in {{share: {{move_on: yes}}}}")

    def outcomes(self, keys: Any, what: str) -> tuple[tuple[str, Condition], ...]:
        self.typed(keys, dict, what)
        return tuple((self.name(name, what), self.condition(rule, f"{what}: {name}")) for name, rule in keys.items())

    def rounds(self, value: Any, what: str) -> tuple[str, ...]:
        ends = _listed(value)
        if len(ends) not in (1, 2) or not all(isinstance(end, str) for end in ends):
            raise self.bad(f"{what}: rounds must be a number or [min, max], at most {MOST_ROUNDS}")
        return tuple(ends)

    def check_names(self, workflow: Workflow) -> None:
        """The name of a phase or step is also a view, so no two may share a name."""
        taken: set[str] = set()
        for phase in workflow.phases:
            for name in dict.fromkeys([phase.name, *(step.name for step in phase.steps)]):
                if name in taken:
                    raise self.bad(f'"{name}" names two phases or steps; each needs its own name')
                taken.add(name)
            if len({step.name for step in phase.steps}) < len(phase.steps) or not phase.steps:
                raise self.bad(f"phase {phase.name}: each step needs its own name")
        for phase, step in workflow.steps():
            for seat in step.seats:
                if isinstance(seat, str) and seat not in (known := workflow.seat_names()):
                    what = f"phase {phase.name}, step {step.name}: seats"
                    raise self.bad(f'{what}: no seat or group "{seat}"; {did_you_mean(seat, known)}')
        roles = [phase.role for phase in workflow.phases if phase.role]
        if twice := [name for name in roles if roles.count(name) > 1]:
            raise self.bad(f'two phases have the role "{twice[0]}"; only one can')
        for name in workflow.options:
            self.word(name, "options")

    def name(self, value: Any, what: str) -> str:
        if isinstance(value, str) and is_name(value):
            return value
        raise self.bad(
            f'{what}: "{value}" is not a valid name: use lowercase letters, digits and hyphens, at most {LONGEST_NAME}'
        )

    def word(self, value: Any, what: str) -> str:
        if isinstance(value, str) and WORD.fullmatch(value) and len(value) <= LONGEST_NAME:
            return value
        rule = "; write a rule with an argument as {from_round: 2}" if " " in str(value) else ""
        raise self.bad(f'{what}: "{value}" is not a valid name: use lowercase letters, digits, _ and -{rule}')

    def declared(self, words: declare.Words, name: Any, what: str) -> str:
        try:
            words.check(str(name))
        except UsageError as wrong:
            raise self.bad(f"{what}: {wrong}") from None
        return str(name)

    def known(self, keys: dict[str, Any], allowed: Iterable[str], what: str) -> None:
        for key in keys:
            if key not in allowed:
                raise self.bad(f'{what} has no key "{key}"; {did_you_mean(key, allowed)}')

    def need(self, keys: dict[str, Any], key: str, what: str, kind: type) -> Any:
        if key not in keys:
            raise self.bad(f'{what} needs the key "{key}"')
        return self.typed(keys[key], kind, f"{what}: {key}")

    def typed(self, value: Any, kind: type, what: str) -> Any:
        if not isinstance(value, kind):
            shapes = {dict: "keys with values", list: "a list", str: "a word or text", bool: "true or false"}
            raise self.bad(f"{what} must be {shapes[kind]}")
        return value

    def bad(self, why: str) -> UsageError:
        return UsageError(f"{self.where}: {why}")


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _option(text: str) -> bool:
    return re.fullmatch(r"[\w-]+(?: [\w-]+)*", text) is not None
