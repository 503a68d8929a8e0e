"""Whether the debate helped: who changed their mind and why, for readers and for programs.

A debate that asked for neither stances nor scores has no such report.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from council.engine.anonymity import restore_names
from council.engine.planner import Plan
from council.protocols import mind_changes, outcome
from council.protocols.mind_changes import (
    STEP,
    CallTotals,
    Comparison,
    Flip,
    RoundCount,
)
from council.protocols.stances import AGREE, DISAGREE
from council.record.session import Session
from council.text import join_words, one_line

HEADING = "Did the debate help?"
LONGEST_FLAW = 400
INNER = str.maketrans({"“": "\u2018", "”": "\u2019", '"': "\u2019"})  # quotation marks inside a quotation
Numbers = Mapping[tuple[str, int], int]  # a round of a phase, and which of all rounds it is


def facts(session: Session, plan: Plan) -> dict[str, Any]:
    """For `convergence.json`: the changes of mind so far, and once the debate is over, whether it helped."""
    if (found := measure(session, plan)) is None:
        return {}
    numbers = outcome.number_rounds(plan)
    listed = [_row(session, plan, flip, numbers) for flip in found.flips]
    return {"flips": listed, **({"helped": _compare(found)} if plan.done else {})}


def _row(session: Session, plan: Plan, flip: Flip, numbers: Numbers) -> dict[str, Any]:
    return {
        "seat": flip.turn.seat.name,
        "from": flip.before,
        "to": flip.after,
        "round": _number(flip, numbers),
        "turn": flip.turn.id,
        "flaw": restore_names(flip.flaw, flip.turn, session.workflow, plan.scene) or None,
        "kind": flip.kind,
        "stands_in": flip.source.id if flip.source else None,
        "concerns": list(flip.concerns),
    }


def _number(flip: Flip, numbers: Numbers) -> int:
    """The number of the round in which it happened; a round that is not over yet is the next one."""
    return numbers.get((flip.turn.phase, flip.turn.round), len(numbers) + 1)


def _compare(found: Comparison) -> dict[str, Any]:
    control = {"control": _control_facts(found)} if found.control else {}
    return {
        "first": _count_facts(found.first),
        "final": _count_facts(found.last),
        "same": found.same,
        "flips": found.kinds,
        "calls": found.spent.calls,
        "usd": found.spent.usd,
        "first_calls": found.before.calls,
        "first_usd": found.before.usd,
        **control,
    }


def _count_facts(count: RoundCount) -> dict[str, Any]:
    if count.mean is not None:
        return {"mean": count.mean, "of": count.of}
    return {"answer": count.answer, "counts": dict(count.counts), "of": count.of}


def _control_facts(found: Comparison) -> dict[str, Any]:
    assert found.control is not None
    said, took = mind_changes.read_control_answer(found.control), mind_changes.sum_calls([found.control])
    same = None if said is None else said == found.last.answer
    return {"answer": said, "same": same, "calls": took.calls, "usd": took.usd}


# ---- for readers ----


def measure(session: Session, plan: Plan) -> Comparison | None:
    """Compare the first round that asked with the last; None if the debate asked for nothing that can be measured."""
    return mind_changes.compare_rounds(plan.scene, mind_changes.find_measured_field(session.workflow))


def moves(session: Session, plan: Plan, found: Comparison) -> Iterator[str]:
    """A line for each change of mind."""
    numbers = outcome.number_rounds(plan)
    yield from (_line(session, plan, flip, numbers) for flip in found.flips)


def sentence(found: Comparison) -> str:
    """How the answers changed from the first count to the final one, and what the debate cost."""
    if found.last.turns and found.first.turns == found.last.turns:
        parts = [f"Only count: {_format_count(found.first)} (no change can be measured)"]
        cost = f"Cost: {_format_cost(found.spent)}"
    else:
        total, calls = len(found.flips), found.before.calls
        kinds = ", ".join(f"{number} {kind}" for kind, number in found.kinds.items() if number)
        moves = f"{total} change{'s' if total > 1 else ''} of mind ({kinds})" if total else "Nobody changed their mind"
        last = f"Final count: {_format_count(found.last)}{_format_change(found)}"
        parts = [f"First count: {_format_count(found.first)}", last, moves]
        before = f"{calls} call{'' if calls == 1 else 's'} before the first count"
        cost = f"Cost: {_format_cost(found.spent)}, of which {before}"
    return ". ".join([*parts, cost, *([_compare_control(found)] if found.control else [])]) + "."


def _format_count(count: RoundCount) -> str:
    """`3 of 4 agree`, or every answer with its number if none has a majority."""
    if count.mean is not None:
        return f"mean {count.mean:g} (of {count.of})"
    if count.answer:
        verb = count.answer if count.answer in (AGREE, DISAGREE) else f"say {count.answer}"
        return f"{count.counts[count.answer]} of {count.of} {verb}"
    absent = sum(turn.absent is not None for turn in count.turns)
    unreadable = count.of - sum(count.counts.values()) - absent
    silent = ((absent, "not heard"), (unreadable, "unreadable"))
    votes = [(votes, answer) for answer, votes in count.counts.items()]
    return ", ".join(f"{number} {what}" for number, what in (*votes, *silent) if number)


def _format_change(found: Comparison) -> str:
    """How the final count differs, where the two counts do not already show it."""
    if found.first.mean is not None and found.last.mean is not None:
        points = found.last.mean - found.first.mean
        changed = f", {abs(points):.3g} points {'up' if points > 0 else 'down'}"
        return f", the same within {STEP} points" if found.same else changed
    if found.first.answer and not found.last.answer:
        return " (no majority any more)"
    return " (a different answer)" if found.first.answer and not found.same else ""


def _format_cost(spent: CallTotals) -> str:
    usd = "unknown price" if spent.usd is None else f"${spent.usd:.4f}"
    return f"{spent.calls} call{'' if spent.calls == 1 else 's'} ({usd})"


def _compare_control(found: Comparison) -> str:
    facts = _control_facts(found)
    if facts["answer"] is None:
        return "Baseline without a debate: the answer could not be read"
    same = "the same as the debate" if facts["same"] else "not the debate's answer"
    compared = same if found.last.answer else "the debate has no majority"
    cost = _format_cost(CallTotals(facts["calls"], facts["usd"]))
    return f"Baseline without a debate, {cost}: {facts['answer']}, {compared}"


def _line(session: Session, plan: Plan, flip: Flip, numbers: Numbers) -> str:
    flaw = one_line(restore_names(flip.flaw, flip.turn, session.workflow, plan.scene), LONGEST_FLAW).translate(INNER)
    moved = f"{flip.turn.seat.label}, round {_number(flip, numbers)}: {flip.before} → {flip.after}"
    return f"{moved}, {flip.kind}: {_explain(flip, flaw)}"


def _explain(flip: Flip, flaw: str) -> str:
    """What moved the seat: its own words, and the turn that has words of them, or what became of its concerns."""
    if flaw:
        return f"“{flaw}”" + (f" Words of it are in {flip.source.id}, which they had read." if flip.source else "")
    if not flip.concerns:
        return "they name no flaw in what they said before."
    one = len(flip.concerns) == 1
    ended = "settled" if mind_changes.is_rise(flip.before, flip.after) else "raised"
    if flip.source:
        ended = f"settled, as {flip.source.id} answered {'it' if one else 'one of them'}"
    return f"{join_words(flip.concerns)} {'was' if one else 'were'} {ended}."
