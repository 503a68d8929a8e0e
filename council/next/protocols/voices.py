"""Who supports what, and how it is counted: one table and one count for every protocol.

A voice is a side and whether it counts as agreeing. Members sign a text, answer the question itself (`says`), or give
the design a score. Silence agrees to nothing, and stays in every denominator.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from council.next.engine.registry import rule
from council.next.engine.scene import Scene, Turn, Verdict
from council.next.protocols.ids import NONE, UNDECIDED, UNREADABLE, Item, Register, Said, said
from council.next.replies.kinds import Number
from council.next.text import fold, join_words
from council.next.workflow.model import AllOf, AnyOf, Condition, Not

SIGNS, SAYS = "signs", "says"
DESIGN = "the design"  # what a score is given to
SHORTEST_QUOTE = 12  # characters that nobody repeats by chance


@dataclass(frozen=True)
class Move:
    """What a member says moved it, and whose turn holds these words. Without a turn nobody said them."""

    words: str = ""
    by: Said | None = None


@dataclass(frozen=True)
class Voice:
    """What one member declared in one vote. `side` is an id, an answer, `none`, `undecided`, or empty."""

    seat: str
    label: str
    turn: str
    round: int
    side: str = UNREADABLE
    why: str = ""
    score: float | None = None
    recommends: str = ""
    conditions: tuple[str, ...] = ()
    blocking: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()  # those of its conditions that the others refuse
    move: Move | None = None
    silence: str = ""
    by: str = ""  # the person who spoke for this seat
    agrees: bool = False


@dataclass(frozen=True)
class Count:
    """The last vote. `leading` is what more members sign than anything else; in a tie nothing leads."""

    asked: str = ""  # the answer that is counted
    voices: tuple[Voice, ...] = ()
    sides: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    leading: str = ""
    target: float | None = None
    carried: bool = False

    @property
    def of(self) -> int:
        return len(self.voices)

    @property
    def agreeing(self) -> tuple[Voice, ...]:
        return tuple(one for one in self.voices if one.agrees)

    @property
    def blocking(self) -> tuple[Voice, ...]:
        return tuple(one for one in self.voices if one.blocking)

    @property
    def heard(self) -> int:
        return sum(one.silence != "not heard" for one in self.voices)

    @property
    def sentence(self) -> str:
        """The count in words, as in `3 of 4 sign R2; chair not heard`."""
        if not self.of:
            return "no vote was taken"
        if self.target is not None:
            reached = sum(one.score is not None and one.score >= self.target for one in self.voices)
            parts = [f"{reached} of {self.of} reach {self.target:g}"]
        elif self.leading:
            clean = [one for one in self.voices if one.side == self.leading and not one.refused]
            signers = len(self.sides[self.leading])
            verb = "sign" if self.asked == SIGNS else "say"
            parts = [f"{signers} of {self.of} {verb} {self.leading}"]
            parts += [f"{len(clean)} without a refused condition"] if len(clean) < signers else []
        else:
            shown = [f"{len(seats)} for {side}" for side, seats in self.sides.items()]
            parts = [f"no text leads: {join_words(shown)}" if shown else "nobody signs a text"]
        blocked = [one.seat for one in self.blocking]
        parts += [f"{join_words(blocked)} block{'s' * (len(blocked) == 1)}"] if blocked else []
        silent: dict[str, list[str]] = {}
        for one in self.voices:
            if one.silence:
                silent.setdefault(one.silence, []).append(one.seat)
        return "; ".join([*parts, *(f"{join_words(seats)} {why}" for why, seats in silent.items())])


def count(scene: Scene) -> Count:
    """The count of the last vote. It is derived once for each turn that is added."""
    kept = scene.kept.get("count")
    if kept is None or kept[0] != len(scene.turns):
        kept = scene.kept["count"] = (len(scene.turns), compute(scene))
    found: Count = kept[1]
    return found


def compute(scene: Scene) -> Count:
    register, name = Register.of(scene), vote_field(scene)
    turns = next(scene.moments_that_ask(name), []) if name else []
    if not turns:
        return Count()
    voices = [voice(turn, name, register) for turn in turns]
    sides: dict[str, tuple[str, ...]] = {}
    for one in voices:
        if one.side not in (NONE, UNDECIDED, UNREADABLE):
            sides[one.side] = (*sides.get(one.side, ()), one.seat)
    most = max(map(len, sides.values()), default=0)
    leading = [side for side, seats in sides.items() if len(seats) == most]
    first = leading[0] if len(leading) == 1 else ""
    target = target_of(scene, name)
    refused = {item.id for item in register.of_letter("K") if is_refused(item, sides.get(first, ()), register)}
    voices = [settle(one, first, refused, target) for one in voices]
    agreeing = sum(one.agrees for one in voices)
    blocking = sum(bool(one.blocking) for one in voices)
    carried = 2 * agreeing > len(voices)
    if target is not None:
        reached = all(one.score is not None and one.score >= target for one in voices)
        carried = reached and 2 * blocking < len(voices)
    return Count(name, tuple(voices), sides, first, target, carried)


def votes_of(scene: Scene) -> Iterator[tuple[Voice, ...]]:
    """The voices of every vote, the oldest first. Only the last one knows what the whole vote made of it."""
    register, name = Register.of(scene), vote_field(scene)
    votes = [*scene.moments_that_ask(name)][::-1] if name else []
    for turns in votes[:-1]:
        yield tuple(voice(turn, name, register) for turn in turns)
    if votes:
        yield count(scene).voices


def voice(turn: Turn, name: str, register: Register) -> Voice:
    seat, given = turn.seat.name, turn.answers.get(name)
    side, why, score = UNREADABLE, "", None
    if name == SIGNS:
        signature = register.signed.get(turn.id)
        side, why = (signature.side, signature.why) if signature else ("", "")
    elif name == SAYS:
        side = str(given) if given is not None else UNREADABLE
    elif given is not None:
        side, score = DESIGN, float(given)
    recommends, conditions, blocking = register.held_at(turn)
    silence = turn.silence(name) or ("" if side else f"spoke, {name} unreadable")
    return Voice(
        seat=seat,
        label=turn.seat.label,
        turn=turn.id,
        round=turn.round,
        side=side,
        why=why,
        score=score,
        recommends=recommends,
        conditions=conditions,
        blocking=blocking,
        move=find_move(turn, register.scene),
        silence=silence,
        by=turn.said.by,
    )


def settle(one: Voice, leading: str, refused: set[str], target: float | None) -> Voice:
    """The voice as the whole vote counts it. A seat that blocks, or whose condition is refused, does not agree."""
    lost = tuple(id for id in one.conditions if id in refused) if one.side == leading else ()
    supports = bool(leading) and one.side == leading and not one.silence
    if target is not None:
        supports = one.score is not None and one.score >= target
    return replace(one, refused=lost, agrees=supports and not lost and not one.blocking)


def is_refused(item: Item, signers: tuple[str, ...], register: Register) -> bool:
    """Whether at least half of those who sign the leading text, the condition's owner included, reject it."""
    joined = register.joined(item.id)
    holders = {seat for one in joined for seat in one.holders}
    if not holders & {*signers}:
        return False
    against = {seat for one in joined for seat in one.rejections()} & {*signers} - holders
    return 2 * len(against) >= len(signers)


def find_move(turn: Turn, scene: Scene) -> Move | None:
    """The sentence that moved a member, if an earlier turn of somebody else has it."""
    given = str(turn.answers.get("moved_by") or "").strip()
    moves: dict[str, Move] = scene.kept.setdefault("moves", {})
    if given and turn.id not in moves:
        moves[turn.id] = look_for(given, turn, scene)
    return moves.get(turn.id)


def look_for(given: str, turn: Turn, scene: Scene) -> Move:
    folded: dict[str, str] = scene.kept.setdefault("folded", {})
    for words in quotations(given):
        for other in scene.turns:
            if other.id == turn.id:
                break
            if other.seat.name != turn.seat.name:
                if other.id not in folded:
                    folded[other.id] = fold(other.text)
                if fold(words) in folded[other.id]:
                    return Move(words, said(other, words))
    return Move()


def quotations(given: str) -> Iterator[str]:
    """What is in quotation marks, or else the whole, where it is long enough to be somebody's words."""
    plain = given
    for mark in "“”„«»":
        plain = plain.replace(mark, '"')
    parts = plain.split('"')
    for words in parts[1::2] if len(parts) > 2 else [plain]:
        if len(words.strip()) >= SHORTEST_QUOTE:
            yield words.strip().rstrip(".…")


def vote_field(scene: Scene) -> str:
    """The answer that is counted: `signs`, `says`, or a score that an ending compares with a target."""
    asked = {name: kind for step in scene.workflow.steps() for name, kind in step.reply.items()}
    scores = (name for name, kind in asked.items() if isinstance(kind, Number) and target_of(scene, name) is not None)
    return next((name for name in (SIGNS, SAYS) if name in asked), "") or next(scores, "")


def target_of(scene: Scene, name: str) -> float | None:
    """What every seat must reach for this answer, as in `consensus: {every: {score: ">= target"}}`."""
    wanted = (one for phase in scene.workflow.phases for rule_ in phase.until.values() for one in compared(rule_, name))
    found = next(wanted, "")
    return scene.workflow.number(found.removeprefix(">=").strip()) if found else None


def compared(condition: Condition, name: str) -> Iterator[str]:
    if isinstance(condition, AnyOf | AllOf):
        for one in condition.of:
            yield from compared(one, name)
    elif not isinstance(condition, Not) and condition.name == "every" and isinstance(condition.args, dict):
        value: Any = condition.args.get(name, "")
        if isinstance(value, str) and value.startswith(">="):
            yield value


# ---- the rules that call a third round ----


@rule
def majority_signs(scene: Scene) -> Verdict:
    """More than half of those who were asked sign one text, without a condition."""
    counted = count(scene)
    free = [one.seat for one in counted.agreeing if not one.conditions]
    reason = f"{len(free)} of {counted.of} sign {counted.leading or 'one text'} without a condition"
    return Verdict(2 * len(free) > counted.of, reason, tally={SIGNS: sizes(counted)})


@rule
def opposed(scene: Scene) -> Verdict:
    """Somebody signs another text than the leading one, signs none, or blocks. Where none leads, everybody does."""
    counted = count(scene)
    against = [one.seat for one in counted.voices if opposes(one, counted)]
    reason = f"{join_words(against)} oppose{'s' * (len(against) == 1)}" if against else "nobody opposes"
    return Verdict(bool(against), reason, tally={SIGNS: sizes(counted)})


def opposes(one: Voice, counted: Count) -> bool:
    signs_another = one.side not in (UNDECIDED, UNREADABLE) and one.side != counted.leading
    return signs_another or bool(one.blocking)


def sizes(counted: Count) -> dict[str, int]:
    return {side: len(seats) for side, seats in counted.sides.items()}
