"""What candidates add to the language: the answer type `files`, and the rules, order and views over versions."""

from __future__ import annotations

from typing import Any

from council.candidates import approval, artifacts, checks, facts, options, words  # noqa: F401
from council.candidates.files import FORMAT
from council.engine.contributions import Record, ReportSection, section
from council.workflow.types import AnswerType, answer_type


def _read(body: str, brief: str, says_none: bool) -> Any:
    from council.candidates.files import read_files

    return read_files(body, brief, says_none)


answer_type(AnswerType("files", "files to write or delete, or one diff", FORMAT, _read, grammar="", alone=True))


@section
def result(record: Record) -> ReportSection | None:
    """What a code session ended with."""
    from council.candidates import report

    return report.describe(record)
