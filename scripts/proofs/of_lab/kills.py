"""Whenever a code debate is killed, it is recovered: nothing is paid twice, and no candidate's code goes on running."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from prove import Outcome

from tests import trial_kills
from tests.trial_kills import Unbroken, World

PROMISE = "a killed code debate is recovered"
EXPECTED = "the same turns, patches and numbers; nothing paid twice or left running"
TRIALS = 3  # of the debate, two of them at once
TIMES = 10  # for each, because nobody knows at which moment the process dies
CHUNKS = 8
DURING = "kill -9 while a sandbox is at work"


def parts() -> list[str]:
    return [DURING, *(f"kill -9 before a change of a file, {at + 1} of {CHUNKS}" for at in range(CHUNKS))]


def prove(part: str) -> Outcome:
    with TemporaryDirectory(prefix="council-proof-") as place:
        whole = trial_kills.run_unbroken(Path(place, "whole"))
        if part == DURING:
            tries = [(made, time) for made in (0, TRIALS - 1) for time in range(TIMES)]
            found = {
                f"with {made} trials recorded, time {time}": trial_kills.find_faults(
                    Path(place, f"{made}-{time}"), whole, partial(World.kill_trial, made=made)
                )
                for made, time in tries
            }
        else:
            found = dict(_kill_at_changes(Path(place), whole, int(part.split()[-3]) - 1))
    wrong = [f"{part}, {where}: {what}" for where, all_ in found.items() for what in all_]
    held = sum(not all_ for all_ in found.values())
    return Outcome([(PROMISE, part, EXPECTED, f"{held} times", len(found), held)], wrong)


def _kill_at_changes(place: Path, whole: Unbroken, chunk: int) -> list[tuple[str, list[str]]]:
    """A kill before every change of a file, also of those that the run would not have made without the kill."""
    points = range(1 + chunk, len(whole.calls) + 1, CHUNKS)
    return [
        (
            f"call {at} ({whole.calls[at - 1]})",
            trial_kills.find_faults(Path(place, str(at)), whole, partial(World.kill, kind="before", at=at)),
        )
        for at in points
    ]
