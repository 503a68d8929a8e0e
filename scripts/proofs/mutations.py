"""Every file of a session damaged in every way that we know: nothing crashes, lies, hangs or makes it worse.

A finished debate and one that is not over; each mutation starts from a fresh copy, and every command is tried on it.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from prove import Outcome

from tests import confused, damage
from tests.helpers import Hung

COLUMNS = ("session", "file", "mutations", "wrong")
TYPES = [f"{state}: metadata of other types" for state in confused.STATES]
CASES = {"finished": damage.ON_FINISHED, "not over": [*damage.half_done_cases()]}


def parts() -> list[str]:
    """One for each file of each session, and the types of all metadata."""
    files = {state: dict.fromkeys(case.file for case in cases) for state, cases in CASES.items()}
    return [*(f"{state}: {file}" for state, names in files.items() for file in names), *TYPES]


def prove(part: str) -> Outcome:
    state, _, file = part.partition(": ")
    if part in TYPES:
        return prove_types(state)
    cases, wrong = [case for case in CASES[state] if case.file == file], list[str]()
    with tempfile.TemporaryDirectory(prefix="council-damage-") as folder:
        place = Path(folder)
        finished = damage.begin(place / "finished", damage.WORDS)
        half_done = damage.begin(place / "half-done", damage.HALF_DONE) if state == "not over" else finished
        for number, case in enumerate(cases):
            at = place / str(number)
            at.mkdir()
            try:
                if state == "finished":
                    damage.check(damage.copy(finished, at), case)
                else:
                    damage.check_open(damage.copy(half_done, at), case, finished)
            except (Exception, Hung) as error:  # noqa: BLE001 (whatever it is, it is written down)
                wrong.append(f"{state}, {damage.name_of(case)}: {type(error).__name__}: {str(error)[:300]}")
    return Outcome([(state, f"`{file}`", len(cases), len(wrong))], wrong)


def prove_types(state: str) -> Outcome:
    """Values of other types under a seal that is right: what is there, and what may be there."""
    with tempfile.TemporaryDirectory(prefix="council-types-") as folder:
        found = confused.confuse(confused.STATES[state](Path(folder)))
    wrong = [f"{state}, {what}" for what in found.wrong]
    return Outcome([(state, "`metadata.json`, values of other types", found.tried, len(wrong))], wrong)
