"""Options that several commands share, and how they become a request or a session to recover."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from council import speakers
from council.cli import completion
from council.config import project
from council.errors import UsageError
from council.text import did_you_mean

if TYPE_CHECKING:
    from council.runner.start import Request
    from council.workflow.model import Workflow

F = TypeVar("F", bound=Callable[..., Any])
FORMATS = ("md", "json", "sarif", "rdjson", "github")  # of findings
LARGEST_INPUT = 16_000_000


class Amount(click.FloatRange):
    """A number within a range. `nan` is in none: it would bound nothing."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a valid float.", param, ctx)
        return number


FILE = click.Path(path_type=Path)

JSON = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
TOPIC = click.argument("topic", nargs=-1)
SESSION = click.argument("session", default="last", shell_complete=completion.sessions)
WORKFLOW = click.option(
    "-w", "--workflow", metavar="NAME", shell_complete=completion.workflows,
    help="The workflow to run: debate (the default), quick, or one of yours.",
)  # fmt: skip
WITH = click.option(
    "--with", "with_", multiple=True, metavar="SEAT", shell_complete=completion.members,
    help="Add a member: security, intern, writer, …",
)  # fmt: skip
ONLY = click.option(
    "--only", multiple=True, metavar="SEAT", shell_complete=completion.members,
    help="Seat only these members, or those of a group.",
)  # fmt: skip
WITHOUT = click.option(
    "--without", multiple=True, metavar="SEAT", shell_complete=completion.members,
    help="Leave out a member.",
)  # fmt: skip
TIER_MAP = click.option(
    "--tier-map", multiple=True, metavar="TIER=TARGET", shell_complete=completion.tiers,
    help="Use another tier or model for a tier, as in haiku=sonnet.",
)  # fmt: skip
SPEAKER = click.option(
    "--speaker", metavar="NAME", shell_complete=completion.speaker_names,
    help=f"Who answers: {speakers.AUTO} or {', '.join(speakers.for_members())}.",
)  # fmt: skip
OVERLAYS = click.option(
    "--overlays", is_flag=True, is_eager=True, expose_value=False, callback=lambda _, __, wanted: use_project(wanted),
    help="Use the project's .council folder, also in CI and for reviews.",
)  # fmt: skip
ID = click.option(
    "--id", metavar="ID", help="The session's id: up to 64 lower-case letters, digits and hyphens (default: the time)."
)
FEATURE_TYPE = click.option(
    "--feature-type", metavar="TYPE", shell_complete=completion.feature_types,
    help="Seat the members that the workflow lists for this type of feature.",
)  # fmt: skip
ROUNDS = click.option("--rounds", type=int, metavar="N", help="Force the third round: --rounds 3.")
# Help for the options of the kit's workflows. Others are described in the vocabulary of the workflow language.
HELP = {
    "checkpoints": "Ask a person between the rounds.",
    "control": "Also get one answer without a debate, as a baseline.",
    "document": "Document to write for the project: adr, decision or none.",
    "escalation": "Let a person decide when the seats are stuck.",
    "max_rounds": "Maximum rounds per repeating phase.",
    "normative": "The question is what ought to be done: hold the third round.",
    "patchlist": "Ask for findings instead of prose, like --mode patchlist.",
    "perspectives": "Number of perspectives (default: the moderator decides).",
    "specialists": "List of specialists: auto, or one of the kit's (`council specialists`).",
    "three_rounds": "Hold the third round in any case, like --rounds 3.",
    "words": "Length of a reply in words, as in 50-150.",
}
GATES = click.option(
    "--gate", "gates", multiple=True, metavar="PHASE",
    help="Let a person approve after this phase, or the debate ends there; `none` for no gates of yours.",
)  # fmt: skip
EVIDENCE = click.option(
    "--evidence", multiple=True, type=FILE, metavar="FILE", help="Freeze a text file as a fact that members can cite."
)
EVIDENCE_COMMAND = click.option(
    "--evidence-command", "evidence_commands", multiple=True, metavar="CMD",
    help="Run a command in the sandbox, and freeze its output as a fact.",
)  # fmt: skip
# What every workflow accepts. `run` also has the options of the kit's workflows, because it serves them all.
GENERAL = [
    WITH,
    WITHOUT,
    ONLY,
    click.option(
        "--mode", type=click.Choice(["deliberative", "patchlist"]), help="Ask for prose (deliberative) or for findings."
    ),
    click.option(
        "-o", "--option", "options", multiple=True, metavar="NAME=VALUE", help="Set an option of the workflow."
    ),
    GATES,
    TIER_MAP,
    click.option("-f", "--file", "files", multiple=True, type=FILE, help="Attach a text file to the topic."),
    EVIDENCE,
    EVIDENCE_COMMAND,
    ID,
]
REQUEST = [
    TOPIC,
    WORKFLOW,
    *GENERAL[:3],
    FEATURE_TYPE,
    ROUNDS,
    click.option("--max-rounds", type=click.IntRange(1), metavar="N", help=HELP["max_rounds"]),
    click.option("--perspectives", type=click.IntRange(2, 4), metavar="N", help=HELP["perspectives"]),
    click.option("--no-checkpoints", is_flag=True, help="Do not ask a person between the rounds."),
    click.option("--normative", is_flag=True, help=HELP["normative"]),
    click.option("--control", is_flag=True, help=HELP["control"]),
    *GENERAL[3:],
]  # fmt: skip
OUTPUT = [
    click.option("--json", "as_json", is_flag=True, help="Print only one JSON object, when finished."),
    click.option("-q", "--quiet", is_flag=True, help="Print the debate without progress messages."),
    click.option("--no-input", is_flag=True, help="Never prompt, even on a terminal."),
    click.option(
        "--wait", is_flag=True, help="Without a terminal, wait for a person's answer from elsewhere instead of pausing."
    ),
    click.option("--watch", is_flag=True, help="Update the session's derived files after each step, as on a terminal."),
    click.option(
        "--quorum", type=click.IntRange(1), metavar="N",
        help="Continue without members whose calls fail, as long as N remain.",
    ),
    click.option(
        "--max-cost", type=Amount(0), metavar="USD", help="Pause before a call that could exceed this budget."
    ),
    click.option("--max-calls", type=click.IntRange(0), metavar="N", help="Pause before exceeding this many calls."),
]  # fmt: skip
YES = click.option("--yes", is_flag=True, help="Begin without asking, however much it is likely to cost.")
PACE = click.option(
    "--pace", type=click.Choice(["real", "none"]), default="none", show_default=True,
    help="Replay at the original speed (real) or instantly (none).",
)  # fmt: skip
SOURCE = click.option(
    "--from", "source", metavar="SESSION|FILE", shell_complete=completion.sessions,
    help="Start from another session's outcome. (With replay: the session or script to replay.)",
)  # fmt: skip
AFTER = click.option(
    "--from", "source", metavar="SESSION", shell_complete=completion.sessions,
    help="Start from another session's outcome.",
)  # fmt: skip
REPLAYED = click.option(
    "--from", "source", metavar="SESSION|FILE", shell_complete=completion.sessions,
    help="With --speaker replay: the session or script to replay.",
)  # fmt: skip


def options(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    """Combine several options into one decorator, in the order in which help lists them."""

    def decorate(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def use_project(wanted: bool) -> None:
    """--overlays: from here on, this command uses the project's workflows, templates and personas."""
    if wanted:
        project.decide(wanted)


def read_topic(topic: tuple[str, ...]) -> str:
    """The topic; `-` reads it from standard input, without the final line feed that a shell adds.

    Reads no more than is needed to see that the input is too long.
    """
    if topic != ("-",):
        return " ".join(topic)
    try:
        return sys.stdin.buffer.read(LARGEST_INPUT).decode("utf-8").removesuffix("\n")
    except UnicodeDecodeError:
        raise UsageError("the topic on standard input is not valid UTF-8") from None


def build_request(text: str, given: Mapping[str, Any]) -> Request | str:
    """Build a request from the topic's phrases and the options; a session's id if they ask for a recovery."""
    from council.config import overlays, personas
    from council.prompts import invocation
    from council.runner.seating import find_workflow
    from council.runner.start import Request

    known, workflows = personas.load(), overlays.workflows()
    call = invocation.parse(text, known, workflows)
    if call.recover:
        if given.get("id"):
            raise UsageError("--id names a new session; a recovery continues one")
        return call.recover
    workflow, mode = choose_workflow(call.words, given, workflows)
    listed = {name: ",".join(given[name]) for name in ("with_", "without", "only")}
    chosen = workflow_options({**given, "rounds": given.get("rounds") or call.rounds})
    if any((call.with_, call.without, call.only, *listed.values())):
        names = {*known, *find_workflow(workflow, chosen).workflow.seat_names()}
        invocation.check_named(call, names)
    with_, without, only = (invocation.seats(words, names) if words else () for words in listed.values())
    return Request(
        topic=call.topic,
        workflow=workflow,
        with_=(*call.with_, *with_),
        without=(*call.without, *without),
        only=(*call.only, *only, *feature_groups(workflow, given, chosen)),
        mode=mode or "deliberative",
        options=chosen,
        tier_map=tuple(pair for pairs in given["tier_map"] for pair in pairs.split(",")),
        files=given["files"],
        evidence=given.get("evidence", ()),
        evidence_commands=given.get("evidence_commands", ()),
        quorum=given.get("quorum"),
        max_cost=given.get("max_cost"),
        id=given.get("id"),
    )


def choose_workflow(
    words: tuple[str, ...], given: Mapping[str, Any], workflows: Collection[str]
) -> tuple[str, str | None]:
    """The workflow and the mode that the topic's phrases and the options ask for together."""
    from council.prompts import invocation

    workflow, mode = given["workflow"], given["mode"]
    named = [word for word in words if word not in invocation.MODES]
    for word in named:
        if word not in workflows:
            known = did_you_mean(word, (*workflows, *invocation.MODES))
            raise UsageError(f'there is no workflow or mode "{word}"; {known}; {invocation.AS_TOPIC}')
    if len(set(named)) > 1:
        raise UsageError(f"the topic names several workflows: {', '.join(named)}; choose one; {invocation.AS_TOPIC}")
    for word in words:
        if word in invocation.MODES:
            mode = mode or word
    workflow = workflow or next(iter(named), None)
    otherwise = "patchlist" if mode == "patchlist" and not given["mode"] else given.get("otherwise", "debate")
    return workflow or otherwise, mode


def feature_groups(workflow: str, given: Mapping[str, Any], chosen: Mapping[str, Any]) -> tuple[str, ...]:
    """The group that --feature-type selects."""
    from council.runner.seating import find_workflow

    wanted = given.get("feature_type")
    if wanted is None:
        return ()
    types = feature_types(find_workflow(workflow, chosen).workflow)
    if wanted not in types:
        raise UsageError(f'{workflow} has no feature type "{wanted}"; {did_you_mean(wanted, types)}')
    return (wanted,)


def feature_types(workflow: Workflow) -> set[str]:
    """The groups that take part only on request."""
    seated = {name for _, step in workflow.steps() for name in step.seats if isinstance(name, str)}
    return set(workflow.groups) - {workflow.members[0].group} - seated


def workflow_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The workflow's options: from their own flags, and from -o NAME=VALUE."""
    wanted: dict[str, Any] = {}
    for pair in given.get("options", ()):
        name, equals, value = pair.partition("=")
        wanted[name] = {"true": True, "false": False}.get(value, value) if equals else True
    wanted |= given.get("declared", {})
    if given.get("gates"):
        from council.workflow.gates import AFTER as GATE_AFTER

        wanted[GATE_AFTER] = ",".join(given["gates"])
    for flag in ("normative", "control"):
        if given.get(flag):
            wanted[flag] = True
    for number in ("max_rounds", "perspectives"):
        if given.get(number) is not None:
            wanted[number] = str(given[number])
    if given.get("no_checkpoints"):
        wanted["checkpoints"] = False
    if given.get("rounds") == 3:
        wanted["three_rounds"] = True
    elif given.get("rounds") is not None:
        raise UsageError(
            "--rounds takes 3, which forces the third round; without it a debate takes two or three rounds, as "
            "needed. For one round: council quick"
        )
    return wanted
