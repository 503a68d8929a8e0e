"""Replies in the format `files`: what is read is what a person would see, or a problem is reported."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import PurePosixPath

from prove import Outcome

from council.candidates.files import read_files
from council.workflow.types import Unreadable
from tests import hostile_replies
from tests.hostile_replies import BRIEF, HostileReply

NUMBER = 1000
PROMISE = "files are read as they look"
EXPECTED = {"good": "exactly the files that are meant", "bad": "a problem"}


def parts() -> list[str]:
    return [*EXPECTED]


def prove(part: str) -> Outcome:
    tried, held, wrong = Counter[str](), Counter[str](), list[str]()
    for seed in range(NUMBER):
        reply = hostile_replies.make(random.Random(f"{part} {seed}"), part == "bad")
        kind = reply.why[0].partition(":")[0] if reply.why else "files, deletions and quotations in many shapes"
        tried[kind] += 1
        if why := find_fault(reply):
            wrong.append(f"{part} reply {seed} ({', '.join(reply.why)}): {why}")
        else:
            held[kind] += 1
    rows = [(PROMISE, kind, EXPECTED[part], "the same", tried[kind], held[kind]) for kind in sorted(tried)]
    return Outcome(rows, wrong)


def find_fault(reply: HostileReply) -> str:
    try:
        found = read_files(reply.body, BRIEF, False)
    except Unreadable as refused:
        return "" if reply.why else f"refused: {refused}"
    if reply.why:
        return f"read as {found}" if found else ""
    paths = [*found.written] if found else []
    if any(PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts for path in paths):
        return f"leads out: {paths}"
    return "" if (dict(found.written) if found else {}) == reply.means else f"read {paths}"
