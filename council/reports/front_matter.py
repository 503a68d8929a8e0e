"""How a document came about: its front matter in YAML, and notes below its title where readers have to be warned.

Both follow from the record alone. A value is written as JSON, which is also YAML.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from council.engine.planner import Plan
from council.engine.scene import Turn
from council.protocols import outcome
from council.protocols.consensus import DECISION, END, find_escalations
from council.record import chain, files
from council.record.session import Session
from council.record.turn_file import sha256
from council.reports.heading import count_replayed
from council.reports.model import Spending, Transcript
from council.reports.words import contain_line
from council.speakers import registry
from council.text import first_line, one_line

MATTER = re.compile(r"\A---\n(.*?)^---\n+", re.M | re.S)
KEY = re.compile(r"^(\w+):", re.M)
UNKNOWN = "unknown"
SIGNED = "written_sha256"


def stamp(text: str, debate: Transcript, session: Session, plan: Plan, kind: str = "") -> str:
    """The document with its front matter and notes. Front matter of the template's own stays, and comes first."""
    own = MATTER.match(text)
    before, body = (own[1], text[own.end() :]) if own else ("", text)
    taken = set(KEY.findall(before))
    lines = [
        f"{key}: {json.dumps(value, ensure_ascii=False)}\n"
        for key, value in describe_origin(debate, session, plan, kind)
        if key not in taken
    ]
    return f"---\n{before}{''.join(lines)}---\n\n{add_notes(body, debate)}"


def add_notes(body: str, debate: Transcript) -> str:
    """The document with what readers must know, below its title."""
    title, _, rest = body.partition("\n\n") if body.startswith("# ") else ("", "", body)
    noted = "\n>\n".join(f"> {note}" for note in list_notes(debate))
    return "\n\n".join(filter(None, [title, noted, rest]))


def sign(text: str) -> str:
    """The document with a hash of itself, which says later whether somebody has changed it."""
    matter = MATTER.match(text)
    if not matter:
        return text
    return f"{text[: matter.end(1)]}{SIGNED}: {json.dumps(sha256(files.encode(text)))}\n{text[matter.end(1) :]}"


def is_as_written(text: str) -> bool:
    """Whether a filed document is as council wrote it. Those of earlier versions do not say it."""
    signed = re.search(rf'^{SIGNED}: "([0-9a-f]{{64}})"\n', text, re.M)
    return signed is not None and signed[1] == sha256(files.encode(text[: signed.start()] + text[signed.end() :]))


def read_kind(text: str, otherwise: str) -> str:
    """The kind of a document that council wrote, by its front matter. Documents of earlier versions do not say it."""
    matter = MATTER.match(text)
    found = re.search(r'^kind: "?([\w-]+)"?$', matter[1], re.M) if matter else None
    return found[1] if found else otherwise


def read(text: str) -> dict[str, Any]:
    """The keys of a document's front matter that council writes, which are JSON; others are left out."""
    matter = MATTER.match(text)
    found: dict[str, Any] = {}
    for line in matter[1].splitlines() if matter else ():
        key, colon, value = line.partition(": ")
        with suppress(ValueError):
            found |= {key: json.loads(value)} if colon else {}
    return found


def find_title(text: str) -> str:
    """The document's first heading, or its first line with words."""
    body = MATTER.sub("", text, count=1)
    return first_line(next((line for line in body.splitlines() if line.startswith("# ")), body))


def describe_origin(debate: Transcript, session: Session, plan: Plan, kind: str) -> Iterator[tuple[str, Any]]:
    """The keys of the front matter, with their values. What does not apply is left out."""
    yield "date", f"{debate.ended_at:%Y-%m-%d}"
    if kind:
        yield "kind", kind
    yield "session", session.id
    if chain.is_recorded(session):
        yield "head", chain.head(session)
    yield "workflow", session.workflow.name
    yield "outcome", outcome.outcome(plan)
    if people := list_people(session, plan, deciding=True):
        yield "decided_by", people
    if people := list_people(session, plan, deciding=False):
        yield "heard", people
    yield "models", sorted({receipt.answered for receipt in session.receipts.values() if receipt.answered})
    yield from _describe_cost(debate.verdict.spending)
    if source := session.metadata.get("replay_of"):
        yield "replay_of", one_line(str(source))
    elif replayed := count_replayed(session):
        yield "replayed", replayed
    if embedded := list_embedded(session):
        yield "embedded_model", embedded
    if debate.absent:
        yield "absent", list(dict.fromkeys(debate.absent))


def _describe_cost(spent: Spending) -> Iterator[tuple[str, Any]]:
    yield "calls", spent.calls
    if spent.failed:
        yield "failed_calls", spent.failed
    yield "cost_usd", UNKNOWN if spent.usd is None else spent.usd
    if spent.usd is None and spent.usd_at_least:
        yield "cost_usd_at_least", spent.usd_at_least


def list_notes(debate: Transcript) -> Iterator[str]:
    """What readers must know before they rely on the document."""
    for fact in debate.facts:
        if fact.caution:
            yield f"**{fact.name}:** {contain_line(fact.note or fact.text)}"
    if debate.absent:
        yield f"**Degraded:** absent: {contain_line('; '.join(dict.fromkeys(debate.absent)))}"


def list_people(session: Session, plan: Plan, *, deciding: bool) -> list[str]:
    """The people who settled the debate, or those who were heard in it otherwise."""
    decisions = [one.answered for one in find_escalations(plan.scene) if one.adopted]
    decisions += [turn for turn in plan.scene.turns if turn.seat.is_person and turn.answers.get(DECISION) == END]
    ids = {turn.id for turn in decisions if turn}
    said = [turn for turn in plan.scene.turns if turn.seat.is_person and not turn.absent]
    return list(dict.fromkeys(name_person(session, turn) for turn in said if (turn.id in ids) is deciding))


def name_person(session: Session, turn: Turn) -> str:
    """Who answered for a person's seat, as far as the receipt says it."""
    receipts = (session.receipts.get(f"{turn.id}.2"), session.receipts.get(turn.id))
    return next((one_line(receipt.by) for receipt in receipts if receipt and receipt.by), "a person")


def list_embedded(session: Session) -> list[str]:
    """The models on this machine that spoke and that are too small to rely on."""
    small = (one for one in session.receipts.values() if one.answered and registry.describe(one.speaker).small)
    return sorted({str(one.answered) for one in small})
