"""Scenes made by hand, in a line each: who said what in which phase, step and round."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from council.engine.scene import RecordedTurn, Scene, Turn
from council.workflow.loader import load
from council.workflow.model import Reply, Seat

MEMBERS = tuple(Seat(name, "members") for name in ("architect", "designer", "engineer", "researcher"))


def turn(
    seat: str | Seat, at: str = "challenges", round: int = 1, body: str = "", asked: str = "", **answers: Any
) -> Turn:
    """One seat's turn at `phase` or `phase/step`. `asked` names answers that it was asked for and did not give."""
    phase, _, step = at.partition("/")
    seat = seat if isinstance(seat, Seat) else Seat(seat, "members")
    id = f"{phase}-{round}-{step or phase}/{seat.name}"
    said = RecordedTurn(body or f"{seat.name} at {at}, round {round}.", tokens=10, usd=0.5)
    return Turn(id, phase, step or phase, round, seat, said, (*answers, *asked.split()), answers)


def absent(seat: str, at: str = "challenges", round: int = 1, asked: str = "", why: str = "timeout") -> Turn:
    made = turn(seat, at, round, asked=asked)
    return Turn(made.id, made.phase, made.step, round, made.seat, RecordedTurn("", absent=why), made.asked)


def scene(*turns: Turn, options: Mapping[str, Any] | None = None, seed: str = "seed", **more: Any) -> Scene:
    """What was said so far, at the place of the last turn unless told otherwise."""
    last = turns[-1] if turns else None
    place = {"phase": last.phase if last else "", "round": last.round if last else 0, "cap": 3}
    roles = {role: role for role in ("synthesis", *(["control"] if "control" in (options or {}) else []))}
    return Scene(seed, options or {}, {"members": MEMBERS}, turns, **{"roles": roles, **place, **more})


def declared(**kinds: str) -> Reply:
    """A reply with these answers, each with its type."""
    answers = json.dumps(kinds)
    return (
        load(f"---\nname: w\nseats: {{all: [a]}}\nphases: [{{name: x, reply: {answers}}}]\n---", "w.md")
        .phases[0]
        .steps[0]
        .reply
    )
