"""A turn as data for readers: its words, and its short answers as one line. What has an id, in its owner's words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from council.next.engine.planner import Plan
from council.next.engine.scene import Turn
from council.next.protocols.ids import Item, Register, items_of
from council.next.protocols.outcome import Outcome
from council.next.protocols.voices import SAYS, SIGNS, Move, Voice, find_move
from council.next.record.turn_file import Receipt
from council.next.replies.kinds import Choice, Ident, Kind, Number, Vote, split_id
from council.next.replies.read import heading
from council.next.text import join_words

BY_ID = ("conditions", "blocking", "rulings")  # these are printed once, in the list of what has an id
RECEIPT = ("speaker", "asked", "answered", "started", "seconds", "usd", "by", "via", "replayed")


def describe_turn(turn: Turn, plan: Plan, receipt: Receipt) -> dict[str, Any]:
    register = Register.of(plan.scene)
    kinds = next(step.reply for step in plan.workflow.steps() if step.name == turn.step)
    again = turn.first is not None and turn.first.body != turn.said.body
    lost = any(
        problem.startswith(f'"## {heading(name)}"')
        for name in turn.asked
        if name not in turn.answers
        for problem in turn.problems
    )
    return {
        "turn": turn.id,
        "perspective": turn.seat.name,
        "label": turn.seat.label,
        "icon": turn.seat.get("icon"),
        "step": turn.step,
        "content": turn.said.body.strip() if lost else turn.prose,  # what cannot be read is shown whole
        "answers": {name: kinds[name].data(value) for name, value in turn.answers.items()},
        "shown": [] if lost else [*shown_of(turn, kinds, register)],
        "line": line_of(turn, kinds, register),
        "first": turn.first.body.strip() if turn.first and again else None,
        "problems": list(turn.problems),
        "responding_to": answered_by(turn, register) or None,
        "absent": turn.absent,
        "receipt": {**{name: getattr(receipt, name) for name in RECEIPT}, "tokens": receipt.tokens},
    }


def shown_of(turn: Turn, kinds: Any, register: Register) -> Iterator[str]:
    """The answers that are somebody's words, and are printed with the turn."""
    for name, value in turn.answers.items():
        if name in BY_ID:
            # What names no id is in no list, so it is printed here.
            if name == "rulings" and any(split_id(one)[0] not in register.items for one in items_of(turn, name)):
                yield name
        elif value and isinstance(value, str | tuple) and not is_short(kinds[name]) and name != "moved_by":
            yield name


def is_short(kind: Kind) -> bool:
    return isinstance(kind, Choice | Ident | Number | Vote)


def line_of(turn: Turn, kinds: Any, register: Register) -> str:
    """As in `recommends R1; signs R2, if K1 and K2; moved by “…” (Engineer, 02-challenges/engineer)`."""
    own, conditions, blocking = register.held_at(turn)
    parts = [f"recommends {own}"] if own and turn.answers.get("recommendation") else []
    terms = f", if {join_words(conditions)}" if conditions else ""
    for name, value in turn.answers.items():
        if name == SIGNS:
            signature = register.signed.get(turn.id)
            side = signature.side if signature else ""
            why = f": {signature.why}" if signature and signature.why else ""
            parts.append(f"signs {side}{why}{terms}" if side else "spoke, signs unreadable")
        elif is_short(kinds[name]):
            word = "says" if name == SAYS else name.replace("_", " ")
            terms_here = terms if name == SAYS else ""
            parts.append(f"{word} {value}{terms_here}")
    parts += [f"blocks for {join_words(blocking)}"] if blocking and "blocking" in turn.asked else []
    if move := find_move(turn, register.scene):
        parts.append(describe_move(move, str(turn.answers.get("moved_by"))))
    return "; ".join(parts)


def describe_move(move: Move, given: str) -> str:
    """Whose words moved a member. A quotation that nobody said is called that."""
    if move.by:
        return f"moved by “{move.words}” ({move.by.label}, {move.by.turn})"
    return f"moved by {given}, which nobody had said"


def describe_votes(outcome: Outcome, rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """Who signed what, member by round, on which conditions, and whose words moved it."""
    names = {
        id: f"round {one['round_number']}" if one["round_number"] else one["title"]
        for one in rounds
        for id in one["turns"]
    }
    rows: dict[str, dict[str, Any]] = {}
    sides: dict[str, str] = {}
    for number, vote in enumerate(outcome.votes):
        for one in vote:
            row = rows.setdefault(one.seat, {"member": one.label, "cells": []})
            row["cells"] += [""] * (number - len(row["cells"]))
            moved = not one.silence and sides.get(one.seat, one.side) != one.side
            row["cells"].append(cell_of(one, outcome.count.asked, moved))
            sides |= {one.seat: one.side} if not one.silence else {}
    return {"columns": [names[vote[0].turn] for vote in outcome.votes], "rows": [*rows.values()]}


def cell_of(one: Voice, asked: str, moved: bool) -> str:
    if one.silence:
        return one.silence
    support = f"{asked} {one.side}" if one.score is None else f"{one.score:g}"
    parts = [f"recommends {one.recommends}"] if one.recommends else []
    parts.append(f"{support}, if {join_words(one.conditions)}" if one.conditions else support)
    parts += [f"blocks for {join_words(one.blocking)}"] if one.blocking else []
    if one.move and one.move.by:
        parts.append(f"moved by {one.move.by.label} ({one.move.by.turn})")
    elif moved or one.move:
        parts.append("moved, no reason given")
    return "; ".join(parts)


def answered_by(turn: Turn, register: Register) -> list[str]:
    """The seats whose texts, conditions or blocking items a turn names by their ids."""
    named = [split_id(item)[0] for name in ("challenges", "rulings", "conditions") for item in items_of(turn, name)]
    named += [register.signed[turn.id].side] if turn.id in register.signed else []
    owners = (register.items[id].by.seat for id in named if id in register.items)
    return list(dict.fromkeys(seat for seat in owners if seat != turn.seat.name))


def describe_items(plan: Plan, outcome: Outcome) -> list[dict[str, Any]]:
    """Every condition and blocking item in its owner's words, what the others said of it, and what became of it."""
    register = Register.of(plan.scene)
    terms = {term.item.id: term.standing for term in outcome.conditions}
    leads = bool(outcome.count.leading)
    return [
        {
            "id": item.id,
            "by": asdict(item.by),
            "standing": terms.get(item.id) or standing_of(item, register, leads),
            "adopted": [asdict(one) for one in item.adopted],
            "rulings": [{"word": one.word, **asdict(one.by)} for one in item.rulings],
        }
        for item in (*register.of_letter("K"), *register.of_letter("C"))
    ]


def standing_of(item: Item, register: Register, leads: bool) -> str:
    """What became of an item that is no condition of the leading text."""
    if register.canonical(item.id) != item.id:
        return f"same as {register.canonical(item.id)}"
    if not any(one.holders for one in register.joined(item.id)):
        return "withdrawn"
    if item.id[0] == "C":
        return "open"
    return "dropped with its text" if leads else "stands with its text"
