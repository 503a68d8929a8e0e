"""Where the council stands: the outcome of a debate, computed from what the members said of their stance alone."""

from __future__ import annotations

from dataclasses import dataclass

from council.scene import Scene
from council.text import listing

AGREED = "agreed"
AGREED_WITH_DISSENT = "agreed with dissent"
STABLE = "stable disagreement"
MOVING = "still moving"
INSUFFICIENT = "insufficient"


@dataclass(frozen=True)
class Standing:
    """`stances` has every seat that was asked, None for one that was not heard."""

    outcome: str
    reason: str
    stances: dict[str, str | None]
    blocking: dict[str, tuple[str, ...]]
    moved: tuple[str, ...]

    @property
    def missing(self) -> list[str]:
        return [name for name, stance in self.stances.items() if stance is None]

    @property
    def converged(self) -> bool:
        """All were heard, most agree, nobody disagrees and nothing blocks."""
        heard = set(self.stances.values())
        agreed = self.outcome in (AGREED, AGREED_WITH_DISSENT)
        return agreed and not self.blocking and not heard & {None, "disagree"}


def standing(scene: Scene) -> Standing:
    """The outcome by the last round that asked for a stance; a stance of an earlier round only tells who moved."""
    rounds = list(scene.asking("stance"))
    blocking = {name: items for name, (_, items) in scene.last_words("blocking").items() if items}
    if not rounds:
        return Standing(INSUFFICIENT, "no round asked the members where they stand", {}, blocking, ())
    now = {turn.seat.name: turn.answers.get("stance") for turn in rounds[0]}
    before = {turn.seat.name: turn.answers.get("stance") for turn in rounds[1]} if len(rounds) > 1 else {}
    moved = tuple(name for name, stance in now.items() if stance and before.get(name) not in (None, stance))
    return Standing(*_outcome(now, blocking, moved, len(rounds)), now, blocking, moved)


def _outcome(
    now: dict[str, str | None], blocking: dict[str, tuple[str, ...]], moved: tuple[str, ...], rounds: int
) -> tuple[str, str]:
    heard = [stance for stance in now.values() if stance]
    agree = heard.count("agree")
    said = _counts(now, blocking)
    if len(heard) < 2 or 2 * len(heard) <= len(now):
        return INSUFFICIENT, f"only {len(heard)} of {len(now)} members were heard; {said}"
    if agree == len(now) and not blocking:
        return AGREED, said
    if 2 * agree > len(now):
        return AGREED_WITH_DISSENT, said
    if moved:
        return MOVING, f"{said}; {listing(moved)} moved in the last round"
    if rounds < 2:
        return MOVING, f"{said}; one round cannot show whether anybody moves"
    return STABLE, f"{said}; nobody moved in the last round"


def _counts(now: dict[str, str | None], blocking: dict[str, tuple[str, ...]]) -> str:
    """`3/4 agree, designer disagrees, 1 blocking item, writer was not heard`."""
    by_stance: dict[str, list[str]] = {}
    for name, stance in now.items():
        by_stance.setdefault(stance or "", []).append(name)
    parts = [f"{len(by_stance.get('agree', []))}/{len(now)} agree"]
    if opposed := by_stance.get("disagree"):
        parts.append(f"{listing(opposed)} {'disagrees' if len(opposed) == 1 else 'disagree'}")
    if mixed := by_stance.get("mixed"):
        parts.append(f"{listing(mixed)} {'is' if len(mixed) == 1 else 'are'} of two minds")
    if items := sum(map(len, blocking.values())):
        parts.append(f"{items} blocking item{'s' if items > 1 else ''}")
    if unheard := by_stance.get(""):
        parts.append(f"{listing(unheard)} {'was' if len(unheard) == 1 else 'were'} not heard")
    return ", ".join(parts)
