"""Whatever call a debate dies at, what was paid for is kept, nothing is paid for twice, and `recover` finishes it.

Each point is a real process with one fault at one call that changes a file: killed before it, after it or in the middle
of a write, or an error of the disk. Then the debate is helped to its end as a person would do it, and compared with an
unbroken one, byte for byte.
"""

from __future__ import annotations

from prove import Outcome

from tests import faults, kills, kills_of_protocols
from tests.faults import Nursery

COLUMNS = ("debate", "command", "fault", "points", "wrong")
SINGLE = [f"debate: {case}: {kind}" for case in kills.CASES for kind in faults.KINDS if kind != "none"]
PAID = [f"debate over HTTP: run: {kind}" for kind in ("before", "full", "broken once")]
WHOLE = [f"{name}: every command: {kind}" for name in kills_of_protocols.DEBATES for kind in ("before", "full once")]


def parts() -> list[str]:
    return SINGLE + PAID + WHOLE


def prove(part: str) -> Outcome:
    debate, command, kind = part.split(": ")
    with kills.in_memory() as ground, Nursery() as nursery, kills.Members() as api:
        if part not in WHOLE:
            found = kills.prepared(kills.CASES[command](), ground, nursery, api if part in PAID else None)
            result = kills.sweep(found, kind, kills.numbers_for(found, kind, every=1))
            where = {at: f"{part}, call {at} ({found.calls[at - 1]})" for at in result}
            wrong = [f"{where[at]}: {what}" for at, all_ in result.items() for what in all_]
            points = len(result)
        else:
            whole = kills_of_protocols.hold_whole(debate, ground, nursery)
            swept = kills_of_protocols.sweep(whole, kind, every=1)
            wrong = [f"{part}, {where}: {what}" for where, all_ in swept.items() for what in all_]
            points = len(swept)
    return Outcome([(debate, command, kind, points, len(wrong))], wrong)
