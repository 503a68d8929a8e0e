"""Whole replies of a review's members, as one list: read, merged and reported, but without a session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from council.engine.planner import Plan
from council.engine.scene import RecordedTurn, Turn
from council.reviews import hooks, report
from council.reviews.formats.common import Review
from council.reviews.model import FINDINGS, FORMAT, RULING_FORMAT, RULINGS, Document
from tests.scenes import MEMBERS, scene

FOLDER = Path(__file__).parent / "challenged"
SPEC_FILE = Path(__file__).parent / "specs" / "sessions.md"
SPEC = Document("sessions.md", SPEC_FILE.read_text("utf-8"))
SEATS = tuple(seat.name for seat in MEMBERS)
ASKED = {
    "01-findings": {FINDINGS: hooks._read_findings},
    "02-challenges": {RULINGS: hooks._read_rulings, FINDINGS: hooks._read_findings},
    "03-closing": {RULINGS: hooks._read_rulings},
}


def reviewed(replies: Mapping[str, str], document: Document = SPEC) -> Review:
    """The review in which these turns, each `step/seat`, said this."""
    topic = f'Review it.\n\n<said by="file {document.path}" key="0f0f0f0f0f0f">\n{document.text}\n</said by="file '
    topic += f'{document.path}" key="0f0f0f0f0f0f">\n'
    said = scene(*_turns(dict(sorted(replies.items())), topic))
    facts = {"topic": "Review it", "session_id": "20260101-000000-00000000"}
    return report.review(Plan((), (), said, {}), topic, facts)


def _turns(replies: Mapping[str, str], topic: str) -> Iterator[Turn]:
    for id, body in replies.items():
        step, _, name = id.partition("/")
        asked = ASKED[step]
        brief = "\n".join([topic, *({FINDINGS: FORMAT, RULINGS: RULING_FORMAT}[one] for one in asked)])
        read: dict[str, Any] = {one: reader(body, brief, False) for one, reader in asked.items()}
        answers = {one: value for one, value in read.items() if value is not None}
        (seat,) = (seat for seat in MEMBERS if seat.name == name)
        phase = step.partition("-")[2]
        yield Turn(id, phase, phase, 1, seat, RecordedTurn(body, brief=brief), tuple(asked), answers)
