"""What a review comes to: one list, with whom it comes from, what could not be read, and what a person decided."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from council.engine.contributions import Part, Record, ReportSection
from council.engine.planner import Plan
from council.engine.scene import Turn
from council.errors import UsageError
from council.reviews import model, state
from council.reviews.entries import Merged, own_fingerprint
from council.reviews.formats.common import Review
from council.reviews.formats.markdown import counted, groups, title_of
from council.reviews.injection import marks
from council.reviews.inputs import find_fault
from council.reviews.locate import Place
from council.reviews.model import FINDINGS, RULINGS, SEVERITIES, SUMMARY, Pairing, Ruling, lists_findings
from council.reviews.rule import plain_id, stood
from council.workflow.model import Kind


def is_review(plan: Plan) -> bool:
    return state.is_review(plan.scene) or any((FINDINGS, Kind(FINDINGS)) in due.step.reply for due in plan.due)


def section(record: Record) -> ReportSection:
    """The one list as readers have it."""
    found = review(record.plan, record.topic, record.facts)
    graded = ((title, text, title.lower()) for title, text in groups(found))
    parts = (Part(title, text, tone if tone in SEVERITIES else "") for title, text, tone in graded)
    gravest = found.open[0].severity if found.open else ""
    tone = {"blocking": "disagree", "high": "disagree", "medium": "mixed"}.get(gravest, "agree")
    return ReportSection(title_of(found), counted(found), tuple(parts), f"{state.told(found.findings)}.", tone)


def review(plan: Plan, topic: str, facts: Mapping[str, Any]) -> Review:
    """The review as far as it has come; `facts` are the session's metadata."""
    asked = [turn for turn in plan.scene.turns if lists_findings(turn)]
    given = state.documents(topic)
    reasons: dict[str, str] = facts.get("dismissed") or {}
    found = state.reviewed(plan.scene, tuple(sorted(reasons)))
    return Review(
        title=str(facts["topic"]),
        session=facts["session_id"],
        documents=given,
        findings=found,
        unparsed=(*_unparsed(asked), *_unread(plan, found)),
        silent=tuple(dict.fromkeys(turn.seat.name for turn in plan.scene.turns if turn.absent)),
        none=tuple(_without(asked)),
        remarks=(*_dismissals(found, reasons), *_contradictions(asked), *_missing(plan), *marks(given)),
        summary=_summary(plan),
        outcome="complete" if plan.done else "not finished",
    )


def _unparsed(asked: list[Turn]) -> Iterator[tuple[str, str]]:
    """What a member wrote that is in no finding. Of a list that could not be read at all it is the whole reply."""
    for turn in asked:
        if turn.absent:
            continue
        read = turn.answers.get(FINDINGS)
        if read is None:
            yield turn.seat.name, turn.body.strip()
        else:
            yield from ((turn.seat.name, piece) for piece in read.unparsed)


def _unread(plan: Plan, found: tuple[Merged, ...]) -> Iterator[tuple[str, str]]:
    """What a member says of an id that was not in the list, or in none of the format's words."""
    from council.reviews.parse import duplicates

    for turn in plan.scene.turns:
        if RULINGS in turn.asked and not turn.absent:
            known = stood(found, turn.id.partition("/")[0])
            said = [one for one in turn.answers.get(RULINGS) or () if isinstance(one, Ruling | Pairing)]
            read = {plain_id(one.id) for one in said if known.issuperset(_ids(one))}
            yield from ((turn.seat.name, unit) for unit in duplicates.unread(turn.body, turn.said.brief, read))


def _ids(one: Ruling | Pairing) -> set[str]:
    return {plain_id(one.id), *([plain_id(one.other)] if isinstance(one, Pairing) else [])}


def _without(asked: list[Turn]) -> Iterator[str]:
    """Who said in so many words that there is nothing, in every list that they were asked for."""
    lists: dict[str, list[Any]] = {}
    for turn in asked:
        lists.setdefault(turn.seat.name, []).append(turn.answers.get(FINDINGS))
    for seat, read in lists.items():
        if all(isinstance(one, model.Findings) and one.none and not one.items for one in read):
            yield seat


def _dismissals(found: Iterable[Merged], reasons: Mapping[str, str]) -> Iterator[str]:
    """A line for each decision: what was joined when it was decided on has one reason for all its ids."""
    for one in found:
        ids = {reasons[part.id]: part.id for part in reversed(one.entries) if part.id in reasons}
        yield from (f"{id} was dismissed by a person: {why}" for why, id in reversed(ids.items()))


def _contradictions(asked: Iterable[Turn]) -> Iterator[str]:
    """Where a member's own count, or its approval, differs from what was read of its list."""
    for turn in asked:
        read = turn.answers.get(FINDINGS)
        if not isinstance(read, model.Findings):
            continue
        own = Counter(item.severity for item in read.items)
        for severity, count in read.tally:
            if own[severity] != count:
                read_ = f"and {own[severity]} could be read"
                yield f"{turn.seat.name} counts {count} {severity} findings in {turn.phase}, {read_}"
        if read.approved and own[SEVERITIES[0]] and SEVERITIES[0] not in dict(read.tally):
            yield f"{turn.seat.name} approves in {turn.phase}, and lists {own[SEVERITIES[0]]} blocking"


def _missing(plan: Plan) -> Iterator[str]:
    """What a review that is over should have and has not: challenges, and the words of its chair."""
    if not plan.done:
        return
    asked = [turn for turn in plan.scene.turns if RULINGS in turn.asked and not turn.absent]
    if asked and state.reviewed(plan.scene) and not any(turn.answers.get(RULINGS) for turn in asked):
        yield "nobody challenged the findings: no ruling could be read"
    if any(SUMMARY in turn.asked for turn in plan.scene.turns) and not _summary(plan).strip():
        yield "there is no summary"


def _summary(plan: Plan) -> str:
    said = [turn.answers[SUMMARY] for turn in plan.scene.turns if turn.answers.get(SUMMARY)]
    return str(said[-1]) if said else ""


# ---- gates ----


def failing(found: Review, least: str, known: frozenset[str] = frozenset()) -> list[Merged]:
    """The open findings that a gate does not let through: at that severity or above by a member's own word, and not
    known before. Of what was joined, all has to be known: neither words that are alike nor members' word that something
    new is something old lets anything through.
    """
    if least == "never":
        return []
    grave = SEVERITIES[: SEVERITIES.index(least) + 1]
    gated = (one for one in found.open if one.severity in grave and not one.inferred)
    return [one for one in gated if not known.issuperset(one.known_by)]


def baseline(path: Path) -> frozenset[str]:
    """The fingerprints of an earlier review, as `--format json` wrote them: of its findings, and of their members."""
    if path.exists() and (fault := find_fault(path)):
        raise UsageError(f"--baseline {path} {fault}")
    try:
        found = json.loads(path.read_bytes())
        entries = [(one, *map(_with_fingerprint, one.get("members", ()))) for one in found["findings"]]
        return frozenset(
            str(mark)
            for one, *members in entries
            for mark in (one["fingerprint"], *one.get("fingerprints", ()), *members)
        )
    except OSError as failure:
        raise UsageError(f"--baseline {path}: {failure.strerror}") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise UsageError(f"--baseline {path}: not a review that --format json wrote") from None


def _with_fingerprint(member: Mapping[str, Any]) -> str:
    """A member's own fingerprint; reports of 0.2 do not have it, but all that it is made of."""
    if "fingerprint" in member:
        return str(member["fingerprint"])
    named = member["place"]
    place = Place(named["path"], passage=named["passage"], how=named["how"])
    return own_fingerprint(place, member["issue"], member["change"])


def dismissed(plan: Plan, facts: Mapping[str, Any], decided: Mapping[str, str]) -> dict[str, str]:
    """A person's word on findings, by id: they leave the list, and stand beside it with the reason. Of what was joined
    it is said of every part: that is what the person saw, whatever of it is joined later.
    """
    listed = state.reviewed(plan.scene)
    known = {part.id: one for one in listed for part in one.entries}
    decided = {plain_id(id): why for id, why in decided.items()}
    for id in decided:
        if id not in known:
            ids = ", ".join(one.id for one in listed)
            raise UsageError(f"there is no finding {id} in {facts['session_id']}; there are {ids or 'none'}")
    parts = {part.id: why for id, why in decided.items() for part in known[id].entries}
    return {**(facts.get("dismissed") or {}), **parts}
