"""The text of `council next`: the turns that are due, and one line on the round before them; or how the debate ended.

An assistant follows it, so it is short, and nothing in it was written by a member but what its seat is called.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from council.config import command_line
from council.engine.planner import Due, Plan
from council.protocols import outcome
from council.protocols.stances import SCORE, STANCE
from council.record import chain, files
from council.record.session import Session
from council.reports import filing, tally, transcript, verdict
from council.runner import manual, portable, subagents
from council.runner.manual import ManualState
from council.speakers import registry
from council.speakers.assistant import handouts
from council.speakers.base import Brief
from council.text import one_line
from council.workflow.model import Seat

LONGEST_LABEL = 40
NAMES = (LONGEST_LABEL, 24, 12)  # characters: many long names are cut shorter, so that the text stays SHORT
SHORT = 2_000  # bytes: what assistants show of the output of a command in any case
LONGEST_SENTENCE = 400
NOT_IN_A_NAME = re.compile(r"[^\w ()'’.,&/+-]+")
CONFIDENCE = re.compile(r"high|medium|low|\d{1,3}\s?%?")
OVER = "Nothing is due: the debate is over."


def describe(found: Session, state: ManualState) -> str:
    """What to do next. The turns must have been read."""
    if state.plan.done:
        return "\n".join(_describe_end(found, state))
    texts = [_describe_due(found, state, width) for width in NAMES]
    return next((text for text in texts if len(text.encode()) < SHORT), texts[0])


def _describe_due(found: Session, state: ManualState, width: int) -> str:
    flying = subagents.find_in_flight(found)
    own = [one for one, _ in state.due if registry.machine_of(one.seat)]
    due = [(one, brief) for one, brief in state.due if one.id not in flying and one not in own]
    lines = [_line(found, one, brief, name_of(one.seat, width)) for one, brief in due]
    parts = ["\n".join([_head(found, [one for one, _ in due]), "", *lines])] if due else []
    if asked := [name_of(one.seat, width) for one, _ in state.due if one.id in flying]:
        parts.append(f"Asked already, wait for them: {', '.join(asked)}")
    if own:
        parts.append(f"Council itself is next. Run `{command_line.program()} next {found.id}`: it may take a minute.")
    parts += [closed] if (closed := describe_round(found, state.plan)) else []
    return "\n\n".join(parts)


def name_of(seat: Seat, width: int = LONGEST_LABEL) -> str:
    """What a seat is called, short and without anything that could be taken for a part of the line: a moderator may
    have chosen the name."""
    return one_line(NOT_IN_A_NAME.sub(" ", seat.label), width) or seat.name


def _head(found: Session, due: Sequence[Due]) -> str:
    agents = {subagents.agent_of(one) for one in due}
    agent = agents.pop() if len(agents) == 1 else f"{subagents.AGENT}member"
    where = f"(agent {agent}, if you have it):"
    if len(due) == 1:
        return f"1 turn is due in {found.id}. Ask it in a context of its own {where}"
    return f"{len(due)} turns are due in {found.id}. Ask all of them at once, each in a context of its own {where}"


def _line(found: Session, due: Due, brief: Brief, name: str) -> str:
    if due.of_a_person:
        asked = (f"  {answer}: {allowed}" for answer, allowed in manual.list_answers(due).items())
        fetch = f"{command_line.program()} brief {found.id} {due.id}"
        itself = f"{command_line.program()} answer {found.id}"
        shown = f"- {name}: a person answers. `{fetch}` is what to show them; or they run `{itself}`"
        return "\n".join([shown, *asked, f"  {manual.record_command(found, due)}"])
    model = subagents.alias_of(brief.model) or "-".join(brief.model.name.split())
    age = handouts.read_age(found.folder, due.id)
    given = "" if age is None else f" (handed out {format_age(age)} ago)"
    return f"- {name}{given}: model {model}, prompt: {portable.format_sentence(found, due.id)}"


def format_age(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{seconds:.0f} s" if seconds < 100 else f"{minutes} min" if minutes < 100 else f"{minutes // 60} h"


# ---- the round that has closed ----


def describe_round(found: Session, plan: Plan) -> str:
    """One line on the newest closed round; empty before there is one."""
    if not (closed := outcome.number_rounds(plan)):
        return ""
    (phase, number), last = [*closed.items()][-1]
    place = files.tilde(found.folder / f"round-{last}.md")
    facts = [place, _count(plan, phase, number), _describe_convergence(plan)]
    return f"Round {last} ({phase}) is closed: {' · '.join(filter(None, facts))}"


def _count(plan: Plan, phase: str, number: int) -> str:
    """`2 agree, 1 mixed, 1 absent`, or the scores."""
    turns = outcome.turns_of(plan, phase, number)
    asked = next((name for name in (STANCE, SCORE) for turn in turns if name in turn.asked), "")
    turns = [turn for turn in turns if asked in turn.asked] if asked else turns
    silent = Counter("absent" if turn.absent else "unreadable" for turn in turns if asked not in turn.answers)
    if asked == SCORE:
        scores = [turn.answers[SCORE] for turn in turns if SCORE in turn.answers]
        said = [f"satisfaction {min(scores):g} to {max(scores):g}"] if scores else []
    else:
        counts = Counter(str(turn.answers[STANCE]) for turn in turns if STANCE in turn.answers)
        said = [f"{number} {one_line(stance, LONGEST_LABEL)}" for stance, number in counts.most_common()]
    if not asked:
        silent, said = Counter({"absent": silent["absent"]}), [f"{len(turns) - silent['absent']} spoke"]
    return ", ".join([*said, *(f"{number} {why}" for why, number in silent.items() if number)])


def _describe_convergence(plan: Plan) -> str:
    if (facts := outcome.convergence(plan)) is None:
        return "not checked for convergence yet"
    ending = one_line(str(facts["outcome"]), LONGEST_LABEL)
    return f"{'converged' if facts['converged'] else 'not converged'}: {ending}"


# ---- the end ----


def _count_unproven(found: Session) -> str:
    """`3 turns recorded by: member, 1 entered by hand`"""
    receipts = found.receipts.values()
    members, hand = sum(map(registry.is_from_member, receipts)), sum(map(registry.typed_in, receipts))
    counts = ((members, "recorded by: member"), (hand, "entered by hand"))
    return ", ".join(f"{number} turn{'s' if number > 1 else ''} {how}" for number, how in counts if number)


def _describe_end(found: Session, state: ManualState) -> Iterator[str]:
    plan = state.plan
    result = verdict.decide(found, plan)
    yield f"**Outcome:** {result.outcome}{f' ({result.tally})' if result.tally else ''}"
    if remark := tally.preface(plan, result.path, quote=False):
        yield one_line(remark, LONGEST_SENTENCE)
    if CONFIDENCE.fullmatch(result.confidence):
        yield f"**Confidence:** {result.confidence}"
    if absent := dict.fromkeys(name_of(turn.seat) for turn in outcome.absences(plan)):
        yield f"**Degraded:** absent: {', '.join(absent)}"
    if unproven := _count_unproven(found):
        yield f"**No API receipt:** {unproven}"
    yield f"head: {chain.head(found)}"
    yield f"session: {files.tilde(found.folder)}"
    if state.archived:
        yield f"archive: {files.tilde(state.archived)}"
    yield from filter(None, filing.describe_places(found, plan).splitlines())
    yield from transcript.list_following(found, plan)
    if outcome.synthesis_body(plan):
        yield f"The synthesis: {command_line.program()} show {found.id} synthesis"
    yield OVER
