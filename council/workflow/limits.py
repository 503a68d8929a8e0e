"""Limits that options of a workflow set: how long a round, a person and a run may take, and how much a debater may say.

It only reads them: the clock is `run`'s, and the planner knows nothing of time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from council.errors import UsageError
from council.workflow import declare
from council.workflow.model import Cast, Seat, Step, Workflow

ROUND = declare.option("round_timeout", "seconds that a round's calls may take in all; then the run pauses")
PERSON = declare.option(
    "checkpoint_timeout", "seconds that a person at the terminal may be silent; then the run waits for the answer"
)
RUN = declare.option("total_timeout", "seconds that the calls of one run may take in all; then it pauses")
TIMES = (ROUND, PERSON, RUN)
BUDGET = declare.option("token_budget", "tokens that each who debates has for a round")
WORDS = declare.option(
    "words", "how long a reply should be, as in `50-150`: prompts say it, `council cost` reckons with it"
)
UNLIMITED = ("0", "none", "unlimited")
LONGEST = 10_000_000


def read_seconds(options: Mapping[str, Any], name: str) -> float | None:
    """So many seconds; None where nothing limits them."""
    text = str(options.get(name, "none"))
    if text == "none":
        return None
    if not re.fullmatch(r"\d{1,8}(\.\d{1,3})?", text) or not 0 < float(text) <= LONGEST:
        raise UsageError(f'{name} must be a number of seconds above 0, or none; not "{text}"')
    return float(text)


def read_budget(options: Mapping[str, Any]) -> int | None:
    """The tokens that a debater has for a round; None where nothing limits them."""
    text = str(options.get(BUDGET, "none"))
    if text in UNLIMITED:
        return None
    if not re.fullmatch(r"\d{1,8}", text) or not 0 < int(text) <= LONGEST:
        raise UsageError(f'{BUDGET} must be a whole number of tokens, or none; not "{text}"')
    return int(text)


def check(options: Mapping[str, Any]) -> None:
    """Refuse what is no limit, before anything is spent."""
    for name in TIMES:
        read_seconds(options, name)
    read_budget(options)


def bound_reply(workflow: Workflow, steps: tuple[Step, ...], step: Step, seat: Seat) -> int | None:
    """The most tokens of one reply: the seat's budget, in equal parts for the steps of a round in which it debates.

    Who debates are those who were cast, and those who speak beside others; who speaks alone in a step (a moderator, a
    chair, a pen) has to read and to sum up, and is not limited.
    """
    most = read_budget(workflow.options)
    if most is None or not _debates(workflow, step, seat):
        return None
    return max(1, most // sum(_debates(workflow, one, seat) for one in steps))


def _debates(workflow: Workflow, step: Step, seat: Seat) -> bool:
    if any(isinstance(one, Cast) for one in step.seats):
        return seat.name not in workflow.seat_names()
    seated = {one.name for one in workflow.seats(name for name in step.seats if isinstance(name, str))}
    return len(seated) > 1 and seat.name in seated
