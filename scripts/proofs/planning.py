"""A planning of four councils may be killed at any call that changes a file, and goes on: nothing is said twice, no
council begins twice, each begins with the document before it and the remark of the person between them.

Every point is a real process with one fault. A person then looks, goes on and answers, as they would.
"""

from __future__ import annotations

from prove import Outcome

from tests import kills_of_planning as kills
from tests.faults import Fault, Nursery
from tests.kills import in_memory

COLUMNS = ("council", "fault", "points", "wrong")
SHARES = 4  # parts of one sweep, which run at once
WHOLE = [f"planning-2: before: {share} of {SHARES}" for share in range(1, SHARES + 1)]
SAMPLED = {"board": ("before", 5), "planning-2": ("full once", 11), "planning-3": ("half", 11)}
TO_THE_END = 20  # at every twentieth point, the planning goes on to its last council


def parts() -> list[str]:
    return [*WHOLE, *(f"{council}: {kind}: every {every}" for council, (kind, every) in SAMPLED.items())]


def prove(part: str) -> Outcome:
    council, kind, which = part.split(": ")
    with in_memory() as ground, Nursery() as nursery:
        held = kills.prepared(council, ground, nursery)
        points = kills.points(held)
        first, _, step = which.partition(" of ")
        chosen = points[int(first) - 1 :: int(step)] if step else points[:: int(which.removeprefix("every "))]
        if kind == "half":
            chosen = [
                (command, at) for command, at in chosen if held.commands[command].calls[at - 1].startswith("write ")
            ]
        wrong = []
        for number, (command, at) in enumerate(chosen):
            found = kills.strike(held, command, Fault(kind, at), number % TO_THE_END == 0)
            call = held.commands[command].calls[at - 1]
            wrong += [f"{council}, {kind}, command {command + 1}, call {at} ({call}): {what}" for what in found]
    return Outcome([(council, kind, len(chosen), len(wrong))], wrong)
