"""Who sits: specialists whom an analysis names from a list, and perspectives that a moderator casts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

from council.next.engine import registry
from council.next.engine.orders import Batches, Seats, shuffle
from council.next.engine.registry import Source, check, order, rule
from council.next.engine.scene import Scene, Verdict
from council.next.errors import UsageError
from council.next.text import did_you_mean, join_words, slug
from council.next.workflow.model import Ref, Seat

LEAST_CAST, MOST_CAST = 2, 4


def name_of(item: str) -> str:
    """The seat that an item names: `Security: what can be attacked` names `security`."""
    return slug(item.strip("*_` ").partition(":")[0], 40)


# ---- specialists from a list ----


def named_seats(seats: Iterable[Seat], scene: Scene, by: str) -> set[str]:
    """Those of the seats that the answer names, by their names or titles."""
    wanted = {name_of(item) for item in scene.items(by)}
    return {seat.name for seat in seats if wanted & {seat.name, slug(seat.title)}}


@order
def seated(seats: Seats, scene: Scene, *, by: Source, group: str, every: Any = 1) -> Batches:
    """As `shuffle`, without the seats of `group` that the answer `by` does not name. If it names none, all sit."""
    named = named_seats([seat for seat in seats if seat.group == group], scene, by)
    batches = shuffle(seats, scene, group=group, every=every)
    return [(seat,) for (seat,) in batches if not named or seat.group != group or seat.name in named]


@rule
def names_seats(scene: Scene, of: Source, *, group: str) -> Verdict:
    """The answer `of` names at least one seat of `group`."""
    if group not in scene.workflow.groups:
        raise UsageError(f'there is no group "{group}"; {did_you_mean(group, scene.workflow.groups)}')
    named = named_seats(scene.workflow.groups[group], scene, of)
    known = {word for seat in scene.workflow.all_seats().values() for word in (seat.name, slug(seat.title))}
    unknown = dict.fromkeys(name for item in scene.items(of) if (name := name_of(item)) and name not in known)
    reason = f"{join_words(sorted(named)) or 'nobody on the list'} named"
    return Verdict(bool(named), f"{reason}; not on the list: {join_words(unknown)}" if unknown else reason)


# ---- perspectives ----


@check
def perspectives(answers: Mapping[str, Any], scene: Scene, seat: Seat) -> str:
    """Each perspective is a name and what it stands for."""
    wrong = [item for item in answers.get("perspectives") or () if ":" not in item or not name_of(item)]
    return f'write each as "Name: what it stands for", not as "{wrong[0][:60]}"' if wrong else ""


def opponents(name: str, scene: Scene) -> list[str]:
    listed = str(scene.workflow.personas.get(name, {}).get("opposes", ""))
    return [slug(one) for one in listed.split(",") if one.strip()]


def are_opposed(names: list[str], opposed: Source, scene: Scene) -> bool:
    """Whether two of them pull in opposite directions. The catalog decides for two of its own, and the answer `opposed`
    for others, as in `Cost, Safety`."""
    claimed = {slug(name) for item in scene.items(opposed) for name in item.replace(" and ", ",").split(",")}
    for one, other in combinations(names, 2):
        known = {one, other} <= {*scene.workflow.personas}
        if (other in opponents(one, scene) or one in opponents(other, scene)) if known else {one, other} <= claimed:
            return True
    return False


@rule
def cast(scene: Scene, of: Source, *, opposed: Source = "", number: Any = "") -> Verdict:
    """The answer `of` casts two to four perspectives, or `number`. With `opposed`, two of them are opposed."""
    items = scene.items(of)
    names = list(dict.fromkeys(map(name_of, items)))
    least, most = span(number, scene)
    personas = scene.workflow.personas
    wrong = [
        f"{name} is a member of this council"
        for name in names
        if personas.get(name, {"accepts": 1}).get("accepts") is None
    ]
    if not least <= len(names) <= most:
        needed = f"{least} to {most}" if least < most else str(most)
        wrong.append(f"{len(names)} perspectives cast, {needed} needed")
    if opposed and len(names) >= LEAST_CAST and not are_opposed(names, opposed, scene):
        wrong.append(f"no two of {join_words(names)} are opposed")
    return Verdict(bool(items) and not wrong, "; ".join(wrong) or f"cast: {join_words(names)}", tally={"wrong": wrong})


def span(number: Any, scene: Scene) -> tuple[int, int]:
    """The least and the most perspectives: as many as the option says, or any number that a debate can have."""
    wanted, allowed = str(scene.options.get(str(number), number) or "auto"), range(LEAST_CAST, MOST_CAST + 1)
    if wanted not in ("auto", *map(str, allowed)):
        raise UsageError(f"perspectives must be auto, or a number from {LEAST_CAST} to {MOST_CAST}, not {wanted!r}")
    return (LEAST_CAST, MOST_CAST) if wanted == "auto" else (int(wanted), int(wanted))


@order
def unmuted(
    seats: Seats,
    scene: Scene,
    *,
    by: Source,
    then: str = "parallel",
    of: Source = "",
    opposed: Source = "",
    number: Any = "",
) -> Batches:
    """In the order `then`, without the seats that the answer `by` has muted so far. At least two remain.

    If no two of the cast are opposed, the first opposite of one of them in the catalog is seated too."""
    names = [seat.name for seat in seats]
    if of and len(names) < span(number, scene)[1] and not are_opposed(names, opposed, scene):
        others = (other for name in names for other in opponents(name, scene) if other in scene.workflow.personas)
        if other := next(others, ""):
            seats = (*seats, Seat(other, of, scene.workflow.personas[other]))
    left = list(seats)
    step, _, name = by.partition(".")
    for item in (item for turn in scene.named(step) for item in turn.answers.get(name) or ()):
        gone = next((seat for seat in left if name_of(item) in (seat.name, slug(seat.title))), None)
        if gone and len(left) > LEAST_CAST:
            left.remove(gone)
    batches: Batches = registry.orders.call(Ref(then), tuple(left), scene)
    return batches
