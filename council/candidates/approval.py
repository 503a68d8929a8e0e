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
    """A person's decision. `covers` says that the version stood when the person was asked, and that the brief named the
    hash of exactly these files. The receipt of the turn has the hash of that brief.
    """

    turn: Turn
    given: bool
    covers: bool


def find_approval(scene: Scene, version: Version, tree: str) -> Approval | None:
    """A person's newest decision about this version, whose files have the hash `tree`; None if nobody was asked.

    Silence approves nothing.
    """
    for turn in reversed(scene.turns):
        if turn.seat.is_person and APPROVAL in turn.asked:
            same = follow(scene, turn.moment).standing(version.candidate) == version
            return Approval(turn, turn.answers.get(APPROVAL) == APPROVE, same and tree in turn.said.brief)
    return None
