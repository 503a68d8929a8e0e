"""`config`: prints the settings of debates that are in force, and where each is from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from council.cli import completion
from council.cli.command import command
from council.cli.options import OVERLAYS
from council.config import overlays
from council.terminal.output import echo

if TYPE_CHECKING:
    from council.config.protocols import DebateSettings
    from council.config.settings import Config

FROM_WORKFLOW = "the workflow"


@command()
@click.argument("workflow", default="", shell_complete=completion.workflows)
@OVERLAYS
def config(workflow: str) -> None:
    """Print the options and limits that Config.md sets, yours and your project's; with WORKFLOW, all of its options."""
    from council.config import settings as files

    settings = files.load()
    rows = [*list_options(workflow, settings)] if workflow else [*list_settings(settings)]
    rows += list_limits(settings)
    width = max((len(name) for name, _, _ in rows), default=0)
    for name, value, source in rows:
        echo(f"{name:<{width}}  {value:<12} {source}")
    if not rows:
        own = overlays.user_folder() / "Config.md"
        echo(f"Nothing is set: each workflow has the options that it declares. {own} can change them.")
    if unused := overlays.unused_project():
        echo(f"project overlay not used: {unused}")


def list_options(name: str, settings: Config) -> Iterator[tuple[str, str, str]]:
    from council.config import protocols
    from council.workflow.loader import load

    workflow = load(*overlays.workflow_text(name))
    chosen = protocols.choose_options(workflow, settings.debates)
    for option in dict.fromkeys((*workflow.options, *chosen)):
        found = chosen.get(option)
        value = found.value if found else workflow.options[option]
        yield option, as_word(value), describe_source(found.source) if found else FROM_WORKFLOW


def list_settings(settings: Config) -> Iterator[tuple[str, str, str]]:
    """What the files set, workflow by workflow."""
    from council.config import protocols
    from council.workflow.loader import load

    files = list(protocols.list_files(settings.debates))
    protocols.check_names(files)
    for name in dict.fromkeys(name for one in files for name in one.protocols):
        chosen = protocols.choose_options(load(*overlays.workflow_text(name)), settings.debates)
        for option, found in chosen.items():
            yield f"{name}: {option}", as_word(found.value), describe_source(found.source)


def list_limits(settings: Config) -> Iterator[tuple[str, str, str]]:
    from council.config import protocols

    for name, found in protocols.find_limits(settings.debates).items():
        yield f"at most: {name}", f"{found.value:g}", describe_source(found.source)


def describe_source(source: DebateSettings) -> str:
    from council.record.files import tilde

    return f"{tilde(source.path)} ({source.whose})"


def as_word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
