"""What checkers found in a candidate's code: the lines of their turns, written and read back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from council.candidates import base
from council.candidates.results import Winner, find_winner, lay_result
from council.candidates.versions import COMPLAINTS, CheckedVersion, Ledger, bench_of, follow
from council.engine.contributions import Complaint, Inspection, Record
from council.engine.scene import Turn
from council.replies.write import unescape
from council.text import join_words

# A path that a member writes has no colon, so none can end early here.
LINE = re.compile(
    r"(?P<path>.+?):(?P<line>\d+): (?P<rule>\S+) \((?P<severity>high|medium|low)\): (?P<message>.*)", re.S
)


def write(one: Mapping[str, Any]) -> str:
    """A finding as an item of its turn, as in `a.py:4: ruff/F401 (medium): imported but unused`."""
    return f"{one['path']}:{one['line']}: {one['tool']}/{one['rule']} ({one['severity']}): {one['message']}"


def inspect(record: Record) -> Inspection | None:
    """What checkers found in the code that won; None if none looked at just this version."""
    ledger = follow(record.plan.scene)
    winner = find_winner(record.plan.scene, ledger) if record.plan.done else None
    if winner is None or not (newest := {bench_of(one.turn): one for one in winner.trials if not one.ran_tests}):
        return None
    found: dict[Complaint, None] = {}
    unread: list[tuple[str, str]] = []
    for check in newest.values():
        for item in check.turn.answers.get(COMPLAINTS) or ():
            if one := _read(check.turn, unescape(str(item))):
                found[one] = None
            else:
                unread.append((check.turn.seat.name, str(item)))
    files = lay_result(winner, base.read(record.frozen))
    texts = {path: files[path].decode("utf-8", "replace") for path in {one.path for one in found} & files.keys()}
    return Inspection(tuple(found), texts, tuple(_list_silent(ledger, winner, newest)), tuple(unread))


def _read(turn: Turn, item: str) -> Complaint | None:
    said = LINE.fullmatch(item)
    return said and Complaint(
        said["path"], int(said["line"]), said["rule"], said["severity"], said["message"], turn.seat.name, turn.id
    )


def _list_silent(ledger: Ledger, winner: Winner, newest: Mapping[str, CheckedVersion]) -> Iterator[str]:
    """The checkers that say nothing of this version, each with the reason."""
    yield from (f"{name} ({one.verdict})" for name, one in newest.items() if one.verdict not in ("pass", "fail"))
    earlier = [one for one in ledger.checks[winner.version.candidate] if not one.ran_tests and one.version]
    for name in dict.fromkeys(bench_of(one.turn) for one in earlier):
        if name not in newest:
            numbers = dict.fromkeys(
                str(one.version.number) for one in earlier if one.version and bench_of(one.turn) == name
            )
            yield f"{name} (it looked at version {join_words(numbers)}, and {winner.version.number} won)"
