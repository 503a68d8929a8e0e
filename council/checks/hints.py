"""Hints about what is valid but probably unintended: an option that nothing reads, a group that never speaks."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from council.checks.reachability import list_phases, list_tree_words, list_views
from council.engine.conditions import rule
from council.engine.positions import bound_rounds, find_conditions, find_refs, list_answers
from council.engine.views import view
from council.protocols.dissent import SYNTHESIS
from council.protocols.stances import AGREE, DISAGREE, STANCE
from council.workflow import declare
from council.workflow.model import HUMAN, Kind, Phase, Step, Workflow


def find_hints(workflow: Workflow, read: Collection[str] | None = None) -> list[str]:
    """Every hint, in one sentence each. `read` are the options that the templates read; None if that is not known."""
    hints = [
        *_seats(workflow),
        *_trees(workflow),
        *_rounds(workflow),
        *_votes(workflow),
        *_people(workflow),
        *_answers(workflow),
        *_prompts(workflow),
    ]
    hints += _options(workflow, read) if read is not None else []
    asked = [name for _, step in workflow.steps() for name, _ in step.reply]
    concluded = workflow.benches or declare.answer.concludes(asked)  # where code is tried, the code is the result
    if not workflow.role(SYNTHESIS) and not concluded:
        hints.append(
            f"no phase has the role {SYNTHESIS}, so there is no synthesis.md; add it to the phase that sums up"
        )
    return hints


def _options(workflow: Workflow, read: Collection[str]) -> Iterator[str]:
    """An option should be read by a rule, an order, a view, the rounds, a seat, a template, or the program itself."""
    used = {*read, *declare.option.known, *(end for phase in workflow.phases for end in phase.rounds)}
    used |= workflow.benches
    asked = [ref for _, condition in find_conditions(workflow) for ref in find_refs(condition)]
    for ref in (*asked, *(ref for _, step in workflow.steps() for ref in (step.order, *step.sees))):
        used |= {*_words(ref.args), *(word.lstrip("<>= ") for word in _words(ref.written))}
    used |= {str(value) for seat in workflow.all_seats() for value in seat.attributes.values()}
    for name in workflow.options:
        if name not in used:
            yield f"options: {name}: nothing reads it; use it in a rule, {{option: {name}}}, or remove it"


def _words(args: Any) -> Iterator[str]:
    if isinstance(args, dict):
        yield from (word for pair in args.items() for one in pair for word in _words(one))
    elif isinstance(args, list):
        yield from (word for one in args for word in _words(one))
    else:
        yield str(args)


def _seats(workflow: Workflow) -> Iterator[str]:
    named = {name for _, step in workflow.steps() for name in step.seats if isinstance(name, str)}
    spoken = {seat.name for seat in workflow.declared_seats(named)}
    for group, seats in workflow.groups.items():
        if group not in named and not spoken & {seat.name for seat in seats}:
            yield (
                f"seats: {group}: no step seats this group, so it speaks only with `--only {group}`; name it in the "
                f"`seats` of a step"
            )


def _trees(workflow: Workflow) -> Iterator[str]:
    """Words for trees say nothing without a seat that is under another. A cast seat is under the one that cast it."""
    if workflow.casting() or any(seat.under for seat in workflow.all_seats()):
        return
    for phase, step in workflow.steps():
        for name in list_tree_words(step):
            yield (
                f"phase {phase.name}, step {step.name}: {name}: no seat is under another; give seats the key "
                f"`under`, as in {{engineer: {{under: architect}}}}"
            )


def _rounds(workflow: Workflow) -> Iterator[str]:
    """An `until` ends nothing in a single round, but it may count a vote or give an outcome that a rule reads."""
    every = [ref for _, condition in find_conditions(workflow) for ref in find_refs(condition)]
    asked = {name for ref in every for name in list_phases(ref)}
    for phase in workflow.phases:
        counts = any(rule.traits(ref.name).informs for _, condition in phase.until for ref in find_refs(condition))
        named = phase.gates or phase.name in asked or len(phase.until) > 1  # then it is there for its outcomes
        if phase.until and bound_rounds(phase) == 1 and phase.rounds == ("1",) and not named and not counts:
            yield f"phase {phase.name}: until: there is only one round, so it ends nothing; write `rounds: [1, 3]`"


def _votes(workflow: Workflow) -> Iterator[str]:
    """A vote on free text cannot work: no two seats use the same words, so every answer is a separate option."""
    replies = [answer for _, step in workflow.steps() for answer in step.reply]
    free = {name for name, _ in replies} - {name for name, kind in replies if kind.type not in ("text", "code")}
    asked = [(place, ref) for place, condition in find_conditions(workflow) for ref in find_refs(condition)]
    for place, ref in asked:
        listed = list_answers(ref) if rule.traits(ref.name).equal else {}
        for name in (name for name, options in listed.items() if name in free and not options):
            why = "is free text, and no two seats write the same words"
            yield f"{place.what}: {ref.name}: {name} {why}; make it a choice, as in `{name}: a | b | c`"


def _people(workflow: Workflow) -> Iterator[str]:
    """What a person says should have an effect: an answer that a rule reads, or a turn that a later step sees."""
    order = list(workflow.steps())
    for number, (phase, step) in enumerate(order):
        heard = any(_sees(later, phase, step) for later in _later(order, number))
        if HUMAN in step.seats and not step.reply and not heard:
            yield (
                f"phase {phase.name}, step {step.name}: a person is asked, but nothing uses the answer; give the step "
                f"a `reply` that a rule reads, or let a later step see it"
            )


def _later(order: list[tuple[Phase, Step]], number: int) -> Iterator[Step]:
    """The steps that may come after a step: those below it, and all steps of its phase if that repeats."""
    own = order[number][0]
    yield from (
        step for place, (phase, step) in enumerate(order) if place > number or (phase is own and bound_rounds(own) > 1)
    )


def _sees(step: Step, phase: Phase, earlier: Step) -> bool:
    return any(name in (*view.with_trait("everyone"), phase.name, earlier.name) for name in list_views(step.sees))


def _answers(workflow: Workflow) -> Iterator[str]:
    for phase, step in workflow.steps():
        stance = dict(step.reply).get(STANCE, Kind("text"))
        missing = [word for word in (AGREE, DISAGREE) if word not in stance.options]
        if stance.type == "choice" and len(missing) == 1:  # without both, the stance answers the question itself
            yield (
                f"phase {phase.name}, step {step.name}: reply: stance: {missing[0]} is not an option, but the "
                f"convergence check counts agree and disagree"
            )


def _prompts(workflow: Workflow) -> Iterator[str]:
    used = {step.prompt for _, step in workflow.steps()}
    for name, text in workflow.tasks.items():
        if name not in used:
            yield f'the section "{name}" below "Prompts" is not used by any step; known: {", ".join(sorted(used))}'
        if "{{" in text or "{%" in text:
            yield f'the section "{name}" below "Prompts" is printed unchanged; to fill in values, write a template'
