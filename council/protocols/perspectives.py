"""Perspectives in their debate: who was muted, who repeats, who is seated opposite, and how sure the end can be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from council.engine.contributions import Addition, Record, addition, remark
from council.engine.facts import PromptContext, fact
from council.engine.orders import Batches, order
from council.engine.planner import ENDED_BY_CAP
from council.engine.rules import measure_repetition
from council.engine.scene import Scene, Turn
from council.protocols.casting import (
    ANY_NUMBER,
    LEAST_CAST,
    MARKS,
    NAME_END,
    find_newest,
    find_opposite,
    join_titles,
    list_items,
    read_cast,
    split_source,
)  # fmt: skip
from council.protocols.consensus import SAME_SHARE
from council.text import one_line, slug
from council.workflow import declare
from council.workflow.model import HUMAN, LONGEST_NAME, Cast, Ref, Seat, Workflow

UNMUTED = "unmuted"  # the order that leaves out muted seats
CONFIDENCE = declare.answer("confidence", "high, medium or low; lowered if the perspectives never settled")
ASK = declare.answer("ask", "from a seat that prepares the debate: its question to the person who answers next")
LOW = "low"


# ---- who was muted ----


def still_heard(seats: Iterable[Seat], scene: Scene, by: str) -> tuple[Seat, ...]:
    """The seats that are not muted. A mute is permanent, but does not count if fewer than two seats would remain."""
    left = list(seats)
    for item in list_mutes(scene, by):
        seat = find_named_seat(item, left)
        if seat is not None and len(left) > LEAST_CAST:
            left.remove(seat)
    return tuple(left)


@order(sources=("by", "of", "opposed"))
def unmuted(
    seats: tuple[Seat, ...],
    scene: Scene,
    *,
    by: Any,
    then: Any = "parallel",
    of: Any = "",
    opposed: Any = "",
    number: Any = "",
) -> Batches:
    """In the order `then`, without the seats that the answer `by` has muted so far. At least two seats remain.

    With `of`, `opposed` and `number`, as in the rule `cast`: if no two of the cast are opposed, an opposite from the
    catalog is seated too."""
    order.check(Ref(str(then)))
    if of and (found := find_opposite(scene, of, opposed, str(scene.options.get(number, ANY_NUMBER)))):
        seats = (*seats, found[0])
    spoken: Batches = order.call(Ref(str(then)), still_heard(seats, scene, by), scene)
    return spoken


def list_opposites(scene: Scene, workflow: Workflow) -> list[tuple[Seat, str]]:
    """The seats that council added to the cast, each with the title that it is the opposite of."""
    asked = [
        step.order.args for _, step in workflow.steps() if step.order.name == UNMUTED and step.order.args.get("of")
    ]
    keys = dict.fromkeys((args["of"], args["opposed"], args.get("number", "")) for args in asked)
    found = (
        find_opposite(scene, of, opposed, str(scene.options.get(number, ANY_NUMBER))) for of, opposed, number in keys
    )
    return [one for one in found if one]


def list_mutes(scene: Scene, by: str) -> Iterator[str]:
    step, name = split_source(by)
    for turn in scene.named(step):
        yield from list_items(turn.answers.get(name, ()))


def find_named_seat(item: str, seats: Iterable[Seat]) -> Seat | None:
    """The seat whose name an item begins with, as in `Taste: off the topic` or `**Taste** (again)`."""
    name = slug(NAME_END.split(item.strip(MARKS), maxsplit=1)[0], LONGEST_NAME)
    return next((seat for seat in seats if name in (seat.name, slug(seat.title, LONGEST_NAME))), None)


# ---- for briefs and reports ----


def list_cast(scene: Scene, workflow: Workflow) -> list[dict[str, Any]]:
    """Everyone cast so far, by title, and whether they are muted."""
    casts = [cast for _, step in workflow.steps() for cast in step.seats if isinstance(cast, Cast)]
    named: dict[str, str] = {}
    for source in dict.fromkeys(".".join(cast.source) for cast in casts):
        named |= read_cast(scene, source)
    seats = [Seat(name, "", {"title": title}) for name, title in named.items()]
    seats += [seat for seat, _ in list_opposites(scene, workflow)]
    loud = {seat.name for seat in seats}
    for by in _mutes(workflow):
        loud &= {seat.name for seat in still_heard(seats, scene, by)}
    return [{"title": seat.title, "muted": seat.name not in loud} for seat in seats]


@fact
def cast_(context: PromptContext) -> list[dict[str, Any]]:
    """Everyone cast so far, each with `title` and `muted`."""
    return list_cast(context.scene, context.workflow)


@fact
def unmet(context: PromptContext) -> list[str]:
    """In the next round of a phase with `cast`: what was wrong with the previous round's cast."""
    return context.noted("unmet")


def _mutes(workflow: Workflow) -> list[str]:
    """The answers that can mute a seat."""
    orders = (step.order for _, step in workflow.steps() if step.order.name == UNMUTED)
    return list(dict.fromkeys(str(order.args["by"]) for order in orders))


@remark
def muted(turn: Turn, record: Record) -> Iterator[str]:
    """The effect of the mutes in a turn."""
    for by in _mutes(record.workflow):
        step, name = split_source(by)
        if turn.step == step and turn.answers.get(name):
            yield from _muted_by(turn, record.plan.scene, by)


@remark
def opposed_by_council(turn: Turn, record: Record) -> Iterator[str]:
    """Whom council seated besides those whom a turn cast."""
    scene = record.plan.scene
    for seat, title in list_opposites(scene, record.workflow):
        casting = [one for one in scene.turns if one.step == seat.group]
        if turn == casting[-1] and any(one.seat.name == seat.name for one in scene.turns):
            yield f"no two are opposed: council seated {seat.title}, which the catalog opposes to {title}"


@remark
def said_again(turn: Turn, record: Record) -> Iterator[str]:
    """Whether a perspective repeats its previous round."""
    scene = record.plan.scene
    share = round(measure_repetition(turn, scene) or 0.0, 2) if is_cast(turn.seat, scene) else 0.0
    if share > SAME_SHARE:
        yield f"{share * 100:.0f} % of it repeats its own previous turn"


@addition
def confidence(record: Record) -> Addition | None:
    """The confidence and the reason, if the program lowers it; None if it remains as written."""
    why = explain_low_confidence(record.plan.scene, ENDED_BY_CAP)
    return Addition("Confidence", f"{LOW} *({why})*") if why else None


def _muted_by(turn: Turn, scene: Scene, by: str) -> Iterator[str]:
    place = [one.id for one in scene.turns].index(turn.id)
    seats = list({one.seat.name: one.seat for one in scene.turns[:place] if is_cast(one.seat, scene)}.values())
    before = still_heard(seats, replace(scene, turns=scene.turns[:place]), by)
    after = still_heard(seats, replace(scene, turns=scene.turns[: place + 1]), by)
    if gone := [seat.title for seat in before if seat not in after]:
        yield f"muted from here on: {join_titles(gone)}"
    for item in list_items(turn.answers[split_source(by)[1]]):
        seat = find_named_seat(item, seats)
        if seat is None:
            yield f"there is no seat “{one_line(item, 60)}” to mute"
        elif seat in after:
            yield f"{seat.title} is not muted: at least two must remain"


def is_cast(seat: Seat, scene: Scene) -> bool:
    """Whether a seat was cast while the debate ran: it is in no group of the workflow, of nobody, and not a person."""
    seated = {one.name for group in scene.groups.values() for one in group}
    return not seat.of and seat.name not in {*seated, HUMAN}


def ended_unsettled(scene: Scene, cap: str) -> bool:
    """Whether the perspectives debated until their last round, which has the outcome `cap`."""
    phases = [turn.phase for turn in scene.turns if is_cast(turn.seat, scene)]
    return bool(phases) and scene.outcomes.get(phases[-1]) == cap


def were_too_few(scene: Scene) -> bool:
    """Whether several perspectives were to speak in their last round, and fewer than two were heard."""
    spoke = [turn for turn in scene.turns if is_cast(turn.seat, scene)]
    last = [turn for turn in spoke if (turn.phase, turn.round) == (spoke[-1].phase, spoke[-1].round)]
    heard = {turn.seat.name for turn in last if not turn.absent}
    return len({turn.seat.name for turn in last}) >= LEAST_CAST > len(heard)


def explain_low_confidence(scene: Scene, cap: str) -> str:
    """Why the confidence is lowered; empty if it remains as written."""
    written = find_newest(scene, CONFIDENCE)
    if written == LOW or not any(scene.rounds_that_ask(CONFIDENCE)) or not ended_unsettled(scene, cap):
        return ""
    instead = f"; “{written}” was written" if written else ""
    return f"set by council: the debate reached its last round unsettled{instead}"
