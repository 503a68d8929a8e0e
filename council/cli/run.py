"""`run` and `recover`: start a debate, or continue one."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from council.cli import completion
from council.cli.command import command
from council.cli.context import State
from council.cli.options import (
    OUTPUT,
    OVERLAYS,
    PACE,
    REPLAYED,
    REQUEST,
    SESSION,
    SOURCE,
    SPEAKER,
    YES,
    build_request,
    options,
    read_topic,
)
from council.errors import Denied, NotAsWanted, StorageError, Undecided, UsageError
from council.terminal.output import echo, print_json

if TYPE_CHECKING:
    from council.checks.cost import DebateCost
    from council.config.settings import Config
    from council.runner.start import Request
    from council.speakers.select import Choice


@command()
@options(*REQUEST, SPEAKER, *OUTPUT, YES, SOURCE, PACE, OVERLAYS)
@click.pass_obj
def run(state: State, /, **given: Any) -> None:
    """Debate TOPIC. `-` reads it from standard input.

    The phrases that call a council in an assistant work here too: "Council with security: …", "Council without
    designer: …", "Council board: …", "Council with 3 rounds: …", "Just architect and engineer: …", "Council recovery".
    """
    debate(state, given)


def debate(state: State, given: dict[str, Any]) -> None:
    """Run the debate that the topic and the options ask for: used by `run` and by the command of each workflow."""
    from council.config import settings as config

    settings, source = config.load(), given["source"]
    request = build_request(read_topic(given["topic"]), given)
    if isinstance(request, str):
        state.open(request)
        choice = None
    else:
        choice = begin(state, request, settings, given)
        script = source and choice.speaker.replays and Path(source).is_file()
        source = source if script else None  # the session knows which session it replays
    carry_on(state, settings, source, given, choice)


def begin(state: State, request: Request, settings: Config, given: dict[str, Any]) -> Choice:
    """Choose who speaks, and write the session."""
    from council.runner import debate as debates
    from council.runner import price
    from council.speakers import select
    from council.terminal import notices
    from council.terminal.screen import Screen

    wanted = given["speaker"] or settings.speaker
    request, source = debates.with_source(request, wanted, given["source"], settings)
    choice = debates.choose_speaker(request, given["speaker"], settings, can_ask(given))
    debates.check_pace(choice.name, is_paced(given))
    agree(price.bound_start(request, settings, choice.name), settings, given)
    select.warm_up(choice.name)
    provide(settings, choice)
    state.session = debates.begin(request, settings, choice.name, source)
    notices.show_place(state.session)
    notices.show_overlays(state.session)
    if (attached := state.session.metadata.get("attachments")) and not (given["quiet"] or given["as_json"]):
        Screen().say(f"attached: {', '.join(attached)}", "dim")
    return choice


@command()
@SESSION
@click.option(
    "--speaker",
    metavar="NAME",
    shell_complete=completion.speaker_names,
    help="Switch to this speaker.",
)
@options(*OUTPUT, YES, REPLAYED, PACE)
@click.pass_obj
def recover(state: State, /, session: str, source: str | None, **given: Any) -> None:
    """Continue SESSION (default: the newest) where it stopped. Completed turns are never billed twice."""
    from council.config import settings as config

    state.open(session)
    carry_on(state, config.load(), source, given)


@command()
@SESSION
@click.option("--now", is_flag=True, help="Stop at once, as Ctrl-C does; calls under way may have been billed.")
@click.option("--by", metavar="NAME", default="", help="Who asks (default: Git's user.name, or the login).")
@click.pass_obj
def pause(state: State, /, session: str, now: bool, by: str) -> None:
    """Ask the run of SESSION, in another terminal or on the page, to stop before its next turns.

    Replies that are on their way are still recorded. `council recover` continues.
    """
    from council.runner import answering

    folder = state.open(session).folder
    if now:
        answering.cancel(folder)
    else:
        answering.ask_to_pause(folder, by)
    echo(f"{folder.name} {'was told to stop' if now else 'pauses before its next turns'}")


def is_paced(given: dict[str, Any]) -> bool:
    return bool(given["pace"] == "real")


def can_ask(given: Mapping[str, Any]) -> bool:
    """Whether a person is there to answer a question before the debate."""
    from council.speakers.human import at_a_terminal

    return at_a_terminal() and not (given["no_input"] or given["quiet"] or given["as_json"])


def agree(most: DebateCost | None, settings: Config, given: Mapping[str, Any]) -> None:
    """Ask once before a large sum is spent, unless the command says how much it may be."""
    from council.runner import price

    if most is None or given["yes"] or given["max_cost"] is not None or not price.is_large(most, settings):
        return
    if not can_ask(given):
        raise price.refuse_large(most, settings)
    if not confirm(f"council: {price.describe(most)}. Begin?", default=False):
        raise UsageError("not begun: you said no")


def provide(settings: Config, choice: Choice) -> None:
    """Ask what has to be asked, and fetch what the speaker still needs. Both are shown even with --quiet."""
    from council.cli.execute import wiped_when_suspended
    from council.config import places
    from council.terminal.fetching import FetchLine
    from council.terminal.screen import Screen

    download = choice.speaker.download()
    if download is not None:
        places.choose(settings)  # before a gigabyte is downloaded in vain
    if choice.question and not confirm(choice.question):
        raise Denied("nobody was asked to speak: you said no")
    if download is not None:
        screen = Screen()
        screen.say(f"fetching {download.what} ({download.size}, once, {download.time}) into {download.folder}")
        with wiped_when_suspended(screen):
            download.fetch(screen.say, FetchLine(screen))


def confirm(question: str, default: bool = True) -> bool:
    *facts, last = question.splitlines()
    for fact in facts:
        click.echo(fact, err=True)
    try:
        return click.confirm(last, default=default, err=True)
    except click.Abort:  # the end of input does not count as yes
        click.echo(err=True)
        return False


def carry_on(
    state: State,
    settings: Config,
    source: str | None,
    given: dict[str, Any],
    choice: Choice | None = None,
    silent: bool = False,
    also: Callable[[], Mapping[str, Any]] = dict,
) -> None:
    """Run the session until it ends or has to stop. Without a `choice`, an earlier session is continued.

    `also` are further facts for --json."""
    from council.cli.execute import execute
    from council.protocols.undecided import explain_undecided
    from council.reports.transcript import explain_shortfall
    from council.runner import debate as debates
    from council.runner import price
    from council.terminal import notices
    from council.terminal.screen import Screen

    session = state.session
    assert session is not None
    if choice is None:
        notices.show_overlays(session)
    if source and Path(source).is_file():
        state.next_step = f"council recover {session.id} --from {shlex.quote(source)}"
    screen = Screen(quiet=given["quiet"] or given["as_json"], silent_out=given["as_json"] or silent)
    if choice is None:
        choice = debates.choose_again(session, given["speaker"], settings, can_ask(given))
        agree(price.bound_switch(session, settings, choice.name), settings, given)
        provide(settings, choice)
    how = {"ask": not given["no_input"], "wait": given["wait"]}
    voices = debates.voices_for(session, choice.name, settings, source, is_paced(given), **how)
    limits = debates.Limits(given["quorum"], given["max_calls"], given["max_cost"])
    Screen().say(f"speaker: {choice}", "dim")
    result = execute(session, settings, voices, screen, limits, given["watch"])
    state.next_step = f"council show {session.id}"
    if screen.unwritten:
        raise StorageError(f"the debate could not be printed: {screen.unwritten}")
    if given["as_json"]:
        print_json({**result, **also()})
    if why := explain_shortfall(session):
        raise NotAsWanted(why)
    if why := explain_undecided(session.plan(), session.workflow):
        raise Undecided(why)
