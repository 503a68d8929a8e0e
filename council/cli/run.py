"""`run` and `recover`: start a debate, or continue one."""

from __future__ import annotations

import shlex
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
    build_request,
    options,
    read_topic,
)
from council.config import overlays
from council.errors import StorageError, UsageError
from council.terminal.output import print_json

if TYPE_CHECKING:
    from council.config.settings import Config


@command()
@options(*REQUEST, SPEAKER, *OUTPUT, SOURCE, PACE, OVERLAYS)
@click.pass_obj
def run(state: State, /, **given: Any) -> None:
    """Debate TOPIC. `-` reads it from standard input.

    The phrases that call a council in an assistant work here too: "Council with security: …", "Council (patchlist): …",
    "Just architect and engineer: …", "Council recovery: …".
    """
    debate(state, given)


def debate(state: State, given: dict[str, Any]) -> None:
    """Run the debate that the topic and the options ask for: used by `run` and by the command of each workflow."""
    from council.config import settings as config
    from council.runner import debate as debates
    from council.runner import start
    from council.speakers import select
    from council.workflow.loader import load

    settings, source = config.load(), given["source"]
    wanted = given["speaker"] or settings.speaker
    request = build_request(read_topic(given["topic"]), given)
    if isinstance(request, str):
        state.open(request)
    else:
        request, source = debates.with_source(request, wanted, source, settings)
        # Refuse before anything is downloaded.
        start.choose_options(load(*overlays.workflow_text(request.workflow)), request)
        name = select.choose(wanted, settings)
        debates.check_pace(name, is_paced(given))
        select.warm_up(name)
        provide(settings, name, given)
        state.session = debates.begin(request, settings, name, source)
    carry_on(state, settings, source, given)


@command()
@SESSION
@click.option(
    "--speaker",
    metavar="NAME",
    shell_complete=completion.speaker_names,
    help="Switch to this speaker.",
)
@options(*OUTPUT, REPLAYED, PACE)
@click.pass_obj
def recover(state: State, /, session: str, source: str | None, **given: Any) -> None:
    """Continue SESSION (default: the newest) where it stopped. Completed turns are never billed twice."""
    from council.config import settings as config

    state.open(session)
    carry_on(state, config.load(), source, given)


def is_paced(given: dict[str, Any]) -> bool:
    return bool(given["pace"] == "real")


def provide(settings: Config, speaker: str, given: dict[str, Any]) -> None:
    """Fetch what the speaker still needs. On a terminal, ask first."""
    from council.runner.debate import prove_writable
    from council.speakers import registry
    from council.speakers.human import at_a_terminal
    from council.speakers.select import unavailable
    from council.terminal.screen import Screen

    download = registry.find(speaker).download()
    if download is None:
        return
    prove_writable(settings)  # before a gigabyte is downloaded in vain
    what = f"{download.what} ({download.size}, once)"
    if not given["no_input"] and at_a_terminal() and not confirm(f"Fetch {what}?"):
        raise UsageError(unavailable())
    say = Screen(quiet=given["quiet"] or given["as_json"]).say
    say(f"fetching {what} into {download.folder}")
    download.fetch(say)


def confirm(question: str) -> bool:
    try:
        return click.confirm(question, default=True, err=True)
    except click.Abort:  # the end of input does not count as yes
        click.echo(err=True)
        return False


def carry_on(state: State, settings: Config, source: str | None, given: dict[str, Any], silent: bool = False) -> None:
    """Run the session until it ends or has to stop."""
    from council.cli.execute import execute
    from council.runner import debate as debates
    from council.terminal import notices
    from council.terminal.screen import Screen

    session = state.session
    assert session is not None
    notices.show_overlays(session)
    if source and Path(source).is_file():
        state.next_step = f"council recover {session.id} --from {shlex.quote(source)}"
    screen = Screen(quiet=given["quiet"] or given["as_json"], silent_out=given["as_json"] or silent)
    name = debates.speaker_for(session, given["speaker"], settings)
    provide(settings, name, given)
    voices = debates.voices_for(session, name, settings, source, is_paced(given), ask=not given["no_input"])
    limits = debates.Limits(given["quorum"], given["max_calls"], given["max_cost"])
    result = execute(session, settings, voices, screen, limits)
    state.next_step = f"council show {session.id}"
    if screen.unwritten:
        raise StorageError(f"the debate could not be printed: {screen.unwritten}")
    if given["as_json"]:
        print_json(result)
