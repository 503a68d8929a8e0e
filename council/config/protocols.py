"""What Config.md sets for debates: options of workflows, and limits. A project's file may have these two keys only."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from council.config import overlays
from council.errors import UsageError
from council.text import did_you_mean, join_words
from council.workflow import frontmatter, gates
from council.workflow.limits import PERSON, ROUND, RUN
from council.workflow.loader import load
from council.workflow.model import Workflow

FILE = "Config.md"
KEYS = ("protocols", "limits")
YOURS, PROJECT = "yours", "project"
# Names under which other tools and texts know the options of Consensus and Perspectives.
ALIASES = {
    "target_satisfaction": "target",
    "max_iterations": "max_rounds",
    "context_window_limit": "context",
    "default_perspectives": "perspectives",
    "token_budget_per_round": "token_budget",
    "round_timeout_seconds": "round_timeout",
    "checkpoint_timeout_seconds": "checkpoint_timeout",
    "total_timeout_seconds": "total_timeout",
}
ELSEWHERE = {
    "custom_perspectives": "write each perspective as a section of AgentPersonalities.md, with what it **Accepts** and "
    "**Opposes**"
}
COST, CALLS, DEADLINE = "max_cost", "max_calls", "deadline"
LIMITS = {
    COST: "US dollars for a session",
    CALLS: "calls for a session",
    DEADLINE: "seconds for one call",
    ROUND: "seconds that the calls of a round may take",
    PERSON: "seconds to wait for a person at the terminal",
    RUN: "seconds that the calls of a run may take",
}


@dataclass(frozen=True)
class DebateSettings:
    """What one file sets, and whose it is."""

    whose: str = YOURS
    path: Path = Path(FILE)
    text: str = ""
    protocols: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)


NOTHING = DebateSettings()


@dataclass(frozen=True)
class Setting:
    """A value in force, and the file that it is from."""

    value: Any
    source: DebateSettings


def read(keys: Mapping[str, Any], whose: str, path: Path, text: str = "") -> DebateSettings:
    """The two keys of a file. The names of options are checked once the workflow is known."""
    protocols, limits = (keys.get(key, {}) for key in KEYS)
    for section, value in (("protocols", protocols), ("limits", limits)):
        if not isinstance(value, dict):
            raise UsageError(f"{path}: {section} must be keys with values")
    for name, options in protocols.items():
        if not isinstance(options, dict):
            raise UsageError(f"{path}: protocols: {name} must be options with values, as in {{max_rounds: 5}}")
    return DebateSettings(whose, path, text, protocols, {name: _limit(limits, name, path) for name in limits})


def _limit(limits: Mapping[str, Any], name: str, path: Path) -> float:
    if name not in LIMITS:
        raise UsageError(f'{path}: limits: unknown key "{name}"; {did_you_mean(name, LIMITS)}')
    try:
        number = float(str(limits[name]))
    except ValueError:
        number = math.nan
    whole, least = name == CALLS, 0 if name in (COST, CALLS) else 1e-3
    if not least <= number < 1e9 or (whole and number != int(number)):
        what = f"a number of {LIMITS[name]}"
        raise UsageError(f'{path}: limits: {name} must be {what}; not "{limits[name]}"')
    return number


def read_project() -> DebateSettings | None:
    """The project's file, if this command uses the project's files and there is one."""
    folder = overlays.project_folder()
    path = folder / FILE if folder else None
    if folder is None or path is None or not path.is_file():
        return None
    text = overlays.read(overlays.check_inside(path, folder))
    keys, _ = frontmatter.split(text, str(path))
    if wrong := [key for key in keys if key not in KEYS]:
        raise UsageError(
            f"{path}: a project may set only {join_words(KEYS)}, not {wrong[0]}; put that into your own "
            f"{overlays.user_folder() / FILE}"
        )
    return read(keys, PROJECT, path, text)


def list_files(own: DebateSettings) -> Iterator[DebateSettings]:
    """The files that count for this command, the nearest first."""
    if found := read_project():
        yield found
    yield own


def spell(workflow: Workflow, name: str) -> str:
    """The option that a name means, which may be written with hyphens, or be another tool's name for it."""
    alike = {option.replace("-", "_"): option for option in (*gates.EVERYWHERE, *workflow.options)}
    plain = name.replace("-", "_")
    return name if name in workflow.options else alike.get(plain) or alike.get(ALIASES.get(plain, plain), name)


def choose_options(workflow: Workflow, own: DebateSettings) -> dict[str, Setting]:
    """The options that the files set for this workflow: the project's before the user's, but it takes no gate away."""
    chosen: dict[str, Setting] = {}
    files = list(list_files(own))
    check_names(files)
    for settings in files:
        for name, value in _options(workflow, settings).items():
            first = chosen.setdefault(name, Setting(value, settings))
            if name == gates.AFTER:
                chosen[name] = Setting(gates.add(first.value, value), settings)
    return chosen


def check_names(files: Iterable[DebateSettings]) -> None:
    known = overlays.workflows()
    for settings in files:
        for name in settings.protocols:
            if name not in known:
                raise UsageError(f'{settings.path}: protocols: no workflow "{name}"; {did_you_mean(name, known)}')


def _options(workflow: Workflow, settings: DebateSettings) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for written, value in settings.protocols.get(workflow.name, {}).items():
        what = f"{settings.path}: protocols: {workflow.name}: {written}"
        name = spell(workflow, written)
        if name not in workflow.options and name not in gates.EVERYWHERE:
            raise UsageError(f"{what}: {_explain_unknown(workflow, written)}")
        if name in found:
            raise UsageError(f"{what}: this is another name of {name}, which is set already; keep one of them")
        default = workflow.options.get(name, gates.EVERYWHERE.get(name))
        if not isinstance(value, (str, bool)) or isinstance(default, bool) != isinstance(value, bool):
            wanted = "true or false" if isinstance(default, bool) else "a word or a number"
            raise UsageError(f"{what} must be {wanted}")
        try:
            workflow.with_options({name: value})
        except UsageError as wrong:
            raise UsageError(f"{what}: {wrong}") from None
        found[name] = value
    return found


def _explain_unknown(workflow: Workflow, written: str) -> str:
    """What to write instead: somewhere else, in another workflow, or another name."""
    if written in ELSEWHERE:
        return f"not a setting; {ELSEWHERE[written]}"
    others = [load(*overlays.workflow_text(name)) for name in overlays.workflows()]
    names = [other.name for other in others if spell(other, written) in other.options]
    if names:
        return f"{workflow.name} has no such option; it is one of {join_words(names)}"
    return f"{workflow.name} has no such option; {did_you_mean(written, workflow.options)}"


def find_limits(own: DebateSettings) -> dict[str, Setting]:
    """The lowest of each limit that a file sets."""
    lowest: dict[str, Setting] = {}
    for settings in list_files(own):
        for name, number in settings.limits.items():
            if name not in lowest or number < lowest[name].value:
                lowest[name] = Setting(number, settings)
    return lowest
