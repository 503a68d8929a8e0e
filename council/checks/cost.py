"""Estimates and bounds the calls, tokens and price of a debate from its workflow alone.

The maximum is a bound under these assumptions: prose has at least `BYTES_A_TOKEN` bytes per token (what is given to a
debate may be anything, up to a token a byte), custom templates are no longer than the kit's, a reply casts at most
`MOST_CAST` seats, and people grant no rounds and write no more than a model may. Failed calls are not included, because
no receipt says what they cost.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from council.checks.reachability import find_first_round
from council.checks.sizes import History, Size, bound_tokens
from council.config.models import Model, limit_tokens
from council.engine.conditions import OPTIONS, judge, rule
from council.engine.orders import order
from council.engine.positions import find_refs
from council.engine.scene import Scene
from council.protocols.casting import MOST_CAST
from council.protocols.concerns import MOST_TOKENS
from council.speakers import registry
from council.text import TOKENS_A_WORD
from council.workflow import limits
from council.workflow.model import (
    Cast,
    Condition,
    Phase,
    Seat,
    Step,
    Workflow,
)

FRAME = 700  # rules, task, persona and format of a brief, usually
MOST_FRAME = 1600  # the maximum, without the persona, which is counted separately
MARKS = 100  # heading and marks around a turn in a brief
SCORE = 20  # a seat and its score, in a brief's history of scores
ANSWERS = 80  # the headings and short answers below a reply
USUAL_WORDS = 200
NOTHING = Size()
RUN, MOST_RUN = 600, 24_000  # what a machine says: its answers, the names of its tests, and the end of a log


@dataclass(frozen=True)
class Rates:
    """A tier's price per million tokens (None if unknown), and the maximum tokens of a reply."""

    model: str
    input: float | None
    output: float | None
    max_tokens: int
    cache_write: float = 0.0
    long_over: int | None = None
    long_input: float = 0.0
    long_output: float = 0.0
    effort: str | None = None

    @classmethod
    def of(cls, model: Model) -> Rates:
        price = model.price
        if price is None:
            return cls(model.name, None, None, model.max_tokens, effort=model.effort)
        long = (price.long_over, price.long_input, price.long_output)
        return cls(model.name, price.input, price.output, model.max_tokens, price.cache_write, *long, model.effort)

    def usd(self, prompt: int, output: int) -> float | None:
        """The price of a call that neither reads nor writes the cache."""
        if self.input is None or self.output is None:
            return None
        return (prompt * self.input + output * self.output) / 1_000_000

    def most_usd(self, prompt: int, output: int) -> float | None:
        """The maximum price of a call: its prompt is written to the cache, and a long one costs extra."""
        if self.input is None or self.output is None:
            return None
        long = self.long_over is not None and prompt > self.long_over
        per_input = max(self.input, self.cache_write, self.long_input if long else 0.0)
        per_output = max(self.output, self.long_output if long else 0.0)
        return (prompt * per_input + output * per_output) / 1_000_000


@dataclass(frozen=True)
class Row:
    """The bounds of one step. `again` counts calls that unreadable replies could add; `bound` is the maximum price,
    `usd` the usual one in the most rounds, and `likely` that in the fewest.

    `runs` are turns of machines: no calls, and free.
    """

    phase: str
    step: str
    least: int
    most: int
    again: int
    input: int
    output: int
    usd: float | None
    bound: float | None
    most_input: int
    most_output: int
    runs: int = 0
    likely: float | None = None


@dataclass(frozen=True)
class DebateCost:
    """The calls, tokens and US dollars that a debate took, or their maximum; None is unknown.

    `cached` is the part of `input` that was read from the API's cache, `failed` the number of calls that gave no reply,
    and `at_least` the known part of `usd`. A maximum has a `likely` sum too: every step, in the fewest rounds, with
    replies of the usual length.
    """

    calls: int
    input: int | None
    output: int | None
    usd: float | None
    cached: int = 0
    failed: int = 0
    at_least: float = 0.0
    likely: float | None = None

    def times(self, number: int) -> DebateCost:
        """What that many of them can cost."""
        usd, likely = (one if one is None else one * number for one in (self.usd, self.likely))
        return replace(self, calls=self.calls * number, usd=usd, likely=likely)

    def within(self, most: DebateCost) -> bool:
        pairs = ((self.calls, most.calls), (self.input, most.input), (self.output, most.output), (self.usd, most.usd))
        return all(taken is None or limit is None or taken <= limit for taken, limit in pairs)


def sum_bounds(rows: Iterable[Row]) -> DebateCost:
    """The bounds of all phases together, if every reply is asked for twice."""
    rows = list(rows)
    usd = _total(row.bound for row in rows)
    calls = sum(row.most + row.again for row in rows)
    sent, received = sum(row.most_input for row in rows), sum(row.most_output for row in rows)
    return DebateCost(calls, sent, received, usd, likely=_total(row.likely for row in rows))


def sum_usual(rows: Iterable[Row]) -> DebateCost:
    """The usual totals of all phases together, if none is skipped."""
    rows = list(rows)
    calls, sent, received = (sum(getattr(row, name) for row in rows) for name in ("most", "input", "output"))
    return DebateCost(calls, sent, received, _total(row.usd for row in rows))


def format_usage(taken: DebateCost, most: DebateCost | None = None) -> str:
    """One line, with each figure and its bound. A bound that was exceeded (people can grant rounds) is left out."""
    if most is not None and not taken.within(most):
        most = None
    calls, tokens = f"{taken.calls} call{'' if taken.calls == 1 else 's'}", f"{format_count(taken.input)} tokens in"
    usd = f"cost {format_dollars(taken.usd)}"
    if taken.usd is None and taken.at_least:
        usd += f" (at least {format_dollars(taken.at_least)})"
    if most is not None:
        calls, tokens = f"{calls} of at most {most.calls}", f"{tokens} of at most {format_count(most.input)}"
        usd += f" ({format_bounds(most)})" if most.usd is not None else ""
    failed = f" and {taken.failed} that failed" if taken.failed else ""
    cached = f" ({taken.cached:,} from the cache)" if taken.cached else ""
    return f"{calls}{failed}, {tokens}{cached}, {format_count(taken.output)} out, {usd}"


def format_bounds(most: DebateCost) -> str:
    """The likely sum beside the maximum, which no debate comes near: every reply would be as long as it may."""
    if most.usd is None:
        return "at an unknown price"
    likely = f"likely {format_likely(most.likely)}, " if most.likely is not None else ""
    return f"{likely}at most {format_most(most.usd)}"


def format_most(usd: float | None) -> str:
    """A maximum, rounded up to whole cents."""
    return "an unknown sum" if usd is None else f"${math.ceil(round(usd * 100, 6)) / 100:.2f}"


def format_likely(usd: float) -> str:
    return f"${usd:.2f}" if usd >= 0.005 or not usd else "less than $0.01"


def format_count(tokens: int | None) -> str:
    return "unknown" if tokens is None else f"{tokens:,}"


def format_dollars(usd: float | None) -> str:
    return "unknown" if usd is None else f"${usd:.4f}"


def bound_steps(workflow: Workflow, topic: str, rates: Mapping[str, Rates], more: Size = NOTHING) -> list[Row]:
    """One row per step: its calls, its usual tokens and price, and the bounds. `topic` has all that was given to the
    debate, but for what is not known yet, of which `more` is the size."""
    given = Size.of(topic) + more
    rows = list(_bound_steps(workflow, given, rates))
    if all(phase.max_rounds == phase.min_rounds for phase in workflow.phases):
        return [replace(row, likely=row.usd) for row in rows]
    shortest = replace(workflow, phases=tuple(replace(phase, max_rounds=phase.min_rounds) for phase in workflow.phases))
    fewest = _bound_steps(shortest, given, rates)
    return [replace(row, likely=few.usd) for row, few in zip(rows, fewest, strict=True)]


def _bound_steps(workflow: Workflow, given: Size, rates: Mapping[str, Rates]) -> Iterator[Row]:
    history = History(workflow)
    for phase in workflow.phases:
        if phase.when is not None and is_off(phase.when, workflow):
            continue
        calls = list(_calls(workflow, phase, given, history, rates))
        for step in phase.steps:
            yield _row(phase.name, step.name, [call for call in calls if call.step == step.name])


def is_off(condition: Condition, workflow: Workflow) -> bool:
    """Whether options alone decide a condition, and it does not hold."""
    return _is_settled(condition) and not judge(condition, Scene("", workflow.options, workflow.groups))


def _is_settled(condition: Condition | None) -> bool:
    return condition is None or all(rule.traits(ref.name).further == OPTIONS for ref in find_refs(condition))


@dataclass(frozen=True)
class Call:
    """One call for one seat: its usual tokens, and the bounds."""

    step: str
    rate: Rates
    sure: bool
    again: bool
    input: int
    output: int
    most_input: int
    run: bool = False  # a machine's turn, which is not a call


def _row(phase: str, step: str, calls: list[Call]) -> Row:
    runs = sum(call.run for call in calls)
    calls = [call for call in calls if not call.run]
    usual = [call for call in calls if not call.again]
    return Row(
        phase=phase,
        step=step,
        least=sum(call.sure for call in usual),
        most=len(usual),
        again=len(calls) - len(usual),
        input=sum(call.input for call in usual),
        output=sum(call.output for call in usual),
        usd=_total(call.rate.usd(call.input, call.output) for call in usual),
        bound=_total(call.rate.most_usd(call.most_input, call.rate.max_tokens) for call in calls),
        most_input=sum(call.most_input for call in calls),
        most_output=sum(call.rate.max_tokens for call in calls),
        runs=runs,
    )


def _total(prices: Iterable[float | None]) -> float | None:
    """The sum; None if any price is unknown."""
    total = 0.0
    for price in prices:
        if price is None:
            return None
        total += price
    return total


def _calls(
    workflow: Workflow, phase: Phase, topic: Size, history: History, rates: Mapping[str, Rates]
) -> Iterator[Call]:
    for round in range(1, phase.max_rounds + 1):
        asked = [ref for _, condition in phase.until for ref in find_refs(condition)]
        quotes = round > 1 and any(rule.traits(ref.name).quoted for ref in asked)
        quoted = sum(history.sizes.values(), topic).max_ if quotes else 0
        for step in phase.steps:
            if step.when is not None and round < find_first_round(step.when):
                continue
            sure = round <= phase.min_rounds and step.when is None and _is_settled(phase.when)
            seats = _seats(workflow, step)
            optional = history.may_leave_out(step, seats)
            whole = [rates[str(seat.attributes.get("tier") or step.tier)] for seat in seats]
            rated = [_limit_tokens(workflow, phase, step, seat, rate) for seat, rate in zip(seats, whole, strict=True)]
            sizes = [_bound_turn(workflow, step, seat, rate) for seat, rate in zip(seats, rated, strict=True)]
            added = bound_tokens(workflow.tasks.get(step.prompt, "")) + SCORE * history.scores(phase)
            added += MOST_TOKENS if history.has_concerns() else 0
            for seat, rate, full, size in zip(seats, rated, whole, sizes, strict=True):
                heard = topic + history.heard(phase, step, round, seat)
                others = 0 if order.traits(step.order.name).parallel else sum(sizes, Size()).max_ - size.max_
                longest = heard.max_ + others + quoted + added + _bound_frame(workflow, seat, full)
                call = Call(step.name, rate, sure and seat.name not in optional, False, FRAME + heard.usual, 0, longest)
                yield from _turn(workflow, step, seat, call)
            history.spoke(phase, step, round, zip(seats, sizes, strict=True))


def _bound_turn(workflow: Workflow, step: Step, seat: Seat, rate: Rates) -> Size:
    """The size of what a seat says, with the marks around it in a brief."""
    if registry.machine_of(seat):
        return Size(RUN, MOST_RUN + MARKS)
    return Size(estimate_reply(workflow, step), rate.max_tokens + MARKS)


def _limit_tokens(workflow: Workflow, phase: Phase, step: Step, seat: Seat, rate: Rates) -> Rates:
    """The rate with the seat's own limit for one reply, if it has one."""
    share = limits.bound_reply(workflow, phase.steps, step, seat)
    return replace(rate, max_tokens=limit_tokens(share, rate.max_tokens, rate.effort))


def _turn(workflow: Workflow, step: Step, seat: Seat, call: Call) -> Iterator[Call]:
    """The calls of one turn, including a second one after an unreadable reply. People and machines take none."""
    if registry.machine_of(seat):
        yield replace(call, run=True)
    if seat.is_person or registry.machine_of(seat):
        return
    usual = min(estimate_reply(workflow, step), call.rate.max_tokens)
    yield replace(call, sure=call.sure and seat.group != CAST_GROUP, output=usual)
    if step.reply or seat.gives:
        longer = call.most_input + call.rate.max_tokens + MARKS
        yield Call(step.name, call.rate, sure=False, again=True, input=0, output=0, most_input=longer)


CAST_GROUP = "<cast>"  # no workflow can have a group of that name


def _seats(workflow: Workflow, step: Step) -> list[Seat]:
    """The seats that may speak in a step, with placeholders for those that a reply casts."""
    casting = {one.source[0] for _, other in workflow.steps() for one in other.seats if isinstance(one, Cast)}
    may_be_cast = [Seat(f"cast-{number}", name) for name in casting for number in range(MOST_CAST)]
    named = workflow.seats((name for name in step.seats if isinstance(name, str)), may_be_cast)
    cast = any(isinstance(one, Cast) for one in step.seats)
    return [*named, *(Seat(f"cast-{number}", CAST_GROUP) for number in range(MOST_CAST if cast else 0))]


def _bound_frame(workflow: Workflow, seat: Seat, rate: Rates) -> int:
    """The maximum size of a brief without the topic and the turns. A cast seat's description comes from a reply."""
    persona = "".join(str(value) for value in seat.attributes.values())
    labels = "".join(member.label for member in workflow.table)
    return MOST_FRAME + bound_tokens(persona + labels) + (rate.max_tokens if seat.group == CAST_GROUP else 0)


def estimate_reply(workflow: Workflow, step: Step) -> int:
    _, _, high = str(workflow.options.get(limits.WORDS, "")).partition("-")
    words = int(high) if high.isdigit() else USUAL_WORDS
    return int(words * TOKENS_A_WORD) + ANSWERS * bool(step.reply)
