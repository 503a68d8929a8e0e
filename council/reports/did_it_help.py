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
from council.record.session import Session
from council.text import one_line

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
    """How the answer and the cost changed from the first round to the last."""
    if found.last.turns and found.first.turns == found.last.turns:
        parts = [
            f"The members were asked once: {_said(found.first)}, so no change can be measured",
            _price(found.spent),
        ]
    else:
        last = f"Last round: {_said(found.last)}, {_change(found)}"
        spent = f"{_price(found.spent)}, of which {_price(found.before)} up to the first round"
        parts = [f"First round: {_said(found.first)}", last, _moves(found), spent]
    return ". ".join([*parts, *([_beside(found)] if found.control else [])]) + "."


def _said(count: RoundCount) -> str:
    if count.mean is not None:
        return f"mean {count.mean:g} (of {count.of})"
    if count.answer:
        return f"{count.answer} ({count.counts[count.answer]} of {count.of})"
    votes = ", ".join(f"{votes} {answer}" for answer, votes in count.counts.items()) or "nobody was heard"
    return f"no majority ({votes}, of {count.of})"


def _change(found: Comparison) -> str:
    if found.first.mean is not None and found.last.mean is not None:
        points = found.last.mean - found.first.mean
        return (
            f"the same within {STEP} points"
            if found.same
            else f"{abs(points):.3g} points {'up' if points > 0 else 'down'}"
        )
    if found.same:
        return "the same"
    if found.last.answer is None:
        return "the majority is gone"
    return "another answer" if found.first.answer else "a majority now"


def _moves(found: Comparison) -> str:
    total = len(found.flips)
    kinds = ", ".join(f"{number} {kind}" for kind, number in found.kinds.items() if number)
    return f"{total} change{'s' if total > 1 else ''} of mind ({kinds})" if total else "Nobody changed their mind"


def _price(spent: CallTotals) -> str:
    usd = "an unknown price" if spent.usd is None else f"${spent.usd:.4f}"
    return f"{spent.calls} call{'' if spent.calls == 1 else 's'} and {usd}"


def _beside(found: Comparison) -> str:
    facts = _control_facts(found)
    if facts["answer"] is None:
        return "One plain answer without a debate was requested and could not be read"
    said = (
        f"One plain answer without a debate ({_price(CallTotals(facts['calls'], facts['usd']))}) said {facts['answer']}"
    )
    if found.last.answer is None:
        return f"{said}, where the debate has no majority"
    return f"{said}: {'the same as the debate' if facts['same'] else 'not what the debate says'}"


def _line(session: Session, plan: Plan, flip: Flip, numbers: Numbers) -> str:
    flaw = one_line(restore_names(flip.flaw, flip.turn, session.workflow, plan.scene), LONGEST_FLAW).translate(INNER)
    told = {
        mind_changes.PERSUADED: f"“{flaw}” It is in {flip.source.id if flip.source else ''}, which they had read.",
        mind_changes.CONFORMED: f"“{flaw}” It is in no other member's turn that they had read.",
        mind_changes.UNEXPLAINED: "they name no flaw in what they said before.",
    }
    moved = f"{flip.turn.seat.label}, round {_number(flip, numbers)}: {flip.before} → {flip.after}"
    return f"{moved}, {flip.kind}: {told[flip.kind]}"
