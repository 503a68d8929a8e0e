"""The loop by hand: the briefs of what is due, and a reply stored.

Debates whose members are not called by council come through here: from the command line, MCP and Claude Code's hooks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from council.config import command_line, places
from council.config.identity import LONGEST, user_name
from council.config.settings import Config
from council.engine.planner import Due, Plan
from council.errors import UsageError
from council.record import desk
from council.record.session import Session
from council.record.turn_file import HAND
from council.replies import entry, parse
from council.reports import archive, derived
from council.runner import loop, notify
from council.speakers import registry
from council.speakers.assistant import handouts
from council.speakers.base import Brief, Spoken
from council.text import one_line
from council.workflow.model import HUMAN

NO_BRIEF = "no brief"  # what a member answers that was given none


@dataclass(frozen=True)
class ManualState:
    """How far a session is. `archived` is set once nothing is due any more."""

    plan: Plan
    due: tuple[tuple[Due, Brief], ...] = ()
    archived: Path | None = None


def advance(session: Session, settings: Config, turn: str | None = None) -> ManualState:
    """Write the briefs of what is due, or of one due turn; if nothing is due, publish. The session must be locked."""
    plan = session.plan()
    wanted = plan.due if turn is None or plan.done else (due_turn(session, plan, turn),)
    due = tuple((one, loop.prepare(session, settings, one)) for one in wanted)
    session.write_briefs({one.id: brief.text for one, brief in due})
    return ManualState(plan, due, _publish(session, plan, settings))


def record(
    session: Session, settings: Config, turn: str, spoken: Spoken, begun: datetime | None = None, seconds: float = 0.0
) -> ManualState:
    """Store the reply to a due turn. The session must be locked; what is due afterwards has no briefs yet.

    A person's answer says who gave it; a member's, how it came.
    """
    before = session.plan()
    due = due_turn(session, before, turn)
    spoken = replace(spoken, model=one_line(spoken.model or "", LONGEST) or None)  # it comes with the reply
    if due.of_a_person:
        by, via = one_line(spoken.by or "", LONGEST) or user_name(), spoken.via or desk.RECORD
        spoken = replace(spoken, by=by, via=via, recorded_by=None)
    elif spoken.by:
        raise UsageError(f"{turn} is not a person's turn, so nobody can be named for it; use --model for a model")
    else:
        if spoken.body.strip() == NO_BRIEF:
            raise UsageError(f"{turn}: its member was given no brief, so this is not an answer; ask for it again")
        spoken = replace(spoken, recorded_by=spoken.recorded_by or HAND)
    brief = loop.prepare(session, settings, due)
    if due.of_a_person and not spoken.absent:
        check_answer(due, brief, spoken.body)
    session.write_briefs({due.id: brief.text})
    speaker = HUMAN if due.of_a_person else registry.manual().name
    started = begun or datetime.now(UTC)
    session.record(loop.receipt(session, due, brief.model, speaker, spoken, started, seconds), spoken.body)
    plan = session.plan()
    handouts.remove_notes(session.folder, [one.id for one in plan.due])
    archived = _publish(session, plan, settings)
    if not due.of_a_person:  # a person who has just answered sees how it goes on
        notify.report_by_hand(settings.notify, session, before)
    return ManualState(plan, archived=archived)


def check_answer(due: Due, brief: Brief, body: str) -> None:
    """Refuse a person's reply whose answers contradict what is known, such as an end that may not come yet."""
    if why := brief.refuse(parse.read(due.step.reply, body, brief.text).found):
        raise UsageError(f"{due.id}: {why}")


def compose_reply(session: Session, settings: Config, turn: str, given: Iterable[tuple[str, str]]) -> str:
    """The reply to a due turn, made from its answers by name; invalid ones are refused. The session must be locked."""
    due = due_turn(session, session.plan(), turn)
    if not entry.can_ask(due.step.reply):
        raise UsageError(f"{turn} asks for no named answers; give the reply itself, in a file or on standard input")
    return entry.build_reply(due.step.reply, given, loop.prepare(session, settings, due).text)


def list_answers(due: Due) -> dict[str, str]:
    """The answers that a person is asked for, by name; empty for free text, and for models, whose briefs say it."""
    declared = due.step.reply if due.of_a_person and entry.can_ask(due.step.reply) else ()
    return {name: entry.describe_allowed(kind) for name, kind in declared}


def record_command(session: Session, due: Due) -> str:
    """The command that stores a person's answer; empty for models."""
    given = " ".join(f'--answer "{name}=…"' for name in list_answers(due)) or "--file answer.md"
    return f"{command_line.program()} record {session.id} {due.id} {given}" if due.of_a_person else ""


def _publish(session: Session, plan: Plan, settings: Config) -> Path | None:
    if plan.done:
        archived = archive.finish(session, plan, places.archive_of(settings, session.folder))
        assert session.lock is not None
        session.lock.clear()  # of a run that waited for this answer
        return archived
    derived.build(session, plan)
    return None


def due_turn(session: Session, plan: Plan, turn: str) -> Due:
    for due in plan.due:
        if due.id == turn and registry.machine_of(due.seat):
            run = f"`{command_line.program()} next {session.id}`"
            raise UsageError(f"{turn} is not for a member: council makes it itself; run {run}")
        if due.id == turn:
            return due
    if turn in session.said:
        raise UsageError(f"{turn} is recorded already, and a turn is never overwritten")
    ids = ", ".join(one.id for one in plan.due) or "nothing, the debate is over"
    raise UsageError(f"{one_line(turn, LONGEST)} is not due in session {session.id}; due now: {ids}")
