"""What is reviewed cannot change its review, run a program, or have anything read or written outside of the project."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from prove import Outcome

from tests import hostile

PROMISE = "the border"
WAYS: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
    "reviewed": ((), {}),
    "reviewed in CI since a revision": (("--diff", "HEAD"), {"CI": "true"}),
    "reviewed with --overlays": (("--overlays",), {}),
}
NOTES = (
    "With --overlays, what the user owns in the project is in force, printed and recorded; the rest is not used.",
    "A stranger who can act as the user, or as root, is no stranger to council.",
)


def parts() -> list[str]:
    return [*WAYS]


def prove(part: str) -> Outcome:
    if os.geteuid() != 0:
        return Outcome([], notes=[f"{part}: not tried, because only root can give a file to another user"])
    options, env = WAYS[part]
    wrong = []
    with tempfile.TemporaryDirectory(prefix="council-border-") as place:
        usual = hostile.expected(Path(place) / "clean", *(one for one in options if one != "--overlays"))
        for number, name in enumerate(hostile.REPOSITORIES):
            wrong += [
                f"{name}: {what}" for what in hostile.attack(name, Path(place) / str(number), usual, *options, **env)
            ]
    broken = {what.partition(":")[0] for what in wrong}
    row = (PROMISE, f"hostile repositories, {part}", len(hostile.REPOSITORIES), len(hostile.REPOSITORIES) - len(broken))
    return Outcome([row], wrong, NOTES if part == "reviewed with --overlays" else ())
