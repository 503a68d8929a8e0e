"""Members read their brief: no rules file, output style or hook of the user or the project reaches one."""

from __future__ import annotations

import tempfile
from pathlib import Path

from prove import Outcome

from tests import rules_files

DEBATES = 4
# In how many of 13 member requests, in council 0.3.0 (commit 0fff1cb) and Claude Code 2.1.327.
BEFORE = {**dict.fromkeys(rules_files.WHERE, "13 of 13"), **dict.fromkeys(rules_files.NEVER, "0 of 13")}
NOTES = [
    "git status still reaches members of Claude Code, in the system prompt: the branch, changed files, recent commits.",
    "AGENTS.md is not read by Claude Code 2.1.327 at all where a CLAUDE.md is, so its row shows nothing about agents.",
]


def parts() -> list[str]:
    return [f"{DEBATES} debates"]


def prove(_: str) -> Outcome:
    requests = []
    for _number in range(DEBATES):
        with tempfile.TemporaryDirectory(prefix="council-rules-", ignore_cleanup_errors=True) as place:
            requests += rules_files.hold(Path(place))
    found = rules_files.reached(requests)
    total = len(requests)
    rows = [
        ("a marker reaches members", where, BEFORE[where], f"{found[where]} of {total}", target_of(where))
        for where in rules_files.WHERE
    ]
    wrong = [
        f"{where}: in {found[where]} of {total}" for where in rules_files.WHERE if target_of(where) and found[where]
    ]
    short = [f"only {total} requests of members"] if total < 40 else []
    return Outcome(rows, [*wrong, *short], NOTES)


def target_of(where: str) -> str:
    return "" if where in rules_files.GIT else "0"
