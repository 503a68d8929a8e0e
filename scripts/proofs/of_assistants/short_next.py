"""What `council start` and `council next` print is short, whatever is said, and holds nothing that a member wrote."""

from __future__ import annotations

import tempfile
from pathlib import Path

from prove import Outcome

from tests import next_sizes
from tests.helpers import User

SIZES = (1_000, 8_000, 30_000)  # bytes of each reply
# The largest print of `council next` of 0.3.0, measured with the same replies; the others were not.
BEFORE = {
    ("four members, three rounds", 1_000): 6_224,
    ("four members, three rounds", 8_000): 34_376,
    ("four members, three rounds", 30_000): 122_376,
    ("ten members at once, three rounds", 1_000): 14_999,
    ("ten members at once, three rounds", 8_000): 85_379,
    ("ten members at once, three rounds", 30_000): 305_379,
}


def parts() -> list[str]:
    return [f"{size}: {name}" for name in next_sizes.CASES for size in SIZES]


def prove(part: str) -> Outcome:
    size, _, name = part.partition(": ")
    case = next_sizes.CASES[name]
    with tempfile.TemporaryDirectory() as folder:
        host = case.hold(User(Path(folder)), next_sizes.write(int(size)))
    wrong = [f"{host.largest} bytes were printed at once"] if host.largest >= case.most else []
    wrong += ["words of a member were printed"] if host.leaked else []
    before = BEFORE.get((name, int(size)))
    row = (
        "longest print of start and next", f"{name}, replies of {int(size) // 1000} KB",
        f"{before:,} bytes" if before else "not measured", f"{host.largest:,} bytes", f"< {case.most:,} bytes",
    )  # fmt: skip
    return Outcome([row], wrong)
