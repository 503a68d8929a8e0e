"""A review in reviewdog's JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from council.reviews import locate, patch
from council.reviews.entries import Merged
from council.reviews.formats.common import HOW, Review, flat, safe, to_json
from council.reviews.formats.json import whole
from council.reviews.formats.sarif import file_of, fits_bytes, relative, sentence
from council.reviews.model import Document


def rdjson(review: Review) -> str:
    """Reviewdog's diagnostic result. Columns count bytes, and ranges end before their end."""
    grave = {"error": "ERROR", "warning": "WARNING", "note": "INFO"}
    levels = [grave[review.level(finding)] for finding in review.open]
    value: dict[str, Any] = {
        "source": {"name": "council"},
        "diagnostics": [
            _diagnostic(finding, review, level) for finding, level in zip(review.open, levels, strict=True)
        ],
    }
    if levels:
        value["severity"] = min(levels, key=list(grave.values()).index)
    return to_json(value)


def _diagnostic(finding: Merged, review: Review, level: str) -> dict[str, Any]:
    diagnostic: dict[str, Any] = {
        "message": sentence(finding),
        "location": _rd_location(finding, review),
        "severity": level,
        "code": {"value": flat(finding.code)},
        "original_output": "\n".join(_original(finding)),
    }
    if suggestions := list(_suggestions(finding, review)):
        diagnostic["suggestions"] = suggestions
    return diagnostic


def _original(finding: Merged) -> Iterator[str]:
    """What each seat wrote of it; what a seat said again in the same words is there once."""
    for said in {(one.seat, one.wording): one for one in reversed(finding.members)}.values():
        number = flat(said.finding.number) or finding.id
        change = f" \u2192 {words}" if (words := flat(said.finding.change)) else ""
        yield f"{flat(said.seat)}: {said.finding.severity}: {number}: {flat(said.finding.issue)}{change}"


def _rd_location(finding: Merged, review: Review) -> dict[str, Any]:
    place, path = finding.place, file_of(finding, review)
    location: dict[str, Any] = {"path": safe(relative(path)) if path else ""}
    if place.how not in HOW:
        return location
    document = review.document(path)
    found = locate.span(place, document) if document and place.how not in ("lines", "section") else None
    if document and found:
        location["range"] = _bytes_range(document, *found)
    else:
        location["range"] = {"start": {"line": place.first}, "end": {"line": place.last}}
    return location


def _suggestions(finding: Merged, review: Review) -> Iterator[dict[str, Any]]:
    for edit in patch.of(finding, review.documents):
        if document := review.document(edit.path):
            yield {"range": _bytes_range(document, edit.start, edit.end), "text": whole(edit.new)}


def _bytes_range(document: Document, start: int, end: int) -> dict[str, Any]:
    return {"start": _bytes_position(document, start), "end": _bytes_position(document, end)}


def _bytes_position(document: Document, offset: int) -> dict[str, int]:
    line, column = locate.position(document, offset)
    before = document.text[offset - column + 1 : offset]
    raw = before.encode("utf-8", "surrogateescape" if fits_bytes(before) else "replace")
    return {"line": line, "column": len(raw) + 1}
