"""A command per workflow: `council NAME` is `council run --workflow NAME`, with the options that it declares."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import Any

import click
from click.core import ParameterSource

from council.cli.command import Command, command
from council.cli.context import State
from council.cli.options import (
    FEATURE_TYPE,
    GENERAL,
    HELP,
    OUTPUT,
    OVERLAYS,
    PACE,
    ROUNDS,
    SOURCE,
    SPEAKER,
    TOPIC,
    YES,
    feature_types,
    options,
)
from council.cli.run import debate
from council.config import overlays
from council.text import harmless, one_line
from council.workflow import declare
from council.workflow.loader import load
from council.workflow.model import Workflow

QUESTION = '"Redis or PostgreSQL for the job queue?"'
PREFIX = "option_"  # of parameters that are the workflow's options: a workflow may name one `topic`


def command_of(name: str) -> Command:
    """Build the command. A mistake in the workflow is raised here, when the command is called."""
    workflow = load(*overlays.workflow_text(name))

    @click.pass_obj
    @click.pass_context
    def call(context: click.Context, state: State, /, **given: Any) -> None:
        declared = {key: given.pop(key) for key in [*given] if key.startswith(PREFIX)}
        typed = {key for key in declared if context.get_parameter_source(key) is ParameterSource.COMMANDLINE}
        values = {names[key]: declared[key] for key in typed}
        debate(state, {**given, "workflow": name, "declared": values})

    some = [FEATURE_TYPE] if feature_types(workflow) else []
    some += [ROUNDS] if "three_rounds" in workflow.options else []
    general = options(TOPIC, *GENERAL[:3], *some, *GENERAL[3:], SPEAKER, *OUTPUT, YES, SOURCE, PACE, OVERLAYS)
    about = harmless(workflow.description) or f"Run the workflow {name}."
    made = command(name, help=f"{about}\n\n`council run --workflow {name}` does the same.")(general(call))
    own = _own(workflow.options, made.params)
    names = {str(option.name): key for key, option in own.items()}
    made.params[1:1] = own.values()
    made.examples = (f"council {name} {QUESTION}", *(_example(name, key, workflow) for key in [*own][:1]))
    made.spends = True
    return made


def _own(declared: Mapping[str, Any], general: Iterable[click.Parameter]) -> dict[str, click.Option]:
    """A flag for each option of the workflow, unless that flag is taken; the rest are set with -o."""
    taken = {"--help", *(flag for param in general for flag in (*param.opts, *param.secondary_opts))}
    own: dict[str, click.Option] = {}
    for name, default in declared.items():
        option = _option(name, default)
        flags = {*option.opts, *option.secondary_opts}
        if not flags & taken:
            own[name] = option
            taken |= flags
    return own


def _option(name: str, default: Any) -> click.Option:
    """A switch if the workflow's value is true or false, else an option with a value."""
    words = declare.option.known
    sentence = HELP.get(name) or (words[name].about if name in words else "An option of this workflow.")
    about = f"{sentence[0].upper()}{sentence[1:].rstrip('.').replace('`', '')}."
    flag, key = _flag(name), f"{PREFIX}{name.replace('-', '_')}"
    if isinstance(default, bool):
        shown = f"{flag} / {flag.replace('--', '--no-', 1)}".replace(" / ", "/")
        return click.Option([shown, key], default=None, help=f"{about}  [default: {'on' if default else 'off'}]")
    metavar = "N" if str(default).isdigit() else "VALUE"
    return click.Option([flag, key], metavar=metavar, help=f"{about}  [default: {one_line(str(default))}]")


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _example(name: str, option: str, workflow: Workflow) -> str:
    default, flag = workflow.options[option], _flag(option)
    words = flag if isinstance(default, bool) else f"{flag} {shlex.quote(one_line(str(default)))}"
    if default is True:
        words = flag.replace("--", "--no-", 1)
    return f"council {name} {words} {QUESTION}"
