"""Setup: `doctor` checks what a debate needs, `completion` prints the shell's script."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from council.cli import install_skill
from council.cli.command import command
from council.cli.context import State
from council.config import command_line, overlays, places
from council.errors import CouncilError, Denied, UsageError
from council.speakers.base import NotSetUp
from council.terminal.output import echo

if TYPE_CHECKING:
    from council.config.settings import Config
    from council.speakers.select import Choice


@command()
@click.option("--notify", is_flag=True, help="Also send a test notification, as Config.md says.")
@click.pass_obj
def doctor(state: State, notify: bool) -> None:
    """Check what a debate needs: Python, configuration, folders, keys, the skill and a working speaker.

    Exits with code 4 if nobody can speak.
    """
    failures: list[CouncilError] = []
    for what, check in (*checks(), *([("notification", send_test_notification)] if notify else [])):
        try:
            echo(f"ok    {what}: {check()}")
        except NotSetUp as missing:
            echo(f"-     {what}: {missing}")
        except CouncilError as failure:
            failures.append(failure)
            echo(f"FAIL  {what}: {failure}".replace("\n", "\n      "))
        except Exception as failure:  # noqa: BLE001 (a fault in a check of a speaker leaves the others)
            failures.append(CouncilError(str(failure)))
            echo(f"FAIL  {what}: {type(failure).__name__}: {failure}")
    if failures:
        state.next_step = "fix what failed above, then run `council doctor` again"
        raise type(failures[0])(f"{len(failures)} check{'s' if len(failures) > 1 else ''} failed")


def checks() -> Iterator[tuple[str, Callable[[], str]]]:
    from council.config import settings as config
    from council.speakers import registry

    yield "python", lambda: sys.version.split()[0]
    yield "configuration", check_configuration
    settings = config.load()
    yield "sessions", lambda: check_place(settings, "sessions")
    yield "archive", lambda: check_place(settings, "archive")
    if count := len(list(places.list_in_project())):
        yield "sessions of this project", lambda: f"{count}, each found by its whole id only; `council list` shows them"
    for name, model in settings.tiers.items():
        yield f"tier {name}", lambda model=model: f"{model.name} at {model.endpoint.name}"  # type: ignore[misc]
    for speaker in registry.all_types():
        yield from speaker.checks(settings)
    yield "program", check_program
    for place in install_skill.places().values():
        yield f"skill for {place.whose}", lambda place=place: check_skill(place)  # type: ignore[misc]
    for place in install_skill.places(project=True).values():
        if os.path.lexists(place.path):
            yield f"skill for {place.whose}, in this project", lambda place=place: check_skill(place)  # type: ignore[misc]
    yield "speaker", lambda: check_speaker(settings)


def send_test_notification() -> str:
    """Run the command and call the webhook, and wait for both."""
    from council.config import settings as config
    from council.runner import notifier

    how = config.load().notify
    if not how.outside:
        raise NotSetUp("no command and no webhook; `notify` in your Config.md names them")
    facts = {"event": "test", "session": "", "state": "", "at": ""}
    if problems := notifier.deliver(list(how.command), how.webhook, facts):
        raise UsageError("; ".join(problems))
    sent = (("the command ran", how.command), ("the webhook took it", how.webhook))
    return " and ".join(what for what, wanted in sent if wanted)


def check_speaker(settings: Config) -> str:
    """Who would speak. It is a failure if nobody can; a model that is here, and has to be asked for, is not set up."""
    from council.speakers import select

    choice = select.choose(None, settings, can_ask=True)
    if choice.question and choice.speaker.download():
        choice = select.choose(None, settings)  # refuses, and names what can be done
    if choice.question:
        raise NotSetUp(f"none, unless you ask for {choice.name}: add `--speaker {choice.name}`")
    if why := choice.speaker.login():
        raise Denied(f"{choice.name} cannot speak: {why}")
    if choice.speaker.calls_endpoints:
        check_servers(choice, settings)
    return str(choice)


def check_servers(choice: Choice, settings: Config) -> None:
    """Refuse a speaker whose endpoint is a server on this machine that is not running."""
    import socket

    for endpoint in sorted({model.endpoint for model in settings.tiers.values()}, key=lambda one: one.name):
        url = urlsplit(endpoint.base_url or "")
        host, port = url.hostname or "", url.port or (443 if url.scheme == "https" else 80)
        if host not in ("localhost", "::1") and not host.startswith("127."):
            continue
        try:
            socket.create_connection((host, port), timeout=2).close()
        except OSError as failure:
            raise Denied(
                f"{choice.name} cannot speak: nothing answers at {host}:{port}, which is the endpoint {endpoint.name} "
                "of your tiers; start that server, or name another endpoint in your Config.md"
            ) from failure


def check_configuration() -> str:
    from council.config import protocols
    from council.config import settings as config
    from council.record.files import tilde
    from council.workflow.loader import load

    user = overlays.user_folder() / "Config.md"
    found = config.load()
    files = list(protocols.list_files(found.debates))
    protocols.check_names(files)
    for name in {name for one in files for name in one.protocols}:
        protocols.choose_options(load(*overlays.workflow_text(name)), found.debates)
    return f"{tilde(user)}{'' if user.is_file() else ' (none; the defaults apply)'}"


def check_place(settings: Config, kind: str) -> str:
    """The folder of new sessions, or of their archive: it is in the project where the home cannot be written."""
    from council.record import files

    place = places.choose(settings)
    return f"{files.tilde(getattr(place, kind))}{f' ({place.why})' if place.why else ''}"


def check_program() -> str:
    """Whether PATH finds this program."""
    from council.record import files

    found, kit = shutil.which(command_line.NAME), overlays.kit_folder()
    if found is None:
        raise NotSetUp(
            f"not on PATH, where assistants look for `council` before they use the skill's own; to change that, "
            f"{install_skill.advise_link(kit)}"
        )
    if not command_line.is_own(found):
        raise NotSetUp(f"PATH finds {files.tilde(Path(found))}, which is not this installation")
    return files.tilde(Path(found))


def check_skill(place: install_skill.SkillFolder) -> str:
    installed, state = install_skill.describe_state(place, overlays.kit_folder())
    if not installed:
        raise NotSetUp(state)
    return state


@command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script for SHELL. Save it where your shell looks for completions."""
    from click.shell_completion import get_completion_class

    from council.cli import council

    kind = get_completion_class(shell)
    assert kind is not None
    echo(kind(council, {}, "council", "_COUNCIL_COMPLETE").source())
