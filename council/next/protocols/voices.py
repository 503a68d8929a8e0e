"""Who supports what, and how it is counted: one count for every protocol.

Members sign a text, answer the question itself (`says`), or give the design a score. Silence agrees to nothing, and
stays in every denominator.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from council.next.engine.registry import rule
from council.next.engine.scene import Scene, Verdict
from council.next.protocols.ids import NONE, SIGNS, UNDECIDED, UNREADABLE, Item, Quote, Register, Voice
from council.next.text import join_reasons, join_words


@dataclass(frozen=True)
class Count:
    """The last vote. `leading` is what more members sign than anything else; in a tie nothing leads."""

    asked: str  # the answer that is counted
    voices: tuple[Voice, ...]
    sides: Mapping[str, tuple[str, ...]]
    leading: str
    target: float | None
    carried: bool

    @property
    def of(self) -> int:
        return len(self.voices)

    @property
    def signers(self) -> tuple[str, ...]:
        return self.sides.get(self.leading, ())

    @property
    def agreeing(self) -> tuple[Voice, ...]:
        return tuple(one for one in self.voices if one.agrees)

    @property
    def sentence(self) -> str:
        """The count in words, as in `3 of 4 sign R2; chair not heard`."""
        if not self.of:
            return "no vote was taken"
        signs = self.asked == SIGNS
        if self.target is not None:
            reached = sum(reaches(one, self.target) for one in self.voices)
            parts = [f"{reached} of {self.of} reach {self.target:.15g}"]
        elif self.leading:
            refused = sum(bool(one.refused) for one in self.voices)
            parts = [f"{len(self.signers)} of {self.of} {'sign' if signs else 'say'} {self.leading}"]
            parts += [f"{len(self.signers) - refused} without a refused condition"] if refused else []
        else:
            shown = [f"{len(seats)} for {side}" for side, seats in self.sides.items()]
            nothing = "nobody signs a text" if signs else "nobody answers"
            parts = [f"no {'text' if signs else 'answer'} leads: {join_words(shown)}" if shown else nothing]
        blocking = [one.seat for one in self.voices if one.blocking]
        parts += [f"{join_words(blocking)} block{'s' * (len(blocking) == 1)}"] if blocking else []
        return "; ".join(filter(None, [*parts, join_reasons((one.seat, one.silence) for one in self.voices)]))


@dataclass(frozen=True)
class Term:
    """A condition of those who sign the leading text. `standing` is `stands`, `not ruled on` or `refused`."""

    item: Item
    standing: str
    rejections: tuple[Quote, ...] = ()


def count(scene: Scene) -> Count:
    """The count of the last vote."""
    register = Register.of(scene)
    vote = next(reversed(register.votes.values()), [])
    sides: dict[str, tuple[str, ...]] = {}
    for one in vote:
        if one.side not in (NONE, UNDECIDED, UNREADABLE):
            sides[one.side] = (*sides.get(one.side, ()), one.seat)
    most = max(map(len, sides.values()), default=0)
    largest = [side for side, seats in sides.items() if len(seats) == most]
    leading = largest[0] if len(largest) == 1 else ""
    voices = tuple(settle(one, register, leading, sides.get(leading, ())) for one in vote)
    enough = register.target is None or all(reaches(one, register.target) for one in voices)
    carried = enough and 2 * sum(one.agrees for one in voices) > len(voices)
    return Count(register.asked if vote else "", voices, sides, leading, register.target if vote else None, carried)


def settle(one: Voice, register: Register, leading: str = "", signers: tuple[str, ...] = ()) -> Voice:
    """The voice as the whole vote counts it. A seat that blocks, or whose condition is refused, does not agree."""
    conditions = tuple(dict.fromkeys(register.same[id][0] for id in one.conditions))  # by the first of their ids
    blocking = tuple(dict.fromkeys(register.same[id][0] for id in one.blocking))
    supports = one.side == leading != ""
    # A condition is refused where at least half of those who sign the leading text, its owner included, reject it.
    others, holders = {*signers}, register.holders
    against = {id: {by.seat for by in register.rejections(id)} & others for id in conditions if supports}
    refused = tuple(id for id in against if holders(id) & others and 2 * len(against[id]) >= len(others))
    enough = register.target is None or reaches(one, register.target)
    agrees = supports and enough and not refused and not blocking
    return replace(one, conditions=conditions, blocking=blocking, refused=refused, agrees=agrees)


def reaches(one: Voice, target: float) -> bool:
    return one.score is not None and one.score >= target


def open_items(register: Register, letter: str) -> Iterator[Item]:
    """What somebody lists now, each under the first id of those that were called the same."""
    for item in register.by_letter[letter]:
        if item.id == register.same[item.id][0] and register.holders(item.id):
            yield item


def read_terms(counted: Count, register: Register) -> Iterator[Term]:
    """The conditions of those who sign the leading text. Those of another text are dropped with it."""
    signers = {*counted.signers}
    refused = {id for one in counted.voices for id in one.refused}
    asked = {register.asked, "rulings"}
    rulings = [number for number, turns in enumerate(register.scene.batches, 1) if asked <= {*turns[0].asked}]
    for item in open_items(register, "K"):
        if signers & register.holders(item.id):
            ruled = bool(rulings) and item.batch < rulings[-1]
            standing = "refused" if item.id in refused else "stands" if ruled else "not ruled on"
            yield Term(item, standing, tuple(register.rejections(item.id)))


def read_dissents(counted: Count, register: Register) -> Iterator[Quote]:
    """In their owners' words: what blocks, why a member signs none, what it signs instead, and a refused condition.

    Of a member that was silent in the last vote, its earlier objection stays."""
    heard = {one.seat: one for vote in register.votes.values() for one in vote if not one.silence}
    for item in open_items(register, "C"):
        holders, words = register.holders(item.id), f"{item.id}: {item.by.text}"
        authors = [register.items[id].by for id in register.same[item.id]]  # who may have withdrawn it
        takers = [Quote(one.seat, one.label, one.turn, words) for one in heard.values()]
        yield next((one for one in (*authors, *takers) if one.seat in holders), item.by)
    for voice in counted.voices:
        one = heard.get(voice.seat, voice)
        revised = voice.silence and register.is_later(counted.leading, one.side)
        if counted.target is None and signs_another(one, counted) and not revised:
            if one.side == NONE:
                yield Quote(one.seat, one.label, one.turn, one.why)
            elif counted.leading:
                text = register.items[one.side].by.text if one.side in register.items else one.why
                yield Quote(one.seat, one.label, one.turn, f"{one.side}: {text}" if text else one.side)
        for id in voice.refused:
            yield Quote(one.seat, one.label, one.turn, f"{id}: {register.items[id].by.text}")


# ---- the rules that call a third round ----


@rule
def majority_signs(scene: Scene) -> Verdict:
    """More than half of those who were asked sign one text, without a condition."""
    counted = count(scene)
    free = [one.seat for one in counted.agreeing if not one.conditions]
    reason = f"{len(free)} of {counted.of} sign {counted.leading or 'one text'} without a condition"
    return Verdict(2 * len(free) > counted.of, reason, tally={SIGNS: dict(counted.sides)})


@rule
def opposed(scene: Scene) -> Verdict:
    """Somebody signs another text than the leading one, signs none, or blocks. Where none leads, everybody does."""
    counted = count(scene)
    against = [one.seat for one in counted.voices if signs_another(one, counted) or one.blocking]
    reason = f"{join_words(against)} oppose{'s' * (len(against) == 1)}" if against else "nobody opposes"
    return Verdict(bool(against), reason, tally={SIGNS: dict(counted.sides)})


def signs_another(one: Voice, counted: Count) -> bool:
    return one.side not in (UNDECIDED, UNREADABLE, counted.leading)
