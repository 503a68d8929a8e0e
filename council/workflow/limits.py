"""Limits that a workflow's options set: the time for a round, a person and a run, and the length of replies.

This module only reads them. The runner keeps the time; the planner knows no clock.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from council.errors import UsageError
from council.workflow import declare, gates
from council.workflow.model import Cast, Phase, Seat, Step, Workflow

ROUND = declare.option("round_timeout", "seconds that all calls of a round may take; then the run pauses")
PERSON = declare.option(
    "checkpoint_timeout", "seconds to wait for a person at the terminal; then the run pauses until the answer is there"
)
RUN = declare.option("total_timeout", "seconds that all calls of one run may take; then it pauses")
TIMES = (ROUND, PERSON, RUN, gates.TIMEOUT)
BUDGET = declare.option("token_budget", "tokens that each debating seat may use in a round")
WORDS = declare.option(
    "words", "the length of a reply, as in `50-150`: prompts ask for it and `council cost` expects it"
)
UNLIMITED = ("0", "none", "unlimited")
LONGEST = 10_000_000
LEAST_BUDGET = 400
NO_LIMITS: Mapping[str, float] = {}


def read_seconds(options: Mapping[str, Any], name: str) -> float | None:
    """The value of an option in seconds; None for no limit."""
    text = str(options.get(name, "none"))
    if text == "none":
        return None
    if not re.fullmatch(r"\d{1,8}(\.\d{1,3})?", text) or not 0 < float(text) <= LONGEST:
        raise UsageError(f'{name} must be a number of seconds above 0, or none; not "{text}"')
    return float(text)


def read_patience(options: Mapping[str, Any], phase: Phase, longest: Mapping[str, float] = NO_LIMITS) -> float | None:
    """How many seconds a waiting run leaves a person for a turn of this phase; None for no limit. `longest` are the
    limits of the configuration, of which none is for a gate: there, silence is an answer."""
    name = gates.TIMEOUT if phase.gates else PERSON
    seconds = (read_seconds(options, name), longest.get(name))
    return min((one for one in seconds if one is not None), default=None)


def read_budget(options: Mapping[str, Any]) -> int | None:
    """The tokens that a debating seat may use in a round; None for no limit."""
    text = str(options.get(BUDGET, "none"))
    if text in UNLIMITED:
        return None
    if not re.fullmatch(r"\d{1,8}", text) or not 0 < int(text) <= LONGEST:
        raise UsageError(f'{BUDGET} must be a whole number of tokens, or none; not "{text}"')
    return int(text)


def check(options: Mapping[str, Any]) -> None:
    """Refuse invalid limits before anything is spent."""
    for name in TIMES:
        read_seconds(options, name)
    tokens = read_budget(options)
    if tokens is not None and tokens < LEAST_BUDGET:
        raise UsageError(
            f"{BUDGET} must be at least {LEAST_BUDGET}, or none: {tokens} tokens leave no room for an answer"
        )


def bound_reply(workflow: Workflow, steps: tuple[Step, ...], step: Step, seat: Seat) -> int | None:
    """The maximum tokens of one reply: the seat's budget, divided equally among the round's steps in which it debates.

    A seat debates if it was cast, or if it speaks in a step together with others. A seat that speaks alone (a
    moderator, a chair) has to read and sum up everything, and is not limited.
    """
    tokens = read_budget(workflow.options)
    if tokens is None or not _debates(workflow, step, seat):
        return None
    return max(1, tokens // sum(_debates(workflow, other, seat) for other in steps))


def _debates(workflow: Workflow, step: Step, seat: Seat) -> bool:
    if any(isinstance(name, Cast) for name in step.seats):
        return seat.name not in workflow.seat_names()
    seated = {other.name for other in workflow.seats(name for name in step.seats if isinstance(name, str))}
    return len(seated) > 1 and seat.name in seated
