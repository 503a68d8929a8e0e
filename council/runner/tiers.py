"""Which model each tier of a new debate stands for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from council.config.models import Model
from council.config.settings import Config
from council.errors import UsageError
from council.text import did_you_mean
from council.workflow.model import Workflow

if TYPE_CHECKING:
    from council.runner.start import Request


def freeze_tiers(
    workflow: Workflow, request: Request, settings: Config, known: Mapping[str, Any]
) -> dict[str, dict[str, str]]:
    """What each tier of this debate stands for: frozen, so that a recovered debate asks the same models."""
    models = models_of(workflow, request, settings, known)
    return {tier: {"endpoint": model.endpoint.name, "model": model.name} for tier, model in models.items()}


def models_of(workflow: Workflow, request: Request, settings: Config, known: Mapping[str, Any]) -> dict[str, Model]:
    """The model of each tier that the debate uses."""
    changed = {}
    for pair in request.tier_map:
        tier, equals, target = pair.partition("=")
        if not equals:
            raise UsageError(f"--tier-map {pair}: write {tier or 'TIER'}=TARGET, as in haiku=sonnet")
        if tier not in settings.tiers:
            raise UsageError(f'--tier-map {pair}: unknown tier "{tier}"; {did_you_mean(tier, settings.tiers)}')
        changed[tier] = settings.map_tier(tier, target)
    used = {step.tier for _, step in workflow.steps()}
    used |= {
        str(seat.attributes.get("tier") or known.get(seat.name, {}).get("tier", "")) for seat in workflow.all_seats()
    } - {""}
    return {tier: changed.get(tier) or settings.model(tier) for tier in sorted(used)}
