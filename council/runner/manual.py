"""The loop by hand: what is due with its briefs, and a reply stored. Whoever holds a debate without a speaker of ours
comes through here: the command line, MCP, and Claude Code's hooks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from council.config.settings import Config
from council.engine.planner import Due, Plan
from council.errors import UsageError
from council.record.session import Session
from council.replies import entry
from council.reports import archive, derived
from council.runner import loop
from council.speakers import registry
from council.speakers.base import Brief, Spoken
from council.workflow.model import HUMAN


@dataclass(frozen=True)
class Stand:
    """Where a session stands. `archived` is there once nothing is due any more."""

    plan: Plan
    due: tuple[tuple[Due, Brief], ...] = ()
    archived: Path | None = None


def stand(found: Session, settings: Config, turn: str | None = None) -> Stand:
    """What is due, or of it one turn, with the briefs on disk; or the end, published. The session is held."""
    plan = found.plan()
    wanted = plan.due if turn is None or plan.done else (due_turn(found, plan, turn),)
    due = tuple((one, loop.prepare(found, settings, one)) for one in wanted)
    found.write_briefs({one.id: brief.text for one, brief in due})
    return Stand(plan, due, _published(found, plan, settings))


def record(
    found: Session, settings: Config, turn: str, spoken: Spoken, begun: datetime | None = None, seconds: float = 0.0
) -> Stand:
    """Store what was said as that turn, if it is due. The session is held; what is due then has no briefs yet."""
    due = due_turn(found, found.plan(), turn)
    brief = loop.prepare(found, settings, due)
    found.write_briefs({due.id: brief.text})
    speaker = HUMAN if due.of_a_person else registry.manual().name
    started = begun or datetime.now(UTC)
    found.record(loop.receipt(found, due, brief.model, speaker, spoken, started, seconds), spoken.body)
    plan = found.plan()
    return Stand(plan, archived=_published(found, plan, settings))


def composed(found: Session, settings: Config, turn: str, given: Iterable[tuple[str, str]]) -> str:
    """The reply to a due turn, made of its answers by name; what cannot be one is refused. The session is held."""
    due = due_turn(found, found.plan(), turn)
    if not entry.askable(due.step.reply):
        raise UsageError(f"{turn} asks for no answers by name; give the reply itself, in a file or on standard input")
    return entry.answered(due.step.reply, given, loop.prepare(found, settings, due).text)


def _published(found: Session, plan: Plan, settings: Config) -> Path | None:
    if plan.done:
        return archive.finish(found, plan, settings.archive)
    derived.build(found, plan)
    return None


def due_turn(found: Session, plan: Plan, turn: str) -> Due:
    for due in plan.due:
        if due.id == turn:
            return due
    if turn in found.said:
        raise UsageError(f"{turn} is recorded already, and a turn is never overwritten")
    ids = ", ".join(one.id for one in plan.due) or "nothing, the debate is over"
    raise UsageError(f"{turn} is not due in session {found.id}; due now: {ids}")
