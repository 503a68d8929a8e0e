"""What is set up: `doctor` checks it, and `config` shows it."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

from council.next.cli import skill
from council.next.cli.options import JSON, OVERLAYS, complete, flag, load_settings
from council.next.config import places
from council.next.config.options import configured, spell
from council.next.config.settings import Settings
from council.next.errors import AuthError, CouncilError, UsageError
from council.next.record import catalog, lock
from council.next.record.files import tilde
from council.next.runner.notify import hand_over
from council.next.speakers.api import find_price
from council.next.speakers.base import speakers
from council.next.speakers.choose import choose
from council.next.terminal.output import echo, print_json, say
from council.next.workflow import loader

OK, ABSENT, FAILED = "ok", "-", "FAIL"


class Absent(Exception):
    """It is not there, and need not be. The message says how to get it."""


# ---- doctor ----


@click.command()
@flag("--notify notified", "Also send a test notification, as Config.md says.")
@OVERLAYS
@JSON
def doctor(**given: Any) -> int:
    """See what is set up, and who would speak. It checks Python, folders, locks, keys, programs and skills.

    Each line says what to do. Exits with code 4 if nobody can speak.
    """
    rows: list[dict[str, str]] = []
    code = 0
    for what, check, *about in list_checks(given):
        try:
            state, words = OK, check(*about)
        except Absent as absent:
            state, words = ABSENT, str(absent)
        except (CouncilError, OSError) as failure:
            state, words, code = FAILED, str(failure), code or getattr(failure, "code", 1)
        except Exception as failure:  # noqa: BLE001 (a fault in one check leaves the others)
            state, words, code = FAILED, f"{type(failure).__name__}: {failure}", code or 1
        rows.append({"check": what, "state": state, "says": words})
        if not given["as_json"]:
            say(f"{what}: {words}", f"{state:5} ")
    if given["as_json"]:
        print_json(rows)
    return code


def list_checks(given: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """The name of each check, the function that makes it, and what this is called with."""
    yield "python", lambda: f"{sys.version.split()[0]}, council {skill.VERSION}"
    yield "program", find_program
    yield "configuration", find_configuration, given
    try:
        settings = load_settings(given)
    except CouncilError:
        return
    yield "project", find_project, given
    yield "sessions", check_home, settings
    if count := sum(len(catalog.rows(root)) for root in places.session_folders(settings.home)[1:]):
        yield "sessions of this project", lambda: f"{count}, each found by its whole id only; `council list` shows them"
    yield from ((f"tier {tier}", describe_tier, settings, tier) for tier in settings.tiers)
    yield "keys", find_keys, settings
    yield from ((f"program {name}", find_speaker, settings, name) for name in ("claude", "codex"))
    yield from ((f"skill for {place.whose}", find_skill, place) for place in skill.places())
    for place in skill.places(project=True):
        if os.path.lexists(place.path):
            yield f"skill for {place.whose}, in this project", find_skill, place
    if given["notified"]:
        yield "notification", send_test, settings
    yield "speaker", describe_speaker, settings


def find_program() -> str:
    if not (found := shutil.which("council")):
        raise Absent("`council` is not on your PATH, where assistants look for it; link it into a folder that is")
    return tilde(Path(found))


def find_configuration(given: Mapping[str, Any]) -> str:
    load_settings(given)
    file = places.user_folder() / "Config.md"
    return tilde(file) + ("" if file.exists() else " (none; the defaults apply)")


def find_project(given: Mapping[str, Any]) -> str:
    if unused := places.judge_project(given.get("overlays"))[1]:
        raise Absent(unused)
    if not (folder := places.project(given.get("overlays"))):
        raise Absent("no .council folder here; `council new-workflow NAME` makes one")
    return f"{tilde(folder)} is used"


def check_home(settings: Settings) -> str:
    """Where a new session goes. It can be written there, and a lock keeps others out."""
    sessions, why = places.choose_home(settings.home, settings.chosen_by("home"))
    with tempfile.TemporaryDirectory(prefix=".doctor-", dir=sessions) as folder, lock.hold(Path(folder)):
        pass  # it refuses a file system whose locks keep nobody out
    return f"{tilde(sessions)} can be written, and locks work" + (f" ({why})" if why else "")


def describe_tier(settings: Settings, tier: str) -> str:
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
    if why := speakers[name](settings).obstacle():
        raise Absent(why)
    return f"logged in; `--speaker {name}` has it speak"


def find_skill(place: skill.Place) -> str:
    is_right, words = skill.FOUND[place.found]
    if not is_right:
        raise Absent(words.format(place.shown))
    return words.format(place.shown)


def send_test(settings: Settings) -> str:
    how = settings.notify
    if not (how.get("command") or how.get("webhook")):
        raise UsageError("Config.md has no `notify: {command: …}` and no `notify: {webhook: …}`")
    facts = {"event": "test", "session": "none", "state": "test"}
    hand_over({"command": how.get("command") or [], "webhook": how.get("webhook") or "", "facts": facts})
    return "handed over; if nothing arrives, check `notify` in Config.md"


def describe_speaker(settings: Settings) -> str:
    """Who would speak, and why. Raises AuthError if nobody can."""
    said: list[str] = []
    speaker = choose(settings, say=said.append)
    if why := speaker.obstacle():
        raise AuthError(why)
    return "; ".join(said)


# ---- config ----


@click.command()
@click.argument("workflow", default="", shell_complete=complete)
@flag("--all everything", "Also what the kit's Config.md sets.")
@OVERLAYS
@JSON
def config(**given: Any) -> None:
    """Show the settings in force, and where each is from. With WORKFLOW, it shows the options of that workflow.

    \b
    Example:
      council config consensus
    """
    settings = load_settings(given)
    everything = given["everything"] or given["as_json"]
    rows = [
        {"key": place, "value": value_at(settings.values, place), "source": source}
        for place, source in sorted(settings.sources.items())
        if everything or settings.chosen_by(*place.split(" > "))
    ]
    if given["workflow"]:
        rows = list_options(settings, given["workflow"])
    if given["as_json"]:
        print_json(rows)
        return
    for row in rows:
        value = row["value"] if isinstance(row["value"], str) else json.dumps(row["value"], ensure_ascii=False)
        echo(f"{row['key']}: {value}\n    from {tilde(Path(row['source']))}")
    if not given["workflow"] and not everything:
        say("`council config --all` shows the defaults too." if rows else "Nothing is set: the defaults apply.")


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
    path = places.find_workflow(name, settings.overlays)
    workflow = loader.load(places.read(path), path.name)
    chosen = configured(settings, workflow)
    told = settings.protocols.get(workflow.name, {})
    sources = {spell(workflow, one): settings.chosen_by("protocols", workflow.name, one) for one in told}
    return [
        {"key": key, "value": chosen.get(key, value), "source": sources.get(key) or str(path)}
        for key, value in workflow.options.items()
    ]
