"""What persons decided about candidates. An approval is for the files that its brief named, and for no others."""

from __future__ import annotations

from dataclasses import dataclass

from council.candidates.versions import Version, follow
from council.engine.scene import Scene, Turn
from council.workflow import declare

APPROVAL = declare.answer("approval", "what a person decides about the candidates in the brief: approve or reject")
APPROVE, REJECT = "approve", "reject"


@dataclass(frozen=True)
class Approval:
    """A person's decision. `covers` says that the version was among the candidates that the person saw."""

    turn: Turn
    given: bool
    covers: bool


def find_approval(scene: Scene, version: Version) -> Approval | None:
    """A person's newest decision; None if nobody was asked. Silence approves nothing."""
    for turn in reversed(scene.turns):
        if turn.seat.is_person and APPROVAL in turn.asked:
            seen = follow(scene, turn.moment).standing(version.candidate)
            return Approval(turn, turn.answers.get(APPROVAL) == APPROVE, seen == version)
    return None
