"""What the room tells templates."""

from __future__ import annotations

from council.next.prompts.facts import Context, fact


@fact
def mood(context: Context) -> str:
    return f"playful in {context.due.phase.name}"
