"""The options that several commands share, and how they become a request."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from council.next.errors import UsageError
from council.next.terminal.output import note
from council.next.text import did_you_mean

if TYPE_CHECKING:
    from council.next.config.settings import Settings
    from council.next.record.session import Session
    from council.next.runner.prepare import Request

F = TypeVar("F", bound=Callable[..., Any])
FILE = click.Path(path_type=Path)
LARGEST_INPUT = 16_000_000  # bytes
REPLAY = "replay"


class Amount(click.FloatRange):
    """A number in a range. `nan` is in none: it would bound nothing."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is no amount.", param, ctx)
        return number


SESSION = click.argument("session", default="last")
THIS_SESSION = click.argument("session")
JSON = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
BY = click.option("--by", default="", metavar="NAME", help="Who it is (default: Git's user.name, or the login).")
OVERLAYS = click.option(
    "--overlays/--no-overlays", default=None, help="Use the project's .council folder, or leave it out (as in CI)."
)
REQUEST = [
    click.argument("topic", nargs=-1),
    click.option("-w", "--workflow", default="", metavar="NAME", help="The workflow to run (default: debate)."),
    click.option("--with", "with_", multiple=True, metavar="SEAT", help="Add a member: security, intern, writer, …"),
    click.option("--without", multiple=True, metavar="SEAT", help="Leave a member out."),
    click.option("--only", multiple=True, metavar="SEAT", help="Seat only these members, or those of a group."),
    click.option("--feature-type", default="", metavar="TYPE", help="Seat the specialists for this type of feature."),
    click.option("--rounds", type=int, metavar="N", help="Hold the third round in any case: --rounds 3."),
    click.option("--mode", type=click.Choice(["deliberative", "patchlist"]), help="Ask for prose, or for findings."),
    click.option("-o", "--option", "options", multiple=True, metavar="NAME=VALUE", help="Set a workflow's option."),
    click.option(
        "--gate",
        "gates",
        multiple=True,
        metavar="PHASE",
        help="Pause for a person's approval after PHASE. `none` clears your own gates.",
    ),
    click.option("-f", "--file", "files", multiple=True, type=FILE, metavar="FILE", help="Attach a text file."),
    click.option("--id", default="", metavar="ID", help="The session's id (default: the time)."),
    OVERLAYS,
]
AFTER = click.option("--from", "source", default="", metavar="SESSION", help="Begin with what another debate came to.")
HOLD = [
    click.option(
        "--from",
        "source",
        default="",
        metavar="SESSION|FILE",
        help="Begin with what another debate came to. With --speaker replay: the session or script to replay.",
    ),
    click.option("--speaker", default="", metavar="NAME", help="Who answers: auto, api, claude, codex, human, …"),
    click.option("--model", default="", metavar="NAME", help="Use this model for every tier: opus, openai/NAME, …"),
    click.option("--seat", "seats", multiple=True, metavar="SEAT=MODEL", help="Use another model for one seat."),
    click.option("--pace", type=click.Choice(["real", "none"]), help="Replay at the original speed, or at once."),
]
LIMITS = [
    click.option(
        "--quorum",
        type=click.IntRange(1),
        metavar="N",
        help="Go on without members whose calls fail, as long as N remain.",
    ),
    click.option("--max-cost", type=Amount(0), metavar="USD", help="Pause before a call that could exceed this."),
    click.option("--max-calls", type=click.IntRange(0), metavar="N", help="Pause before exceeding this many calls."),
    click.option("--yes", is_flag=True, help="Begin without asking, however much it is likely to cost."),
]  # fmt: skip
OUTPUT = [
    click.option("--json", "as_json", is_flag=True, help="Print only one JSON object, when it is over."),
    click.option("-q", "--quiet", is_flag=True, help="Print the result without progress messages."),
    click.option("--no-input", is_flag=True, help="Never ask, even on a terminal."),
    click.option("--wait", is_flag=True, help="Wait for a person's answer from elsewhere instead of pausing."),
    click.option(
        "--require", default="", metavar="KIND[,KIND]", help="Exit with 5 unless it comes to this: agreed,split."
    ),
]


def options(*listed: Callable[[F], F]) -> Callable[[F], F]:
    """Several options at once, in the order in which the help shows them."""

    def add(function: F) -> F:
        for one in reversed(listed):
            function = one(function)
        return function

    return add


def read_topic(words: tuple[str, ...]) -> str:
    """The topic from the arguments; `-` reads it from standard input, without the final line feed of a shell."""
    return " ".join(words) if words != ("-",) else read_input(Path("-")).removesuffix("\n")


def read_input(path: Path) -> str:
    """The text of a file, or of standard input where the path is `-`, to the byte."""
    name = "standard input" if str(path) == "-" else str(path)
    if name == "standard input" and sys.stdin.isatty():
        note("reading from this terminal; Ctrl-D ends it")
    try:
        if str(path) == "-":
            data = sys.stdin.buffer.read(LARGEST_INPUT + 1)
        else:
            with path.open("rb") as file:
                data = file.read(LARGEST_INPUT + 1)
        if len(data) > LARGEST_INPUT:
            raise UsageError(f"{name} is larger than {LARGEST_INPUT:,} bytes")
        return data.decode()
    except OSError as failure:
        raise UsageError(f"{name}: {failure.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{name} is not UTF-8") from None


def read_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """`-o NAME=VALUE` and the options with names of their own."""
    found: dict[str, Any] = {}
    for one in given["options"]:
        name, equals, value = one.partition("=")
        if not equals:
            raise UsageError(f"-o {one}: write NAME=VALUE")
        found[name.strip()] = {"true": True, "false": False}.get(value.strip(), value.strip())
    if given.get("rounds") is not None:
        if given["rounds"] not in (2, 3):
            raise UsageError(f"--rounds {given['rounds']}: a debate has 2 rounds, and a third where it is needed")
        found["three_rounds"] = given["rounds"] == 3
    return found


def read_kinds(given: Mapping[str, Any]) -> list[str]:
    """The results that `--require` names, with spaces or hyphens: `agreed-with-dissent`."""
    from council.next.protocols.outcome import STATUS

    wanted = [one.strip().lower().replace("-", " ") for one in given["require"].split(",") if one.strip()]
    if wrong := next((one for one in wanted if one not in STATUS), ""):
        raise UsageError(f"--require {wrong}: no debate comes to that; {did_you_mean(wrong, STATUS)}")
    return wanted


def load_settings(given: Mapping[str, Any]) -> Settings:
    """The settings in force for this command. `model` is one for every tier, or one for each."""
    from council.next.config import places, settings

    flags = {"tiers": given["model"]} if given.get("model") else {}
    if unused := places.unused_project(given.get("overlays")):
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
    from council.next.record.catalog import check_id
    from council.next.runner.attachments import check_topic
    from council.next.runner.prepare import Request

    topic = read_topic(given["topic"])
    seats, workflows = [*personas.load(settings.overlays)], places.workflow_names(settings.overlays)
    call = phrases.read(topic, seats, workflows)
    if call and call.recover:
        of_new = ("workflow", "with_", "without", "only", "feature_type", "rounds", "mode", "options", "gates", "files")
        if given["id"] or any(given[name] for name in of_new):
            raise UsageError("this sentence continues a debate: leave out --id and the other options of a new one")
        return call.recover
    if not call:
        phrases.refuse_unfinished(topic, seats, workflows)
    request = Request(
        topic=topic,
        workflow=given["workflow"] or workflow or "debate",
        options=read_options(given),
        mode=given["mode"] or "deliberative",
        with_=given["with_"],
        only=given["only"],
        without=given["without"],
        gates=given["gates"],
        files=given["files"],
        feature_type=given["feature_type"],
        after=read_after(given, settings),
        seats=read_seats(given.get("seats") or ()),
        id=given["id"],
    )
    request = request.called(call) if call else request
    check_topic(request.topic)
    if request.id:
        check_id(request.id)
    return request


def read_after(given: Mapping[str, Any], settings: Settings) -> Session | None:
    """The earlier debate that this one begins with."""
    word = given["source"]
    if not word or given.get("speaker") == REPLAY:
        return None
    if Path(word).is_file():
        raise UsageError(f"--from {word}: a file is a script for a replay; add --speaker replay")
    return open_session(settings, word)


def read_seats(given: Iterable[str]) -> dict[str, str]:
    """`--seat architect=openai/NAME`."""
    found = {}
    for one in given:
        seat, equals, model = one.partition("=")
        if not (seat and equals and model):
            raise UsageError(f"--seat {one}: write SEAT=MODEL, as in --seat architect=openai/NAME")
        found[seat.strip()] = model.strip()
    return found
