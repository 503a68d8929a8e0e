"""Checks the keys of seats: who is above whom, whose work a seat is about, and what a machine runs for it."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from council import speakers
from council.speakers import registry
from council.text import did_you_mean
from council.workflow.model import Cast, Seat, Workflow

NO_BENCH = ("none", "auto", "")  # values of an option that names no bench, or leaves it to the project


def find_seat_faults(workflow: Workflow, benches: Collection[str] | None = None) -> Iterator[str]:
    """Every problem of the seats' own keys. `benches` are the names that `run` may have; None if they are unknown."""
    seats = {seat.name: seat for seat in workflow.all_seats()}
    for seat in seats.values():
        for why in (*_check_of(seat, workflow), *_check_under(seat, seats), *_check_run(seat, workflow, benches)):
            yield f"seat {seat.name}: {why}"


def _check_of(seat: Seat, workflow: Workflow) -> Iterator[str]:
    if not seat.of:
        return
    steps = {one.source[0] for _, step in workflow.steps() for one in step.seats if isinstance(one, Cast)}
    known = workflow.seat_names() | steps
    if seat.of not in known:
        yield (f'of: "{seat.of}" is not a seat, a group or a step that casts seats; {did_you_mean(seat.of, known)}')
        return
    for other in workflow.declared_seats([seat.of] if seat.of in workflow.seat_names() else []):
        if other.name == seat.name:
            yield "of: a seat cannot be about its own work in this way; put it in a group of its own"
        elif other.of:
            yield f'of: "{other.name}" is itself about the work of "{other.of}"; write `of: {other.of}`'
    for own in workflow.one_for_each(seat, ()):
        if own.name != seat.name and own.name in workflow.seat_names():
            yield f'of: it would stand for the seat "{own.name}", and another seat has that name; rename one of them'


def _check_under(seat: Seat, seats: dict[str, Seat]) -> Iterator[str]:
    if seat.under and seat.under not in seats:
        yield f'under: there is no seat "{seat.under}"; {did_you_mean(seat.under, seats)}'
    path = [seat.name]
    while (above := seats[path[-1]].under if path[-1] in seats else "") and above not in path:
        path.append(above)
    if above == seat.name:
        yield f"under: it is under itself: {' under '.join([*path, above])}"


def _check_run(seat: Seat, workflow: Workflow, benches: Collection[str] | None) -> Iterator[str]:
    named, is_known = seat.attributes.get("run"), seat.speaker is None or seat.speaker in speakers.names()
    runs = is_known and seat.speaker is not None and registry.find(seat.speaker).benches is not None
    if runs and not named:
        yield "run: it has nothing to run; add `run` with the name of a bench"
    if named and is_known and not runs:
        runners = [one.name for one in registry.all_types() if one.benches]
        yield f"run: only a machine runs a bench; add `speaker: {' or '.join(runners)}`, or leave out `run`"
    if not named or benches is None:
        return
    if str(named) in workflow.options:
        chosen = str(workflow.options[str(named)])
        wrong = [one for one in map(str.strip, chosen.split(",")) if one not in (*benches, *NO_BENCH)]
        yield from (
            f'run: the option "{named}" names the bench "{one}", which does not exist; {did_you_mean(one, benches)}'
            for one in wrong
        )
    elif str(named) not in benches:
        known = {*benches, *workflow.options}
        yield f'run: "{named}" is neither a bench nor an option that names one; {did_you_mean(str(named), known)}'
