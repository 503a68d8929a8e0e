"""Debates without files: a workflow, replies by turn, and every way in which its turns may come in."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

import yaml

from council.next.engine.planner import Due, Plan
from council.next.engine.scene import Recorded
from council.next.replies.kinds import Choice, Code, Ident, Items, Kind, Number, Signature, Text, Vote
from council.next.replies.write import write
from council.next.workflow.loader import load
from council.next.workflow.model import Workflow

WORDS = "cache index queue table replica lock token budget window ledger quorum latency backup audit".split()


def workflow_of(phases: list[dict[str, Any]], **keys: Any) -> Workflow:
    """A workflow of three members and a chair."""
    head = {"name": "test", "seats": {"members": ["ada", "bo", "cy"], "chair": "chair"}, **keys, "phases": phases}
    return load(f"---\n{yaml.safe_dump(head, sort_keys=False)}---\n", "test.md")


def form(due: Due, **answers: Any) -> str:
    """A reply that gives these answers below some words of the seat's own."""
    return write(due.step.reply, answers, f"Here is what {due.seat.name} has to say in round {due.round}.")


def hold(workflow: Workflow, speak: Callable[[Due], str | Recorded], seed: str = "seed", most: int = 2_000) -> Plan:
    """A whole debate in which `speak` gives each reply."""
    plan = Plan(workflow, seed)
    said: dict[str, Recorded] = {}
    while plan.advance(said).due:
        for due in plan.due:
            reply = speak(due)
            said[due.id] = reply if isinstance(reply, Recorded) else Recorded(reply)
        assert len(said) <= most, "the debate does not end"
    return plan


def babble(rng: random.Random, words: int = 30) -> str:
    return " ".join(rng.choices(WORDS, k=words)) + "."


def answer(kind: Kind, rng: random.Random, ids: tuple[str, ...] = ("R1", "R2", "R3", "R9")) -> Any:
    """Any value that an answer of this kind may have."""
    if isinstance(kind, Vote):
        side = rng.choice([*ids, *ids, "own", "none", "undecided"])
        return Signature(side, babble(rng, 4) if side in ("none", "undecided") else "")
    if isinstance(kind, Choice):
        return rng.choice(kind.options)
    if isinstance(kind, Number):
        return rng.randint(kind.low, kind.high if kind.high is not None else 5)
    if isinstance(kind, Items):
        some = range(rng.randint(1 if kind.filled else 0, 3))
        return tuple(f"{rng.choice(('', f'{rng.choice(ids)}: reject: '))}{babble(rng, 4)}" for _ in some)
    if isinstance(kind, Ident):
        return rng.choice(ids)
    if isinstance(kind, Code):
        return babble(rng, 3) + "\n"
    assert isinstance(kind, Text)
    return babble(rng, 8)


def any_reply(due: Due, rng: random.Random, ids: tuple[str, ...] = ("R1", "R2", "R3", "R9")) -> Recorded:
    """A reply as members give them: mostly whole, sometimes with a heading that is missing, nonsense, or an absence."""
    chance = rng.random()
    if chance < 0.06:
        return Recorded("", absent="the endpoint does not answer")
    if chance < 0.12:
        return Recorded(babble(rng))
    given = {
        name: answer(kind, rng, ids)
        for name, kind in due.step.reply.items()
        if rng.random() < (0.5 if kind.optional else 0.95)
    }
    body = write(due.step.reply, given, babble(rng))
    if chance < 0.2 and due.sees:
        body = rng.choice(due.sees).turn.said.body  # a copy of what somebody else said
    return Recorded(body, tokens=rng.randint(1, 99), usd=rng.choice([0.0, 0.01, None]), most=0.02)


def facts(plan: Plan) -> dict[str, Any]:
    """Everything that a plan says, to compare two of them."""
    scene = plan.scene
    return {
        "due": [
            (due.id, due.problems, [(seen.turn.id, seen.gist, seen.label) for seen in due.sees]) for due in plan.due
        ],
        "turns": [(turn.id, dict(turn.answers), turn.problems, turn.prose, turn.text) for turn in scene.turns],
        "notes": plan.notes,
        "batches": plan.batches,
        "ended": scene.ended,
        "elected": scene.elected,
        "halted": plan.halted,
    }


def replay(workflow: Workflow, said: Mapping[str, Recorded], seed: str = "seed") -> Plan:
    """The plan of a process that begins with the files."""
    return Plan(workflow, seed).advance(said)
