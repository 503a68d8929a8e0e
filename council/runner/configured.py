"""What Config.md sets for a debate: options when it begins, limits whenever it runs. The command line goes first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

from council.config import project, protocols
from council.config.protocols import Setting
from council.config.settings import Config
from council.record import files
from council.record.turn_file import sha256
from council.workflow import gates, limits
from council.workflow.model import Workflow


def add_options(workflow: Workflow, given: Mapping[str, Any], settings: Config) -> dict[str, Any]:
    """The options that a request gives, and those of Config.md that it does not name, with the user's own gates where
    the workflow has such phases."""
    named = {protocols.spell(workflow, name): value for name, value in given.items()}
    chosen = protocols.choose_options(workflow, settings.debates)
    configured = {name: setting.value for name, setting in chosen.items()}
    phases = {phase.name for phase in workflow.phases} | set(workflow.roles)
    own = gates.AFTER in chosen and chosen[gates.AFTER].source.whose == protocols.YOURS
    if not own and (wanted := [name for name in settings.gates if name in phases]):
        configured[gates.AFTER] = gates.add(configured.get(gates.AFTER, gates.NONE), ",".join(wanted))
    return {**configured, **named}


def list_configured(workflow: Workflow, given: Mapping[str, Any], settings: Config) -> Iterator[dict[str, Any]]:
    """What each Config.md sets for this debate, with the file's hash."""
    named = {protocols.spell(workflow, name) for name in given}
    chosen = protocols.choose_options(workflow, settings.debates)
    for source in protocols.list_files(settings.debates):
        options = {name: one.value for name, one in chosen.items() if one.source == source and name not in named}
        if options or source.limits:
            sha = sha256(files.encode(source.text))
            yield {"whose": source.whose, "sha256": sha, "options": options, "limits": dict(source.limits)}


def find_limits(settings: Config, reviewed: bool) -> dict[str, Setting]:
    """The lowest of each limit in force here. A repository under review sets none, unless the command asks for it."""
    with project.decided(False) if reviewed and not project.counts_explicitly() else nullcontext():
        return protocols.find_limits(settings.debates)


def limit_times(settings: Config, lowest: Mapping[str, Setting]) -> Config:
    """The settings with no call, round, run or wait for a person longer than this."""
    times = {name: float(lowest[name].value) for name in limits.TIMES if name in lowest}
    deadline = min(settings.deadline, float(lowest[protocols.DEADLINE].value)) if protocols.DEADLINE in lowest else None
    return replace(settings, longest=times, deadline=settings.deadline if deadline is None else deadline)
