"""The ledger of concerns for readers: how many were raised, and how each of them ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from council.engine.planner import Plan
from council.engine.scene import Turn
from council.protocols import outcome
from council.protocols.concerns import join_wordings, list_concerns
from council.protocols.ledger import ACCEPTED, ANSWERED, BLOCKS, OPEN, REOPENED, STATUSES
from council.record.session import Session
from council.reports.sources import name_seat
from council.text import join_words

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
    """`lasting` says that a concern is open which blocks nothing."""

    summary: str
    rows: tuple[ConcernRow, ...]
    lasting: bool = False


def describe_ledger(session: Session, plan: Plan, refer: Callable[[Turn], str]) -> LedgerTable | None:
    """The data for the template `_ledger.md.j2`; None if nobody raised a concern. `refer` names a turn for readers."""
    turns = {turn.id: turn for turn in plan.scene.turns}
    concerns = read_concerns(session, plan)
    if not concerns:
        return None
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
    lasting = any(row.status == OPEN and row.kind != BLOCKS for row in rows)
    return LedgerTable(_summarize(rows), tuple(rows), lasting)


def _summarize(rows: Sequence[ConcernRow]) -> str:
    """`4 concerns: 1 blocking (open) and 3 risks (2 open, 1 answered).`"""
    kinds: dict[str, list[str]] = {}
    for row in sorted(rows, key=lambda row: row.kind != BLOCKS):
        kinds.setdefault(row.kind, []).append(row.status)
    parts = []
    for kind, ended in kinds.items():
        counts = Counter(ended)
        ways = [f"{counts[status]} {MANNER.get(status, status)}" for status in STATUSES if counts[status]]
        told = ", ".join(ways) if len(ways) > 1 else ways[0].partition(" ")[2]
        parts.append(f"{len(ended)} {kind}{'s' if len(ended) > 1 and kind != BLOCKS else ''} ({told})")
    return f"{len(rows)} concern{'s' if len(rows) > 1 else ''}: {join_words(parts)}."


def read_concerns(session: Session, plan: Plan) -> list[dict[str, Any]]:
    """The whole ledger as plain data, with the numbers of rounds that readers know."""
    return list_concerns(plan.scene, session.workflow, outcome.number_rounds(plan))


@dataclass(frozen=True)
class ShownConcern:
    """A concern for a page, which links to turns: `turn` raised it, and `settled` is the turn that ended it, if any.

    `ended` is how, up to the name of who spoke that turn; `more` is what else there is to know.
    """

    id: str
    kind: str
    text: str
    label: str
    status: str
    tone: str
    turn: str
    round: int
    more: str
    ended: str
    settled: str
    settled_by: str


def list_shown(concerns: Iterable[Mapping[str, Any]], labels: Mapping[str, str]) -> tuple[ShownConcern, ...]:
    """What is open first, and of that what blocks; otherwise in the order of the ids. `labels` say who spoke a turn."""
    ranked = sorted(concerns, key=lambda one: (one["status"] != OPEN, one["status"] == OPEN and one["kind"] != BLOCKS))
    return tuple(_show(one, labels) for one in ranked)


def _show(one: Mapping[str, Any], labels: Mapping[str, str]) -> ShownConcern:
    ended, status = one["settled"], one["status"]
    turn = (ended["by"] or ended["turn"]) if ended else ""
    owner_says = status == ANSWERED and ended and not ended["by"]
    more = "; ".join(filter(None, (_find_others(one), "opened again before" if _was_reopened(one) else "")))
    tones = {OPEN: "disagree" if one["kind"] == BLOCKS else "mixed", ACCEPTED: "silent"}
    return ShownConcern(
        one["id"], one["kind"], join_wordings(one["wordings"][0], one["text"]), one["label"], status,
        tones.get(status, "agree"), one["opened"]["turn"], one["opened"]["round"], more,
        ended=f"{status}, says" if owner_says else f"{status} by", settled=turn, settled_by=labels.get(turn, turn),
    )  # fmt: skip


def _describe_end(concern: Mapping[str, Any]) -> str:
    held, again = _find_others(concern), _was_reopened(concern)
    end = MANNER.get(concern["status"], concern["status"])
    return f"{end}{f', {held}' if held else ''}{' (it was opened again before)' if again else ''}"


def _find_others(concern: Mapping[str, Any]) -> str:
    others = [seat for seat in concern["held_by"] if seat != concern["owner"]]
    return f"also for {', '.join(others)}" if concern["status"] == OPEN and others else ""


def _was_reopened(concern: Mapping[str, Any]) -> bool:
    return any(event["what"] == REOPENED for event in concern["history"])
