"""What a new debate can cost, and whether the user has to agree to it first."""

from __future__ import annotations

import math
from dataclasses import replace

from council.checks import cost
from council.checks.cost import DebateCost, Rates, Row
from council.config import personas, protocols
from council.config.settings import Config
from council.errors import UsageError
from council.record.session import Session, derive_key
from council.runner import evidence, material, start, tiers
from council.runner.start import Request
from council.speakers import registry, select
from council.speakers.base import Billing
from council.workflow.model import Seat, Workflow


def bound(request: Request, workflow: Workflow, settings: Config) -> list[Row]:
    """The bounds of each step. No command is run: what it may print counts at its maximum."""
    facts = evidence.gather(request.evidence, (), request.evidence_texts)
    longest_key = "0" * len(derive_key("", "", ""))  # no other has more tokens
    documents = material.list_documents(request, workflow)
    text = material.compose(request, documents, facts, lambda *_: longest_key).text
    output = evidence.bound_output(len(request.evidence_commands), facts)
    models = tiers.models_of(workflow, request, settings, personas.load())
    return cost.bound_steps(workflow, text, {tier: Rates.of(model) for tier, model in models.items()}, output)


def is_priced(workflow: Workflow, speaker: str) -> bool:
    """Whether the prices in Config.md bound any call of the debate: a seat may name a speaker of its own."""
    seats = (*workflow.all_seats(), Seat("cast", ""))
    return any(select.speaker_of(seat, speaker).billing is Billing.PRICES for seat in seats)


def bound_start(request: Request, settings: Config, speaker: str) -> DebateCost | None:
    """What a debate that is about to begin can cost; None if nothing is paid at a price that is known here. What is
    wrong with the request is said now, before anybody is asked.
    """
    if registry.describe(speaker).speaks_for_all:
        return None
    workflow = start.check_request(replace(request, speaker=speaker), settings)[0].workflow
    material.check_topic(request.topic)
    return cost.sum_bounds(bound(request, workflow, settings)) if is_priced(workflow, speaker) else None


def bound_switch(session: Session, settings: Config, speaker: str) -> DebateCost | None:
    """The same for a session that so far cost nothing, as one that an assistant began. All others were agreed to."""
    if is_priced(session.workflow, session.speaker) or not is_priced(session.workflow, speaker):
        return None
    return bound_session(session, settings, registry.describe(speaker).own_model())


def bound_session(session: Session, settings: Config, model: str | None = None) -> DebateCost:
    """What a session can cost in all, at the prices of the models that its tiers meant when it began, or of `model`."""
    return cost.sum_bounds(bound_steps(session, settings, model))


def bound_steps(session: Session, settings: Config, model: str | None = None) -> list[Row]:
    workflow, frozen = session.workflow, session.metadata["tiers"]
    used = {step.tier for _, step in workflow.steps()}
    used |= {str(seat.attributes["tier"]) for seat in workflow.all_seats() if seat.attributes.get("tier")}
    rates = {}
    for tier in used:
        known = frozen.get(tier, {})
        rates[tier] = Rates.of(settings.model(tier, known.get("endpoint"), model or known.get("model")))
    return cost.bound_steps(workflow, session.topic, rates)


def is_large(most: DebateCost, settings: Config) -> bool:
    """Whether somebody has to agree first: the likely sum, within the user's own limit of money, is above `ask_above`.

    A project's limit does not count: it holds only for runs in that project.
    """
    limit = settings.debates.limits.get(protocols.COST, math.inf)
    return most.likely is not None and min(most.likely, limit) > settings.ask_above


def refuse_large(most: DebateCost, settings: Config, how: str = "--max-cost USD or --yes") -> UsageError:
    """The refusal where nobody can be asked."""
    return UsageError(
        f"{describe(most)}. That is more than ask_above in Config.md ({cost.format_likely(settings.ask_above)}), and "
        f"nobody can be asked here: add {how}"
    )


def describe(most: DebateCost) -> str:
    assert most.likely is not None
    return f"this is likely to cost {cost.format_likely(most.likely)}, and at most {cost.format_most(most.usd)}"
