"""The ledger of concerns for readers: how many were raised, and how each of them ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from council.engine.planner import Plan
from council.engine.scene import Turn
from council.protocols import outcome
from council.protocols.concerns import join_wordings, list_concerns
from council.protocols.ledger import ACCEPTED, OPEN, REOPENED, STATUSES
from council.record.session import Session
from council.reports.sources import name_seat

MANNER = {ACCEPTED: "accepted by a person"}


@dataclass(frozen=True)
class ConcernRow:
    """A concern, the turn that raised it, and how it ended, with the turn that ended it."""

    id: str
    kind: str
    text: str
    label: str
    status: str
    raised: str
    ended: str


@dataclass(frozen=True)
class LedgerTable:
    summary: str
    rows: tuple[ConcernRow, ...]


def describe_ledger(session: Session, plan: Plan, refer: Callable[[Turn], str]) -> LedgerTable | None:
    """The data for the template `_ledger.md.j2`; None if nobody raised a concern. `refer` names a turn for readers."""
    turns = {turn.id: turn for turn in plan.scene.turns}
    concerns = read_concerns(session, plan)
    if not concerns:
        return None
    counts = Counter(one["status"] for one in concerns)
    parts = [f"{counts[status]} {MANNER.get(status, status)}" for status in STATUSES if counts[status]]
    rows = []
    for one in concerns:
        ended = _describe_end(one)
        source = refer(turns[one["settled"]["by"] or one["settled"]["turn"]]) if one["settled"] else ""
        rows.append(
            ConcernRow(
                one["id"], one["kind"], join_wordings(one["wordings"][0], one["text"]),
                name_seat(turns[one["opened"]["turn"]].seat), one["status"],
                raised=refer(turns[one["opened"]["turn"]]), ended=f"{ended}: {source}" if source else ended,
            )
        )  # fmt: skip
    number = len(concerns)
    return LedgerTable(f"{number} concern{'s' if number > 1 else ''}: {', '.join(parts)}.", tuple(rows))


def read_concerns(session: Session, plan: Plan) -> list[dict[str, Any]]:
    """The whole ledger as plain data, with the numbers of rounds that readers know."""
    return list_concerns(plan.scene, session.workflow, outcome.number_rounds(plan))


def _describe_end(concern: dict[str, Any]) -> str:
    again = any(event["what"] == REOPENED for event in concern["history"])
    others = [seat for seat in concern["held_by"] if seat != concern["owner"]]
    held = f", also for {', '.join(others)}" if concern["status"] == OPEN and others else ""
    return f"{MANNER.get(concern['status'], concern['status'])}{held}{' (it was opened again before)' if again else ''}"
