"""`answer`: what a person is asked, on one screen, and their answer."""

from __future__ import annotations

import asyncio
import math
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from council.cli import completion, manual
from council.cli.command import command
from council.cli.context import State
from council.cli.options import JSON
from council.errors import CouncilError, UsageError
from council.terminal.output import echo, print_json

if TYPE_CHECKING:
    from council.config.settings import Config
    from council.engine.planner import Due
    from council.prompts.question import Question
    from council.record.session import Session

REASON = "reason"
MOST_LISTED = 10


@command()
@click.argument("session", required=False, shell_complete=completion.sessions)
@click.option("--turn", metavar="TURN", help="Which turn, if several persons are asked.")
@click.option("--choose", metavar="WORDS", help='Answer without being asked: "A", "A, but …", a word of the menu.')
@click.option("--because", metavar="REASON", help="Your reason, where one is asked for; with --choose.")
@click.option("--by", metavar="NAME", help="Who answers (default: Git's user.name, or the login).")
@JSON
@click.pass_obj
def answer(
    state: State, session: str | None, turn: str | None, choose: str | None, because: str | None, by: str | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Answer the question that SESSION asks a person (default: the one session that waits), from one screen.

    Press Enter for the recommendation, or type a letter, "A, but …", or your own words; only what is missing is asked
    for then. A run that waits for the answer goes on with it.
    """
    from council.config import settings as config
    from council.prompts import question as questions
    from council.record import desk

    settings = config.load()
    found = state.open(session or find_waiting(settings))
    due = find_due(found, turn)
    question = questions.build(found, due)
    if because is not None and choose is None:
        raise UsageError("--because goes with --choose")
    if choose is None and as_json:
        print_json(questions.as_json(question))
        return
    body = (
        ask(found, settings, due, question) if choose is None else read(found, settings, due, question, choose, because)
    )
    manual.record_answer(found, settings, due.id, body, by or "", desk.TERMINAL, quiet=as_json)
    if as_json:
        receipt = found.receipts[due.id]
        print_json({"turn": due.id, "recorded": True, "by": receipt.by, "done": found.plan().done})


def find_waiting(settings: Config) -> str:
    """The id of the one session that waits for a person."""
    from council.config import places
    from council.record import catalog
    from council.record import session as sessions

    waiting: dict[str, str] = {}
    for root in places.list_roots(settings):
        for id in catalog.all_ids(root):
            try:
                found = sessions.open_(root / id)
                if "completed_at" in found.metadata:
                    continue
                found.read_turns()
                asked = [due.id for due in found.plan().due if due.of_a_person]
            except (CouncilError, OSError):  # `council list` says what is wrong with it
                continue
            if asked:
                waiting[id] = f"{id}  {', '.join(asked)}"
    if len(waiting) == 1:
        return next(iter(waiting))
    if not waiting:
        raise UsageError("no session waits for a person; `council list` shows your sessions")
    listed = "\n".join(f"  {line}" for line in list(waiting.values())[:MOST_LISTED])
    raise UsageError(f"{len(waiting)} sessions wait for a person; name one:\n{listed}")


def find_due(found: Session, turn: str | None) -> Due:
    """The person's turn that is due, or the one of this name."""
    from council.record import tracked
    from council.runner import manual as loop

    tracked.refuse(found.folder)
    found.read_turns()
    plan = found.plan()
    if turn:
        due = loop.due_turn(found, plan, turn.removesuffix(".md"))
        if not due.of_a_person:
            raise UsageError(f"{due.id} is not a person's turn; `council record` stores its reply")
        return due
    asked = [due for due in plan.due if due.of_a_person]
    if not asked:
        others = ", ".join(due.id for due in plan.due) or "nothing, the debate is over"
        raise UsageError(f"{found.id} does not wait for a person; due now: {others}")
    if len(asked) > 1:
        raise UsageError(f"several persons are asked; name one with --turn: {', '.join(due.id for due in asked)}")
    return asked[0]


def ask(found: Session, settings: Config, due: Due, question: Question) -> str:
    """The body of the answer, from this terminal; without one, the question and how to answer it."""
    from council.config import command_line
    from council.prompts import for_humans
    from council.runner import loop
    from council.speakers.human import HumanSpeaker, at_a_terminal

    if not at_a_terminal():
        echo(for_humans.fit(question, shutil.get_terminal_size().columns))
        name = f"{command_line.program()} answer {found.id}"
        raise UsageError(f"nothing was recorded: call it at a terminal, or `{name} --choose WORDS`")
    speaker = HumanSpeaker(keyboard=True)
    brief = loop.prepare(found, settings, due, speaker)
    return asyncio.run(speaker.ask(replace(brief, deadline=math.inf))).body


def read(found: Session, settings: Config, due: Due, question: Question, words: str, because: str | None) -> str:
    """The body of an answer that was given whole. What is missing is refused, by its name."""
    from council.prompts import answers
    from council.runner import loop

    given = answers.read_answer(question, words)
    if because is not None:
        if REASON not in (field.name for field in question.fields):
            raise UsageError(f"{due.id} asks for no reason; say it in --choose")
        given |= {REASON: because}
    return answers.compose(question, given, loop.prepare(found, settings, due).text)
