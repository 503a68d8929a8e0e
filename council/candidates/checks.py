"""What lint says of code: benches, rules that name a trial, and hidden tests that must stay hidden.

A member that saw a hidden trial, or anything that followed from one, must not write code afterwards. Views, orders and
rules can pass a result on in many ways, so these checks do not follow them: a hidden trial has to come after the last
step that writes files and after the last vote, and it runs once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from council.candidates.versions import (
    ATTACK,
    ATTACKS,
    HIDDEN,
    KINDS,
    TESTS,
    VERDICTS,
    kind_of,
    runs,
)
from council.engine.conditions import rule
from council.engine.orders import order
from council.engine.positions import bound_rounds, find_conditions, find_refs, list_answers, list_named
from council.text import did_you_mean, join_words
from council.workflow.checking import check
from council.workflow.model import Phase, Ref, Seat, Step, Workflow
from council.workflow.registry import CheckedHook

FILES = "files"


@check
def kinds_of_tests(workflow: Workflow) -> Iterator[str]:
    """`tests` of a seat names what its bench runs."""
    for seat in {seat.name: seat for seat in workflow.all_seats()}.values():
        what, kind = f"seat {seat.name}: tests", kind_of(seat)
        if kind not in KINDS:
            yield f'{what}: no bench runs "{kind}" tests; {did_you_mean(kind, KINDS)}'
        elif "tests" in seat.attributes and not runs(seat):
            yield f"{what}: only a bench runs tests; name one with `run`, or leave out `tests`"


@check
def verdicts(workflow: Workflow) -> Iterator[str]:
    """A bench is asked for a verdict, with a word for each, and nobody else is."""
    for phase, step in workflow.steps():
        what, kind = f"{_place(phase, step)}: reply", dict(step.reply).get(TESTS)
        seats = list(workflow.declared_seats(step.seats))
        benches, others = [seat for seat in seats if runs(seat)], [seat for seat in seats if not runs(seat)]
        missing = [word for word in VERDICTS if kind is None or word not in kind.options]
        if benches and missing:
            words = f"`{TESTS}: {' | '.join(VERDICTS)}`"
            yield f"{what}: the bench {benches[0].name} also says {join_words(missing)} of the tests; write {words}"
        if kind is not None and others:
            yield f"{what}: {TESTS}: only a bench says how tests went, and {others[0].name} is none; rename the answer"


@check
def trials(workflow: Workflow) -> Iterator[str]:
    """`passes` and `still` name a step in which benches try candidates; `dry` needs attacks, and benches for them."""
    names = {name for phase, step in workflow.steps() for name in (phase.name, step.name)}
    tried = set(_find_tried(workflow, lambda seat: bool(seat.of)))
    for what, hook, ref in _list_hooks(workflow):
        for name in (name for name in list_named(hook, ref) if ref.name in ("passes", "still")):
            if name in names - tried:
                guess = did_you_mean(name, tried) if tried else "give a seat `run` and `of`"
                yield f'{what}: {ref.name}: no bench tries candidates in "{name}"; {guess}'
    attacked = set(_find_tried(workflow, lambda seat: kind_of(seat) == ATTACKS))
    for place, condition in find_conditions(workflow):
        for ref in (ref for ref in find_refs(condition) if ref.name == "dry"):
            if not any(ATTACK in dict(step.reply) for step in place.counted):
                yield f"{place.what}: {ref.name}: no step of this phase asks for `{ATTACK}: {FILES}`"
            elif not attacked.intersection(step.name for step in place.counted):
                yield f"{place.what}: {ref.name}: no bench of this phase runs attacks; add one with `tests: {ATTACKS}`"


def _find_tried(workflow: Workflow, wanted: Callable[[Seat], bool]) -> Iterator[str]:
    """The phases and steps in which such benches run."""
    for phase, step in workflow.steps():
        if any(runs(seat) and wanted(seat) for seat in workflow.declared_seats(step.seats)):
            yield from (phase.name, step.name)


def _list_hooks(workflow: Workflow) -> Iterator[tuple[str, CheckedHook[Any, Any], Ref]]:
    """Every rule and order, with its place."""
    for place, condition in find_conditions(workflow):
        yield from ((place.what, rule, ref) for ref in find_refs(condition))
    yield from ((f"{_place(phase, step)}: order", order, step.order) for phase, step in workflow.steps())


@check
def hidden_trials(workflow: Workflow) -> Iterator[str]:
    """A hidden trial runs once, after the last files and after the last vote."""
    steps = list(workflow.steps())
    elected = set(_list_elected(workflow))
    for at, (phase, step) in enumerate(steps):
        hidden = [seat for seat in workflow.declared_seats(step.seats) if runs(seat) and kind_of(seat) == HIDDEN]
        if not hidden:
            continue
        if bound_rounds(phase) > 1:
            yield f"{_place(phase, step)}: hidden tests run once, and this phase may repeat; give them their own phase"
        for later_phase, later in steps[at + 1 :] if bound_rounds(phase) == 1 else _repeated(steps, at, phase):
            what, types = _place(later_phase, later), {kind.type for _, kind in later.reply}
            if FILES in types:
                yield (
                    f'{what}: reply: it writes files after the hidden trial "{step.name}", whose result must not reach '
                    f"anyone who writes code; run hidden tests last"
                )
            if votes := [name for name, _ in later.reply if name in elected]:
                yield f'{what}: reply: {votes[0]}: it votes after the hidden trial "{step.name}"; run hidden tests last'


def _repeated(steps: list[tuple[Phase, Step]], at: int, phase: Phase) -> list[tuple[Phase, Step]]:
    """The steps that may come after one in a phase that repeats: all of its own phase too."""
    return [pair for place, pair in enumerate(steps) if place > at or (pair[0] is phase and place != at)]


def _list_elected(workflow: Workflow) -> Iterator[str]:
    """The answers that are votes."""
    for _, condition in find_conditions(workflow):
        for ref in find_refs(condition):
            if rule.traits(ref.name).chooses:
                yield from list_answers(ref)


def _place(phase: Phase, step: Step) -> str:
    return f"phase {phase.name}, step {step.name}"
