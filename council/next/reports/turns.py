"""A turn as data for readers: its words, and its short answers as one line. What has an id, in its owner's words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from council.next.engine.planner import Plan
from council.next.engine.scene import Turn
from council.next.protocols.ids import Item, Register, items_of
from council.next.protocols.outcome import Outcome
from council.next.record.turn_file import Receipt
from council.next.replies.kinds import split_id
from council.next.replies.read import SHORT, Reply, heading, read
from council.next.text import fold, join_words
from council.next.workflow.model import Seat

# Printed in the line of a turn, or once in the list of what has an id.
ELSEWHERE = ("signs", "says", "moved_by", "conditions", "blocking", "rulings")
RECEIPT = ("speaker", "asked", "answered", "started", "seconds", "usd", "by", "via", "replayed")


def describe_turn(turn: Turn, plan: Plan, outcome: Outcome, receipt: Receipt) -> dict[str, Any]:
    register = Register.of(plan.scene)
    kinds = next(step.reply for step in plan.workflow.steps() if step.name == turn.step)
    words = (read(kinds, turn.said.body).prose if turn.first else "") or turn.prose
    first, was = first_of(turn, kinds, words)
    missing = [f'"## {heading(name)}"' for name in turn.asked if name not in turn.answers]
    lost = any(problem.startswith(name) for name in missing for problem in turn.problems)
    return {
        "turn": turn.id,
        "perspective": turn.seat.name,
        "label": turn.seat.label,
        "icon": turn.seat.get("icon"),
        "step": turn.step,
        "content": turn.said.body.strip() if lost else words,  # what cannot be read is shown whole
        "answers": {name: kinds[name].data(value) for name, value in turn.answers.items()},
        "shown": [] if lost else [*shown_of(turn, kinds, register)],
        "line": line_of(turn, kinds, outcome),
        "first": first,
        "was": was,
        "problems": list(turn.problems),
        "responding_to": answered_by(turn, register) or None,
        "absent": turn.absent,
        "receipt": {**{name: getattr(receipt, name) for name in RECEIPT}, "tokens": tokens_of(receipt)},
    }


def tokens_of(receipt: Receipt) -> int | None:
    """The tokens of a turn. None where a call was made and nobody counted them."""
    uncounted = receipt.input is None and receipt.output is None and receipt.usd != 0
    return None if uncounted else receipt.tokens


def first_of(turn: Turn, kinds: Reply, words: str) -> tuple[str | None, dict[str, Any]]:
    """The first reply of a turn that was asked once more: the whole, or where only answers differ, these."""
    if turn.first is None or turn.first.body == turn.said.body:
        return None, {}
    before = read(kinds, turn.first.body)
    if before.problems or before.prose != words:
        return turn.first.body.strip(), {}
    return None, {name: kinds[name].data(one) for name, one in before.found.items() if one != turn.answers.get(name)}


def shown_of(turn: Turn, kinds: Reply, register: Register) -> Iterator[str]:
    """The answers that are somebody's words, and are printed with the turn."""
    for name, value in turn.answers.items():
        if name == "rulings" and any(split_id(one)[0] not in register.items for one in items_of(turn.answers, name)):
            yield name  # a ruling on no item is in no list
        elif isinstance(value, str | tuple) and value and not (name in ELSEWHERE or isinstance(kinds[name], SHORT)):
            yield name


def line_of(turn: Turn, kinds: Reply, outcome: Outcome) -> str:
    """As in `recommends R1; signs R2, if K1 and K2; moved by Engineer (02-challenges/engineer)`."""
    given = fold(str(turn.answers.get("recommendation") or ""))
    parts = [f"recommends {item.id}" for item in outcome.recommendations if given and fold(item.by.text) == given]
    own = [one for vote in outcome.votes for one in vote if one.seat == turn.seat.name]
    voice = next((one for one in own if one.turn == turn.id), None)
    if voice and voice.silence:
        parts.append(voice.silence)
    elif voice and voice.score is None:
        terms = f", if {join_words(voice.conditions)}" if voice.conditions else ""
        parts.append(f"{outcome.count.asked} {voice.side}{terms}")
    short = (name for name in turn.answers if isinstance(kinds[name], SHORT) and name not in ELSEWHERE)
    parts += [f"{name.replace('_', ' ')} {turn.answers[name]}" for name in short]
    if voice and voice.blocking:
        parts.append(f"blocks for {join_words(voice.blocking)}")
    if voice and voice.move:
        by = voice.move
        parts.append(f"moved by {by.label} ({by.turn})" if by.turn else "moved by words that nobody had said")
    elif voice and not voice.silence:
        sides = [one.side for one in own[: own.index(voice)] if not one.silence]
        parts += ["moved, no reason given"] if sides and sides[-1] != voice.side else []
    return "; ".join(parts)


def describe_votes(seats: list[Seat], said: Mapping[str, Any], rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """Who recommended and signed what, member by round: the lines of its turns."""
    table = []
    for one in rounds:
        turns = [said[id] for id in one["turns"] if said[id]["line"]]
        cells = ["; ".join(turn["line"] for turn in turns if turn["perspective"] == seat.name) for seat in seats]
        if any(cells):
            table.append((f"round {one['round_number']}" if one["round_number"] else one["title"], cells))
    rows = [{"member": seat.label, "cells": [cells[place] for _, cells in table]} for place, seat in enumerate(seats)]
    return {"columns": [name for name, _ in table], "rows": rows if table else []}


def answered_by(turn: Turn, register: Register) -> list[str]:
    """The seats whose texts, conditions or blocking items a turn names by their ids."""
    answers = ("challenges", "rulings", "conditions")
    named = [split_id(item)[0] for name in answers for item in items_of(turn.answers, name)]
    named += [one.side for one in register.votes.get(turn.moment, ()) if one.turn == turn.id]
    owners = (register.items[id].by.seat for id in named if id in register.items)
    return list(dict.fromkeys(seat for seat in owners if seat != turn.seat.name))


def describe_items(plan: Plan, outcome: Outcome) -> list[dict[str, Any]]:
    """Every condition and blocking item in its owner's words, what the others said of it, and what became of it."""
    register = Register.of(plan.scene)
    terms = {term.item.id: term.standing for term in outcome.conditions}
    leads = bool(outcome.count.leading)
    labels = {turn.seat.name: turn.seat.label for turn in plan.scene.turns}
    return [
        {
            "id": item.id,
            "by": asdict(item.by),
            "standing": terms.get(item.id) or standing_of(item, register, leads),
            "others": [labels[seat] for seat in labels if seat in register.holders(item.id) and seat != item.by.seat],
            "adopted": [asdict(one) for one in item.adopted],
            "rulings": [{"word": one.word, **asdict(one.by)} for one in item.rulings],
        }
        for item in (*register.by_letter["K"], *register.by_letter["C"])
    ]


def standing_of(item: Item, register: Register, leads: bool) -> str:
    """What became of an item that is not a condition of the leading text."""
    if (first := register.same[item.id][0]) != item.id:
        return f"same as {first}"
    if not register.holders(item.id):
        return "withdrawn"
    return "open" if item.id[0] == "C" else "dropped with its text" if leads else "kept with its text"
