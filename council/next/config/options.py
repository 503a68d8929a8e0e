"""Options of workflows as Config.md files set them, under `protocols`, each checked against its workflow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from council.next.config import places
from council.next.config.settings import FILE, Settings
from council.next.errors import UsageError
from council.next.schema import Table
from council.next.text import did_you_mean, one_line
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
    for name, options in settings.protocols.items():
        if name not in known:
            source = settings.chosen_by("protocols", name, next(iter(options), "")) or FILE
            raise Table({}, source).wrong(f'protocols: there is no workflow "{name}"; {did_you_mean(name, known)}')
    found: dict[str, Any] = {}
    for written, value in settings.protocols.get(workflow.name, {}).items():
        name = spell(workflow, written)
        try:
            if name in ELSEWHERE:
                raise UsageError(ELSEWHERE[name])
            if name in found:
                raise UsageError(f"this is another name of {name}, which is set already; keep one of them")
            workflow.with_options({name: value})
        except UsageError as wrong:
            source = settings.chosen_by("protocols", workflow.name, written)
            raise Table({}, f"{source}: protocols: {workflow.name}: {written}").wrong(str(wrong)) from None
        found[name] = value
    return found


def check_values(chosen: Mapping[str, Any]) -> None:
    """What somebody chose for the options that mean the same in every workflow."""
    accept, words = chosen.get("accept", "members"), str(chosen.get("words", ""))
    if accept not in ("members", "person"):
        raise UsageError(f'the option "accept" must be members or person, not "{accept}"')
    numbers = [int(one) if one.isascii() and one.isdecimal() and len(one) < 7 else 0 for one in words.split("-")]
    if words and (not all(numbers) or len(numbers) > 2 or numbers != sorted(numbers)):
        raise UsageError(f'the option "words" must be a number or a range, as in 50-150, not "{one_line(words)}"')
