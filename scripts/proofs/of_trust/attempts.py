"""Whatever an API bills is on record: a limit of money counts at least that, and totals are exact or unknown."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from prove import Outcome

from tests import billing, kills
from tests.billing import Account
from tests.faults import Nursery

LIMITED, KILLED, AT_ONCE = "under --max-cost", "killed in a call", "debates at once"
EVERY = 2  # of the calls of the file system, each half from another start
POINTS = [f"killed {kind} call {first} of {EVERY}" for kind in ("before", "after", "half") for first in range(EVERY)]


def parts() -> list[str]:
    return ["failing APIs", LIMITED, KILLED, *POINTS, AT_ONCE]


def prove(part: str) -> Outcome:
    if part in POINTS:
        _, kind, _, first, _, _ = part.split()
        with kills.in_memory() as ground, Nursery() as nursery:
            found = billing.kill_at_calls(ground, nursery, kind, EVERY, int(first))
        held = found.points - len({what.partition(":")[0] for what in found.wrong})
        row = ("no attempt is lost", f"SIGKILL {kind} a write of an attempt or a turn", found.points, held)
        return Outcome([row], found.wrong)
    with tempfile.TemporaryDirectory() as folder:
        if part == KILLED:
            tried = {f"{runs} killed runs": billing.kill_in_a_call(Path(folder, str(runs)), runs) for runs in (1, 2, 5)}
            return outcome("interrupted calls count", "runs killed while four calls are under way", tried)
        if part == AT_ONCE:
            faults = [fault for faults in billing.KINDS.values() for fault in faults[:1] if not fault.latency]
            accounts = billing.hold_at_once(Path(folder, "at-once"), 20, faults, billing.CONFIG)
            tried = {f"debate {number}": [one] for number, one in enumerate(accounts)}
            return outcome("debates at once", "debates in threads of one process, with faults", tried)
        cap = billing.CAP if part == LIMITED else None
        tried = {kind: billing.try_kind(kind, Path(folder, str(at)), cap) for at, kind in enumerate(billing.KINDS)}
        promise = "a limit of money holds" if cap else "totals are exact or unknown"
        return outcome(promise, f"kinds of failing API, {part}" if cap else "kinds of failing API", tried)


def outcome(promise: str, what: str, tried: Mapping[str, Sequence[Account]]) -> Outcome:
    """A kind counts as held if nothing is wrong with its accounts, and it has some."""
    wrong = [f"{name}: {why}" for name, accounts in tried.items() for one in accounts for why in one.wrong]
    held = sum(bool(accounts) and not any(one.wrong for one in accounts) for accounts in tried.values())
    exact = sum(all(one.exact for one in accounts) for accounts in tried.values())
    notes = [f"{promise}: {exact} of {len(tried)} totals are exact, the others are unknown."]
    if promise.startswith("totals"):
        notes.append("An API that reports less than it bills cannot be caught: what it reports is what is known.")
    return Outcome([(promise, what, len(tried), held)], wrong, notes)
