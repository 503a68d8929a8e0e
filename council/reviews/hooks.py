"""What reviews add to the language: two types of answers, a rule, the outcome of a review, and formats.

Every command imports this, and few of them are about reviews: what reads and merges is imported when it is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from council.engine.conditions import rule
from council.engine.contributions import IndexEntry, Record, ReportSection, findings_report, indexed, section
from council.engine.facts import PromptContext, fact
from council.engine.scene import Scene, Verdict
from council.protocols.stances import Standing, assess_stances, register_reading
from council.reviews.model import FORMAT, RULING_FORMAT, lists_findings
from council.workflow.types import AnswerType, answer_type

REVIEWED, CONTESTED = "reviewed", "reviewed, contested"


def _read_findings(body: str, brief: str, says_none: bool) -> Any:
    from council.reviews.parse import duplicates, findings

    listed = findings.read(body, brief)
    if listed or (listed.unparsed and not says_none):
        return listed or None
    # Who was asked for rulings too and gave only those has nothing to add.
    ruled = RULING_FORMAT.partition("\n")[2] in brief and duplicates.judged(body, brief)
    return replace(listed, none=True) if says_none or ruled else None


def _read_rulings(body: str, brief: str, says_none: bool) -> Any:
    from council.reviews.parse import duplicates

    ruled = duplicates.judged(body, brief)
    return ruled if ruled or says_none else None


answer_type(
    AnswerType(
        "findings",
        "a review's list of findings",
        FORMAT,
        _read_findings,
        '("No findings." | ("**BLOCKING:**" | "**HIGH:**" | "**MEDIUM:**" | "**LOW:**") NEW_LINE items)',
        documents="a review needs a document: name a file that exists, or attach one with --file",
        careful="it is too small for reviews: it overlooks faults that are there and invents others",
    )
)
answer_type(
    AnswerType(
        "rulings",
        "what is said of others' findings in a review",
        RULING_FORMAT.removeprefix("## Rulings\n"),
        _read_rulings,
        '("none" | ("- " [BHML] [1-9] ": " ("agree" | "disagree with concern: " clause) NEW_LINE){1,6})',
    )
)


@rule
def contested(scene: Scene, *, severity: str = "blocking") -> Verdict:
    """A finding of that severity is open, and somebody who did not make it disagrees."""
    from council.reviews.state import reviewed

    open_ = [one for one in reviewed(scene) if one.severity == severity and one.status == "contested"]
    ids = ", ".join(one.id for one in open_)
    return Verdict(bool(open_), f"{ids} contested" if open_ else f"no {severity} finding is contested", ("contested",))


@register_reading
def by_findings(scene: Scene) -> Standing | None:
    """A review's members say where they stand of each finding."""
    if not any(map(lists_findings, scene.turns)):
        return None
    from council.reviews.state import reviewed, told

    found = reviewed(scene)
    disputed = any(one.status == "contested" for one in found)
    outcome = CONTESTED if disputed else REVIEWED
    return replace(assess_stances(scene), outcome=outcome, reason=told(found), own=True)


@fact
def findings(context: PromptContext) -> str:
    """In a review: the merged list of findings."""
    from council.reviews import state

    labels = {seat.name: seat.label for seat in context.workflow.all_seats()}
    return context.fence("the members", state.listed(state.reviewed(context.scene), labels), context.due.step.name)


@indexed(types=("findings",))
def review_findings(record: Record) -> Iterator[IndexEntry]:
    """The merged list, entry by entry, each where it was raised first."""
    from council.reviews.state import reviewed

    for one in reviewed(record.plan.scene, tuple(record.facts.get("dismissed", {}))):
        facts = {
            "id": one.id, "severity": one.severity, "path": one.place.path or None, "line": one.place.first or None,
            "status": one.status, "issue": one.issue, "change": one.change or None,
            "seats": [member.seat for member in one.members],
        }  # fmt: skip
        yield IndexEntry("finding", one.members[0].turn, f"{one.issue}\n{one.change}", facts)


@section
def patchlist(record: Record) -> ReportSection | None:
    """The merged list of a review that is over."""
    if not record.plan.done or not any(map(lists_findings, record.plan.scene.turns)):
        return None
    from council.reviews import report

    return report.section(record)


@findings_report
def formatted(record: Record, form: str) -> str | None:
    """The list of a review, or what programs found in code, in one of the formats."""
    from council.reviews import formats, inspected, report

    if report.is_review(record.plan):
        return formats.render(form, report.review(record.plan, record.topic, record.facts))
    found = inspected.review(record)
    return formats.render(form, found) if found else None
