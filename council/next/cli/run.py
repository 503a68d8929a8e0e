"""`run`, `recover` and `pause`: hold a debate, go on with one, and ask one to stop."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from council.next.cli.group import Context
from council.next.cli.options import (
    BY,
    HOLD,
    LIMITS,
    OUTPUT,
    REPLAY,
    REQUEST,
    SESSION,
    load_settings,
    open_session,
    options,
    read_kinds,
    read_seats,
    request_from,
)
from council.next.errors import CouncilError, Unmet, UsageError
from council.next.text import join_words

if TYPE_CHECKING:
    from council.next.config.settings import Settings
    from council.next.record.session import Session
    from council.next.speakers.base import Speaker

OVER = "the debate is over, and nothing can be added to it: hold another with `council run`"


@click.command()
@options(*REQUEST, *HOLD, *LIMITS, *OUTPUT)
@click.pass_obj
def run(context: Context, /, **given: Any) -> None:
    """Debate TOPIC. `-` reads it from standard input.

    The sentences that call a council in an assistant work here too: "Council with security: …", "Quick council: …",
    "Just architect and engineer: …", "Council recovery".
    """
    from council.next.cli import start
    from council.next.runner.prepare import lay, prepare, prepare_again
    from council.next.terminal.output import note

    read_kinds(given)
    settings = load_settings(given)
    if given["speaker"] == REPLAY and not given["topic"] and given["source"]:
        again = open_session(settings, given["source"])
        speaker = start.find_speaker(settings, given, REPLAY, {})
        with prepare_again(again, settings, given["id"]) as session:
            hold(context, session, speaker, settings, given)
        finish(session, settings, given)
        return
    request = request_from(given, settings, context.workflow)
    if isinstance(request, str):
        go_on(context, open_session(settings, request), given)
        return
    table = lay(request, settings)
    speaker = start.find_speaker(settings, given, given["speaker"], request.seats)
    start.agree_to_price(table, request, speaker, settings, given)
    with prepare(replace(request, speaker=start.name_of(speaker)), settings, table, note) as session:
        hold(context, session, speaker, settings, given)
    finish(session, settings, given)


@click.command()
@SESSION
@options(*HOLD, *LIMITS, *OUTPUT)
@click.pass_obj
def recover(context: Context, /, session: str, **given: Any) -> None:
    """Continue SESSION (default: the newest) where it stopped. What was said is never asked or billed again."""
    read_kinds(given)
    go_on(context, open_session(load_settings({}), session), given)


def go_on(context: Context, session: Session, given: dict[str, Any]) -> None:
    """Continue a session with the speaker and the models that it began with, unless others are named."""
    from council.next.cli import start
    from council.next.config import places
    from council.next.reports.finish import finish as complete

    settings = load_settings(given)
    context.session = session
    with session.hold():
        if session.plan.due:
            before = start.goes_on_as(session, settings)
            models = before.get("speaker") and before.get("models")  # of a debate by hand, nobody has chosen any
            if models:
                settings = load_settings({**given, "model": given.get("model") or models})
            seats = read_seats(given["seats"]) or before.get("seats") or {}
            wanted = given["speaker"] or before.get("speaker") or ""
            given["source"] = given["source"] or session.program.get("replay_of")
            speaker = start.find_speaker(settings, given, wanted, seats)
            hold(context, session, speaker, settings, given)
        else:  # a kill may have come between the last turn and the files that follow from it
            complete(session, places.archive_for(session.folder, settings.home))
    finish(session, settings, given)


def hold(context: Context, session: Session, speaker: Speaker, settings: Settings, given: dict[str, Any]) -> None:
    """Have everything spoken that is due, and show it as it comes."""
    from council.next.cli import start
    from council.next.reports.state import state
    from council.next.runner import loop, process
    from council.next.runner.budget import Budget
    from council.next.terminal.output import print_json
    from council.next.terminal.watch import Watch

    context.session = session
    limits = settings.limits
    most_usd, most_calls = (lower(given[name], limits.get(name)) for name in ("max_cost", "max_calls"))
    budget = Budget.of([session], most_usd, most_calls)
    person = start.person(settings, given)
    if person and speaker.name == person.name:
        speaker = person
    watch = Watch(
        session,
        budget,
        asks=lambda due: person is not None and (due.seat.is_person or speaker is person),
        quiet=given["quiet"] or given["as_json"],
    )
    run = loop.Run(session, speaker, settings, budget, watch, person, given["quorum"], given["wait"])

    async def debate() -> Any:
        try:
            return await loop.hold(run)
        finally:
            await speaker.close()

    try:
        with watch:
            process.run(debate)
    except CouncilError:
        if given["as_json"]:  # a program reads from it how far the debate is
            print_json(state(session))
        raise


def lower(asked: Any, set_: Any) -> Any:
    """The lower of two limits, each of which may be missing."""
    return min((one for one in (asked, set_) if one is not None), default=None)


def finish(session: Session, settings: Settings, given: dict[str, Any]) -> None:
    """Print what the debate came to. Raises what makes the command fail although the debate is over."""
    from council.next.cli.sessions import file_all
    from council.next.reports.state import state
    from council.next.terminal.card import print_card
    from council.next.terminal.output import note, print_json

    now = state(session)
    filed = file_all(session, settings)
    if given["as_json"]:
        print_json(now)
    else:
        print_card(now, session.metadata, {"Session": session.folder, "Document": filed})
    outcome = session.outcome
    if outcome.exit_code:
        note(f"council: {outcome.kind}: {OVER}")
        raise click.exceptions.Exit(outcome.exit_code)
    if (wanted := read_kinds(given)) and outcome.kind not in wanted:
        raise Unmet(f"it came to {outcome.kind}, and --require wants {join_words(wanted)}")
    if unmet := [section["unmet"] for section in now["sections"].values() if section["unmet"]]:
        raise Unmet("; ".join(unmet))


@click.command()
@SESSION
@click.option("--now", is_flag=True, help="Stop at once, as Ctrl-C does; calls under way may have been billed.")
@BY
def pause(session: str, now: bool, by: str) -> None:
    """Ask the run of SESSION, in another terminal, to stop before its next turns. `council recover` continues."""
    from council.next.config import identity
    from council.next.record import desk, lock
    from council.next.terminal.output import echo

    found = open_session(load_settings({}), session)
    if not desk.pause(found.folder, by or identity.user_name()):
        raise UsageError(f"{found.id} is not running, so there is nothing to pause")
    when = "now" if now and lock.interrupt(found.folder) else "before its next turns"
    echo(f"{found.id} pauses {when}; `council recover {found.id}` continues it")
