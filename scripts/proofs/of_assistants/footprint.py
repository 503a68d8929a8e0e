"""A debate costs its host little: bytes in its context, calls of its main thread, and what being installed costs."""

from __future__ import annotations

import tempfile
from pathlib import Path

from prove import Outcome

from tests import footprints
from tests.claude_code import ROOT
from tests.claude_terminal import FOREGROUND
from tests.footprints import Footprint

WHAT = "footprint in Claude Code"
KB = 1_024
LARGEST = 12 * KB
MOST_CALLS = 10
STOPPED = "stopped in round 1"
# Council 0.3.0 (commit 0fff1cb) in Claude Code 2.1.327: put into the context, written to tools, SKILL.md, calls.
BEFORE = {
    "4 x 3, 1 KB replies": ("41,325", "3,197", "7,496", "12"),
    "4 x 3, 30 KB replies": (STOPPED,) * 4,
    "consensus of ten, 1 KB replies": ("35,850", "3,484", "7,508", "26"),
}
IN_A_TERMINAL = "4 x 3, 1 KB replies, in a terminal"
IN_THE_FOREGROUND = f"{IN_A_TERMINAL} with {FOREGROUND}=1"
OPENING = "installed, and not used"
OPENING_BEFORE = 9_941
NOTES = [
    "Footprint: counted is the text in the last request of the main loop that was not in its first; it is the whole "
    "conversation. “Put into the context” is what tools answered and hooks said. SKILL.md is read once in a "
    "conversation. The client's own reminders are not counted. The targets are those of a headless debate of 4 x 3.",
    "Of each member's result, about 600 bytes are the client's own frame around “recorded TURN”.",
    "In a terminal, Claude Code 2.1.327 runs members in the background whatever the call says, with a text of 1.1 KB "
    "for each launch, and ends the host's turn. Hooks hold its notifications back, which have each member's words, and "
    "wake the host once for each batch. With CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1 in the user's environment members "
    "run in the foreground.",
]


def parts() -> list[str]:
    return [*BEFORE, IN_A_TERMINAL, IN_THE_FOREGROUND, OPENING]


def prove(part: str) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="council-footprint-", ignore_cleanup_errors=True) as place:
        folder = Path(place)
        if part == OPENING:
            return prove_opening(folder)
        found = hold(part, folder)
    before = BEFORE.get(part, ("not measured",) * 4)
    debate = part.startswith("4 x 3") and "terminal" not in part
    targets = (f"≤ {LARGEST:,}", "", "", f"≤ {MOST_CALLS}") if debate else ("", "", "", "")
    names = (
        "bytes put into the context",
        "bytes the host writes to tools",
        "bytes of SKILL.md",
        "calls of the main thread",
    )
    now = (found.put, found.sizes["inputs"], found.sizes["skill"], found.calls)
    rows = [
        (WHAT, f"{part}: {name}", *cells)
        for name, *cells in zip(names, before, [f"{one:,}" for one in now], targets, strict=True)
    ]
    wrong = [f"{part}: {found.put:,} bytes, {found.calls} calls"]
    return Outcome(rows, wrong if debate and (found.put > LARGEST or found.calls > MOST_CALLS) else ())


def hold(part: str, folder: Path) -> Footprint:
    if "terminal" in part:
        env = {FOREGROUND: "1"} if part == IN_THE_FOREGROUND else {}
        return footprints.hold_in_a_terminal(folder, footprints.debate(KB), **env)
    if part.startswith("consensus"):
        return footprints.hold(folder, footprints.Consensus(KB), footprints.CONSENSUS)
    return footprints.hold(folder, footprints.debate(30 * KB if "30" in part else KB))


def prove_opening(folder: Path) -> Outcome:
    """What the first request of any conversation is longer by."""
    more = footprints.first_request(folder / "with-it", ROOT) - footprints.first_request(folder / "without", None)
    row = (WHAT, f"{OPENING}: bytes more in the first request", f"{OPENING_BEFORE:,}", f"{more:,}", "≤ 2,048")
    return Outcome([row], [f"{OPENING}: {more:,} bytes"] if more > 2_048 else [], NOTES)
