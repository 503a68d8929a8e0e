"""What in a document speaks to programs that read it and not to people: reported, and of no effect. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from council.reviews.model import Document
from council.text import one_line

COMMENT = re.compile(r"<!--(.*?)(?:-->|\Z)", re.S)
HIDDEN = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f]")
ENCODED = re.compile(r"[A-Za-z0-9+/]{80,}={0,2}")
FORGED = re.compile(r"</?said by=|^#{1,6}\s*(?:now:|who you are|once more|the findings so far)", re.I | re.M)
# "Security" and "Summary" are sections of many documents: they are a member's only over what a member says.
SEAT = re.compile(
    r"^(?:#{1,6}\s*|\*\*)\W{0,4}(?:(?:architect|designer|engineer|researcher|chair|intern|writer)\b"
    r"|security\b[^\n]{0,40}\n\W{0,8}(?:no findings|findings|rulings|stance|lgtm|i (?:dis)?agree|withdrawn)\b)",
    re.I | re.M,
)
VERDICT = re.compile(
    r"^\W{0,6}(?:findings|rulings|stance|blocking)\W{0,4}\s*$"
    r"|^\W{0,6}summary\W{0,4}\n\W{0,8}[^\n]{0,200}\b(?:review|reviewers?|findings?|council)\b"
    r"|^\W{0,4}[BHML]\d{1,3}\W{0,4}(?:withdrawn|agree|(?:is )?(?:the )?same as|duplicate of|identical to)\b"
    r"|^\W{0,4}[BHML]\d{1,3} ?={1,3} ?[BHML]\d{1,3}\b",
    re.I | re.M,
)
ORDER = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:above|previous|prior|earlier|all|instructions?|rules?)\b"
    r"|\b(?:report|write|say|output|answer)\b.{0,20}\b(?:no|zero)\s+(?:findings|issues|problems)\b"
    r"|\b(?:you are now|system prompt|as an ai|new instructions?)\b"
    r"|\b(?:vergiss|ignoriere)\b.{0,40}\b(?:anweisungen|alles|vorherige)\b",
    re.I,
)
KINDS = (
    ("an instruction to its readers", ORDER),
    ("an HTML comment", COMMENT),
    ("invisible characters", HIDDEN),
    ("a long encoded passage", ENCODED),
    ("marks of council's own", FORGED),
    ("a heading as a member's", SEAT),
    ("an answer as a member's", VERDICT),
)


def marks(documents: Sequence[Document]) -> tuple[str, ...]:
    """A line for each kind of mark in each document: how often, and where first."""
    return tuple(line for document in documents for line in _marks(document))


def _marks(document: Document) -> Iterator[str]:
    for what, pattern in KINDS:
        found = [match for match in pattern.finditer(document.text) if match.group().strip() or pattern is HIDDEN]
        if found:
            line = document.text.count("\n", 0, found[0].start()) + 1
            times = "" if len(found) == 1 else f", {len(found)} times"
            shown = "" if pattern is HIDDEN else f": “{one_line(found[0].group(), 80)}”"
            yield f"{document.path}:{line} holds {what}{times}{shown}"
