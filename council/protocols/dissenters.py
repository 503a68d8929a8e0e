"""Who disagrees at the end of a debate, is undecided, or blocks: by each member's newest answers alone.

Documents take their status, their dissents and their reservations from here, so these cannot contradict one another.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from council.engine.scene import Scene, Turn
from council.protocols.ledger import ACCEPTED, read_ledger
from council.protocols.settling import split_ids
from council.protocols.stances import BLOCKING, DISAGREE, MIXED, STANCE, find_blocking, find_leading_answer
from council.text import join_words


@dataclass(frozen=True)
class BlockingItem:
    """An item in its owner's words, the concern that it is in the ledger, and whether a person accepted that. One that
    only names a concern by its id has the words of the concern."""

    turn: Turn
    text: str
    concern: str
    accepted: bool


@dataclass(frozen=True)
class Dissenter:
    """A member's newest turn that dissents: `stance` is its own word, or empty for one who only blocks."""

    turn: Turn
    stance: str
    items: tuple[BlockingItem, ...]

    @property
    def blocks(self) -> bool:
        """Whether something of theirs blocks that no person has accepted."""
        return any(not item.accepted for item in self.items)


def find_dissenters(scene: Scene) -> tuple[Dissenter, ...]:
    """Everybody whose newest stance is not the leading answer, and everybody with an item that still blocks, or that
    only a person's acceptance took out of the way."""
    answer = find_leading_answer(scene)
    against = {seat: one for seat, one in scene.last_words(STANCE).items() if one[1] != answer}
    concerns = {(event.turn, event.text): one for one in read_ledger(scene) for event in one.history}
    items: dict[str, list[BlockingItem]] = {}
    for turn, text in find_blocking(scene, accepted=True):
        concern = concerns.get((turn.id, text))
        accepted = concern is not None and concern.status == ACCEPTED
        ids, rest, _ = split_ids(text)
        if concern and text not in map(str, turn.answers.get(BLOCKING, ())):  # kept open by a sentence that names it
            ids, rest = [concern.id], ""
        words = (rest or concern.text) if ids and concern else text
        items.setdefault(turn.seat.name, []).append(BlockingItem(turn, words, concern.id if concern else "", accepted))
    return tuple(
        Dissenter(against[seat][0], str(against[seat][1]), tuple(items.get(seat, ())))
        if seat in against
        else Dissenter(items[seat][0].turn, "", tuple(items[seat]))
        for seat in dict.fromkeys([*against, *items])
    )


def describe_stance(stance: str, several: bool = False) -> str:
    """What is said of who took this stance: `disagrees`, `is undecided`, `says yes`; or of several."""
    if stance == MIXED:
        return "are undecided" if several else "is undecided"
    if stance == DISAGREE:
        return "disagree" if several else "disagrees"
    return f"{'say' if several else 'says'} {stance}"


def describe_dissenters(dissenters: Iterable[Dissenter], by_a_person: bool = False) -> str:
    """`Contrarian disagrees and blocks; Test is undecided`; empty for nobody. What a person accepted is marked, unless
    the whole is decided `by_a_person`."""
    groups: dict[tuple[str, str], list[str]] = {}
    for one in dissenters:
        blocking = "" if not one.items else "block" if one.blocks else "blocked"
        groups.setdefault((one.stance, blocking), []).append(one.turn.seat.title)
    said = "" if by_a_person else ", which a person accepted"
    return "; ".join(_describe_group(names, *kind, said) for kind, names in groups.items())


def _describe_group(names: list[str], stance: str, blocking: str, accepted: str) -> str:
    several = len(names) > 1
    verb = "blocks" if blocking == "block" and not several else blocking
    verbs = [describe_stance(stance, several) if stance else "", verb]
    return f"{join_words(names)} {' and '.join(filter(None, verbs))}{accepted if blocking == 'blocked' else ''}"
