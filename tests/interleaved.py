"""Two debates at once in one home, and one of them meets a fault: the other notices nothing, and both end whole."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests import faults, kills
from tests.crowds import QUESTION, WORDS, Crowd
from tests.faults import Fault, Nursery
from tests.worlds import World, body_of

KINDS = [kind for kind in faults.KINDS if kind != "none"]
STRUCK, OTHER = "struck", "other"


def begin(world: World, id: str) -> tuple[str, ...]:
    return ("run", "-q", "--id", id, *QUESTION, "--from", str(world.script), f"The {id} one?")


def count_calls(ground: Path, nursery: Nursery) -> int:
    """How many calls a debate makes that change a file."""
    world = World(ground / "counted", nursery, words=WORDS)
    calls = len(world.do(*begin(world, STRUCK)).calls)
    world.drop()
    return calls


def sweep(ground: Path, nursery: Nursery, kind: str, numbers: Sequence[int]) -> Crowd:
    """The fault at each of these calls of one debate, while another goes on beside it."""
    crowd = Crowd(len(numbers))
    for number in numbers:
        world = World(ground / f"{kind.replace(' ', '-')}-{number}", nursery, words=WORDS)
        for why in strike(world, Fault(kind, number)):
            crowd.demand(False, f"{kind}, call {number}", why)
        world.drop()
    return crowd


def strike(world: World, fault: Fault) -> list[str]:
    """What is wrong after the fault, and after both debates were helped to their end."""
    running = world.start(world.job(begin(world, OTHER)))
    (struck,) = world.ended(world.start(world.job(begin(world, STRUCK), fault=fault)))
    (other,) = world.ended(running)
    wrong = [] if other.code == 0 else [f"the other ended with {other.code}: {other.err}"]
    if sorted(other.asked) != sorted(WORDS):
        wrong.append(f"the other asked for {other.asked}")
    stored = turns_of(world, STRUCK)
    born = any(session.name == STRUCK for session in world.sessions)
    recover = ("recover", STRUCK, "--speaker", "replay", "--from", str(world.script))
    helped = world.do(*(recover if born else begin(world, STRUCK)))
    if helped.code:
        wrong.append(f"not finished: {helped.code} {helped.err}")
    if again := Counter(helped.asked) & Counter(stored):
        wrong.append(f"asked again: {sorted(again)}")
    now = turns_of(world, STRUCK)
    wrong += [f"turn changed: {turn}" for turn, data in stored.items() if now.get(turn) != data]
    for id, proof in zip((STRUCK, OTHER), world.in_a_row(("verify", STRUCK), ("verify", OTHER)), strict=True):
        if proof.code:
            wrong.append(f"{id}: verify: {proof.out}{proof.err}")
        if {turn: body_of(data).decode() for turn, data in turns_of(world, id).items()} != WORDS:
            wrong.append(f"{id}: not every turn is there as it was given")
    ended = (struck, other, helped)
    wrong += [f"traceback: {one.err}" for one in ended if "Traceback" in one.err or "Warning" in one.err]
    left = itertools.chain(kills.remove_leftovers(world), world.temps)
    wrong += [f"left over: {path}" for path in left]
    if len(world.archived) != 2:
        wrong.append(f"{len(world.archived)} transcripts in the archive")
    return wrong


def turns_of(world: World, id: str) -> dict[str, bytes]:
    found = world.memory.glob(f"STATE/council-sessions/{id}/turns/*/*.md")
    return {f"{path.parent.name}/{path.stem}": path.read_bytes() for path in found}
