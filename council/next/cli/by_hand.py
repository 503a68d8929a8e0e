"""The loop by hand, for assistants and persons: start, next, brief and record; and `answer` for a person."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from council.next.cli.group import Context
from council.next.cli.options import (
    AFTER,
    BY,
    FILE,
    JSON,
    REQUEST,
    SESSION,
    THIS_SESSION,
    load_settings,
    open_session,
    options,
    read_input,
    request_from,
)
from council.next.errors import UsageError, Waiting
from council.next.terminal.output import echo, note, print_json, program
from council.next.text import did_you_mean, join_words, one_line

if TYPE_CHECKING:
    from council.next.config.settings import Settings
    from council.next.engine.planner import Due
    from council.next.record.session import Session

TURN = click.argument("turn")


@click.command()
@options(*REQUEST, AFTER, JSON)
@click.pass_obj
def start(context: Context, /, as_json: bool, **given: Any) -> None:
    """Start a debate on TOPIC whose replies you or an assistant collect. `-` reads it from standard input.

    No model is called, and no key is needed. It prints what `council next` prints: the turns that are due.
    """
    from council.next.runner.by_hand import due_now
    from council.next.runner.prepare import prepare

    settings = load_settings(given)
    request = request_from(given, settings)
    if isinstance(request, str):
        tell_due(open_session(settings, request), as_json)
        return
    with prepare(request, settings, say=note) as session:
        context.session = session
        due_now(session, settings)
    tell_due(session, as_json)


@click.command("next")
@SESSION
@JSON
@click.pass_obj
def next_(context: Context, /, session: str, as_json: bool) -> None:
    """List the turns of SESSION that are due, with the prompt of each. What council does itself is done first."""
    from council.next.runner.assistant import members
    from council.next.runner.by_hand import due_now

    settings = load_settings({})
    found = context.session = open_session(settings, session)
    with members.hold(found):
        due_now(found, settings)
    tell_due(found, as_json)


def tell_due(session: Session, as_json: bool) -> None:
    """The turns that are due, each as a prompt that an assistant can hand on."""
    dues = session.plan.due
    if as_json:
        facts = {"session_id": session.id, "folder": str(session.folder), "done": session.plan.done}
        print_json({**facts, "due": [describe(due, session) for due in dues]})
        return
    from council.next.runner.assistant.show import show_next

    echo(show_next(session, program()))


def describe(due: Due, session: Session) -> dict[str, Any]:
    from council.next.runner.assistant import members, notes

    flying = notes.in_flight(session.folder, session.said)
    return {
        "turn": due.id,
        "seat": due.seat.name,
        "label": due.seat.label,
        "tier": due.tier,
        "model": session.program["models"].get(due.tier),
        "person": due.seat.is_person,
        "answers": {name: kind.wanted() for name, kind in due.step.reply.items()},
        "problems": list(due.problems),
        "prompt": "" if due.seat.is_person else members.sentence(program(), session, due),
        "state": "asked" if due.id in flying else "due",
    }


@click.command()
@THIS_SESSION
@TURN
@click.option("--part", type=click.IntRange(1), default=None, metavar="N", help="Which part of a long brief.")
@click.pass_obj
def brief(context: Context, /, session: str, turn: str, part: int | None) -> None:
    """Print the brief of TURN, byte for byte; while the turn is due, also how to store its answer.

    While it is due, a brief of more than 16,000 bytes is printed in parts, because assistants cut long output.
    """
    from council.next.runner.assistant.show import hand_out

    settings = load_settings({})
    found = context.session = open_session(settings, session)
    id = turn.removesuffix(".md")
    due = next((one for one in found.plan.due if one.id == id), None)
    if due is None and id not in found.said:
        known = [*(one.id for one in found.plan.due), *found.said]
        raise UsageError(f"{one_line(turn)} is neither due nor recorded; {did_you_mean(turn, known)}")
    if due is None:
        write_bytes(found.brief(id))
        return
    is_read_in_parts = part or not sys.stdout.isatty()
    write_bytes(hand_out(found, due, program(), (part or 1) if is_read_in_parts else None))


def write_bytes(data: bytes) -> None:
    """Byte for byte into a pipe or a file; to a terminal without what could take it over."""
    if sys.stdout.isatty():
        echo(data.decode("utf-8", "replace"))
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


ANSWER = click.option(
    "--answer",
    "answers",
    multiple=True,
    metavar="NAME=VALUE",
    help="Give one answer by its name instead of a whole reply; once for each that `council next --json` lists.",
)


@click.command()
@THIS_SESSION
@TURN
@click.option("-f", "--file", type=FILE, default=Path("-"), help="The file with the reply; `-` (default) is stdin.")
@ANSWER
@click.option("--model", default="", metavar="NAME", help="The model that answered, if one did.")
@click.option("--absent", default="", metavar="WHY", help="Record that the seat does not answer.")
@BY
@click.pass_obj
def record(context: Context, /, session: str, turn: str, **given: Any) -> None:
    """Store a reply as TURN of SESSION, byte for byte. A turn is recorded once, and only while it is due."""
    from council.next.config import identity
    from council.next.runner import by_hand
    from council.next.runner.assistant import members, notes

    settings = load_settings({})
    found = context.session = open_session(settings, session)
    named, absent, by = read_answers(given["answers"]), given["absent"], given["by"]
    body = "" if named or absent else read_input(given["file"])
    with members.hold(found):
        due = by_hand.find_due(found, turn)
        if named:
            body = by_hand.compose(found, due.id, named)
        by = by or identity.user_name() if due.seat.is_person else by
        stored = notes.stored_by(found.folder, due.id, os.environ) if given["file"] == Path("-") else by_hand.HAND
        reply = by_hand.Reply(body, absent, by, model=given["model"], stored=stored)
        problems = by_hand.record(found, settings, due.id, reply)
    tell_recorded(found, due.id, problems)


def tell_recorded(session: Session, turn: str, problems: tuple[str, ...]) -> None:
    ready = join_words([due.id for due in session.plan.due]) or f"nothing, it is over ({session.outcome.kind})"
    again = f", but is asked for once more: {'; '.join(problems)}" if problems else ""
    echo(f"recorded {turn}{again}; due now: {ready}")


def read_answers(given: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"--answer {one_line(one)}: write NAME=VALUE")
        if name.strip() in found:
            raise UsageError(f'--answer: "{name.strip()}" is given twice')
        found[name.strip()] = value
    return found


@click.command()
@click.argument("session", default="", metavar="[SESSION]")
@click.option("--turn", default="", metavar="TURN", help="Which turn, if several persons are asked.")
@ANSWER
@BY
@click.pass_obj
def answer(context: Context, /, session: str, turn: str, answers: tuple[str, ...], by: str) -> None:
    """Answer the question that SESSION asks a person (default: the newest one that waits).

    You see the question and each side first, and what will be recorded before it is. A run that waits goes on with it.
    """
    from council.next.config import identity
    from council.next.record import desk
    from council.next.runner import by_hand
    from council.next.runner.assistant import members

    settings = load_settings({})
    found = context.session = open_session(settings, session or find_waiting(settings))
    due = find_question(found, turn)
    named = read_answers(answers)
    body = by_hand.compose(found, due.id, named) if named else asyncio.run(ask(found, due, settings))
    given = desk.Answer(due.id, body, by or identity.user_name(), "answer", time.time())
    became = desk.answer(found.folder, given)
    if became == "too late":
        raise UsageError(f"somebody else has answered {due.id}; `council show {found.id} {due.id}` prints the answer")
    found.refresh()
    if became == "left":
        echo(f"answered {due.id}; the run that holds {found.id} goes on with it")
        return
    with members.hold(found):
        by_hand.publish(found, settings)
    tell_recorded(found, due.id, ())
    if found.plan.due:
        note(f"`council recover {found.id}` goes on")


def find_waiting(settings: Settings) -> str:
    """The newest session that waits for a person."""
    from council.next.config import places
    from council.next.reports.listing import rows

    waits = [row["id"] for row in rows(places.sessions(settings.home)) if row["waits_for"]]
    if not waits:
        raise UsageError("no session waits for a person; `council list` shows your sessions")
    return str(waits[-1])


def find_question(session: Session, turn: str) -> Due:
    """The due turn that asks a person."""
    asked = {due.id: due for due in session.plan.due if due.seat.is_person}
    if turn and turn not in asked:
        raise UsageError(f"{one_line(turn)} does not wait for a person; {did_you_mean(turn, asked)}")
    if not asked:
        what = "it is over" if session.plan.done else f"{session.plan.due[0].id} is due: `council recover {session.id}`"
        raise UsageError(f"{session.id} does not wait for a person; {what}")
    if len(asked) > 1 and not turn:
        raise UsageError(f"{session.id} asks several persons; name one with --turn: {join_words(asked)}")
    return asked[turn] if turn else next(iter(asked.values()))


async def ask(session: Session, due: Due, settings: Settings) -> str:
    """Ask the person at this terminal, as a run does."""
    from council.next.prompts import brief as briefs
    from council.next.speakers.person import Person
    from council.next.terminal.ask import Keyboard

    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        wanted = join_words(f'--answer "{name}={kind.wanted()}"' for name, kind in due.step.reply.items())
        raise Waiting(f"{due.id} waits, and nobody can be asked here: give {wanted or 'the words on a terminal'}")
    keyboard = Keyboard()
    person = Person(settings, ask=keyboard.ask, agree=keyboard.agree)
    return await person.reply(briefs.stored(session, due) or briefs.render(session, due))
