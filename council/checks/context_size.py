"""How much a turn may have to read: its step's views, asked about turns that have a size and no words yet. Pure.

Views that look at words could show less of real turns than of these, and never more: what they leave out is shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from council.engine.scene import RecordedTurn, Scene, Turn
from council.engine.views import everything, look, view
from council.protocols.consensus import score_field
from council.workflow.model import (
    Phase,
    Seat,
    Step,
    Workflow,
)

GIST = 80  # tokens of a turn in a line, usually
MOST_GIST = 600  # and at the most: 300 characters and some figures, in signs of four bytes


@dataclass(frozen=True)
class Size:
    """Tokens: usually, and at the most."""

    usual: int = 0
    most: int = 0

    def __add__(self, other: Size) -> Size:
        return Size(self.usual + other.usual, self.most + other.most)


@dataclass
class History:
    """Every turn that may have been spoken so far, with its size."""

    workflow: Workflow
    turns: list[Turn] = field(default_factory=list)
    sizes: dict[str, Size] = field(default_factory=dict)

    def spoke(self, phase: Phase, step: Step, round: int, sized: Iterable[tuple[Seat, Size]]) -> None:
        for seat, size in sized:
            made = Turn(
                f"{phase.folder(round, step)}/{seat.name}", phase.name, step.name, round, seat, RecordedTurn("")
            )
            self.turns.append(made)
            self.sizes[made.id] = size

    def scores(self, phase: Phase) -> int:
        """How many scores were given in the phase so far."""
        asked = {step.name for step in phase.steps if score_field(self.workflow, phase.name) in dict(step.reply)}
        return sum((turn.phase, turn.step in asked) == (phase.name, True) for turn in self.turns)

    def heard(self, phase: Phase, step: Step, round: int, seat: Seat) -> Size:
        """What the seat may read, of the turns so far, when it speaks in that step of that round."""
        flow = self.workflow
        scene = Scene("", flow.options, flow.groups, tuple(self.turns), roles=flow.roles)
        scene = scene.at(phase.name, round, phase.max_rounds)
        # A view that goes by what was said may show any of it.
        placed = all(view.traits(ref.name).by_place or ref.name not in view.known for ref in step.sees)
        seen = look(step.sees, seat, scene) if placed else everything(scene)
        whole = (Size(GIST, MOST_GIST) if one.gist else self.sizes[one.turn.id] for one in seen)
        return sum(whole, Size())
