"""Sums over the index, by workflow, model, seat, outcome or month."""

from __future__ import annotations

from typing import Any

from council.index.query import Filters, Index

KEYS = {
    "workflow": "session.workflow",
    "model": "coalesce(turn.model, turn.speaker)",
    "seat": "turn.seat",
    "outcome": "session.outcome",
    "month": "substr(session.started, 1, 7)",
}
EVERYTHING = Filters()
OF_SESSIONS = ("workflow", "outcome", "month")  # of which a session has one, also before anybody has spoken
SUMS = (
    "sessions", "finished", "turns", "calls", "failed_calls", "input_tokens", "output_tokens", "usd", "usd_at_least",
    "seconds",
)  # fmt: skip
QUERY = """SELECT {key} AS name, count(DISTINCT session.number),
    count(DISTINCT CASE WHEN session.completed IS NOT NULL AND session.fault IS NULL THEN session.number END),
    count(turn.number), coalesce(sum(turn.calls), 0), coalesce(sum(turn.failed), 0),
    sum(turn.input), sum(turn.output),
    CASE WHEN count(turn.usd) = count(turn.seat) THEN coalesce(sum(turn.usd), 0.0) END,
    coalesce(sum(turn.known_usd), 0.0), coalesce(sum(turn.seconds), 0.0)
    FROM session {join} JOIN turn ON turn.session = session.number WHERE {where} GROUP BY 1"""

# Without an outcome, a session is not finished, or cannot be read.
ENDS = """SELECT substr(started, 1, 7), CASE WHEN completed IS NULL OR fault IS NOT NULL THEN ''
    ELSE coalesce(outcome, 'finished') END, count(*) FROM session WHERE {where} GROUP BY 1, 2"""


def count_outcomes(index: Index) -> dict[str, dict[str, int]]:
    """For each month, how many sessions ended in which outcome; those that are not finished have an empty one."""

    def action() -> dict[str, dict[str, int]]:
        where, values = index.where(EVERYTHING)
        found: dict[str, dict[str, int]] = {}
        for month, outcome, number in index.store.rows(ENDS.format(where=where), values):
            found.setdefault(month, {})[outcome] = number
        return found

    return dict(index.ask(action))


def count(index: Index, by: str, filters: Filters = EVERYTHING) -> list[dict[str, Any]]:
    """A row of sums for each workflow, model, seat, outcome or month: the most sessions first, months in their order.

    Failed calls are counted, and what they cost; `usd` is None if the cost of a call is unknown.
    """
    join = "LEFT" if by in OF_SESSIONS else ""

    def action() -> list[dict[str, Any]]:
        where, values = index.where(filters)
        found = index.store.rows(QUERY.format(key=KEYS[by], join=join, where=where), values)
        return [{"name": name, **dict(zip(SUMS, sums, strict=True))} for name, *sums in found]

    rows = index.ask(action)
    for row in rows:
        row |= {name: round(row[name], 6) for name in ("usd", "usd_at_least", "seconds") if row[name] is not None}
    if by == "month":
        return sorted(rows, key=lambda row: str(row["name"]), reverse=True)
    return sorted(rows, key=lambda row: (-row["sessions"], -row["turns"], str(row["name"])))
