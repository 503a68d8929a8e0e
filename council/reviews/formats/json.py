"""A review in council's own JSON (docs/review.schema.json)."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from council import __version__
from council.reviews import locate
from council.reviews.entries import Merged
from council.reviews.formats.common import Review, to_json
from council.reviews.locate import Place
from council.reviews.model import SEVERITIES
from council.reviews.rule import plain_id

VERSION = 1


SCHEMA = "urn:council:review:1"


def as_json(review: Review) -> str:
    """All of it. docs/review.schema.json says what stands where."""
    counts = Counter(finding.severity for finding in review.open)
    return to_json(
        {
            "$schema": SCHEMA,
            "version": VERSION,
            "tool": {"name": "council", "version": __version__},
            "title": whole(review.title),
            "session": whole(review.session),
            "outcome": whole(review.outcome),
            "documents": [{"path": whole(one.path), "lines": locate.lines(one)} for one in review.documents],
            "counts": {severity: counts[severity] for severity in SEVERITIES},
            "findings": [_finding(finding) for finding in review.open],
            "set_aside": [_finding(finding) for finding in review.set_aside],
            "unparsed": [{"seat": whole(seat), "text": whole(text)} for seat, text in review.unparsed],
            "silent": list(map(whole, review.silent)),
            "none": list(map(whole, review.none)),
            "remarks": list(map(whole, review.remarks)),
            "summary": whole(review.summary),
        }
    )


def whole(text: str) -> str:
    """Text as it was written: JSON escapes whatever is in it, but for half characters, which readers refuse."""
    return re.sub(r"[\ud800-\udfff]", "\ufffd", text)


def _finding(finding: Merged) -> dict[str, Any]:
    return {
        "id": whole(finding.id),
        "severity": finding.severity,
        "inferred": finding.inferred,
        "disputed": finding.disputed,
        "severities": {whole(seat): severity for seat, severity in finding.severities.items()},
        "status": finding.status,
        "supporters": list(map(whole, finding.supporters)),
        "issue": whole(finding.issue),
        "change": whole(finding.change),
        "place": _place(finding.place),
        "fingerprint": finding.fingerprint,
        "fingerprints": list(finding.fingerprints),
        "also": list(map(whole, finding.also)),
        "rulings": [
            {
                "id": whole(plain_id(ruling.id)),
                "seat": whole(seat),
                "word": whole(ruling.word),
                "why": whole(ruling.why),
            }
            for seat, ruling in finding.rulings
        ],
        "pairings": [
            {
                "id": whole(pair.id),
                "seat": whole(seat),
                "word": pair.word,
                "other": whole(pair.other),
                "why": whole(pair.why),
            }
            for seat, pair in finding.pairings
        ],
        "members": [
            {
                "id": whole(part.id),
                "wording": whole(wording.id),
                "seat": whole(said.seat),
                "turn": whole(said.turn),
                "number": whole(said.finding.number),
                "severity": said.finding.severity,
                "inferred": said.finding.inferred,
                "issue": whole(said.finding.issue),
                "change": whole(said.finding.change),
                "replacement": None if said.finding.replacement is None else whole(said.finding.replacement),
                "place": _place(said.place),
                "fingerprint": said.fingerprint,
            }
            for part in finding.entries
            for wording in part.wordings
            for said in wording.members
        ],
    }


def _place(place: Place) -> dict[str, Any]:
    return {
        "path": whole(place.path),
        "first": place.first,
        "last": place.last,
        "passage": whole(place.passage),
        "how": place.how,
    }
