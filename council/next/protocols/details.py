"""What an outcome lists beside its kind: persons' acts, conditions, dissents, the check of the document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from council.next.engine.scene import Scene
from council.next.protocols import checks
from council.next.protocols.ids import NONE, UNDECIDED, Item, Register, Said, said
from council.next.protocols.voices import Count, opposes, votes_of
from council.next.text import fold

DONE = {"approve": "approved", "reject": "rejected", "veto": "vetoed", "adopt": "decided"}


@dataclass(frozen=True)
class Act:
    """What a person did: approved, rejected, vetoed, decided, guided or said something, and in which words."""

    what: str
    by: Said
    at: str
    option: str = ""
    option_text: str = ""


@dataclass(frozen=True)
class Term:
    """A condition of those who sign the leading text. `standing` is `stands`, `not ruled on` or `refused`."""

    item: Item
    standing: str
    rejections: tuple[Said, ...] = ()


def read_acts(scene: Scene) -> Iterator[Act]:
    """What persons did at their own seats, the oldest first."""
    options = dict(checks.offered(scene))
    gates = {phase.name: phase.gates for phase in scene.workflow.phases if phase.gates}
    writer = scene.workflow.phase("synthesis")
    for turn in scene.turns:
        if not turn.seat.is_person:
            continue
        given = str(turn.answers.get("gate") or turn.answers.get("decision") or "")
        letter = fold(str(turn.answers.get("option") or "")).upper() if given == "adopt" else ""
        words = [str(turn.answers[name]) for name in ("guidance", "reason") if turn.answers.get(name)]
        approves = gates.get(turn.phase, turn.phase)
        at = "synthesis" if writer and approves == writer.name else approves
        what = "absent" if turn.absent else DONE.get(given, given or "said")
        yield Act(what, said(turn, "\n\n".join(words) or turn.prose), at, letter, options.get(letter, ""))


def read_terms(counted: Count, register: Register) -> Iterator[Term]:
    """The conditions of those who sign the leading text. Those of another text are dropped with it."""
    signers = {*counted.sides.get(counted.leading, ())}
    refused = {id for one in counted.voices for id in one.refused}
    batches = register.scene.batches
    for item in register.of_letter("K"):
        joined = register.joined(item.id)
        if joined[0] is not item or not any(seat in signers for one in joined for seat in one.holders):
            continue
        ruled = any("signs" in turns[0].asked for turns in batches[item.batch :])
        standing = "refused" if item.id in refused else "stands" if ruled else "not ruled on"
        against = (ruling.by for one in joined for seat, ruling in one.rejections().items() if seat in signers)
        yield Term(item, standing, tuple(against))


def open_items(register: Register) -> Iterator[Item]:
    """The open blocking items, each under the first id of those that were called the same."""
    for item in register.of_letter("C"):
        joined = register.joined(item.id)
        if joined[0] is item and any(one.holders for one in joined):
            yield item


def read_dissents(scene: Scene, counted: Count, register: Register) -> Iterator[Said]:
    """In their owners' words: what blocks, why a member signs none, what it signs instead, and a refused condition."""
    for item in open_items(register):
        yield item.by
    last = {one.seat: one for vote in votes_of(scene) for one in vote if not one.silence}
    for one in (last.get(voice.seat, voice) for voice in counted.voices):
        if counted.target is None and one.side and opposes(one, counted) and one.side != counted.leading:
            if one.side == NONE:
                yield Said(one.seat, one.label, one.turn, one.why)
            elif one.side != UNDECIDED and counted.leading:
                text = register.items[one.side].by.text if one.side in register.items else one.why
                yield Said(one.seat, one.label, one.turn, f"{one.side}: {text}" if text else one.side)
        for id in one.refused:
            yield Said(one.seat, one.label, one.turn, f"{id}: {register.items[id].by.text}")


def read_check(scene: Scene) -> dict[str, Any]:
    """What the members found when they last checked the document. Empty if nobody did."""
    turns = next(scene.moments_that_ask("accurate"), [])
    wrong = [turn for turn in turns if turn.answers.get("accurate") == "no"]
    corrections = [asdict(said(turn, "\n".join(turn.answers.get("correction") or ()))) for turn in wrong]
    accurate = sum(turn.answers.get("accurate") == "yes" for turn in turns)
    return {"of": len(turns), "accurate": accurate, "corrections": corrections} if turns else {}
