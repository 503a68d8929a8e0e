"""The options that several commands share, and how they become a request."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from council.next.errors import UsageError

if TYPE_CHECKING:
    from council.next.config.settings import Settings
    from council.next.runner.prepare import Request

F = TypeVar("F", bound=Callable[..., Any])
FILE = click.Path(path_type=Path)
LARGEST_INPUT = 16_000_000  # bytes


class Amount(click.FloatRange):
    """A number in a range. `nan` is in none: it would bound nothing."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is no amount.", param, ctx)
        return number


SESSION = click.argument("session", default="last")
JSON = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
SPEAKER = click.option("--speaker", default="", metavar="NAME", help="Who answers: auto, api, claude, codex, human, …")
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
    click.option("--model", default="", metavar="NAME", help="Use this model for every tier."),
    click.option("--seat", "seats", multiple=True, metavar="SEAT=MODEL", help="Use this model for one seat."),
    click.option("--id", default="", metavar="ID", help="The session's id (default: the time)."),
    click.option("--from", "source", default="", metavar="SESSION", help="Begin with what another debate came to."),
    OVERLAYS,
]
LIMITS = [
    click.option("--quorum", type=click.IntRange(1), metavar="N", help="Go on without members whose calls fail, as long as N remain."),
    click.option("--max-cost", type=Amount(0), metavar="USD", help="Pause before a call that could exceed this."),
    click.option("--max-calls", type=click.IntRange(0), metavar="N", help="Pause before exceeding this many calls."),
    click.option("--yes", is_flag=True, help="Begin without asking, however much it is likely to cost."),
]  # fmt: skip
OUTPUT = [
    click.option("--json", "as_json", is_flag=True, help="Print only one JSON object, when it is over."),
    click.option("-q", "--quiet", is_flag=True, help="Print the result without progress messages."),
    click.option("--no-input", is_flag=True, help="Never ask, even on a terminal."),
    click.option("--wait", is_flag=True, help="Wait for a person's answer from elsewhere instead of pausing."),
    click.option("--require", default="", metavar="KIND", help="End with exit code 5 if it comes to another result."),
]


def options(*listed: Callable[[F], F]) -> Callable[[F], F]:
    """Several options at once, in the order in which the help shows them."""

    def add(function: F) -> F:
        for one in reversed(listed):
            function = one(function)
        return function

    return add


def read_topic(words: tuple[str, ...]) -> str:
    """The topic from the arguments; `-` reads it from standard input."""
    if words != ("-",):
        return " ".join(words)
    data = sys.stdin.buffer.read(LARGEST_INPUT + 1)
    if len(data) > LARGEST_INPUT:
        raise UsageError(f"standard input is larger than {LARGEST_INPUT:,} bytes")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise UsageError("standard input is not UTF-8") from None


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


def load_settings(given: Mapping[str, Any]) -> Settings:
    """The settings in force for this command."""
    from council.next.config import places, settings

    flags = {"tiers": given["model"]} if given.get("model") else {}
    return settings.load(places.project(given.get("overlays")), flags)


def request_from(given: Mapping[str, Any], settings: Settings, workflow: str = "") -> Request:
    """The request that a topic and the options make. The topic may begin with a sentence that calls a council."""
    from council.next.config import personas, places
    from council.next.prompts import phrases
    from council.next.runner.prepare import Request

    topic = read_topic(given["topic"])
    workflows = places.workflow_names(settings.overlays)
    call = phrases.read(topic, [*personas.load(settings.overlays)], workflows)
    after = places.find_session(settings.home, given["source"]) if given.get("source") else None
    request = Request(
        topic=topic,
        workflow=given.get("workflow") or workflow or "debate",
        options=read_options(given),
        mode=given.get("mode") or "deliberative",
        with_=tuple(given["with_"]),
        only=tuple(given["only"]),
        without=tuple(given["without"]),
        gates=tuple(given["gates"]),
        files=tuple(given["files"]),
        feature_type=given.get("feature_type") or "",
        after=after,
        id=given.get("id") or "",
    )
    return request.called(call) if call else request
