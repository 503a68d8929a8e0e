"""Rules about opinions that part and move."""

from __future__ import annotations

from collections import Counter

from council.engine.conditions import rule
from council.engine.scene import Scene, Verdict
from council.protocols import mind_changes as flips
from council.text import fold, listing


@rule
def split(scene: Scene, field: str = flips.STANCE) -> Verdict:
    """What the seats last said differs; whoever falls silent still holds what they said before."""
    said = {name: fold(str(value)) for name, (_, value) in scene.last_words(field).items()}
    counts = Counter(said.values()).most_common()
    silent = [turn.seat.name for turn in next(scene.asking(field), ()) if turn.seat.name not in said]
    told = listing(f"{votes} {answer}" for answer, votes in counts) if counts else "nothing"
    reason = f"{field}: {told}" + (f" ({listing(silent)} not heard)" if silent else "")
    return Verdict(len(counts) > 1, reason, tally={field: dict(counts), "not_heard": silent})


@rule
def moved(scene: Scene, field: str = flips.STANCE) -> Verdict:
    """Somebody has changed what they say since they were asked before; a score, by 10 points or more."""
    now = {turn.id for turn in scene.latest(field)}
    names = [flip.turn.seat.name for flip in flips.ledger(scene, field) if flip.turn.id in now]
    return Verdict(bool(names), f"{listing(names)} moved" if names else "nobody moved", tally={"moved": names})
