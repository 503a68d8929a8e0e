"""The loop by hand, for assistants and persons: start, next, brief and record; and `answer` for a person."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from council.next.cli import options
from council.next.cli.commands import Context
from council.next.cli.debate import find_person
from council.next.cli.options import load_settings, open_session, read_pairs
from council.next.config import identity, places
from council.next.config.settings import Settings
from council.next.engine.planner import RETRY, Due
from council.next.errors import CouncilError, UsageError, Waiting
from council.next.prompts import brief as briefs
from council.next.record import catalog, desk
from council.next.record.lock import BY_HAND
from council.next.record.session import Session
from council.next.reports import listing
from council.next.runner import by_hand
from council.next.runner.assistant import members, notes
from council.next.runner.assistant.show import hand_out, show_next
from council.next.runner.prepare import prepare
from council.next.terminal.output import echo, note, print_json, program, say
from council.next.text import did_you_mean, join_words, one_line


@click.command()
@options.REQUEST
@options.AFTER
@options.JSON
@click.pass_obj
def start(context: Context, /, as_json: bool, **given: Any) -> None:
    """Start a debate on TOPIC whose replies you or an assistant collect. `-` reads it from standard input.

    No model is called, and no key is needed. It prints what `council next` prints: the turns that are due.
    """
    settings = load_settings(given)
    request = options.request_from(given, settings)
    if isinstance(request, str):
        tell_due(open_session(settings, request), as_json)
        return
    with prepare(request, settings, say=note) as session:
        context.session = session
        by_hand.due_now(session, settings)
    tell_due(session, as_json)


@click.command("next")
@options.SESSION
@options.JSON
@click.pass_obj
def next_(context: Context, /, session: str, as_json: bool) -> None:
    """List the turns of SESSION that are due, with the prompt of each. What council does itself is done first."""
    settings = load_settings({})
    found = context.session = open_session(settings, session)
    with found.hold(work=BY_HAND):
        by_hand.due_now(found, settings)
    tell_due(found, as_json)


def tell_due(session: Session, as_json: bool) -> None:
    """The turns that are due, each as a prompt that an assistant can hand on."""
    if not as_json:
        echo(show_next(session, program()))
        return
    flying = notes.in_flight(session.folder, session.said)
    due_now = [
        {
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
        for due in session.plan.due
    ]
    facts = {"session_id": session.id, "folder": str(session.folder), "done": session.plan.done}
    print_json({**facts, "due": due_now})


@click.command()
@options.THIS_SESSION
@options.TURN
@options.word("--part", "N", "Which part of a long brief.", type=options.COUNT, default=None)
@click.pass_obj
def brief(context: Context, /, session: str, turn: str, part: int | None) -> None:
    """Print the brief of TURN, byte for byte. While the turn is due, it also says how to store the answer.

    Then a brief of more than 16,000 bytes is printed in parts, because assistants cut long output.

    \b
    Example:
      council brief last 01-positions/architect
    """
    found = context.session = open_session(load_settings({}), session)
    id = turn.removesuffix(".md")
    due = next((one for one in found.plan.due if one.id == id), None)
    if due is None and id not in found.said:
        known = [*(one.id for one in found.plan.due), *found.said]
        raise UsageError(f"{one_line(turn)} is neither due nor recorded; {did_you_mean(turn, known)}")
    whole = sys.stdout.isatty() and not part
    data = found.brief(id) if due is None else hand_out(found, due, program(), None if whole else part or 1)
    if sys.stdout.isatty():  # without what could take it over
        echo(data.decode("utf-8", "replace"))
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


EACH = "Give one answer by its name instead of a whole reply; once for each that `council next --json` lists."
ANSWER = options.words("--answer answers", "NAME=VALUE", EACH)


@click.command()
@options.THIS_SESSION
@options.TURN
@options.word("-f --file", "FILE", "The file with the reply; `-` (default) is stdin.", type=options.FILE, default=None)
@ANSWER
@options.word("--model", "NAME", "The model that answered, if one did.")
@options.word("--absent", "WHY", "Record that the seat does not answer.")
@options.BY
@click.pass_obj
def record(context: Context, /, session: str, turn: str, **given: Any) -> None:
    """Store a reply as TURN of SESSION, byte for byte. A turn is recorded once, and only while it is due.

    \b
    Examples:
      council record last 01-positions/architect --file reply.md
      council record last 01-positions/designer --absent "on holiday"
    """
    settings = load_settings({})
    found = context.session = open_session(settings, session)
    named, absent, by = read_pairs("--answer", given["answers"]), given["absent"], given["by"]
    file = given["file"] or Path("-")
    if sum(map(bool, (named, absent, given["file"]))) > 1:
        raise UsageError("--file, --answer and --absent exclude one another: give the reply in one way")
    body = "" if named or absent else options.read_input(file)
    try:
        with found.hold(work=BY_HAND):
            due = by_hand.find_due(found, turn)
            if named:
                body = by_hand.compose(found, due.id, named)
            by = by or identity.user_name() if due.seat.is_person else by
            stored = notes.stored_by(found.folder, due.id, os.environ) if file == Path("-") and body else by_hand.HAND
            reply = by_hand.Reply(body, absent, by, model=given["model"], stored=stored)
            problems = by_hand.record(found, settings, due.id, reply)
    except CouncilError:
        if not file.is_file():  # from standard input or a pipe: it may be nowhere else
            give_back(found, turn, body)
        raise
    tell_recorded(found, due.id, problems)


def give_back(session: Session, turn: str, body: str) -> None:
    """Print a reply that could not be stored. Not if these very words are on record."""
    recorded = ""
    with suppress(CouncilError):
        recorded = known.body if (known := session.said.get(turn.removesuffix(".md"))) else ""
    if body.strip() and body != recorded:
        note(f"--- the reply of {one_line(turn)}, which could not be stored ---\n{body}")


def tell_recorded(session: Session, turn: str, problems: tuple[str, ...] = ()) -> None:
    ready = join_words([due.id for due in session.plan.due]) or f"nothing, it is over ({session.outcome.kind})"
    # What is still wrong with a second try stays as it is.
    asked = turn + RETRY in [due.id for due in session.plan.due]
    wrong = "but is asked for once more" if asked else "as it is, though it cannot be read as a whole"
    again = f", {wrong}: {'; '.join(problems)}" if problems else ""
    say(f"recorded {turn}{again}; due now: {ready}")


@click.command()
@click.argument("session", default="", metavar="[SESSION]")
@options.word("--turn", "TURN", "Which turn, if several persons are asked.")
@ANSWER
@options.BY
@click.pass_obj
def answer(context: Context, /, session: str, turn: str, answers: tuple[str, ...], by: str) -> None:
    """Answer the question that SESSION asks a person. The default is the newest session that waits.

    You see the question and each side first, and what will be recorded before it is. A run that waits goes on with it.

    \b
    Example:
      council answer last --answer gate=approve
    """
    settings = load_settings({})
    if not session:
        waits = [row["session_id"] for row in listing.rows(places.sessions(settings.home)) if row["waits_for"]]
        if not waits:
            raise UsageError("no session waits for a person; `council list` shows your sessions")
        session = waits[-1]
    found = context.session = open_session(settings, session)
    due = find_question(found, turn)
    named = read_pairs("--answer", answers)
    body = by_hand.compose(found, due.id, named) if named else asyncio.run(ask(found, due, settings))
    given = desk.Answer(due.id, body, by or identity.user_name(), "answer", time.time())
    became = desk.answer(found.folder, given)
    if became == "too late":
        raise UsageError(f"somebody else has answered {due.id}; `council show {found.id} {due.id}` prints the answer")
    found.refresh()
    if became == "left":
        say(f"answered {due.id}; the run that holds {found.id} goes on with it")
        return
    with found.hold(work=BY_HAND):
        by_hand.publish(found, settings)
    tell_recorded(found, due.id)
    if found.plan.due:
        note(f"`{catalog.next_command(found)}` goes on")


def find_question(session: Session, turn: str) -> Due:
    """The due turn that asks a person."""
    asked = {due.id: due for due in session.plan.due if due.seat.is_person}
    if turn and turn not in asked:
        raise UsageError(f"{one_line(turn)} does not wait for a person; {did_you_mean(turn, asked)}")
    if not asked:
        what = (
            "it is over" if session.plan.done else f"{session.plan.due[0].id} is due: `{catalog.next_command(session)}`"
        )
        raise UsageError(f"{session.id} does not wait for a person; {what}")
    if len(asked) > 1 and not turn:
        raise UsageError(f"{session.id} asks several persons; name one with --turn: {join_words(asked)}")
    return asked[turn or next(iter(asked))]


async def ask(session: Session, due: Due, settings: Settings) -> str:
    """Ask the person at this terminal, as a run does."""
    here = find_person(settings, {})
    if here is None or here.ask is None:
        wanted = join_words(f'--answer "{name}={kind.wanted()}"' for name, kind in due.step.reply.items())
        raise Waiting(f"{due.id} waits, and nobody can be asked here: give {wanted or 'the words on a terminal'}")
    return await here.reply(briefs.stored(session, due) or briefs.render(session, due), here.ask)
