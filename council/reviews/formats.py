"""A review as a person, a program or a build reads it: Markdown, JSON, SARIF, rdjson, GitHub's annotations. Pure.

What a member wrote is text in all of them, and never structure: each format has one function that makes it so.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from council import __version__
from council.reviews import locate as anchors
from council.reviews import patch as edits
from council.reviews.locate import Place
from council.reviews.merge import Merged
from council.reviews.model import SEVERITIES, Anchor, Document
from council.reviews.rule import plain_id
from council.text import harmless, listing, one_line

VERSION = 1
SCHEMA = "urn:council:review:1"
SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
MEANING = {
    "blocking": "Must be changed before anything is built on the text.",
    "high": "Will cause harm or costly work if it stays.",
    "medium": "Should be changed; the text can be used meanwhile.",
    "low": "Would be better otherwise.",
}
HOW = {
    "exact": "quoted to the letter",
    "folded": "quoted, but for spacing and marks",
    "fuzzy": "quoted nearly",
    "lines": "by its lines",
}
LEVELS = {"blocking": "error", "high": "error", "medium": "warning", "low": "note"}


@dataclass(frozen=True)
class Review:
    """All that is shown of a review. `silent` are the seats that were not heard, `none` those that found nothing."""

    title: str
    session: str
    documents: tuple[Document, ...] = ()
    findings: tuple[Merged, ...] = ()
    unparsed: tuple[tuple[str, str], ...] = ()
    silent: tuple[str, ...] = ()
    none: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    summary: str = ""
    outcome: str = ""

    @property
    def open(self) -> tuple[Merged, ...]:
        return self._graded(finding for finding in self.findings if finding.status not in edits.SET_ASIDE)

    @property
    def set_aside(self) -> tuple[Merged, ...]:
        return self._graded(finding for finding in self.findings if finding.status in edits.SET_ASIDE)

    def _graded(self, findings: Iterable[Merged]) -> tuple[Merged, ...]:
        return tuple(sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity)))

    def document(self, path: str) -> Document | None:
        return next((document for document in self.documents if document.path == path), None)


def render(kind: str, review: Review) -> str:
    """The review in one of the formats KINDS."""
    return KINDS[kind](review)


def _safe(text: str) -> str:
    """A text that every format can hold: no control characters, no half characters, line feeds alone break lines."""
    text = harmless(re.sub(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]", "\n", text))
    return re.sub(r"[\ud800-\udfff]", "\ufffd", text)


def _flat(text: str) -> str:
    return " ".join(_safe(text).split())


# --- Markdown, for people


def markdown(review: Review) -> str:
    """The list by severity; then what could not be read, who was not heard, and the chair's words."""
    parts = [f"# {_words(review.title) or 'Review'}", _counted(review)]
    for severity in SEVERITIES:
        if findings := [finding for finding in review.open if finding.severity == severity]:
            parts += [f"## {severity.capitalize()}", "\n\n".join(_item(finding) for finding in findings)]
    if review.set_aside:
        parts += ["## Set aside", "\n\n".join(_item(finding) for finding in review.set_aside)]
    if review.unparsed:
        parts += ["## Unparsed", "These pieces could not be read as findings. They stand here as they were written."]
        parts += [f"- {_words(seat)}:\n\n{_fenced(text, '  ')}" for seat, text in review.unparsed]
    parts += _members(review)
    if _flat(review.summary):
        parts += ["## Summary", _quoted(review.summary)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _counted(review: Review) -> str:
    counts = Counter(finding.severity for finding in review.open)
    said = [f"{counts[severity]} {severity}" for severity in SEVERITIES if counts[severity]]
    total = len(review.open)
    head = f"{total} finding{'s' if total != 1 else ''}" + (f": {listing(said)}" if said else "") + "."
    return head + (f" Outcome: {outcome}." if (outcome := _words(review.outcome)) else "")


def _members(review: Review) -> Iterator[str]:
    lists = (("Not heard", review.silent), ("No findings", review.none), ("Remarks", review.remarks))
    for title, entries in lists:
        if entries:
            yield f"## {title}"
            yield "\n".join(f"- {_words(entry) or '(empty)'}" for entry in entries)


def _item(finding: Merged) -> str:
    change = f" \u2192 {words}" if (words := _words(finding.change)) else ""
    status = "" if finding.status == "open" else f" ({finding.status})"
    lines = [f"- **{_words(finding.id)}**{status}: {_words(finding.issue) or '(no words)'}{change}"]
    lines += [f"  - {line}" for line in _details(finding)]
    texts = [(said.seat, said.finding.replacement) for said in finding.members]
    for text in dict.fromkeys(text for _, text in texts if text is not None):
        by = _names(seat for seat, other in texts if other == text)
        lines.append(
            f"  - replacement by {by}:\n\n{_fenced(text, '    ')}"
            if text
            else f"  - replacement by {by}: none, the passage goes"
        )
    return "\n".join(lines)


def _details(finding: Merged) -> Iterator[str]:
    place = finding.place
    if finding.also:
        yield f"also: {_words(listing(finding.also))}, which members said is the same"
    yield f"place: {_where(place, _anchor(finding))}"
    if place.passage.strip():
        yield f"text: \u201c{_words(one_line(_safe(place.passage), 200))}\u201d"
    yield f"raised by: {_names(said.seat for said in finding.members)}"
    yield f"supporters: {_names(finding.supporters)}"
    if finding.disputed:
        said = [f"{severity} ({_names(seats)})" for severity, seats in _distribution(finding)]
        yield f"severity disputed: {listing(said)}"
    for id, authors, one in finding.wordings:
        change = f" \u2192 {words}" if (words := _words(one.finding.change)) else ""
        where = _where(one.place, one.finding.anchor)
        yield f"also put as, by {_names(authors)} ({_words(id)}; {where}): {_words(one.finding.issue)}{change}"
    for seat, ruling in finding.rulings:
        of = f" of {_words(plain_id(ruling.id))}" if finding.also else ""
        yield f"{_words(seat)}{of}: {_words(ruling.word)}" + (f": {why}" if (why := _words(ruling.why)) else "")
    for seat, pair in finding.pairings:
        said_of = f"{_words(seat)} of {_words(pair.id)}: {pair.word} {_words(pair.other)}"
        yield said_of + (f": {why}" if (why := _words(pair.why)) else "")


def _names(seats: Iterable[str]) -> str:
    names = [_words(seat) for seat in dict.fromkeys(seats)]
    return listing(names) if names else "nobody"


def _distribution(finding: Merged) -> Iterator[tuple[str, list[str]]]:
    for severity in SEVERITIES:
        if seats := [seat for seat, said in finding.severities.items() if said == severity]:
            yield severity, seats


def _where(place: Place, anchor: Anchor) -> str:
    if place.how in HOW:
        return f"{_words(place.path)}, {_range(place.first, place.last)} ({HOW[place.how]})"
    if place.how == "missing":
        return f"**not found in the text**: {_words(_named(anchor)) or 'what the author names'}"
    return f"{_words(place.path)}, no passage named" if place.path else "none named"


def _anchor(finding: Merged) -> Anchor:
    """What the author named of a place that is not there."""
    named = (said.finding.anchor for said in finding.members if said.place == finding.place)
    return next(named, Anchor())


def _named(anchor: Anchor) -> str:
    lines = _range(anchor.first, max(anchor.first, anchor.last)) if anchor.first else ""
    passage = f"\u201c{one_line(quoted, 200)}\u201d" if (quoted := _flat(anchor.quote)) else ""
    return ", ".join(part for part in (_flat(anchor.path), lines, passage) if part)


def _range(first: int, last: int) -> str:
    return f"line {first}" if first == last else f"lines {first}\u2013{last}"


def _words(text: str) -> str:
    """Words in one line of Markdown: what would be a mark is written with a backslash before it."""
    plain = re.sub(r"[\\`*_\[\]<>#|~&$]", r"\\\g<0>", _flat(text))
    plain = re.sub(r"(?i)(https?|ftp|mailto|www)([:.])", r"\1\\\2", plain)  # else a bare address becomes a link
    return re.sub(r"^([-+=:]|\d{1,9}(?=[.)]))", _escape_first, plain)


def _escape_first(match: re.Match[str]) -> str:
    return f"\\{match.group()}" if not match.group().isdigit() else f"{match.group()}\\"


def _fenced(text: str, margin: str) -> str:
    """A text as it stands, in a fence longer than any run of backticks in it."""
    lines = _safe(text).strip("\n").split("\n")
    longest = max(map(len, re.findall(r"`+", "\n".join(lines))), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join(f"{margin}{line}".rstrip() for line in (f"{fence}text", *lines, fence))


def _quoted(text: str) -> str:
    """Somebody's paragraphs, line by line, in a quotation that nothing in them can end."""
    return "\n".join(f"> {_words(line)}".rstrip() for line in _safe(text).strip().split("\n"))


# --- JSON, for programs


def _json(value: Any) -> str:
    """In ASCII: no terminal obeys it, no encoding breaks it."""
    return json.dumps(value, indent=2) + "\n"


def as_json(review: Review) -> str:
    """All of it. docs/review.schema.json says what stands where."""
    counts = Counter(finding.severity for finding in review.open)
    return _json(
        {
            "$schema": SCHEMA,
            "version": VERSION,
            "tool": {"name": "council", "version": __version__},
            "title": _whole(review.title),
            "session": _whole(review.session),
            "outcome": _whole(review.outcome),
            "documents": [{"path": _whole(one.path), "lines": anchors.lines(one)} for one in review.documents],
            "counts": {severity: counts[severity] for severity in SEVERITIES},
            "findings": [_finding(finding) for finding in review.open],
            "set_aside": [_finding(finding) for finding in review.set_aside],
            "unparsed": [{"seat": _whole(seat), "text": _whole(text)} for seat, text in review.unparsed],
            "silent": list(map(_whole, review.silent)),
            "none": list(map(_whole, review.none)),
            "remarks": list(map(_whole, review.remarks)),
            "summary": _whole(review.summary),
        }
    )


def _whole(text: str) -> str:
    """Text as it was written: JSON escapes whatever is in it, but for half characters, which readers refuse."""
    return re.sub(r"[\ud800-\udfff]", "\ufffd", text)


def _finding(finding: Merged) -> dict[str, Any]:
    return {
        "id": _whole(finding.id),
        "severity": finding.severity,
        "disputed": finding.disputed,
        "severities": {_whole(seat): severity for seat, severity in finding.severities.items()},
        "status": finding.status,
        "supporters": list(map(_whole, finding.supporters)),
        "issue": _whole(finding.issue),
        "change": _whole(finding.change),
        "place": _place(finding.place),
        "fingerprint": finding.fingerprint,
        "fingerprints": list(finding.fingerprints),
        "also": list(map(_whole, finding.also)),
        "rulings": [
            {
                "id": _whole(plain_id(ruling.id)),
                "seat": _whole(seat),
                "word": _whole(ruling.word),
                "why": _whole(ruling.why),
            }
            for seat, ruling in finding.rulings
        ],
        "pairings": [
            {
                "id": _whole(pair.id),
                "seat": _whole(seat),
                "word": pair.word,
                "other": _whole(pair.other),
                "why": _whole(pair.why),
            }
            for seat, pair in finding.pairings
        ],
        "members": [
            {
                "id": _whole(part.id),
                "seat": _whole(said.seat),
                "turn": _whole(said.turn),
                "number": _whole(said.finding.number),
                "severity": said.finding.severity,
                "issue": _whole(said.finding.issue),
                "change": _whole(said.finding.change),
                "replacement": None if said.finding.replacement is None else _whole(said.finding.replacement),
                "place": _place(said.place),
            }
            for part in finding.entries
            for said in part.members
        ],
    }


def _place(place: Place) -> dict[str, Any]:
    return {
        "path": _whole(place.path),
        "first": place.first,
        "last": place.last,
        "passage": _whole(place.passage),
        "how": place.how,
    }


# --- SARIF 2.1.0, for code scanning


def sarif(review: Review) -> str:
    """One run, a rule for each severity. What was set aside is suppressed, with the reason."""
    aside = bool(review.set_aside)
    results = [_result(finding, review, aside) for finding in (*review.open, *review.set_aside)]
    run: dict[str, Any] = {
        "tool": {"driver": {"name": "council", "version": __version__, "rules": list(map(_rule, SEVERITIES))}},
        "columnKind": "unicodeCodePoints",
        "artifacts": [{"location": {"uri": uri}} for uri in _uris(review)],
        "results": results,
        "properties": {"title": _safe(review.title), "session": _safe(review.session)},
    }
    return _json({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(severity: str) -> dict[str, Any]:
    return {
        "id": f"council/{severity}",
        "name": f"{severity.capitalize()}Finding",
        "shortDescription": {"text": f"A {severity} finding of the council's review."},
        "fullDescription": {"text": MEANING[severity]},
        "help": {"text": f"{MEANING[severity]} Each finding says who raised it, and what would be written instead."},
        "defaultConfiguration": {"level": LEVELS[severity]},
    }


def _result(finding: Merged, review: Review, aside: bool) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": f"council/{finding.severity}",
        "ruleIndex": SEVERITIES.index(finding.severity),
        "level": LEVELS[finding.severity],
        "message": {"text": _message(_sentence(finding))},
        "partialFingerprints": {"council/v1": finding.fingerprint},
        "properties": _properties(finding),
    }
    if location := _location(finding, review):
        result["locations"] = [{"physicalLocation": location}]
    if fixes := list(_fixes(finding, review)):
        result["fixes"] = fixes
    if aside:  # where one result says whether it is suppressed, all must
        result["suppressions"] = [_suppression(finding)] if finding.status in edits.SET_ASIDE else []
    return result


def _sentence(finding: Merged) -> str:
    change = f" \u2192 {words}" if (words := _flat(finding.change)) else ""
    lost = "" if finding.place.how != "missing" else " (the passage that it names was not found in the text)"
    also = f" (also {_flat(listing(finding.also))})" if finding.also else ""
    return f"{_flat(finding.id)}: {_flat(finding.issue)}{change}{lost}{also}"


def _message(text: str) -> str:
    """SARIF reads `[text](target)` as a link, and `{0}` as a place for an argument."""
    return re.sub(r"\](?=\()", "] ", re.sub(r"\{(?=\d+\})", "{ ", text))


def _properties(finding: Merged) -> dict[str, Any]:
    return {
        "id": _safe(finding.id),
        "also": list(map(_safe, finding.also)),
        "supporters": list(map(_safe, finding.supporters)),
        "severities": {_safe(seat): severity for seat, severity in finding.severities.items()},
        "disputed": finding.disputed,
        "status": finding.status,
        "anchor": finding.place.how,
    }


def _location(finding: Merged, review: Review) -> dict[str, Any] | None:
    path = _file(finding, review)
    if not path:
        return None
    location: dict[str, Any] = {"artifactLocation": {"uri": _uri(path)}}
    if (uri := location["artifactLocation"]["uri"]) in (uris := _uris(review)):
        location["artifactLocation"]["index"] = uris.index(uri)
    if finding.place.how in HOW:
        location["region"] = _region(finding.place, review.document(path))
    return location


def _file(finding: Merged, review: Review) -> str:
    """The file of a finding; where it names none and there is only one, that one."""
    only = review.documents[0].path if len(review.documents) == 1 else ""
    return finding.place.path or only


def _region(place: Place, document: Document | None) -> dict[str, Any]:
    region: dict[str, Any] = {"startLine": place.first, "endLine": place.last}
    if document and place.how != "lines" and (found := anchors.span(place, document)):
        region = _columns(document, *found)
    if place.passage:
        region["snippet"] = {"text": _whole(place.passage)}
    return region


def _columns(document: Document, start: int, end: int) -> dict[str, Any]:
    first, column = anchors.position(document, start)
    last, after = anchors.position(document, end)
    return {"startLine": first, "startColumn": column, "endLine": last, "endColumn": after}


def _fixes(finding: Merged, review: Review) -> Iterator[dict[str, Any]]:
    for edit in edits.of(finding, review.documents):
        document = review.document(edit.path)
        if document:
            region = _columns(document, edit.start, edit.end)
            replacement = {"deletedRegion": region, "insertedContent": {"text": _whole(edit.new)}}
            change = {"artifactLocation": {"uri": _uri(edit.path)}, "replacements": [replacement]}
            text = _message(f"As {listing(map(_flat, edit.seats))} would write it")
            yield {"description": {"text": text}, "artifactChanges": [change]}


def _suppression(finding: Merged) -> dict[str, str]:
    why = [_flat(ruling.why) for _, ruling in finding.rulings if ruling.word == "withdrawn" and _flat(ruling.why)]
    reason = "A person dismissed it." if finding.status == "dismissed" else "All who raised it withdrew it."
    return {"kind": "external", "status": "accepted", "justification": " ".join([reason, *why])}


def _uri(path: str) -> str:
    """A relative reference, by its bytes: nothing of it can be read as a scheme or a host."""
    plain = _relative(path)
    return quote(plain.encode("utf-8", "replace" if not _bytes(plain) else "surrogateescape"), safe="/-._~")


def _uris(review: Review) -> list[str]:
    return list(dict.fromkeys(_uri(document.path) for document in review.documents))


def _relative(path: str) -> str:
    return posixpath.normpath(path).lstrip("/")


def _bytes(text: str) -> bool:
    return all("\udc80" <= char <= "\udcff" for char in text if "\ud800" <= char <= "\udfff")


# --- rdjson, for reviewdog


def rdjson(review: Review) -> str:
    """Reviewdog's diagnostic result. Columns count bytes, and ranges end before their end."""
    grave = {"error": "ERROR", "warning": "WARNING", "note": "INFO"}
    levels = [grave[LEVELS[finding.severity]] for finding in review.open]
    value: dict[str, Any] = {
        "source": {"name": "council"},
        "diagnostics": [
            _diagnostic(finding, review, level) for finding, level in zip(review.open, levels, strict=True)
        ],
    }
    if levels:
        value["severity"] = levels[0]
    return _json(value)


def _diagnostic(finding: Merged, review: Review, level: str) -> dict[str, Any]:
    diagnostic: dict[str, Any] = {
        "message": _sentence(finding),
        "location": _rd_location(finding, review),
        "severity": level,
        "code": {"value": f"council/{finding.severity}"},
        "original_output": "\n".join(_original(finding)),
    }
    if suggestions := list(_suggestions(finding, review)):
        diagnostic["suggestions"] = suggestions
    return diagnostic


def _original(finding: Merged) -> Iterator[str]:
    for said in finding.members:
        number = _flat(said.finding.number) or finding.id
        change = f" \u2192 {words}" if (words := _flat(said.finding.change)) else ""
        yield f"{_flat(said.seat)}: {said.finding.severity}: {number}: {_flat(said.finding.issue)}{change}"


def _rd_location(finding: Merged, review: Review) -> dict[str, Any]:
    place, path = finding.place, _file(finding, review)
    location: dict[str, Any] = {"path": _safe(_relative(path)) if path else ""}
    if place.how not in HOW:
        return location
    document = review.document(path)
    found = anchors.span(place, document) if document and place.how != "lines" else None
    if document and found:
        location["range"] = _bytes_range(document, *found)
    else:
        location["range"] = {"start": {"line": place.first}, "end": {"line": place.last}}
    return location


def _suggestions(finding: Merged, review: Review) -> Iterator[dict[str, Any]]:
    for edit in edits.of(finding, review.documents):
        if document := review.document(edit.path):
            yield {"range": _bytes_range(document, edit.start, edit.end), "text": _whole(edit.new)}


def _bytes_range(document: Document, start: int, end: int) -> dict[str, Any]:
    return {"start": _bytes_position(document, start), "end": _bytes_position(document, end)}


def _bytes_position(document: Document, offset: int) -> dict[str, int]:
    line, column = anchors.position(document, offset)
    before = document.text[offset - column + 1 : offset]
    raw = before.encode("utf-8", "surrogateescape" if _bytes(before) else "replace")
    return {"line": line, "column": len(raw) + 1}


# --- GitHub's annotations, for a workflow's log


def github(review: Review) -> str:
    """One command a finding."""
    return "".join(f"{_command(finding, review)}\n" for finding in review.open)


def _command(finding: Merged, review: Review) -> str:
    place, path = finding.place, _file(finding, review)
    properties: dict[str, str] = {"file": _relative(path)} if path else {}
    if place.how in HOW:
        properties |= {"line": str(place.first), "endLine": str(place.last)}
    properties["title"] = f"{finding.id} ({finding.severity}) by {listing(finding.supporters or ['nobody'])}"
    said = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    kind = {"note": "notice"}.get(LEVELS[finding.severity], LEVELS[finding.severity])
    return f"::{kind} {said}::{_data(_sentence(finding))}"


def _data(text: str) -> str:
    return _safe(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


KINDS: Mapping[str, Callable[[Review], str]] = {
    "md": markdown,
    "json": as_json,
    "sarif": sarif,
    "rdjson": rdjson,
    "github": github,
}
