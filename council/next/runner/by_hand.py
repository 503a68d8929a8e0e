"""The loop by hand: the briefs of what is due, and a reply stored. An assistant holds a debate in this way."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from council.next.config.settings import Settings
from council.next.engine.planner import RETRY, Due
from council.next.errors import UsageError, Waiting
from council.next.prompts import brief as briefs
from council.next.prompts.brief import Brief
from council.next.record.session import Session, now
from council.next.record.turn_file import Receipt
from council.next.replies.markdown import scan
from council.next.replies.read import heading
from council.next.reports.finish import finish
from council.next.runner import process
from council.next.runner.assistant import members, notes
from council.next.runner.assistant.show import PLACEHOLDER
from council.next.runner.loop import Run
from council.next.speakers.base import speakers
from council.next.text import did_you_mean, encode, join_words, one_line

LONGEST_NAME = 200
HAND = "hand"


@dataclass(frozen=True)
class Reply:
    """What somebody gives for a due turn: the words, or why there are none. `by` names a person, and `via` says where
    that person answered. `model` is a member's, and `stored` says who stored its words."""

    body: str = ""
    absent: str = ""
    by: str = ""
    via: str = "record"
    model: str = ""
    stored: str = HAND


def due_now(session: Session, settings: Settings) -> list[Brief]:
    """The briefs of the turns that members and persons owe, stored before they are shown. What council does itself
    is done first. The session must be held."""
    members.harvest(session)
    run = Run(session, None, settings)

    async def machines() -> None:
        try:
            with suppress(Waiting):
                await run.until_done()
        finally:
            await run.close()

    process.beside(lambda: asyncio.run(machines()))
    publish(session, settings)
    return [briefs.write(session, due) for due in session.plan.due]


def record(session: Session, settings: Settings, turn: str, reply: Reply) -> tuple[str, ...]:
    """Store the reply to a due turn. Returns what is wrong with it: the first time, it is asked for once more.

    A person's answer is checked before it is stored, because a person can correct it at once. The session must be held.
    """
    members.harvest(session)
    due = find_due(session, turn)
    problems = () if reply.absent else session.plan.check(due, reply.body)
    if due.seat.is_person and problems:
        raise UsageError("; ".join(problems))
    if reply.by and reply.model:
        raise UsageError(f"{turn}: --by names a person and --model a model, so only one of them can have answered")
    if not reply.body.strip() and not reply.absent:
        raise UsageError("the reply is empty; --absent REASON records that the seat cannot speak")
    if reply.body.strip() == PLACEHOLDER:
        raise UsageError(f"{turn}: the reply is only {PLACEHOLDER}; write the answer in its place")
    if reply.body.strip() == members.NO_BRIEF:
        raise UsageError(f"{turn}: its member was given no brief, so this is no answer; ask for it again")
    brief = briefs.write(session, due)
    whose: dict[str, Any] = {"speaker": "assistant", "stored": reply.stored}
    if due.seat.is_person or reply.by:  # a person may speak for any seat
        whose = {"speaker": "human", "usd": 0.0, "by": one_line(reply.by, LONGEST_NAME) or None, "via": reply.via}
    receipt = Receipt.of(
        due,
        answered=one_line(reply.model, LONGEST_NAME) or None,
        brief=brief.hash,
        started=now(),
        stop="absent" if reply.absent else "recorded",
        absent=reply.absent or None,
        **whose,
    )
    session.record(receipt, encode(reply.body))
    session.advance()
    publish(session, settings)
    return problems


def find_due(session: Session, turn: str) -> Due:
    """The due turn of this id."""
    name = turn.removesuffix(".md")
    for due in session.plan.due:
        own = due.seat.get("speaker")
        if due.id == name and own and getattr(speakers[own], "machine", False):
            raise UsageError(f"{name} is for no member: council makes it itself, with `council next {session.id}`")
        if due.id == name:
            return due
    if name in session.said:
        again = next((due for due in session.plan.due if due.id == name + RETRY), None)
        more = f"; {again.id} is due, because of it: {'; '.join(again.problems)}" if again else ""
        raise UsageError(f"{name} is recorded already, and a turn is never overwritten{more}")
    known = [due.id for due in session.plan.due]
    shown = join_words(known) or "nothing: the debate is over"
    raise UsageError(f"{one_line(turn, LONGEST_NAME)} is not due; {did_you_mean(turn, known)} (due: {shown})")


def compose(session: Session, turn: str, answers: Mapping[str, str]) -> str:
    """The reply to a due turn, made of its answers by name. Each is what one would write below the heading."""
    due = find_due(session, turn)
    if unknown := [name for name in answers if name not in due.step.reply]:
        raise UsageError(f'{turn} does not ask for "{unknown[0]}"; {did_you_mean(unknown[0], due.step.reply)}')
    for name, text in answers.items():
        if any(block.name for block in scan(text, due.step.reply)):
            raise UsageError(f'"{name}": an answer cannot hold the heading of another')
    body = "\n\n".join(f"## {heading(name)}\n{text.strip()}" for name, text in answers.items())
    if wrong := session.plan.check(due, body):
        raise UsageError("; ".join(wrong))
    return body


def publish(session: Session, settings: Settings) -> None:
    """Write what follows from the record now, and what is done once the debate is over."""
    notes.clear(session.folder, [due.id for due in session.plan.due])
    finish(session, settings.home)
