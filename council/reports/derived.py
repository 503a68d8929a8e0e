"""Every file that is derived from a session's record. They can be deleted, and are made again byte for byte."""

from __future__ import annotations

import json
from pathlib import Path

from council.engine.planner import Plan
from council.protocols import outcome
from council.record import files
from council.record.session import Session
from council.reports import did_it_help
from council.reports.transcript import round_text, transcript

DERIVED = ("convergence.json", "synthesis.md", "transcript.md", "decision.md", "issue.md", "patchlist.md")


def derived(session: Session, plan: Plan) -> dict[str, bytes]:
    """Every derived file of the session as it stands, by name."""
    from council.reports import filing
    from council.reviews import report  # they are written with what stands here

    made = {f"round-{number}.md": round_text(session, plan, *key) for number, key in enumerate(outcome.rounds(plan), 1)}
    if (facts := outcome.convergence(plan)) is not None:
        facts |= did_it_help.facts(session, plan, outcome.numbers(plan))
        made["convergence.json"] = json.dumps(facts, indent=2, ensure_ascii=False) + "\n"
    if plan.done and (text := outcome.synthesis(plan)):
        made["synthesis.md"] = text
    if text := report.text(plan, session.topic, session.metadata):
        made["patchlist.md"] = text
    made |= filing.derived(session, plan)
    made["transcript.md"] = transcript(session, plan)
    return {name: files.encode(text) for name, text in made.items()}


def is_derived(name: str) -> bool:
    return name in DERIVED or (name.startswith("round-") and name.endswith(".md"))


def build(session: Session, plan: Plan) -> list[Path]:
    """Write the derived files, and remove one that the record no longer supports."""
    made = derived(session, plan)
    files.replace_all({session.folder / name: data for name, data in made.items()})
    for path in session.folder.iterdir():
        if is_derived(path.name) and path.name not in made:
            files.remove(path)
    return [session.folder / name for name in made]
