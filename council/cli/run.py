"""`run` and `recover`: a debate from its beginning, or from where it stands."""

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
from council.record import catalog
from council.terminal.output import print_json

if TYPE_CHECKING:
    from council.config.settings import Config
    from council.record.session import Session
    from council.runner.start import Request


@command()
@options(*REQUEST, SPEAKER, *OUTPUT, SOURCE, PACE)
@click.pass_obj
def run(state: State, /, **given: Any) -> None:
    """Debate TOPIC. `-` reads it from standard input.

    The phrases that call a council in an assistant work here too: "Council with security: …", "Council (patchlist): …",
    "Just architect and engineer: …", "Council recovery: …".
    """
    debate(state, given)


def debate(state: State, given: dict[str, Any]) -> None:
    """Hold the debate that the topic and the options ask for: what `run` and the command of each workflow do."""
    from council.config import settings as config
    from council.runner import start
    from council.speakers import registry, select
    from council.workflow.loader import load

    settings, source = config.load(), given["source"]
    text = read_topic(given["topic"])
    wanted = given["speaker"] or settings.speaker
    before = None
    replays = registry.describe(wanted).replays
    if replays and not source:
        raise UsageError(f"--speaker {wanted} needs --from, a session or a script")
    if source and not replays:
        before, source = outcome_of(source, settings), None
    paced(wanted, given)
    request = following(build_request(text, given), before)
    if isinstance(request, str):
        state.open(request)
    else:
        start.chosen(load(*overlays.workflow_text(request.workflow)), request)  # refuse before anything is fetched
        name = select.choose(wanted, settings)
        select.warm_up(name)
        provide(settings, name, given)
        state.session = begin(request, settings, name, source)
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


def outcome_of(source: str, settings: Config) -> Session:
    """The session whose outcome the new debate begins with."""
    from council.record import catalog, session

    if Path(source).is_file():
        raise UsageError("--from takes a session here; a script goes with --speaker replay, and a text with --file")
    found = session.open_(catalog.find(settings.sessions, source))
    found.read_turns()
    return found


def following(request: Request | str, before: Session | None) -> Request | str:
    """A debate after another has its question too, unless it is given one of its own."""
    from dataclasses import replace

    if before is None or isinstance(request, str):
        return request
    return replace(request, after=before, topic=request.topic or str(before.metadata["topic"]))


def paced(speaker: str, given: dict[str, Any]) -> bool:
    """Whether a replay is to take its time."""
    from council.speakers import registry

    if given["pace"] == "real" and not registry.describe(speaker).replays:
        raise UsageError("--pace real goes with --speaker replay")
    return bool(given["pace"] == "real")


def begin(request: Request, settings: Config, speaker: str, source: str | None) -> Session:
    """The session on disk; for the replay of a session, the same table around the same question."""
    from dataclasses import replace

    from council.record import session
    from council.runner import start
    from council.speakers import replay

    prove_writable(settings)
    if source and not Path(source).is_file():
        if Path(source).suffix:
            raise UsageError(f"there is no file {source}")
        spoken = session.open_(catalog.find(settings.sessions, source))
        spoken.read_turns()
        return start.again(spoken, settings, speaker)
    if source:
        replay.of_script(Path(source))  # for what it refuses, before anything is written
    replayed = Path(source).name if source else None
    return start.begin(replace(request, speaker=speaker, replay_of=replayed), settings)


def prove_writable(settings: Config) -> None:
    from council.record import files

    for folder in (settings.sessions, settings.archive):
        files.prove_writable(folder)


def provide(settings: Config, speaker: str, given: dict[str, Any]) -> None:
    """Fetch what the speaker needs and does not have yet. On a terminal that takes a yes."""
    from council.speakers import registry
    from council.speakers.human import at_a_terminal
    from council.speakers.select import unavailable
    from council.terminal.screen import Screen

    download = registry.find(speaker).download()
    if download is None:
        return
    prove_writable(settings)  # before a gigabyte is fetched for nothing
    what = f"{download.what} ({download.size}, once)"
    if not given["no_input"] and at_a_terminal() and not agreed(f"Fetch {what}?"):
        raise UsageError(unavailable())
    say = Screen(quiet=given["quiet"] or given["as_json"]).say
    say(f"fetching {what} into {download.folder}")
    download.fetch(say)


def agreed(question: str) -> bool:
    try:
        return click.confirm(question, default=True, err=True)
    except click.Abort:  # the end of input is no yes
        click.echo(err=True)
        return False


def spoke(session: Session, settings: Config) -> str:
    """Who spoke in it so far; for an assistant, who is not here, whoever can speak goes on."""
    from council.speakers import registry

    before = str(session.metadata["speaker"])
    return settings.speaker if registry.describe(before).manual else before


def carry_on(state: State, settings: Config, source: str | None, given: dict[str, Any], silent: bool = False) -> None:
    """Run the session to its end, or to where it has to stop."""
    from council.cli.execute import Limits, execute
    from council.runner.start import check_quorum
    from council.speakers import select
    from council.speakers.base import Setup
    from council.terminal.screen import Screen

    session = state.session
    assert session is not None
    if source and Path(source).is_file():
        state.go_on = f"council recover {session.id} --from {shlex.quote(source)}"
    check_quorum(session.workflow, given["quorum"])
    screen = Screen(quiet=given["quiet"] or given["as_json"], silent_out=given["as_json"] or silent)
    name = select.choose(given["speaker"] or spoke(session, settings), settings)
    provide(settings, name, given)
    select.warm_up(name)
    words_of = source or str(session.metadata.get("replay_of"))
    setup = Setup(settings, source=words_of, paced=paced(name, given))
    speaking = select.Voices(name, setup, ask=not given["no_input"])
    limits = Limits(given["quorum"], given["max_calls"], given["max_cost"])
    result = execute(session, settings, speaking, screen, limits)
    state.go_on = f"council show {session.id}"
    if screen.unwritten:
        raise StorageError(f"the debate could not be printed: {screen.unwritten}")
    if given["as_json"]:
        print_json(result)
