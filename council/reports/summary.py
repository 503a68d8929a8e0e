"""A session in brief: what `list`, `status` and `show` print as JSON, and what the Python API returns.

docs/cli.schema.json describes the JSON.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from council.protocols import outcome
from council.protocols.specialists import list_table
from council.record import catalog
from council.record import session as sessions
from council.reports import archive, listing, markdown, totals, transcript
from council.reports.model import DebateVerdict, Statement, Transcript, plain
from council.reports.verify import Status, status
from council.text import one_line

SHORT_TOPIC = 60


@dataclass(frozen=True)
class Totals:
    """What a session cost so far, calls that failed included; None is unknown, and `usd_at_least` the known part."""

    calls: int
    failed_calls: int
    input_tokens: int | None
    output_tokens: int | None
    usd: float | None
    usd_at_least: float


@dataclass(frozen=True)
class DebateResult:
    """A session in its current state. Fields that cannot be read from a damaged session are empty or None.

    `state` is complete, running, waiting, paused, interrupted or damaged, and `why` says more. `turns` counts the
    turns that are recorded; `due` are those that are ready.
    """

    session_id: str
    folder: Path
    state: str
    why: str
    started_at: datetime
    completed_at: datetime | None = None
    topic: str = ""
    workflow: str | None = None
    members: tuple[str, ...] = ()
    turns: int = 0
    due: tuple[str, ...] = ()
    outcome: str | None = None
    totals: Totals | None = None
    archived_to: Path | None = None

    @cached_property
    def transcript(self) -> Transcript:
        """The whole debate as an object: its rounds, statements, synthesis and receipts."""
        found = sessions.open_(self.folder)
        found.read_turns()
        return transcript.compose(found, found.plan())

    @property
    def synthesis(self) -> str:
        """The synthesis in Markdown; empty if there is none yet."""
        made = self.transcript.synthesis
        return markdown.synthesis(made, self.transcript.overlaid) if made else ""

    def as_markdown(self) -> str:
        """The transcript as `council show` prints it."""
        return markdown.whole(self.transcript)


def summarize(folder: Path, known: Status | None = None) -> DebateResult:
    """Summarize the session in a folder, whatever its state."""
    found = known or status(folder)
    result = DebateResult(folder.name, folder, found.state, found.why, catalog.began_at(folder))
    if found.session is None or found.plan is None:
        return result
    facts, kept = found.session.metadata, found.session.kept_from
    completed = facts.get("completed_at")
    return DebateResult(
        session_id=result.session_id,
        folder=folder,
        state=found.state,
        why=found.why,
        started_at=datetime.fromisoformat(facts["started_at"]),
        completed_at=datetime.fromisoformat(str(completed)) if completed else None,
        topic=str(facts["topic"]),
        workflow=found.session.workflow.name,
        members=tuple(seat.name for seat in list_table(found.session.workflow, found.plan.scene)),
        turns=len(found.session.said),
        due=() if kept else tuple(due.id for due in found.plan.due),
        outcome=facts.get("outcome") if kept else outcome.outcome(found.plan) if found.plan.done else None,
        totals=Totals(**totals.totals(found.session)),
        archived_to=archive.find_copy(found.session),
    )


def as_row(result: DebateResult) -> dict[str, Any]:
    """A session as `list --json` prints it."""
    completed, archived = result.completed_at, result.archived_to
    return {
        "session_id": result.session_id,
        "folder": str(result.folder),
        "state": result.state,
        "why": result.why,
        "started_at": result.started_at.isoformat(timespec="seconds"),
        "completed_at": completed.isoformat(timespec="seconds") if completed else None,
        "age": listing.age(result.started_at),
        "topic": one_line(result.topic, SHORT_TOPIC),
        "workflow": result.workflow,
        "members": list(result.members),
        "outcome": result.outcome,
        "turns": result.turns,
        "due": list(result.due),
        "usd": result.totals.usd if result.totals else None,
        "totals": plain(result.totals),
        "archived_to": str(archived) if archived else None,
    }


def as_document(result: DebateResult) -> dict[str, Any]:
    """A session as `show --json` prints it: the row, and everything that was said."""
    debate = result.transcript
    rounds = [
        {
            "number": round.number or None,
            "phase": round.phase,
            "title": round.title,
            "turns": [_turn(statement) for statement in round.statements],
        }
        for round in debate.rounds
    ]
    receipts = [plain(receipt) for receipt in debate.receipts]
    return as_row(result) | {
        "head": debate.head,
        "ledger": list(debate.concerns),
        "question": debate.question,
        "verdict": _verdict(debate.verdict),
        "rounds": rounds,
        "synthesis": result.synthesis or None,
        "receipts": receipts,
    }


def _verdict(verdict: DebateVerdict) -> dict[str, Any]:
    """The parts that scripts need; rounds and totals are elsewhere in the document."""
    return {
        "answer": verdict.answer,
        "carried": verdict.carried,
        "reason": verdict.reason,
        "tally": verdict.tally,
        "path": verdict.path,
        "path_title": verdict.path_title,
        "confidence": verdict.confidence or None,
        "blocking": plain(verdict.blocking),
        "dissent": plain(verdict.dissent),
    }


def _turn(statement: Statement) -> dict[str, Any]:
    answers = {answer.name: list(answer.points) or answer.text for answer in statement.answers}
    return {
        "turn": statement.id,
        "seat": statement.seat,
        "name": statement.label,
        "text": statement.text,
        "answers": answers,
        "absent": statement.absent or None,
        "by": statement.by or None,
    }
