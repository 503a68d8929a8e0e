"""What every format renders: the review, and helpers for its texts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from council.reviews import patch
from council.reviews.entries import Merged
from council.reviews.model import SEVERITIES, Document
from council.text import harmless

HOW = {
    "exact": "quoted to the letter",
    "folded": "quoted, but for spacing and marks",
    "fuzzy": "quoted nearly",
    "lines": "by its lines",
    "section": "by its section",
}
LEVELS = {"blocking": "error", "high": "warning", "medium": "warning", "low": "note"}


@dataclass(frozen=True)
class Review:
    """All that is shown of a review. `silent` are the seats that were not heard, `none` those that found nothing;
    `stops` are the ids of the findings that `--fail-on` stops at, and by default every BLOCKING one.
    """

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
    stops: frozenset[str] | None = None

    def level(self, finding: Merged) -> str:
        """Error where the exit code says so too, so that a build and its annotations agree."""
        default = finding.severity == SEVERITIES[0] and not finding.inferred
        if default if self.stops is None else finding.id in self.stops:
            return "error"
        return "note" if finding.severity == SEVERITIES[-1] else "warning"

    @property
    def open(self) -> tuple[Merged, ...]:
        return self._graded(finding for finding in self.findings if finding.status not in patch.SET_ASIDE)

    @property
    def set_aside(self) -> tuple[Merged, ...]:
        return self._graded(finding for finding in self.findings if finding.status in patch.SET_ASIDE)

    def _graded(self, findings: Iterable[Merged]) -> tuple[Merged, ...]:
        return tuple(sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity)))

    def document(self, path: str) -> Document | None:
        return next((document for document in self.documents if document.path == path), None)


def safe(text: str) -> str:
    """A text that every format can hold: no control characters, no half characters, line feeds alone break lines."""
    text = harmless(re.sub(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]", "\n", text))
    return re.sub(r"[\ud800-\udfff]", "\ufffd", text)


def flat(text: str) -> str:
    return " ".join(safe(text).split())


def to_json(value: Any) -> str:
    """In ASCII: no terminal obeys it, no encoding breaks it."""
    return json.dumps(value, indent=2) + "\n"
