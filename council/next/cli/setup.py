"""What is set up: `doctor` checks it, `config` shows it, `completion` and `help` tell a shell and a person about it."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from council.next.cli.group import MOST_LISTED, Group
from council.next.cli.options import JSON, OVERLAYS, load_settings, options
from council.next.errors import AuthError, CouncilError, UsageError
from council.next.record.files import tilde

if TYPE_CHECKING:
    from council.next.config.settings import Settings

OK, ABSENT, FAILED = "ok", "-", "FAIL"
COMPLETE = "_COUNCIL_COMPLETE"  # the variable by which a shell asks for completions

KEYS = """Without a key: the program `claude`, if it is logged in; `--speaker codex`; a
server on this machine, as in `--model ollama/llama3.3`; or `council start`,
where you or an assistant record the replies. A key is sent to its own endpoint
alone, and written to no file. `council doctor` shows who would speak."""


class Absent(Exception):
    """It is not there, and need not be. The message says how to get it."""


# ---- doctor ----


@click.command()
@click.option("--notify", "notified", is_flag=True, help="Also send a test notification, as Config.md says.")
@options(OVERLAYS, JSON)
def doctor(**given: Any) -> int:
    """Check what a debate needs: Python, configuration, folders, locks, keys, programs, and who would speak.

    Each line says what to do. Exits with code 4 if nobody can speak.
    """
    from council.next.terminal.output import echo, print_json

    rows: list[dict[str, str]] = []
    code = 0
    for what, check in list_checks(given):
        try:
            state, words = OK, check()
        except Absent as absent:
            state, words = ABSENT, str(absent)
        except (CouncilError, OSError) as failure:
            state, words = FAILED, str(failure)
            code = code or getattr(failure, "code", 1)
        except Exception as failure:  # noqa: BLE001 (a fault in one check leaves the others)
            state, words, code = FAILED, f"{type(failure).__name__}: {failure}", code or 1
        rows.append({"check": what, "state": state, "says": words})
        if not given["as_json"]:
            echo(f"{state:5} {what}: {words}")
    if given["as_json"]:
        print_json(rows)
    return code


def list_checks(given: Mapping[str, Any]) -> Iterator[tuple[str, Callable[[], str]]]:
    from council.next.cli import skill
    from council.next.config import places

    yield "python", lambda: f"{sys.version.split()[0]}, council {skill.VERSION}"
    yield "program", find_program
    try:
        settings = load_settings(given)
    except CouncilError as wrong:
        yield "configuration", partial(fail, wrong)
        return
    file = places.user_folder() / "Config.md"
    yield "configuration", lambda: tilde(file) + ("" if file.exists() else " (none; the defaults apply)")
    yield "project", partial(describe_project, given)
    yield "sessions", partial(check_home, settings)
    for tier in settings.tiers:
        yield f"tier {tier}", partial(describe_tier, settings, tier)
    yield "keys", partial(find_keys, settings)
    for name in ("claude", "codex"):
        yield f"program {name}", partial(find_speaker, settings, name)
    here = [place for place in skill.places(project=True) if os.path.lexists(place.path)]
    for place in [*skill.places(), *here]:
        where = ", in this project" if place in here else ""
        yield f"skill for {place.whose}{where}", partial(skill.describe, place, Absent)
    if given["notified"]:
        yield "notification", partial(send_test, settings)
    yield "speaker", partial(describe_speaker, settings)


def fail(problem: CouncilError) -> str:
    raise problem


def find_program() -> str:
    if not (found := shutil.which("council")):
        raise Absent("`council` is not on your PATH, where assistants look for it; link it into a folder that is")
    return tilde(Path(found))


def describe_project(given: Mapping[str, Any]) -> str:
    from council.next.config import places

    if unused := places.unused_project(given.get("overlays")):
        raise Absent(unused)
    if not (folder := places.project(given.get("overlays"))):
        raise Absent("no .council folder here; `council new-workflow NAME` makes one")
    return f"{tilde(folder)} is used"


def check_home(settings: Settings) -> str:
    """Where a new session goes. It can be written there, and a lock keeps others out."""
    from council.next.config import places
    from council.next.record import lock

    home = places.choose_home(settings.home, settings.chosen_by("home"))
    with tempfile.TemporaryDirectory(prefix=".doctor-", dir=home.sessions) as folder, lock.hold(Path(folder)):
        pass  # it refuses a file system whose locks keep nobody out
    return f"{tilde(home.sessions)} can be written, and locks work" + (f" ({home.why})" if home.why else "")


def describe_tier(settings: Settings, tier: str) -> str:
    from council.next.speakers.api import find_price

    model = settings.model(tier)
    price = find_price(model)
    cost = f"${price.input:g}/${price.output:g} per million tokens" if price else "its price is unknown"
    return f"{model.name} at {model.endpoint.name}, {cost}"


def find_keys(settings: Settings) -> str:
    """Which keys are there, by the names of their variables or commands."""
    found = [settings.endpoints[name] for name in settings.with_key]
    if not found:
        raise Absent("none is set; `council help keys` names the variables")
    return ", ".join(f"{' '.join(one.key_command) or one.key or one.address} ({one.name})" for one in found)


def find_speaker(settings: Settings, name: str) -> str:
    from council.next.speakers.base import speakers

    if why := speakers[name](settings).obstacle():
        raise Absent(why)
    return f"logged in; `--speaker {name}` has it speak"


def send_test(settings: Settings) -> str:
    from council.next.runner.notify import hand_over

    how = settings.notify
    if not (how.get("command") or how.get("webhook")):
        raise UsageError("Config.md has no `notify: {command: …}` and no `notify: {webhook: …}`")
    facts = {"event": "test", "session": "none", "state": "test"}
    hand_over({"command": how.get("command") or [], "webhook": how.get("webhook") or "", "facts": facts})
    return "handed over; if nothing arrives, check `notify` in Config.md"


def describe_speaker(settings: Settings) -> str:
    """Who would speak, and why. Raises AuthError if nobody can."""
    from council.next.speakers.choose import choose

    said: list[str] = []
    speaker = choose(settings, say=said.append)
    if why := speaker.obstacle():
        raise AuthError(why)
    return "; ".join(said)


# ---- config ----


@click.command()
@click.argument("workflow", default="")
@click.option("--all", "everything", is_flag=True, help="Also what the kit's Config.md sets.")
@options(OVERLAYS, JSON)
def config(**given: Any) -> None:
    """Print the settings in force, each with its source; with WORKFLOW, the options of that workflow."""
    from council.next.terminal.output import echo, print_json

    settings = load_settings(given)
    if given["workflow"]:
        rows = list_options(settings, given["workflow"])
    else:
        rows = [
            {"key": place, "value": value_at(settings.values, place), "source": source}
            for place, source in sorted(settings.sources.items())
            if given["everything"] or given["as_json"] or settings.chosen_by(*place.split(" > "))
        ]
    if given["as_json"]:
        print_json(rows)
        return
    for row in rows:
        value = row["value"] if isinstance(row["value"], str) else json.dumps(row["value"], ensure_ascii=False)
        echo(f"{row['key']}: {value}\n    from {tilde(Path(row['source']))}")
    if not given["workflow"] and not given["everything"]:
        echo("`council config --all` shows the defaults too." if rows else "Nothing is set: the defaults apply.")


def value_at(values: Any, place: str) -> Any:
    """The value at a place of the settings. What may hold a secret is not shown."""
    for name in place.split(" > "):
        values = values[name]
    if place.endswith("webhook"):
        return "(set)"
    if isinstance(values, str) and "@" in urlsplit(values).netloc:
        return values.replace(urlsplit(values).netloc.rpartition("@")[0], "…", 1)
    return list(values) if isinstance(values, tuple) else values


def list_options(settings: Settings, name: str) -> list[dict[str, Any]]:
    from council.next.config import places
    from council.next.config.options import configured, spell
    from council.next.workflow import loader

    path = places.find_workflow(name, settings.overlays)
    workflow = loader.load(places.read(path), path.name)
    chosen = configured(settings, workflow)
    told = settings.protocols.get(workflow.name, {})
    sources = {spell(workflow, one): settings.chosen_by("protocols", workflow.name, one) for one in told}
    return [
        {"key": key, "value": chosen.get(key, value), "source": sources.get(key) or str(path)}
        for key, value in workflow.options.items()
    ]


# ---- completion and help ----


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script for SHELL. Save it where your shell looks for completions."""
    from click.shell_completion import get_completion_class

    from council.next.terminal.output import echo

    kind = get_completion_class(shell)
    assert kind is not None
    assert context.parent is not None
    made = kind(context.parent.command, {}, "council", COMPLETE)
    echo((made.source_template % made.source_vars()).strip())


@click.command("help")
@click.argument("word", metavar="[COMMAND|all|keys]", default="")
@click.pass_context
def help_(context: click.Context, word: str) -> None:
    """Explain COMMAND; `all` lists every command, `keys` says which key belongs to which vendor."""
    from council.next.terminal.output import echo

    parent = context.parent
    assert parent is not None
    group = parent.command
    assert isinstance(group, Group)
    if not word:
        echo(parent.get_help())
    elif word == "all":
        echo(list_all(parent, group))
    elif word == "keys":
        echo(explain_keys(load_settings({})))
    else:
        name, command, _ = group.resolve_command(parent, [word])
        assert command is not None
        echo(command.get_help(click.Context(command, info_name=name, parent=parent)))


def list_all(parent: click.Context, group: Group) -> str:
    from council.next.cli import commands

    formatter = parent.make_formatter()
    group.format_usage(parent, formatter)
    for section, names in commands.sections().items():
        with formatter.section(section):
            rows = [(name, commands.summary(name)) for name in names[:MOST_LISTED]]
            rows += [("…", f"and {len(names) - MOST_LISTED} more")] if len(names) > MOST_LISTED else []
            formatter.write_dl(rows)
    formatter.write_paragraph()
    formatter.write_text(group.epilog or "")
    return formatter.getvalue().rstrip("\n")


def explain_keys(settings: Settings) -> str:
    keys = [(one.key, name) for name, one in settings.endpoints.items() if one.key]
    width = max(len(key) for key, _ in keys)
    rows = [f"  {key:{width}}  {name}{' (set)' * bool(os.environ.get(key))}" for key, name in keys]
    return "\n".join(["Set one of these variables, and the models of that vendor speak:", "", *rows, "", KEYS])
