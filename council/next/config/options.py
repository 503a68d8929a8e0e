"""Options of workflows as Config.md files set them, under `protocols`, each checked against its workflow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from council.next.config import places
from council.next.config.settings import Settings
from council.next.errors import UsageError
from council.next.text import did_you_mean
from council.next.workflow.model import Workflow

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
    "custom_perspectives": "write each as a section of AgentPersonalities.md, with what it Accepts and Opposes"
}


def spell(workflow: Workflow, name: str) -> str:
    """The option that a name means, which may be written with hyphens, or be another tool's name for it."""
    plain = name.replace("-", "_")
    return next((one for one in (name, plain, ALIASES.get(plain, "")) if one in workflow.options), name)


def configured(settings: Settings, workflow: Workflow) -> dict[str, Any]:
    """The options that the user and the project set for this workflow. The project's file counts before the user's."""
    known = places.workflows(settings.overlays)
    for name, told in settings.protocols.items():
        if name not in known:
            source = next((settings.chosen_by("protocols", name, option) for option in told), "")
            raise UsageError(f'{source}: protocols: there is no workflow "{name}"; {did_you_mean(name, known)}')
    found: dict[str, Any] = {}
    for written, value in settings.protocols.get(workflow.name, {}).items():
        where = f"{settings.chosen_by('protocols', workflow.name, written)}: protocols: {workflow.name}: {written}"
        name = spell(workflow, written)
        if name not in workflow.options:
            instead = ELSEWHERE.get(written) or did_you_mean(written, workflow.options)
            raise UsageError(f"{where}: {workflow.name} has no such option; {instead}")
        if name in found:
            raise UsageError(f"{where}: this is another name of {name}, which is set already; keep one of them")
        if isinstance(value, list | Mapping):
            raise UsageError(f"{where}: {value!r} must be a word or a number")
        try:
            workflow.with_options({name: value})
        except UsageError as wrong:
            raise UsageError(f"{where}: {wrong}") from None
        found[name] = value
    return found
