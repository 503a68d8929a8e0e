"""`run` and `recover`: a debate from its beginning, or from where it stands."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from council.cli.state import State, print_json
from council.errors import UsageError
from council.text import did_you_mean

if TYPE_CHECKING:
    from council.config import Config
    from council.session import Session
    from council.start import Request

LARGEST_INPUT = 16_000_000
OUTPUT = [
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object at the end, and nothing before."),
    click.option("-q", "--quiet", is_flag=True, help="No progress; only the debate."),
    click.option("--no-input", is_flag=True, help="Ask nothing: go on as without a terminal."),
    click.option("--quorum", type=click.IntRange(1), metavar="N", help="Go on without a lost member while N are left."),
    click.option("--max-cost", type=click.FloatRange(0), metavar="USD", help="Pause before a call could pass it."),
    click.option("--max-calls", type=click.IntRange(0), metavar="N", help="Pause before more calls than this."),
    click.option("--from", "source", metavar="SESSION|FILE", help="With --speaker replay: whose words to speak again."),
    click.option(
        "--pace", type=click.Choice(["real", "none"]), default="none", show_default=True,
        help="With --speaker replay: let each seat take the seconds that it took, or none.",
    ),
]  # fmt: skip


REQUEST = [
    click.argument("topic", nargs=-1),
    click.option(
        "-w", "--workflow", metavar="NAME", help="The protocol: debate (the default), quick, or one of yours."
    ),
    click.option(
        "--with", "with_", multiple=True, metavar="SEAT", help="Call in another member: security, intern, writer …"
    ),
    click.option("--only", multiple=True, metavar="SEAT", help="Only these members."),
    click.option("--rounds", type=int, metavar="N", help="3 asks for the third round whatever the check says."),
    click.option("--mode", type=click.Choice(["deliberative", "patchlist"]), help="How members put their points."),
    click.option("--normative", is_flag=True, help="The question is what ought to be done: the third round is needed."),
    click.option(
        "-o", "--option", "options", multiple=True, metavar="NAME=VALUE", help="Set an option of the workflow."
    ),
    click.option("--tier-map", multiple=True, metavar="TIER=TARGET", help="Another tier or model for a tier."),
    click.option(
        "-f", "--file", "files", multiple=True, type=click.Path(path_type=Path), help="Attach a text file to the topic."
    ),
]


def request_options(function: Any) -> Any:
    for option in reversed(REQUEST):
        function = option(function)
    return function


def output_options(function: Any) -> Any:
    for option in reversed(OUTPUT):
        function = option(function)
    return function


@click.command()
@request_options
@click.option("--speaker", metavar="NAME", help="auto, anthropic, claude, local, assistant, human or replay.")
@output_options
@click.pass_obj
def run(state: State, /, topic: tuple[str, ...], source: str | None, **given: Any) -> None:
    """Debate TOPIC. `-` reads it from standard input.

    The words that call a council in an assistant work here too: "Council with security: …", "Council (patchlist): …",
    "Just architect and engineer: …", "Council recovery: …".
    """
    from council import config
    from council.speakers import choice

    settings = config.load()
    text = words(topic)
    wanted = given["speaker"] or settings.speaker
    if source and wanted != "replay":
        raise UsageError("--from goes with --speaker replay")
    if wanted == "replay" and not source:
        raise UsageError("--speaker replay needs --from, a session or a script")
    paced(wanted, given)
    request = asked(text, given)
    if isinstance(request, str):
        state.open(request)
    else:
        config.workflow_text(request.workflow)  # before anything is fetched for a name that is none
        name = choice.choose(wanted, settings)
        choice.warm_up(name)
        provide(settings, name, given)
        state.session = begin(request, settings, name, source)
    carry_on(state, settings, source, given)


@click.command()
@click.argument("session", default="last")
@click.option("--speaker", metavar="NAME", help="Let somebody else speak from here on.")
@output_options
@click.pass_obj
def recover(state: State, /, session: str, source: str | None, **given: Any) -> None:
    """Go on with SESSION (the newest, if none is named) from where it stands. Nothing said is paid for again."""
    from council import config

    state.open(session)
    carry_on(state, config.load(), source, given)


def paced(speaker: str, given: dict[str, Any]) -> bool:
    """Whether a replay is to take its time."""
    if given["pace"] == "real" and speaker != "replay":
        raise UsageError("--pace real goes with --speaker replay")
    return bool(given["pace"] == "real")


def words(topic: tuple[str, ...]) -> str:
    """The topic, of `-` from standard input; of what is far too long no more is read than shows it.

    The last line feed is none of it: a shell puts it behind whatever it hands over.
    """
    if topic != ("-",):
        return " ".join(topic)
    try:
        return sys.stdin.buffer.read(LARGEST_INPUT).decode("utf-8").removesuffix("\n")
    except UnicodeDecodeError:
        raise UsageError("the topic on standard input is no UTF-8 text") from None


def asked(text: str, given: dict[str, Any]) -> Request | str:
    """What the words and the options ask for together; a session's id where they ask for a recovery."""
    from council import config, invocation, personas
    from council.start import Request

    known = personas.load()
    call = invocation.parse(text, known)
    if call.recover:
        return call.recover
    workflow, mode = given["workflow"], given["mode"]
    for word in call.words:
        if word in invocation.MODES:
            mode = mode or word
        elif word in config.workflows():
            workflow = workflow or word
        else:
            known_words = (*config.workflows(), *invocation.MODES)
            raise UsageError(f'there is no workflow or mode "{word}"; {did_you_mean(word, known_words)}')
    return Request(
        topic=call.topic,
        workflow=workflow or ("patchlist" if mode == "patchlist" and not given["mode"] else "debate"),
        with_=(*call.with_, *listed(given["with_"], known)),
        only=(*call.only, *listed(given["only"], known)),
        mode=mode or "deliberative",
        options=options_of(given),
        tier_map=tuple(pair for pairs in given["tier_map"] for pair in pairs.split(",")),
        files=given["files"],
    )


def listed(values: tuple[str, ...], known: Any) -> tuple[str, ...]:
    from council import invocation

    return invocation.seats(",".join(values), known)


def options_of(given: dict[str, Any]) -> dict[str, Any]:
    """--normative, --rounds and -o as the workflow's options."""
    wanted: dict[str, Any] = {}
    for pair in given["options"]:
        name, equals, value = pair.partition("=")
        wanted[name.replace("-", "_")] = {"true": True, "false": False}.get(value, value) if equals else True
    if given["normative"]:
        wanted["normative"] = True
    if given["rounds"] == 3:
        wanted["three_rounds"] = True
    elif given["rounds"] is not None:
        raise UsageError(
            "--rounds takes 3, for a third round in any case; without it a debate takes two or three, as it needs. "
            "One round: --workflow quick"
        )
    return wanted


def begin(request: Request, settings: Config, speaker: str, source: str | None) -> Session:
    """The session on disk; for the replay of a session, the same table around the same question."""
    from dataclasses import replace

    from council import session, start
    from council.speakers import replay

    prove_writable(settings)
    if source and not Path(source).is_file():
        spoken = session.open_(session.find(settings.sessions, source))
        spoken.read_turns()
        return start.again(spoken, settings)
    if source:
        replay.of_script(Path(source))  # for what it refuses, before anything is written
    replayed = Path(source).name if source else None
    return start.begin(replace(request, speaker=speaker, replay_of=replayed), settings)


def prove_writable(settings: Config) -> None:
    from council import files

    for folder in (settings.sessions, settings.archive):
        files.prove_writable(folder)


def provide(settings: Config, speaker: str, given: dict[str, Any]) -> None:
    """Fetch the embedded model, where it is to speak and is not there. On a terminal that takes a yes."""
    if speaker != "local":
        return
    from council.screen import Screen
    from council.speakers import embedded
    from council.speakers.choice import NOBODY
    from council.speakers.human import at_a_terminal

    here = embedded.place()
    if here.complete:
        return
    if why := embedded.obstacle():
        raise UsageError(why)
    prove_writable(settings)  # before 1.1 GB are fetched for nothing
    if not given["no_input"] and at_a_terminal() and not agreed(embedded.weight(here)):
        raise UsageError(NOBODY)
    say = Screen(quiet=given["quiet"] or given["as_json"]).say
    say(f"fetching the embedded model ({embedded.weight(here)}, once) into {here.folder}")
    embedded.fetch(embedded.source(), here, say)


def agreed(weight: str) -> bool:
    try:
        return click.confirm(f"Fetch the embedded model ({weight}, once)?", default=True, err=True)
    except click.Abort:  # the end of input is no yes
        click.echo(err=True)
        return False


def spoke(session: Session, settings: Config) -> str:
    """Who spoke in it so far; for an assistant, who is not here, whoever can speak goes on."""
    before = str(session.metadata["speaker"])
    return settings.speaker if before == "assistant" else before


def carry_on(state: State, settings: Config, source: str | None, given: dict[str, Any], silent: bool = False) -> None:
    """Run the session to its end, or to where it has to stop."""
    from council.cli.execute import Limits, execute, voices
    from council.screen import Screen
    from council.speakers import choice

    session = state.session
    assert session is not None
    if source and Path(source).is_file():
        state.go_on = f"council recover {session.id} --from {shlex.quote(source)}"
    screen = Screen(quiet=given["quiet"] or given["as_json"], silent_out=given["as_json"] or silent)
    name = choice.choose(given["speaker"] or spoke(session, settings), settings)
    provide(settings, name, given)
    choice.warm_up(name)
    speaking = voices(session, settings, name, source, paced(name, given))
    limits = Limits(given["quorum"], given["max_calls"], given["max_cost"])
    result = execute(session, settings, speaking, screen, limits)
    if given["as_json"]:
        print_json(result)


COMMANDS = (run, recover)
