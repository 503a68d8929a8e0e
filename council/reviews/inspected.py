"""What programs found in code, as a list like that of a review, so that it has the same formats. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from council.engine.contributions import Complaint, Inspection, Record, inspection
from council.reviews.entries import Merged, RaisedFinding, digest
from council.reviews.formats.common import Review
from council.reviews.locate import Place
from council.reviews.model import Anchor, Document, Finding


def review(record: Record) -> Review | None:
    """The list of a session whose code programs looked at; None if they did not."""
    given = next((one for inspect in inspection.known.values() if (one := inspect(record))), None)
    if given is None:
        return None
    documents = tuple(Document(path, text) for path, text in sorted(given.texts.items()))
    return Review(
        title=str(record.facts["topic"]),
        session=record.facts["session_id"],
        documents=documents,
        findings=tuple(_list(given)),
        unparsed=given.unread,
        silent=given.silent,
        outcome="complete",
    )


def _list(given: Inspection) -> Iterator[Merged]:
    """A finding for each, with an id of its own; nobody rules on them."""
    counts: Counter[str] = Counter()
    for one in sorted(given.found, key=lambda one: (one.path, one.line)):
        letter = one.severity[0].upper()
        counts[letter] += 1
        id, issue = f"{letter}{counts[letter]}", f"{one.rule}: {one.message}"
        finding = Finding(id, one.severity, issue, anchor=Anchor(one.path, one.line, one.line))
        lines = given.texts.get(one.path, "").splitlines()
        passage = lines[one.line - 1] if one.line <= len(lines) else ""
        where = Place(one.path, one.line, one.line, passage, "lines")
        said = RaisedFinding(one.seat, one.turn, finding, where)
        yield Merged(
            id, one.severity, {one.seat: one.severity}, (said,), issue, "", where, _mark(one, passage),
            rule=one.rule,
        )  # fmt: skip


def _mark(one: Complaint, passage: str) -> str:
    """The same wherever the line has moved to, and whatever numbers the message has."""
    return digest("checker", one.path, one.rule, re.sub(r"\d+", "", one.message), passage.strip())
