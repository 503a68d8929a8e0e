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
def perspectives(answers: Mapping[str, Any], scene: Scene, seat: Seat) -> dict[str, str]:
    """Each perspective is a name and what it stands for."""
    wrong = [item for item in answers.get("perspectives") or () if ":" not in item or not name_of(item)]
    if not wrong:
        return {}
    return {"perspectives": f'"## Perspectives": write each as "Name: what it stands for", not as "{wrong[0][:60]}"'}


def opponents(name: str, scene: Scene) -> list[str]:
    listed = str(scene.workflow.personas.get(name, {}).get("opposes", ""))
    return [slug(one) for one in listed.split(",") if one.strip()]


def opposed_pair(names: list[str], claimed: set[str], scene: Scene) -> tuple[str, str] | None:
    """Two that pull in opposite directions. The catalog decides for two of its own, the moderator for others."""
    for one, other in combinations(names, 2):
        known = {one, other} <= {*scene.workflow.personas}
        if (other in opponents(one, scene) or one in opponents(other, scene)) if known else {one, other} <= claimed:
            return one, other
    return None


@rule
def cast(scene: Scene, of: Source, *, opposed: Source = "", number: Any = "") -> Verdict:
    """The answer `of` casts two to four perspectives, or `number`. With `opposed`, two of them are opposed."""
    items = scene.items(of)
    names = list(dict.fromkeys(map(name_of, items)))
    wanted = str(scene.options.get(str(number), number) or "auto")
    least, most = (LEAST_CAST, MOST_CAST) if wanted == "auto" else [scene.workflow.whole(wanted)] * 2
    personas = scene.workflow.personas
    wrong = [
        f"{name} is a member of this council"
        for name in names
        if personas.get(name, {"accepts": 1}).get("accepts") is None
    ]
    if not least <= len(names) <= most:
        needed = f"{least} to {most}" if least < most else str(most)
        wrong.append(f"{len(names)} perspectives cast, {needed} needed")
    if opposed and len(names) >= LEAST_CAST and not opposed_pair(names, claimed_by(scene, opposed), scene):
        wrong.append(f"no two of {join_words(names)} are opposed")
    return Verdict(bool(items) and not wrong, "; ".join(wrong) or f"cast: {join_words(names)}", tally={"wrong": wrong})


def claimed_by(scene: Scene, opposed: str) -> set[str]:
    """The perspectives that the moderator calls opposed, as in `Cost, Safety`."""
    return {slug(name) for item in scene.items(opposed) for name in item.replace(" and ", ",").split(",")}


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
    if of and len(names) < MOST_CAST and not opposed_pair(names, claimed_by(scene, opposed), scene):
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
