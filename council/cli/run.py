"""`run` and `recover`: a debate from its beginning, or from where it stands."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from council import speakers
from council.cli.context import State
from council.config import overlays
from council.errors import UsageError
from council.record import catalog
from council.terminal.output import print_json
from council.text import did_you_mean

if TYPE_CHECKING:
    from council.config.settings import Config
    from council.record.session import Session
    from council.runner.start import Request

LARGEST_INPUT = 16_000_000
OUTPUT = [
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object at the end, and nothing before."),
    click.option("-q", "--quiet", is_flag=True, help="No progress; only the debate."),
    click.option("--no-input", is_flag=True, help="Ask nothing: go on as without a terminal."),
    click.option("--quorum", type=click.IntRange(1), metavar="N", help="Go on without a lost member while N are left."),
    click.option("--max-cost", type=click.FloatRange(0), metavar="USD", help="Pause before a call could pass it."),
    click.option("--max-calls", type=click.IntRange(0), metavar="N", help="Pause before more calls than this."),
    click.option(
        "--from", "source", metavar="SESSION|FILE",
        help="Begin with what that session came to. With --speaker replay: whose words to speak again.",
    ),
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
    click.option("--only", multiple=True, metavar="SEAT", help="Only these members, or those of a group."),
    click.option(
        "--feature-type", metavar="TYPE", help="Only the members for that kind of feature, as the workflow lists them."
    ),
    click.option("--rounds", type=int, metavar="N", help="3 asks for the third round whatever the check says."),
    click.option(
        "--max-rounds", type=click.IntRange(1), metavar="N", help="At most so many rounds, where they repeat."
    ),
    click.option(
        "--perspectives", type=click.IntRange(2, 4), metavar="N", help="How many a moderator casts; else it decides."
    ),
    click.option("--no-checkpoints", is_flag=True, help="Ask no person between the rounds: run to the end."),
    click.option("--mode", type=click.Choice(["deliberative", "patchlist"]), help="How members put their points."),
    click.option("--normative", is_flag=True, help="The question is what ought to be done: the third round is needed."),
    click.option("--control", is_flag=True, help="Also ask for one plain answer, to compare the debate's with."),
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
@click.option("--speaker", metavar="NAME", help=f"{', '.join(speakers.names())} or {speakers.AUTO}.")
@output_options
@click.pass_obj
def run(state: State, /, topic: tuple[str, ...], source: str | None, **given: Any) -> None:
    """Debate TOPIC. `-` reads it from standard input.

    The words that call a council in an assistant work here too: "Council with security: …", "Council (patchlist): …",
    "Just architect and engineer: …", "Council recovery: …".
    """
    from council.config import overlays
    from council.config import settings as config
    from council.runner import start
    from council.speakers import registry, select
    from council.workflow.loader import load

    settings = config.load()
    text = words(topic)
    wanted = given["speaker"] or settings.speaker
    before = None
    replays = registry.describe(wanted).replays
    if replays and not source:
        raise UsageError(f"--speaker {wanted} needs --from, a session or a script")
    if source and not replays:
        before, source = outcome_of(source, settings), None
    paced(wanted, given)
    request = following(asked(text, given), before)
    if isinstance(request, str):
        state.open(request)
    else:
        start.chosen(
            load(*overlays.workflow_text(request.workflow)), request
        )  # before anything is fetched for a refusal
        name = select.choose(wanted, settings)
        select.warm_up(name)
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
    from council.config import personas
    from council.prompts import invocation
    from council.runner.start import Request

    known = personas.load()
    call = invocation.parse(text, known)
    if call.recover:
        return call.recover
    workflow, mode = given["workflow"], given["mode"]
    for word in call.words:
        if word in invocation.MODES:
            mode = mode or word
        elif word in overlays.workflows():
            workflow = workflow or word
        else:
            known_words = (*overlays.workflows(), *invocation.MODES)
            raise UsageError(f'there is no workflow or mode "{word}"; {did_you_mean(word, known_words)}')
    workflow = workflow or ("patchlist" if mode == "patchlist" and not given["mode"] else "debate")
    names = {*known, *groups(workflow)} if given["with_"] or given["only"] else known
    return Request(
        topic=call.topic,
        workflow=workflow,
        with_=(*call.with_, *listed(given["with_"], names)),
        only=(*call.only, *listed(given["only"], names), *featured(workflow, given["feature_type"])),
        mode=mode or "deliberative",
        options=options_of(given),
        tier_map=tuple(pair for pairs in given["tier_map"] for pair in pairs.split(",")),
        files=given["files"],
    )


def groups(workflow: str) -> Iterable[str]:
    from council.workflow.loader import load

    return load(*overlays.workflow_text(workflow)).groups


def featured(workflow: str, wanted: str | None) -> tuple[str, ...]:
    """The group for a kind of feature: one that sits there only if it is asked for."""
    from council.workflow.loader import load

    if wanted is None:
        return ()
    found = load(*overlays.workflow_text(workflow))
    types = set(found.groups) - {found.members[0].group} - {name for _, step in found.steps() for name in step.seats}
    if wanted not in types:
        raise UsageError(f'{workflow} has no feature type "{wanted}"; {did_you_mean(wanted, types)}')
    return (wanted,)


def listed(values: tuple[str, ...], known: Any) -> tuple[str, ...]:
    from council.prompts import invocation

    return invocation.seats(",".join(values), known)


def options_of(given: dict[str, Any]) -> dict[str, Any]:
    """--normative, --rounds and -o as the workflow's options."""
    wanted: dict[str, Any] = {}
    for pair in given["options"]:
        name, equals, value = pair.partition("=")
        wanted[name.replace("-", "_")] = {"true": True, "false": False}.get(value, value) if equals else True
    if given["normative"]:
        wanted["normative"] = True
    if given.get("max_rounds") is not None:
        wanted["max_rounds"] = str(given["max_rounds"])
    if given.get("perspectives") is not None:
        wanted["perspectives"] = str(given["perspectives"])
    if given.get("no_checkpoints"):
        wanted["checkpoints"] = False
    if given.get("control"):
        wanted["control"] = True
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
    from council.speakers import select
    from council.speakers.base import Setup
    from council.terminal.screen import Screen

    session = state.session
    assert session is not None
    if source and Path(source).is_file():
        state.go_on = f"council recover {session.id} --from {shlex.quote(source)}"
    screen = Screen(quiet=given["quiet"] or given["as_json"], silent_out=given["as_json"] or silent)
    name = select.choose(given["speaker"] or spoke(session, settings), settings)
    provide(settings, name, given)
    select.warm_up(name)
    words_of = source or str(session.metadata.get("replay_of"))
    setup = Setup(settings, source=words_of, paced=paced(name, given))
    speaking = select.Voices(name, setup, ask=not given["no_input"])
    limits = Limits(given["quorum"], given["max_calls"], given["max_cost"])
    result = execute(session, settings, speaking, screen, limits)
    if given["as_json"]:
        print_json(result)


PROTOCOLS = {
    "board": "Decide something large: positions, up to ten rounds of challenge, a document that is checked.",
    "consensus": "Let specialists revise a design until each is 90 % satisfied, or you decide; it becomes an ADR.",
    "perspectives": "Weigh a question from two to four sides that a moderator casts, and steer it between the rounds.",
    "delphi": "Ask blind, challenge without names where opinions differ, and see whether the debate changed anything.",
}


def protocol(name: str, about: str) -> click.Command:
    """A command for `run --workflow NAME`."""

    @click.pass_context
    def call(context: click.Context, /, **given: Any) -> None:
        context.invoke(run, workflow=name, **given)

    shown = [param for param in run.params if param.name != "workflow"]
    return click.Command(name, params=shown, callback=call, help=f"{about} `run --workflow {name}` does the same.")


COMMANDS = (run, recover, *(protocol(name, about) for name, about in PROTOCOLS.items()))
