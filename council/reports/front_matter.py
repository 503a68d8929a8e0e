"""How a document came about: its front matter in YAML, and notes below its title where readers have to be warned.

Both follow from the record alone. A value is written as JSON, which is also YAML.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from council.engine.planner import Plan
from council.engine.scene import Turn
from council.protocols import outcome
from council.protocols.consensus import DECISION, END, find_escalations
from council.record import chain
from council.record.session import Session
from council.reports.model import Transcript
from council.reports.transcript import count_replayed
from council.speakers import registry
from council.text import one_line

MATTER = re.compile(r"\A---\n(.*?)^---\n+", re.M | re.S)
KEY = re.compile(r"^(\w+):", re.M)
UNKNOWN = "unknown"


def stamp(text: str, debate: Transcript, session: Session, plan: Plan) -> str:
    """The document with its front matter and notes. Front matter of the template's own stays, and comes first."""
    own = MATTER.match(text)
    before, body = (own[1], text[own.end() :]) if own else ("", text)
    taken = set(KEY.findall(before))
    lines = [
        f"{key}: {json.dumps(value, ensure_ascii=False)}\n"
        for key, value in describe_origin(debate, session, plan)
        if key not in taken
    ]
    title, _, rest = body.partition("\n\n") if body.startswith("# ") else ("", "", body)
    noted = "\n>\n".join(f"> {note}" for note in list_notes(debate))
    parts = [title, noted, rest]
    return f"---\n{before}{''.join(lines)}---\n\n" + "\n\n".join(filter(None, parts))


def describe_origin(debate: Transcript, session: Session, plan: Plan) -> Iterator[tuple[str, Any]]:
    """The keys of the front matter, with their values. What does not apply is left out."""
    spent = debate.verdict.spending
    models = sorted({receipt.answered for receipt in session.receipts.values() if receipt.answered})
    yield "date", f"{debate.ended_at:%Y-%m-%d}"
    yield "session", session.id
    if chain.is_recorded(session):
        yield "head", chain.head(session)
    yield "workflow", session.workflow.name
    yield "outcome", outcome.outcome(plan)
    if people := list_people(session, plan, deciding=True):
        yield "decided_by", people
    if people := list_people(session, plan, deciding=False):
        yield "heard", people
    yield "models", models
    yield "calls", spent.calls
    if spent.failed:
        yield "failed_calls", spent.failed
    yield "cost_usd", UNKNOWN if spent.usd is None else spent.usd
    if spent.usd is None and spent.usd_at_least:
        yield "cost_usd_at_least", spent.usd_at_least
    if source := session.metadata.get("replay_of"):
        yield "replay_of", one_line(str(source))
    elif replayed := count_replayed(session):
        yield "replayed", replayed
    if embedded := list_embedded(session):
        yield "embedded_model", embedded
    if debate.absent:
        yield "absent", list(debate.absent)


def list_notes(debate: Transcript) -> Iterator[str]:
    """What readers must know before they rely on the document."""
    for fact in debate.facts:
        if fact.caution:
            yield f"**{fact.name}:** {fact.text}"
    if debate.absent:
        yield f"**Degraded:** absent: {'; '.join(debate.absent)}"


def list_people(session: Session, plan: Plan, *, deciding: bool) -> list[str]:
    """The people who settled the debate, or those who were heard in it otherwise."""
    decisions = [one.answered for one in find_escalations(plan.scene) if one.adopted]
    decisions += [turn for turn in plan.scene.turns if turn.seat.is_person and turn.answers.get(DECISION) == END]
    ids = {turn.id for turn in decisions if turn}
    said = [turn for turn in plan.scene.turns if turn.seat.is_person and not turn.absent]
    return list(dict.fromkeys(_name(session, turn) for turn in said if (turn.id in ids) is deciding))


def _name(session: Session, turn: Turn) -> str:
    receipts = (session.receipts.get(f"{turn.id}.2"), session.receipts.get(turn.id))
    return next((one_line(receipt.by) for receipt in receipts if receipt and receipt.by), "a person")


def list_embedded(session: Session) -> list[str]:
    """The models on this machine that spoke and that are too small to rely on."""
    small = (one for one in session.receipts.values() if one.answered and registry.describe(one.speaker).small)
    return sorted({str(one.answered) for one in small})
