"""The options that several commands share, and how they become a request."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from council.next.errors import CouncilError, UsageError
from council.next.terminal.output import note
from council.next.text import did_you_mean, one_line

if TYPE_CHECKING:
    from council.next.config.settings import Settings
    from council.next.record.session import Session
    from council.next.runner.prepare import Request

F = TypeVar("F", bound=Callable[..., Any])
FILE, COUNT = click.Path(path_type=Path), click.IntRange(1)
LARGEST_INPUT = 16_000_000  # bytes
REPLAY, TRUTH = "replay", {"true": True, "false": False}
EVIDENCE = {"file": "evidence", "command": "evidence_command"}  # the option of each kind of source


class Amount(click.FloatRange):
    """A number in a range. `nan` is in none: it would bound nothing."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is no amount.", param, ctx)
        return number


def complete(context: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
    """What a shell offers here. Damage offers nothing. Of names with commas between them, the last one is completed."""
    begun, comma, word = typed.rpartition(",")
    with suppress(CouncilError, OSError):
        return [f"{begun}{comma}{one}" for one in known_words(context, parameter.name) if one.startswith(word)]
    return []


def known_words(context: click.Context, name: str | None) -> Iterable[str]:
    """The words that the parameter of this name knows."""
    from council.next.config import personas, places, specialists
    from council.next.record import catalog
    from council.next.workflow import loader

    folders = places.overlays(places.project())
    workflows = places.workflows(folders)
    found: Iterable[str] = ()
    match name:
        case "session" | "words" | "source":
            ids = [id for id, _ in catalog.rows(places.sessions(load_settings({}).home))]
            found = ["last", *reversed(ids)]
        case "turn":
            found = [
                due.id for due in open_session(load_settings({}), context.params.get("session") or "last").plan.due
            ]
        case "with_" | "without" | "only":
            found = personas.load(folders)
        case "feature_type":
            found = specialists.load(folders=folders).features()
        case "workflow" | "workflows":
            found = workflows
        case "options":
            chosen = (context.params.get("workflow"), context.info_name, "debate")
            path = places.find_workflow(next(one for one in chosen if one in workflows), folders)
            found = [f"{option}=" for option in loader.load(places.read(path), path.name).options]
    return found


def word(flags: str, shown: str, help_: str, **more: Any) -> Callable[[F], F]:
    """An option with one word, and the empty one if it is not given."""
    return click.option(
        *flags.split(), **{"default": "", "metavar": shown, "help": help_, "shell_complete": complete, **more}
    )


def words(flags: str, shown: str, help_: str, **more: Any) -> Callable[[F], F]:
    """An option that may be given several times."""
    return word(flags, shown, help_, **{"default": (), "multiple": True, **more})


def read_id(_: click.Context, __: click.Parameter, given: str | None) -> str:
    from council.next.record.catalog import check_id

    return "" if given is None else check_id(given)


def flag(flags: str, help_: str) -> Callable[[F], F]:
    return click.option(*flags.split(), is_flag=True, help=help_)


def together(*listed: Callable[[F], F]) -> Callable[[F], F]:
    """Several options at once, in the order in which the help shows them."""

    def add(function: F) -> F:
        for one in reversed(listed):
            function = one(function)
        return function

    return add


SESSION = click.argument("session", default="last", shell_complete=complete)
THIS_SESSION = click.argument("session", shell_complete=complete)
TURN = click.argument("turn", shell_complete=complete)
JSON = flag("--json as_json", "Print the result as JSON.")
BY = word("--by", "NAME", "Who it is (default: Git's user.name, or the login).")
OVERLAYS = click.option(
    "--overlays/--no-overlays", default=None, help="Use the project's .council folder, or leave it out (as in CI)."
)
MODEL = word("--model", "NAME", "Use this model for every tier: opus, openai/NAME, …")
TABLE = together(  # who sits, and what is debated how
    words("--with with_", "SEAT", "Add a member: security, intern, writer, …"),
    words("--without", "SEAT", "Leave a member out."),
    words("--only", "SEAT", "Seat only these members, or those of a group."),
    word("--feature-type", "TYPE", "Seat the specialists for this type of feature."),
    click.option("--rounds", type=int, metavar="N", help="Hold the third round in any case: --rounds 3."),
    click.option("--mode", type=click.Choice(["deliberative", "patchlist"]), help="Ask for prose, or for findings."),
    words("-o --option options", "NAME=VALUE", "Set a workflow's option."),
    words("--gate gates", "PHASE", "Pause for a person's approval after PHASE. `none` clears your own gates."),
    words("-f --file files", "FILE", "Attach a text file.", type=FILE),
    words("--evidence", "FILE", "Give a text file as a fact to cite: E1, E2, …"),
    words("--evidence-command", "CMD", "Run CMD in the sandbox; what it prints is a fact."),
)
ID = word("--id", "ID", "The session's id (default: the time).", default=None, callback=read_id)
REQUEST = together(
    click.argument("topic", nargs=-1),
    word("-w --workflow", "NAME", "The workflow to run (default: debate)."),
    TABLE,
    ID,
    OVERLAYS,
)
AFTER = word("--from source", "SESSION", "Begin with what another debate came to.")
REPLAYED = "Begin with what another debate came to. With --speaker replay: the session or script to replay."
HOLD = together(
    word("--from source", "SESSION|FILE", REPLAYED),
    word("--speaker", "NAME", "Who answers: auto, api, claude, codex, human, …"),
    MODEL,
    words("--seat seats", "SEAT=MODEL", "Use another model for one seat."),
    click.option("--pace", type=click.Choice(["real", "none"]), help="Replay at the original speed, or at once."),
    word("--quorum", "N", "Go on without members whose calls fail, as long as N remain.", type=COUNT, default=None),
    word("--max-cost", "USD", "Pause before a call that could exceed this.", type=Amount(0), default=None),
    word("--max-calls", "N", "Pause before exceeding this many calls.", type=click.IntRange(0), default=None),
    flag("--yes", "Begin without asking, however much it is likely to cost."),
    flag("--json as_json", "Print only one JSON object, when it is over."),
    flag("-q --quiet", "Print the result without progress messages."),
    flag("--no-input", "Never ask, even on a terminal."),
    flag("--wait", "Wait for a person's answer from elsewhere instead of pausing."),
    word("--require", "KIND[,KIND]", "Exit with 5 unless it comes to this: agreed,split."),
)


def read_input(path: Path) -> str:
    """The text of a file, or of standard input where the path is `-`, to the byte."""
    name = "standard input" if str(path) == "-" else str(path)
    if str(path) == "-" and sys.stdin.isatty():
        note("reading from this terminal; Ctrl-D ends it")
    try:
        with click.open_file(str(path), "rb") as file:
            data: bytes = file.read(LARGEST_INPUT + 1)
        if len(data) > LARGEST_INPUT:
            raise UsageError(f"{name} is larger than {LARGEST_INPUT:,} bytes")
        return data.decode()
    except OSError as failure:
        raise UsageError(f"{name}: {failure.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{name} is not UTF-8") from None


def read_pairs(option: str, given: Iterable[str], form: str = "NAME=VALUE", filled: bool = False) -> dict[str, str]:
    """`NAME=VALUE`, once for each name."""
    found: dict[str, str] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not (name.strip() and equals) or (filled and not value.strip()):
            raise UsageError(f"{option} {one_line(one)}: write {form}")
        if name.strip() in found:
            raise UsageError(f'{option}: "{name.strip()}" is given twice')
        found[name.strip()] = value
    return found


def read_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """`-o NAME=VALUE` and the options with names of their own."""
    from council.next.prompts import phrases

    pairs = read_pairs("-o", given["options"])
    found: dict[str, Any] = {name: TRUTH.get(value.strip(), value.strip()) for name, value in pairs.items()}
    if given.get("rounds") is not None:
        phrases.check_rounds(given["rounds"])
        found["three_rounds"] = True
    return found


def read_seats(given: Mapping[str, Any]) -> dict[str, str]:
    """`--seat architect=openai/NAME`."""
    form = "SEAT=MODEL, as in --seat architect=openai/NAME"
    pairs = read_pairs("--seat", given.get("seats") or (), form, filled=True)
    return {seat: model.strip() for seat, model in pairs.items()}


def read_kinds(given: Mapping[str, Any], option: str = "require") -> list[str]:
    """The results that an option names, with spaces or hyphens: `agreed-with-dissent`."""
    from council.next.protocols.outcome import STATUS

    wanted = [one.strip().lower().replace("-", " ") for one in given[option].split(",") if one.strip()]
    if wrong := next((one for one in wanted if one not in STATUS), ""):
        raise UsageError(f"--{option} {wrong}: no debate comes to that; {did_you_mean(wrong, STATUS)}")
    return wanted


def refused(given: Mapping[str, Any]) -> list[str]:
    """Which options were given that say how a new debate is held."""
    of_new = ("with_", "without", "only", "feature_type", "rounds", "mode", "options", "gates", "files")
    return [name.strip("_").replace("_", "-") for name in (*of_new, *EVIDENCE.values()) if given[name]]


def load_settings(given: Mapping[str, Any]) -> Settings:
    """The settings in force for this command. `model` is one for every tier, or one for each."""
    from council.next.config import places, settings

    flags = {"tiers": given["model"]} if given.get("model") else {}
    if unused := places.judge_project(given.get("overlays"))[1]:
        note(unused)
    return settings.load(places.project(given.get("overlays")), flags)


def open_session(settings: Settings, word: str) -> Session:
    from council.next.config import places

    return places.find_session(settings.home, word)


def request_from(given: Mapping[str, Any], settings: Settings, workflow: str = "") -> Request | str:
    """The request that the topic and the options make. The topic may begin with a sentence that calls a council; where
    that is one for a recovery, the result is the session's id."""
    from council.next.config import personas, places
    from council.next.prompts import phrases
    from council.next.runner.attachments import check_topic
    from council.next.runner.prepare import Request

    words = given["topic"]
    # Without the final line feed of a shell.
    topic = " ".join(words) if words != ("-",) else read_input(Path("-")).removesuffix("\n")
    seats, workflows = [*personas.load(settings.overlays)], places.workflows(settings.overlays)
    call = phrases.read(topic, seats, workflows)
    if call and call.recover:
        if given["id"] or given["workflow"] or refused(given):
            raise UsageError("this sentence continues a debate: leave out --id and the other options of a new one")
        return call.recover
    if call:
        phrases.check(call, workflows)
    else:
        phrases.refuse_unfinished(topic, seats, workflows)
    after = None
    if (source := given["source"]) and given.get("speaker") != REPLAY:
        if Path(source).is_file():
            raise UsageError(f"--from {source}: a file is a script for a replay; add --speaker replay")
        after = open_session(settings, source)
    request = Request(
        topic=after.topic if after and not words else topic,  # without a question of its own, it is the same
        workflow=given["workflow"] or workflow or "debate",
        options=read_options(given),
        mode=given["mode"] or "deliberative",
        after=after,
        seats=read_seats(given),
        evidence=tuple((kind, one) for kind, option in EVIDENCE.items() for one in given[option]),
        **{name: given[name] for name in ("with_", "only", "without", "gates", "files", "feature_type", "id")},
    )
    request = request.called(call) if call else request
    check_topic(request.topic)
    return request
