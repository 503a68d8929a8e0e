"""`next` and `record`: the same loop by hand, for an assistant, a script or a person."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from council.cli.state import State, echo, print_json
from council.errors import CouncilError, UsageError

if TYPE_CHECKING:
    from council.plan import Plan
    from council.session import Session


@click.command("next")
@click.argument("session", default="last")
@click.option("--json", "as_json", is_flag=True, help="Print the due turns as JSON.")
@click.pass_obj
def next_(state: State, session: str, as_json: bool) -> None:
    """Print the turns of SESSION that may be spoken now, and write their briefs."""
    from council import config, publish, run

    settings, found = config.load(), state.open(session)
    with found.hold():
        plan = found.plan()
        due = [(one, run.prepare(found, settings, one)) for one in plan.due]
        found.write_briefs({one.id: brief.text for one, brief in due})
        publish.build(found, plan)
        archived = None if due else publish.finish(found, plan, settings.archive)
    rows = [
        {
            "turn": one.id, "seat": one.seat.name, "name": one.seat.label, "tier": one.tier,
            "model": brief.model.name, "person": one.of_a_person, "brief": str(found.brief_path(one.id)),
        }
        for one, brief in due
    ]  # fmt: skip
    if as_json:
        print_json({"session_id": found.id, "done": not rows, "due": rows, "archived_to": archived})
    elif rows:
        for row in rows:
            echo(f"{row['turn']}  {row['name']}  {row['tier']} ({row['model']})  {row['brief']}")
    else:
        echo(f"nothing is due: the debate is over and archived to {archived}")


@click.command()
@click.argument("session")
@click.argument("turn")
@click.option(
    "-f", "--file", "file", type=click.Path(path_type=Path), help="The reply; `-`, or nothing, is standard input."
)
@click.option("--model", metavar="NAME", help="The model that answered, if a model did.")
@click.option("--absent", metavar="WHY", help="The seat does not speak; it stays in every count.")
@click.pass_obj
def record(state: State, session: str, turn: str, file: Path | None, model: str | None, absent: str | None) -> None:
    """Store a reply as TURN of SESSION, byte for byte. A turn is recorded once, and only while it is due."""
    from council import config, publish, run
    from council.speakers.base import Spoken

    settings, found = config.load(), state.open(session)
    body = "" if absent else reply_text(file)
    turn = turn.removesuffix(".md")
    with shown_if_lost(found, turn, body if piped(file) else ""), found.hold():
        plan = found.plan()
        due = due_turn(found, plan, turn)
        brief = run.prepare(found, settings, due)
        found.write_briefs({due.id: brief.text})
        stop = "absent" if absent else "recorded"
        spoken = Spoken(body, model, stop, usd=None, absent=absent)
        speaker = "human" if due.of_a_person else "assistant"
        found.record(run.receipt(found, due, brief.model, speaker, spoken, datetime.now(UTC), 0.0), body)
        plan = found.plan()
        publish.build(found, plan)
        if plan.done:
            echo(
                f"recorded {due.id}; the debate is over and archived to {publish.finish(found, plan, settings.archive)}"
            )
        else:
            echo(f"recorded {due.id}; due now: {', '.join(one.id for one in plan.due)}")


@contextmanager
def shown_if_lost(session: Session, turn: str, body: str) -> Iterator[None]:
    """What came through a pipe exists nowhere else: where it could not be stored, it is at least shown."""
    from council.screen import Screen
    from council.ui import unsaved_text

    try:
        yield
    except CouncilError:
        if body and turn not in session.said:
            Screen().insist(unsaved_text(turn, body))
        raise


def piped(file: Path | None) -> bool:
    return file is None or str(file) == "-"


def reply_text(file: Path | None) -> str:
    try:
        data = sys.stdin.buffer.read() if file is None or piped(file) else file.read_bytes()
    except OSError as failure:
        raise UsageError(f"{file}: {failure.strerror}") from None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError("the reply is no UTF-8 text") from None
    if not text.strip():
        raise UsageError("the reply is empty; a seat that does not speak is recorded with --absent WHY")
    return text


def due_turn(session: Session, plan: Plan, turn: str) -> Any:
    for due in plan.due:
        if due.id == turn:
            return due
    if turn in session.said:
        raise UsageError(f"{turn} is recorded already, and a turn is never overwritten")
    ids = ", ".join(one.id for one in plan.due) or "nothing, the debate is over"
    raise UsageError(f"{turn} is not due in session {session.id}; due now: {ids}")


COMMANDS = (next_, record)
