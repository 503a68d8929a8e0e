"""What a debate is likely to cost: every step, in the fewest rounds, with replies of the usual length.

The number that is asked about before a start. It is no limit: `--max-cost` is.
"""

from __future__ import annotations

from collections.abc import Mapping

from council.next.config.settings import Settings
from council.next.workflow.model import Cast, Step, Workflow

USUAL_REPLY, USUAL_TASK = 600, 1_500  # tokens of a reply with the thinking before it, and of a brief without replies
LETTERS = 4  # a token


def likely_cost(workflow: Workflow, given: int, settings: Settings, seats: Mapping[str, str]) -> float | None:
    """In US dollars. None where the price of a model is unknown. `given` is the
    length of the topic and all documents."""
    usd, said = 0.0, 0
    for phase in workflow.phases:
        least, _ = workflow.span(phase)
        for step in phase.steps * least:
            names = seats_of(step, workflow)
            prompt = USUAL_TASK + given // LETTERS + said * USUAL_REPLY
            for name in names:
                model = settings.named(seats[name], step.tier) if name in seats else settings.model(step.tier)
                cost = model.price.usd(prompt, USUAL_REPLY) if model.price else None
                if cost is None:
                    return None
                usd += cost
            said += len(names)
    return usd


def seats_of(step: Step, workflow: Workflow) -> list[str]:
    """Who is called in a step. A cast of seats that is not known yet counts as large as the table."""
    named = workflow.seats(one for one in step.seats if isinstance(one, str))
    cast = workflow.members if any(isinstance(one, Cast) for one in step.seats) else ()
    return [seat.name for seat in (*named, *cast) if not seat.is_person and not seat.get("speaker")]
