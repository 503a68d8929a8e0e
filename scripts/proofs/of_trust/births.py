"""Sessions that begin at the same time in one home are all there afterwards, whole, and paid for once."""

from __future__ import annotations

import tempfile
from pathlib import Path

from prove import Outcome

from tests import crowds
from tests.faults import Nursery
from tests.helpers import User

PROMISE = "births"
ROUNDS, DEBATES = 10, 100
STARTS, AT_ONCE = 48, (8, 20)
TWENTY = 20
BESIDE = 40


def parts() -> list[str]:
    debates = [f"debates {number}" for number in range(1, ROUNDS + 1)]
    starts = [f"starts {at_once}" for at_once in AT_ONCE]
    return [*debates, *starts, "twenty for one id", *(f"beside {command}" for command in crowds.COMMANDS)]


def prove(part: str) -> Outcome:
    kind, _, rest = part.partition(" ")
    with tempfile.TemporaryDirectory(prefix="council-births-") as place:
        folder = Path(place)
        if kind in ("debates", "beside"):
            with Nursery() as nursery:
                return (
                    prove_debates(rest, folder, nursery) if kind == "debates" else prove_beside(rest, folder, nursery)
                )
        if kind == "twenty":
            return outcome(f"{TWENTY} starts ask for one id at once: one has it", crowds.one_id(User(folder), TWENTY))
        return outcome(f"{STARTS} starts, {rest} at a time", crowds.starts(User(folder), STARTS, int(rest)))


def prove_debates(number: str, folder: Path, nursery: Nursery) -> Outcome:
    return outcome(f"{DEBATES} debates at once, time {number}", crowds.debates(folder, nursery, DEBATES))


def prove_beside(command: str, folder: Path, nursery: Nursery) -> Outcome:
    born, others = crowds.beside(folder, nursery, BESIDE, command)
    first = outcome(f"{BESIDE} debates and {BESIDE} starts beside `council {command}`", born)
    second = outcome(f"`council {command}` beside them", others)
    return Outcome([*first.rows, *second.rows], [*first.wrong, *second.wrong])


def outcome(tried: str, crowd: crowds.Crowd) -> Outcome:
    return Outcome([(PROMISE, tried, crowd.tried, crowd.held)], crowd.wrong)
