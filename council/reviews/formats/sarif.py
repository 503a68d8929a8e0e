"""A review as SARIF 2.1.0."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from council import __version__
from council.reviews import locate, patch
from council.reviews.entries import Merged
from council.reviews.formats.common import HOW, LEVELS, Review, flat, safe, to_json
from council.reviews.formats.json import whole
from council.reviews.locate import Place
from council.reviews.model import SEVERITIES, Document
from council.text import join_words

SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


MEANING = {
    "blocking": "Must be changed before anything is built on the text.",
    "high": "Will cause harm or costly work if it stays.",
    "medium": "Should be changed; the text can be used meanwhile.",
    "low": "Would be better otherwise.",
}
RANKS = {"blocking": 100.0, "high": 75.0, "medium": 50.0, "low": 25.0}


def sarif(review: Review) -> str:
    """One run, a rule for each severity and for each rule that a program names. What was set aside is suppressed, with
    the reason."""
    aside, listed = bool(review.set_aside), (*review.open, *review.set_aside)
    broken = {finding.rule: finding.severity for finding in listed if finding.rule}
    rules = [*map(_rule, SEVERITIES), *(_named_rule(*one) for one in broken.items())]
    places = {rule["id"]: place for place, rule in enumerate(rules)}
    results = [_result(finding, review, aside, places) for finding in listed]
    run: dict[str, Any] = {
        "tool": {"driver": {"name": "council", "version": __version__, "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "artifacts": [{"location": {"uri": uri}} for uri in _uris(review)],
        "results": results,
        "properties": {"title": safe(review.title), "session": safe(review.session)},
    }
    if review.silent:  # so that a list without them is not taken for a clean one
        missing = [
            {"level": "warning", "message": {"text": _message(f"Not heard: {flat(one)}")}} for one in review.silent
        ]
        run["invocations"] = [{"executionSuccessful": False, "toolExecutionNotifications": missing}]
    return to_json({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(severity: str) -> dict[str, Any]:
    return {
        "id": f"council/{severity}",
        "name": f"{severity.capitalize()}Finding",
        "shortDescription": {"text": f"A {severity} finding of the council's review."},
        "fullDescription": {"text": MEANING[severity]},
        "help": {"text": f"{MEANING[severity]} Each finding says who raised it, and what would be written instead."},
        "defaultConfiguration": {"level": LEVELS[severity]},
    }


def _named_rule(name: str, severity: str) -> dict[str, Any]:
    return {"id": safe(name), "defaultConfiguration": {"level": LEVELS[severity]}}


def _result(finding: Merged, review: Review, aside: bool, places: Mapping[str, int]) -> dict[str, Any]:
    code = safe(finding.code)
    result: dict[str, Any] = {
        "ruleId": code,
        "ruleIndex": places[code],
        "level": review.level(finding),
        "rank": RANKS[finding.severity],
        "message": {"text": _message(sentence(finding))},
        "partialFingerprints": {"council/v1": finding.fingerprint},
        "properties": _properties(finding),
    }
    if location := _location(finding, review):
        result["locations"] = [{"physicalLocation": location}]
    if related := list(_related(finding, review)):
        result["relatedLocations"] = related
    if fixes := list(_fixes(finding, review)):
        result["fixes"] = fixes
    if aside:  # where one result says whether it is suppressed, all must
        result["suppressions"] = [_suppression(finding)] if finding.status in patch.SET_ASIDE else []
    return result


def _related(finding: Merged, review: Review) -> Iterator[dict[str, Any]]:
    """Where the other wordings stand; the message has their words."""
    for number, one in enumerate(finding.wordings[1:]):
        if location := _location(one, review):
            message = {"text": _message(_put(one))}
            yield {"id": number, "message": message, "physicalLocation": location}


def sentence(finding: Merged) -> str:
    """A finding in words: below its own, a line for each of the wordings that were joined with it."""
    also = f" (also {flat(join_words(finding.also))})" if finding.also else ""
    inferred = " (severity inferred)" if finding.inferred else ""
    others = (f"\nAlso put as {_put(one)}{_at(one)}" for one in finding.wordings[1:])
    return f"{flat(finding.id)}: {_put_plainly(finding)}{also}{inferred}{''.join(others)}"


def _put(one: Merged) -> str:
    return f"{flat(one.id)} ({one.severity}, by {flat(join_words(one.seats))}): {_put_plainly(one)}"


def _put_plainly(one: Merged) -> str:
    change = f" \u2192 {words}" if (words := flat(one.change)) else ""
    lost = "" if one.place.how != "missing" else " (the passage that it names was not found in the text)"
    return f"{flat(one.issue)}{change}{lost}"


def _at(one: Merged) -> str:
    lines = str(one.place.first) if one.place.first == one.place.last else f"{one.place.first}-{one.place.last}"
    return f" [{flat(relative(one.place.path))}:{lines}]" if one.place.how in HOW else ""


def _message(text: str) -> str:
    """SARIF reads `[text](target)` as a link, and `{0}` as a place for an argument."""
    return re.sub(r"\](?=\()", "] ", re.sub(r"\{(?=\d+\})", "{ ", text))


def _properties(finding: Merged) -> dict[str, Any]:
    return {
        "id": safe(finding.id),
        "also": list(map(safe, finding.also)),
        "supporters": list(map(safe, finding.supporters)),
        "severities": {safe(seat): severity for seat, severity in finding.severities.items()},
        "inferred": finding.inferred,
        "disputed": finding.disputed,
        "status": finding.status,
        "anchor": finding.place.how,
    }


def _location(finding: Merged, review: Review) -> dict[str, Any] | None:
    path = file_of(finding, review)
    if not path:
        return None
    location: dict[str, Any] = {"artifactLocation": {"uri": _uri(path)}}
    if (uri := location["artifactLocation"]["uri"]) in (uris := _uris(review)):
        location["artifactLocation"]["index"] = uris.index(uri)
    if finding.place.how in HOW:
        location["region"] = _region(finding.place, review.document(path))
    return location


def file_of(finding: Merged, review: Review) -> str:
    """The file of a finding; where it names none and there is only one, that one."""
    only = review.documents[0].path if len(review.documents) == 1 else ""
    return finding.place.path or only


def _region(place: Place, document: Document | None) -> dict[str, Any]:
    region: dict[str, Any] = {"startLine": place.first, "endLine": place.last}
    if document and place.how not in ("lines", "section") and (found := locate.span(place, document)):
        region = _columns(document, *found)
    if place.passage and place.how != "section":
        region["snippet"] = {"text": whole(place.passage)}
    return region


def _columns(document: Document, start: int, end: int) -> dict[str, Any]:
    first, column = locate.position(document, start)
    last, after = locate.position(document, end)
    return {"startLine": first, "startColumn": column, "endLine": last, "endColumn": after}


def _fixes(finding: Merged, review: Review) -> Iterator[dict[str, Any]]:
    for edit in patch.of(finding, review.documents):
        document = review.document(edit.path)
        if document:
            region = _columns(document, edit.start, edit.end)
            replacement = {"deletedRegion": region, "insertedContent": {"text": whole(edit.new)}}
            change = {"artifactLocation": {"uri": _uri(edit.path)}, "replacements": [replacement]}
            text = _message(f"As {join_words(map(flat, edit.seats))} would write it")
            yield {"description": {"text": text}, "artifactChanges": [change]}


def _suppression(finding: Merged) -> dict[str, str]:
    why = [flat(ruling.why) for _, ruling in finding.rulings if ruling.word == "withdrawn" and flat(ruling.why)]
    reason = "A person dismissed it." if finding.status == "dismissed" else "All who raised it withdrew it."
    return {"kind": "external", "status": "accepted", "justification": " ".join([reason, *why])}


def _uri(path: str) -> str:
    """A relative reference, by its bytes: nothing of it can be read as a scheme or a host."""
    plain = relative(path)
    return quote(plain.encode("utf-8", "replace" if not fits_bytes(plain) else "surrogateescape"), safe="/-._~")


def _uris(review: Review) -> list[str]:
    return list(dict.fromkeys(_uri(document.path) for document in review.documents))


def relative(path: str) -> str:
    return posixpath.normpath(path).lstrip("/")


def fits_bytes(text: str) -> bool:
    return all("\udc80" <= char <= "\udcff" for char in text if "\ud800" <= char <= "\udfff")
