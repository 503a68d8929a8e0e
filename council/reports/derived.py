"""Every file that is derived from a session's record. They can be deleted, and are rebuilt byte for byte."""

from __future__ import annotations

import json
from pathlib import Path

from council.engine import contributions
from council.engine.planner import Plan
from council.protocols import outcome
from council.record import files
from council.record.session import Session
from council.reports import did_it_help, filing, markdown
from council.reports.transcript import compose

DERIVED = ("convergence.json", "synthesis.md", "transcript.md", *filing.NAMES)


def derive(session: Session, plan: Plan) -> dict[str, bytes]:
    """Every derived file of the session in its current state, by name."""
    debate = compose(session, plan)
    made = {f"round-{round.number}.md": markdown.one_round(round, debate.overlaid) for round in debate.rounds}
    if (facts := outcome.convergence(plan)) is not None:
        facts |= did_it_help.facts(session, plan)
        made["convergence.json"] = json.dumps(facts, indent=2, ensure_ascii=False) + "\n"
    if debate.synthesis:
        made["synthesis.md"] = markdown.synthesis(debate.synthesis, debate.overlaid)
    made |= {f"{name}.md": markdown.section(one, debate.overlaid) for name, one in debate.sections.items()}
    made |= filing.derive(debate, session, plan)
    made["transcript.md"] = markdown.whole(debate)
    return {name: files.encode(text) for name, text in made.items()}


def is_derived(name: str) -> bool:
    if name in DERIVED or (name.startswith("round-") and name.endswith(".md")):
        return True
    return name.removesuffix(".md") in contributions.section.known


def build(session: Session, plan: Plan) -> list[Path]:
    """Write the derived files, and remove those that no longer follow from the record."""
    made = derive(session, plan)
    if session.lock:
        session.lock.check()  # deriving takes a while: another runner may have taken over
    files.replace_all({session.folder / name: data for name, data in made.items()})
    for path in session.folder.iterdir():
        if is_derived(path.name) and path.name not in made:
            files.remove(path)
    return [session.folder / name for name in made]
