"""The facts that templates name, as in `{{ topic }}` or `{{ seat.title }}`: plain data about one due turn.

A fact knows what was said before the turn's batch, and of that only what the turn may read. Members' words are
between marks that nobody can forge, or are one line, so they are never taken for a heading of the brief.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from council.next import rooms
from council.next.engine.planner import Due
from council.next.engine.scene import Scene
from council.next.protocols.ids import Register
from council.next.record.session import Session
from council.next.text import fence
from council.next.workflow.model import Workflow


@dataclass(frozen=True)
class Context:
    """What a fact is about: the turn that is due, in its session."""

    session: Session
    due: Due

    @property
    def workflow(self) -> Workflow:
        return self.session.workflow

    @property
    def scene(self) -> Scene:
        return self.session.plan.scene

    @property
    def register(self) -> Register:
        return Register.of(self.scene)

    @cached_property
    def readable(self) -> dict[str, str]:
        """The seats whose words this turn reads, with the names under which it knows them. A person may read all."""
        if self.due.seat.is_person:
            return {turn.seat.name: turn.seat.label for turn in self.scene.turns}
        return {one.turn.seat.name: one.label or one.turn.seat.label for one in self.due.sees}

    @property
    def is_anonymous(self) -> bool:
        return any(one.label for one in self.due.sees)

    def fence(self, by: str, text: str, about: str) -> str:
        """The text byte for byte, between two marks. Their key depends on the text, so its author cannot know it."""
        return fence(by, text, self.session.key("fence", about, text))


Fact = Callable[[Context], Any]


class Facts(dict[str, Fact]):
    """The facts by name. One that the core does not have is looked for in the optional rooms."""

    def __init__(self) -> None:
        super().__init__()
        self.shared: set[str] = set()

    def knows(self, name: str) -> bool:
        return name in self or (rooms.load("fact", name) and name in self)

    def value(self, name: str, context: Context) -> Any:
        """The fact's value. One that all seats of a batch share is computed once."""
        if name not in self.shared:
            return self[name](context)
        due, kept = context.due, context.scene.kept
        sees = [(one.turn.id, one.gist, one.label) for one in due.sees]
        batch = (len(context.scene.turns), due.phase.name, due.round, due.step.name, sees)
        if kept.get("facts", ((),))[0] != batch:
            kept["facts"] = (batch, {})
        values: dict[str, Any] = kept["facts"][1]
        if name not in values:
            values[name] = self[name](context)
        return values[name]


facts = Facts()


def fact(function: Fact) -> Fact:
    """Register a fact under the function's name. It may depend on the seat."""
    facts[function.__name__.rstrip("_")] = function
    return function


def shared_fact(function: Fact) -> Fact:
    """Register a fact that is the same for all seats of a step that read the same turns."""
    facts.shared.add(function.__name__.rstrip("_"))
    return fact(function)
