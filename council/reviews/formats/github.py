"""A review as GitHub's workflow commands."""

from __future__ import annotations

from council.reviews.entries import Merged
from council.reviews.formats.common import HOW, Review, safe
from council.reviews.formats.sarif import file_of, relative, sentence
from council.text import join_words


def github(review: Review) -> str:
    """One command a finding."""
    return "".join(f"{_command(finding, review)}\n" for finding in review.open)


def _command(finding: Merged, review: Review) -> str:
    place, path = finding.place, file_of(finding, review)
    properties: dict[str, str] = {"file": relative(path)} if path else {}
    if place.how in HOW:
        properties |= {"line": str(place.first), "endLine": str(place.last)}
    properties["title"] = f"{finding.id} ({finding.severity}) by {join_words(finding.supporters or ['nobody'])}"
    said = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    kind = {"note": "notice"}.get(level := review.level(finding), level)
    return f"::{kind} {said}::{_data(sentence(finding))}"


def _data(text: str) -> str:
    return safe(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
