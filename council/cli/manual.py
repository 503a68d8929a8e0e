"""`start`, `next`, `brief` and `record`: the manual loop, for an assistant, a script or a person."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from council.cli import completion
from council.cli.command import command
from council.cli.context import State
from council.cli.options import AFTER, FILE, JSON, OVERLAYS, REQUEST, SESSION, build_request, options, read_topic
from council.config import command_line
from council.errors import CouncilError, NotAsWanted, UsageError
from council.terminal.output import echo, print_json

if TYPE_CHECKING:
    from council.config.settings import Config
    from council.engine.planner import Due
    from council.record.session import Session
    from council.runner.answering import Given
    from council.speakers.base import Brief


@command()
@options(*REQUEST, AFTER, JSON, OVERLAYS)
@click.pass_obj
def start(state: State, /, topic: tuple[str, ...], source: str | None, as_json: bool, **given: Any) -> None:
    """Start a debate on TOPIC whose replies you or an assistant collect. `-` reads it from standard input.

    No model is called. It prints what `council next` prints, the turns that are ready; each member runs `council
    brief`, and `council record` stores the replies.
    """
    from council.config import settings as config
    from council.reports import markdown
    from council.runner import debate as debates
    from council.runner import machines, manual, next_step
    from council.speakers import registry
    from council.terminal import notices

    settings = config.load()
    speaker = registry.manual().name
    request = build_request(read_topic(topic), given)
    if isinstance(request, str):
        raise UsageError(f"to recover that session, continue it with `council next {request}`")
    request, _ = debates.with_source(request, speaker, source, settings)
    state.session = debates.begin(request, settings, speaker, None, held=False)
    notices.show_place(state.session)
    notices.show_overlays(state.session)
    with state.session.hold():
        machines.run_due(state.session, settings, notices.show_work)
        now = manual.advance(state.session, settings)
    if as_json:
        print_json({"session_id": state.session.id, "folder": str(state.session.folder)})
    else:
        attached = ", ".join(state.session.metadata["attachments"])
        echo(markdown.announcement(state.session))
        if attached:
            echo(f"attached: {attached}\n")
        echo(next_step.describe(state.session, now))


@command("next")
@SESSION
@JSON
@click.pass_obj
def next_(state: State, session: str, as_json: bool) -> None:
    """Collect finished replies and list the turns of SESSION that are ready, with the prompt of each member.

    Tests that are due are run first.
    """
    from council.config import settings as config
    from council.reports.transcript import explain_shortfall
    from council.runner import answering, machines, manual, next_step, subagents
    from council.terminal import notices

    settings, found = config.load(), state.open(session)
    with found.hold():
        answering.collect(found, settings)
        machines.run_due(found, settings, notices.show_work)
        now = manual.advance(found, settings)
    if as_json:
        flying = subagents.find_in_flight(found)
        rows = [row(found, one, brief, one.id in flying) for one, brief in now.due]
        print_json({"session_id": found.id, "done": not rows, "due": rows, "archived_to": now.archived})
    else:
        show_questions(found, [due for due, _ in now.due if due.of_a_person])
        echo(next_step.describe(found, now))
    if why := explain_shortfall(found):
        raise NotAsWanted(why)


def show_questions(found: Session, due: list[Due]) -> None:
    """At a terminal, what a person is asked. Members wrote it, so an assistant gets only the command that prints it."""
    from council.prompts import for_humans, question

    if not sys.stdout.isatty():
        return
    for one in due:
        echo(for_humans.fit(question.build(found, one), shutil.get_terminal_size().columns))
        echo(f"\nAnswer it: {command_line.program()} answer {found.id}\n")


def row(found: Session, due: Due, brief: Brief, flying: bool) -> dict[str, Any]:
    """A ready turn: whom to ask, how, and where its brief is for assistants without the hook."""
    from council.prompts import question
    from council.runner import manual, portable, subagents

    asked = {"question": question.as_json(question.build(found, due))} if due.of_a_person else {}
    return {
        "turn": due.id, "seat": due.seat.name, "name": due.seat.label, "tier": due.tier, "model": brief.model.name,
        "person": due.of_a_person, "state": "asked" if flying else "due", "agent": subagents.agent_of(due),
        "agent_model": subagents.alias_of(brief.model), "prompt": portable.format_sentence(found, due.id),
        "brief": str(found.brief_path(due.id)), "answers": manual.list_answers(due),
        "record": manual.record_command(found, due), **asked,
    }  # fmt: skip


@command()
@click.argument("session", shell_complete=completion.sessions)
@click.argument("turn", shell_complete=completion.turns)
@click.option("--part", type=click.IntRange(min=1), default=1, help="Which part of a long brief.")
@click.pass_obj
def brief(state: State, session: str, turn: str, part: int) -> None:
    """Print the brief of TURN, byte for byte; while the turn is due, also the command that stores its answer.

    While the turn is due, a brief of more than 16,000 bytes is printed in parts, because assistants cut long output.
    On a terminal it is always whole.
    """
    from council.config import settings as config
    from council.runner import portable

    found, turn = state.open(session), turn.removesuffix(".md")
    on_terminal = sys.stdout.isatty()
    text = portable.hand_out(found, config.load(), turn, None if on_terminal else part)
    if on_terminal:
        echo(text.decode("utf-8", "replace"))
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(text)
    sys.stdout.flush()


@command()
@click.argument("session", shell_complete=completion.sessions)
@click.argument("turn", shell_complete=completion.turns)
@click.option("-f", "--file", "file", type=FILE, help="File with the reply; `-` (the default) reads standard input.")
@click.option(
    "--answer", "answers", multiple=True, metavar="NAME=VALUE",
    help="Give one answer by name instead of a whole reply; repeat for each that `council next` lists.",
)  # fmt: skip
@click.option("--model", metavar="NAME", help="The model that answered, if any.")
@click.option("--absent", metavar="WHY", help="Record that the seat does not answer; it still counts as a member.")
@click.option("--by", metavar="NAME", help="Who gave a person's answer (default: Git's user.name, or the login).")
@click.pass_obj
def record(state: State, /, session: str, turn: str, file: Path | None, answers: tuple[str, ...], **about: Any) -> None:
    """Store a reply as TURN of SESSION, byte for byte. A turn is recorded once, and only while it is ready."""
    from council.config import settings as config
    from council.record.turn_file import HAND, MEMBER
    from council.runner import answering, machines, manual, subagents
    from council.speakers.assistant import handouts
    from council.speakers.base import Spoken
    from council.terminal import notices

    absent = about["absent"]
    settings, found = config.load(), state.open(session)
    named = parse_answers(answers)
    if named and (file or absent):
        raise UsageError("--answer replaces the whole reply; leave out --file and --absent")
    body = "" if absent or named else reply_text(file)
    turn = turn.removesuffix(".md")
    if not about["model"] and is_for_person(found, turn):
        given = answering.Absence(absent) if absent else named or body
        with show_if_lost(found, turn, body if is_piped(file) else ""):
            record_answer(found, settings, turn, given, about["by"] or "")
        return
    with show_if_lost(found, turn, body if is_piped(file) else ""), found.hold():
        subagents.harvest(found, settings)
        body = manual.compose_reply(found, settings, turn, named) if named else body
        piped = is_piped(file) and not (named or absent or sys.stdin.isatty())
        recorded_by = MEMBER if piped and handouts.is_from_member(found.folder, turn, os.environ) else HAND
        spoken = Spoken(body, stop="absent" if absent else "recorded", recorded_by=recorded_by, **about)
        now = manual.record(found, settings, turn, spoken)
        if recorded_by != MEMBER and machines.list_due(found):  # a member's command must not wait for tests
            machines.run_due(found, settings, notices.show_work)
            now = manual.advance(found, settings)
    say_recorded(found, turn, now.archived)


def is_for_person(found: Session, turn: str) -> bool:
    """Whether a person answers the turn, now or before."""
    found.read_turns()
    if turn in found.receipts:
        return found.receipts[turn].by is not None
    return any(due.id == turn and due.of_a_person for due in found.plan().due)


def record_answer(
    found: Session, settings: Config, turn: str, given: Given, by: str, via: str = "record",
    quiet: bool = False,
) -> None:  # fmt: skip
    """Record a person's answer, also while a run waits for it."""
    from council.record import lock
    from council.runner import answering, machines, manual
    from council.terminal import notices

    done = answering.answer(found.folder, settings, turn, given, by, via)
    done.refuse_late()
    if quiet:
        found.read_turns()
        return
    if lock.is_held(found.folder):
        echo(f"recorded {turn}; the debate goes on in {lock.describe(lock.read_note(found.folder))}")
        return
    found.read_turns()
    archived = done.archived
    if machines.list_due(found):
        with found.hold():
            machines.run_due(found, settings, notices.show_work)
            archived = manual.advance(found, settings).archived
    say_recorded(found, turn, archived)


def say_recorded(found: Session, turn: str, archived: Path | None) -> None:
    if archived:
        echo(f"recorded {turn}; the debate is finished and archived at {archived}")
    else:
        echo(f"recorded {turn}; ready now: {', '.join(one.id for one in found.plan().due)}")


def parse_answers(answers: tuple[str, ...]) -> list[tuple[str, str]]:
    """Split each NAME=VALUE."""
    found = []
    for answer in answers:
        name, equals, value = answer.partition("=")
        if not equals:
            raise UsageError(f'--answer {answer}: write NAME=VALUE, as in --answer "decision=continue"')
        found.append((name.strip(), value))
    return found


@contextmanager
def show_if_lost(session: Session, turn: str, body: str) -> Iterator[None]:
    """Show a piped reply that could not be stored: it exists nowhere else."""
    from council.terminal.screen import Screen
    from council.terminal.watch import format_unsaved

    try:
        yield
    except CouncilError:
        if body and not (turn in session.said and session.said[turn].body == body):
            Screen().insist(format_unsaved(turn, body))
        raise


def is_piped(file: Path | None) -> bool:
    return file is None or str(file) == "-"


def reply_text(file: Path | None) -> str:
    from council.runner.portable import PLACEHOLDER

    try:
        data = sys.stdin.buffer.read() if file is None or is_piped(file) else file.read_bytes()
    except OSError as failure:
        raise UsageError(f"{file}: {failure.strerror}") from None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError("the reply is not valid UTF-8") from None
    if not text.strip():
        raise UsageError("the reply is empty; for a seat that does not answer, use --absent WHY")
    if text.strip() == PLACEHOLDER:
        raise UsageError(f"the reply is only {PLACEHOLDER}; write the answer in its place")
    return text
