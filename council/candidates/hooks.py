"""What candidates add to the language: the answer type `files`, and the rules, order and views over versions."""

from __future__ import annotations

from typing import Any

from council.candidates import approval, artifacts, checks, entries, facts, options, words  # noqa: F401
from council.candidates.files import FORMAT
from council.engine.contributions import Inspection, Record, ReportSection, inspection, section, shortfall
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


@shortfall
def tests_fail(record: Record) -> str:
    """Why there is no winner, or why it is not known to be green, where council ran tests."""
    from council.candidates import results

    return results.explain_shortfall(record)


@inspection
def checkers(record: Record) -> Inspection | None:
    """What checkers found in the code that won."""
    from council.candidates import complaints

    return complaints.inspect(record)
