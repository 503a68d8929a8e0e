"""Checks every name in a workflow: rules, orders, views, answers, options, tiers, prompts and seats."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from council.checks.reachability import can_match, describe_type, find_unreachable, list_phases
from council.checks.seats import find_seat_faults
from council.engine.conditions import judge, rule
from council.engine.orders import order
from council.engine.planner import ENDED, ENDED_BY_CAP
from council.engine.positions import find_inner, list_answers, list_named, list_places
from council.engine.scene import Scene
from council.engine.views import check_view, inner_views, look, view
from council.errors import UsageError
from council.speakers import registry
from council.text import did_you_mean
from council.workflow import checking, declare, limits
from council.workflow.model import (
    AllOf,
    AnyOf,
    Cast,
    Condition,
    Kind,
    Not,
    Phase,
    Ref,
    Seat,
    Step,
    Workflow,
)
from council.workflow.registry import CheckedHook

TYPES = {
    "choice": "a choice (agree | disagree)", "range": "a range (0-100)",
    "integer": "an integer", "list": "a list", "text": "a text",
}  # fmt: skip


@dataclass(frozen=True)
class Known:
    """The names that exist outside the workflow. None means that they are not checked."""

    tiers: Collection[str] | None = None
    prompts: Collection[str] | None = None
    personas: Collection[str] | None = None
    speakers: Collection[str] | None = None
    documents: Collection[str] | None = None
    benches: Collection[str] | None = None


def lint(workflow: Workflow, known: Known = Known()) -> list[str]:
    """Every problem of a workflow, in one sentence each."""
    return [f"{workflow.name}: {problem}" for problem in _Lint(workflow, known).problems()]


def check(workflow: Workflow, known: Known = Known()) -> Workflow:
    """Return the workflow, or raise UsageError with all its problems."""
    if problems := lint(workflow, known):
        raise UsageError("\n".join(problems))
    return workflow


class _Lint:
    def __init__(self, workflow: Workflow, known: Known) -> None:
        self.workflow = workflow
        self.known = known
        self.scene = Scene("", workflow.options, workflow.groups, roles=workflow.roles)
        self.places = list_places(workflow)
        self.answers: dict[str, list[Kind]] = {}
        for name, kind in (answer for _, step in workflow.steps() for answer in step.reply):
            self.answers.setdefault(name, []).append(kind)

    def problems(self) -> Iterator[str]:
        yield from self.refused(partial(limits.check, self.workflow.options), "options")
        for outcome, condition in self.workflow.halt:
            yield from self.condition(condition, f"halt: {outcome}")
        for phase in self.workflow.phases:
            yield from self.phase(phase)
        for name in sorted(self.places & set(view.known)):
            yield f'"{name}" is a phase or step, and also a view; give the phase or step another name'
        if self.workflow.document and self.known.documents is not None:
            kind, place = self.workflow.document.kind, f".council/templates/{self.workflow.name}/"
            yield from self.named(kind, self.known.documents, "document: kind", f"write {place}{kind}.md.j2")
        for part, name in self.workflow.document_answers.items():
            yield from self.named(name, self.answers, f"document: {part}: the answer")
        yield from self.seats()
        yield from find_unreachable(self.workflow)
        for function in checking.check.known.values():
            yield from function(self.workflow)

    def seats(self) -> Iterator[str]:
        for seat in self.workflow.all_seats():
            if seat.speaker is None:
                write = f'write a section "## {seat.persona}" into .council/AgentPersonalities.md'
                yield from self.named(seat.persona, self.known.personas, f"seat {seat.name}: persona", write)
            if seat.speaker is not None:
                yield from self.named(seat.speaker, self.known.speakers, f"seat {seat.name}: speaker")
            if "tier" in seat.attributes:
                yield from self.named(str(seat.attributes["tier"]), self.known.tiers, f"seat {seat.name}: tier")
        yield from find_seat_faults(self.workflow, self.known.benches)

    def phase(self, phase: Phase) -> Iterator[str]:
        if phase.when is not None:
            yield from self.condition(phase.when, f"phase {phase.name}: when")
        for outcome, condition in phase.until:
            yield from self.condition(condition, f"phase {phase.name}: until: {outcome}")
        for step in phase.steps:
            yield from self.step(step, f"phase {phase.name}, step {step.name}")

    def step(self, step: Step, what: str) -> Iterator[str]:
        if step.when is not None:
            yield from self.condition(step.when, f"{what}: when")
        yield from self.refused(partial(self.order, step), f"{what}: order")
        yield from self.sources(order, step.order, f"{what}: order")
        yield from self.named_places(order, step.order, f"{what}: order")
        for ref in step.sees:
            yield from self.refused(partial(self.view, ref), f"{what}: sees")
            yield from self.named_places(view, ref, f"{what}: sees")
        for cast in step.seats:
            if isinstance(cast, Cast):
                yield from self.cast(cast, what)
        yield from self.named(step.tier, self.known.tiers, f"{what}: tier")
        yield from self.prompt(step, what)
        for name, kind in step.reply:
            word = declare.answer.known.get(name)
            if word and word.types and kind.type not in word.types:
                types = " or ".join(TYPES.get(type_, f"of the type {type_}") for type_ in word.types)
                yield f"{what}: reply: {name}: the program reads it, so it must be {types}"

    def prompt(self, step: Step, what: str) -> Iterator[str]:
        if step.prompt not in self.workflow.tasks and registry.needs_prompt(self.workflow, step):
            path = f".council/templates/{self.workflow.name}/{step.prompt}.md.j2"
            write = f'write {path}, or a section "## {step.prompt}" below a heading "# Prompts" at the end of this file'
            yield from self.named(step.prompt, self.known.prompts, f"{what}: prompt", write)

    def order(self, step: Step) -> None:
        order.check(step.order)
        order.call(step.order, self.workflow.seats(name for name in step.seats if isinstance(name, str)), self.scene)

    def view(self, ref: Ref) -> None:
        check_view(ref, self.places)
        look([ref], Seat("", ""), self.scene)

    def cast(self, cast: Cast, what: str) -> Iterator[str]:
        for source in filter(None, (cast.source, cast.without)):
            yield from self.asked_for(source, f"{what}: seats")

    def asked_for(self, source: tuple[str, str], what: str) -> Iterator[str]:
        answers = {name for _, step in self.workflow.steps() if step.name == source[0] for name, _ in step.reply}
        if source[1] not in answers:
            yield f'{what}: no step "{source[0]}" asks for "{source[1]}"'

    def sources(self, hook: CheckedHook[Any, Any], ref: Ref, what: str) -> Iterator[str]:
        """Check answers that a rule or an order names with their step, as in analyze.perspectives."""
        for name in hook.traits(ref.name).sources:
            if len(source := str(hook.arguments(ref).get(name) or "").split(".")) == 2:
                yield from self.asked_for((source[0], source[1]), f"{what}: {ref.name}: {name}")

    def named_places(self, hook: CheckedHook[Any, Any], ref: Ref, what: str) -> Iterator[str]:
        """Check the phases and steps that a rule, an order or a view names in its arguments, as in {passes: trial}."""
        for name in list_named(hook, ref):
            yield from self.named(name, self.places, f"{what}: {ref.name}: the phase or step")
        for inner in inner_views(ref) if hook is view else ():
            yield from self.named_places(view, inner, what)

    def condition(self, condition: Condition, what: str) -> Iterator[str]:
        if isinstance(condition, Not):
            yield from self.condition(condition.of, what)
        elif isinstance(condition, (AnyOf, AllOf)):
            for one in condition.of:
                yield from self.condition(one, what)
        else:
            yield from self.refused(partial(self.rule, condition), what)
            for ref in (condition, *find_inner(condition)):
                yield from self.sources(rule, ref, what)
                yield from self.named_places(rule, ref, what)
            yield from self.fields(condition, what)

    def rule(self, ref: Ref) -> None:
        """Try a rule on an empty scene, so that it refuses arguments that it cannot read."""
        rule.check(ref)
        judge(ref, self.scene)

    def fields(self, ref: Ref, what: str) -> Iterator[str]:
        for name, wanted in list_answers(ref).items():
            yield from self.named(name, self.answers, f"{what}: {ref.name}: the answer")
            yield from self.values(name, wanted, f"{what}: {ref.name}: {name}")
        for phase, outcomes in list_phases(ref).items():
            yield from self.named(phase, self.outcomes, f"{what}: {ref.name}: the phase")
            for wanted in _listed(outcomes) if phase in self.outcomes else ():
                yield from self.named(str(wanted), self.outcomes[phase], f"{what}: {ref.name}: {phase}: the outcome")

    def values(self, name: str, wanted: Any, what: str) -> Iterator[str]:
        """Refuse a value that no reply can have."""
        kinds = self.answers.get(name, [])
        options = {option for kind in kinds for option in kind.options}
        for one in _listed(wanted) if wanted is not None and kinds else ():
            if any(can_match(kind, one) for kind in kinds):
                continue
            if options:
                yield f'{what}: "{one}" is not one of its options; {did_you_mean(str(one), options)}'
            else:
                yield f'{what}: "{one}" can never be the answer, which is {describe_type(kinds[0])}'

    def named(self, name: str, known: Collection[str] | None, what: str, otherwise: str = "") -> Iterator[str]:
        """Refuse an unknown name. `otherwise` is what to do if it is not a typo."""
        if known is not None and name not in known:
            guess = did_you_mean(name, known)
            advice = f"{guess if guess.endswith('?') else guess + '.'} Otherwise {otherwise}" if otherwise else guess
            yield f'{what} "{name}" does not exist; {advice}'

    @property
    def outcomes(self) -> dict[str, set[str]]:
        """The possible outcomes of each phase. Those of `halt` are not among them, because they end the debate."""
        usual = {"any", ENDED, ENDED_BY_CAP}
        return {phase.name: usual | {outcome for outcome, _ in phase.until} for phase in self.workflow.phases}

    def refused(self, attempt: Callable[[], None], what: str) -> Iterator[str]:
        try:
            attempt()
        except UsageError as refusal:
            yield f"{what}: {refusal}"


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
