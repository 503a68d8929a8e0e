"""Whatever a reply says, council writes only into its session, and the sandbox nowhere."""

from __future__ import annotations

from prove import Outcome

from tests import borders, hostile_replies

NUMBER, SHARES = 1000, 4
PROMISE, NOWHERE = "files are written nowhere else", "the session's own files only"
PATHS = "paths that lead out, straight into the sandbox"


def parts() -> list[str]:
    return [*(f"replies {share + 1} of {SHARES}" for share in range(SHARES)), PATHS]


def prove(part: str) -> Outcome:
    if part == PATHS:
        wrong, tried = borders.try_paths(), len(hostile_replies.PATHS)
        return Outcome([(PROMISE, PATHS, "nothing", seen(wrong), tried, tried - len(wrong))], wrong)
    count = NUMBER // SHARES
    wrong = borders.try_replies((int(part.split()[1]) - 1) * count, count)
    held = count - len({one.partition(":")[0] for one in wrong})
    row = (PROMISE, f"{part}, recorded, derived from and tried; watched by inotify", NOWHERE, seen(wrong), count, held)
    return Outcome([row], wrong)


def seen(wrong: list[str]) -> str:
    return f"{len(wrong)} writes elsewhere" if wrong else "the same"
