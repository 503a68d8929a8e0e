"""How a debate is held at the command line: who speaks, what it may cost, who can be asked, and what is printed."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import click

from council.next.cli.commands import Context
from council.next.cli.options import REPLAY, load_settings, open_session, read_kinds, read_seats, refused, request_from
from council.next.cli.sessions import file_all
from council.next.config import identity, places
from council.next.config.settings import Settings
from council.next.errors import CouncilError, Unmet, UsageError
from council.next.record import catalog, desk
from council.next.record.session import Session
from council.next.reports.finish import finish as complete
from council.next.reports.state import state
from council.next.runner import process
from council.next.runner.api import begun_with
from council.next.runner.budget import Budget, Limits
from council.next.runner.loop import Run
from council.next.runner.prepare import Request, agree_to_price, lay, prepare, prepare_again
from council.next.speakers import choose
from council.next.speakers.base import Speaker
from council.next.speakers.person import Person
from council.next.terminal.ask import Keyboard
from council.next.terminal.card import print_card
from council.next.terminal.output import note, print_json, say
from council.next.terminal.watch import Watch
from council.next.text import join_words

PACES = {None: 0.0, "none": 0.0, "real": 1.0}
OVER = "the debate is over, and nothing can be added to it: hold another with `council run`"


def run(context: Context, given: dict[str, Any]) -> None:
    """Hold a new debate, or a replay of one; or go on with the one that the topic names."""
    read_kinds(given)
    settings = load_settings(given)
    if given["speaker"] == REPLAY and not given["topic"] and given["source"]:
        again = open_session(settings, given["source"])
        own = [*refused(given), *(["model"] if given["model"] else [])]
        if (named := given["workflow"] or context.workflow) and named != again.workflow.name:
            own.append("workflow")
        if own:
            raise UsageError(f"a replay of {again.id} is held as that was: leave out --{', --'.join(own)}")
        speaker = find_speaker(settings, given, REPLAY, {})
        with prepare_again(again, settings, given["id"]) as session:
            hold(context, session, speaker, settings, given)
        finish(session, settings, given)
        return
    request = request_from(given, settings, context.workflow)
    if isinstance(request, str):
        go_on(context, request, given)
        return
    finish(begin(context, request, settings, given), settings, given)


def begin(context: Context, request: Request, settings: Settings, given: dict[str, Any]) -> Session:
    """A new debate, held to its end. What it may cost is said before anything is written."""
    table = lay(request, settings)
    speaker = find_speaker(settings, given, given["speaker"], request.seats)
    agree_to_price(request, table, speaker, settings, limits_of(given), confirm if can_ask(given) else None, note)
    # Speakers of single seats are noted beside the usual one.
    usual = speaker.usual if isinstance(speaker, choose.Mix) else speaker
    with prepare(replace(request, speaker=usual.name, source=usual.source), settings, table, note) as session:
        hold(context, session, speaker, settings, given)
    return session


def go_on(context: Context, word: str, given: dict[str, Any]) -> None:
    """Continue a session with the speaker and the models that it began with, unless others are named."""
    read_kinds(given)
    settings = load_settings(given)
    session = context.session = open_session(settings, word)
    with session.hold():
        if session.plan.due:
            if not catalog.is_ours(places.marks(settings.home), session):
                note(f"{session.id} began on another machine or was changed; your own settings say who speaks")
            before = begun_with(session, settings)
            if models := before.get("models"):
                settings = load_settings({**given, "model": given.get("model") or models})
            seats = read_seats(given) or before.get("seats") or {}
            wanted = given["speaker"] or before.get("speaker") or ""
            given["source"] = given["source"] or before.get("source")
            speaker = find_speaker(settings, given, wanted, seats)
            hold(context, session, speaker, settings, given)
        else:  # a kill may have come between the last turn and the files that follow from it
            complete(session, settings.home)
    finish(session, settings, given)


def hold(context: Context, session: Session, speaker: Speaker, settings: Settings, given: dict[str, Any]) -> None:
    """Have everything spoken that is due, and show it as it comes."""
    context.session = session
    limits = limits_of(given)
    budget = Budget.within(limits, settings, session)
    person = find_person(settings, given)
    if person and speaker.name == person.name:
        speaker = person
    watch = Watch(
        session,
        budget,
        asks=lambda due: person is not None and (due.seat.is_person or speaker is person),
        quiet=given["quiet"] or given["as_json"],
    )
    try:
        process.run(Run(session, speaker, settings, budget, watch, person, limits.quorum, limits.wait))
    except CouncilError:
        if given["as_json"]:  # a program reads from it how far the debate is
            print_json(state(session))
        raise


def limits_of(given: Mapping[str, Any]) -> Limits:
    return Limits(given["max_cost"], given["max_calls"], given["quorum"], given["wait"], given["yes"])


def finish(session: Session, settings: Settings, given: dict[str, Any]) -> None:
    """Print what the debate came to. Raises what makes the command fail although the debate is over."""
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


def pause(word: str, now: bool, by: str) -> None:
    session = open_session(load_settings({}), word)
    if not desk.pause(session.folder, by or identity.user_name()):
        raise UsageError(f"{session.id} is not running, so there is nothing to pause")
    when = "now" if now and desk.stop(session.folder) else "before its next turns"
    say(f"{session.id} pauses {when}; `council recover {session.id}` continues it")


# ---- who speaks ----


def can_ask(given: Mapping[str, Any]) -> bool:
    """Whether a person is there to answer."""
    return sys.stdin.isatty() and sys.stderr.isatty() and not (given.get("no_input") or given.get("as_json"))


def find_person(settings: Settings, given: Mapping[str, Any]) -> Person | None:
    """Somebody at this terminal who can be asked, if there is one."""
    if not can_ask(given):
        return None
    keyboard = Keyboard()
    return Person(settings, ask=keyboard.ask, agree=keyboard.agree)


def confirm(question: str) -> bool:
    return click.confirm(question, default=False, err=True)


def find_speaker(settings: Settings, given: Mapping[str, Any], wanted: str, seats: Mapping[str, str]) -> Speaker:
    """Who speaks, said in one line. `--from` names what a replay takes its words from: a session, or a script."""
    replays, source = wanted == REPLAY, given.get("source") or ""
    if replays and source and not places.is_file(places.expand(source)):
        source = str(places.find_session(settings.home, source).folder)
    speaker = choose.choose(settings, wanted, source * replays, confirm if can_ask(given) else None, note)
    if replays:
        speaker.pace = PACES[given["pace"]]  # type: ignore[attr-defined]
        if seats:
            raise UsageError("a replay has the words of every seat, so --seat has no effect; leave it out")
    if not seats:
        return speaker
    note(join_words(f"{seat} is {model}" for seat, model in seats.items()))
    return choose.Mix(settings, speaker, choose.read_seats(settings, seats))
