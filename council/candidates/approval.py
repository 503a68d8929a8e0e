"""What persons decided about candidates. An approval is for the files that its brief named, and for no others."""

from __future__ import annotations

from dataclasses import dataclass

from council.candidates.versions import Version, follow
from council.engine.scene import Scene, Turn
from council.text import one_line
from council.workflow import declare

APPROVAL = declare.answer("approval", "what a person decides about the candidates in the brief: approve or reject")
APPROVE, REJECT = "approve", "reject"
REASON = "reason"  # beside it: the person's own words
LONGEST_REASON = 200


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
    if (turn := _find_decision(scene)) is None:
        return None
    same = follow(scene, turn.moment).standing(version.candidate) == version
    return Approval(turn, _approves(turn), same and tree in turn.said.brief)


def describe_refusal(scene: Scene) -> str:
    """Who did not approve the candidates, and why; empty if a person did, or nobody was asked."""
    turn = _find_decision(scene)
    if turn is None or _approves(turn):
        return ""
    by = turn.seat.label
    if turn.answers.get(APPROVAL) != REJECT:
        silence = turn.absent or "the answer cannot be read"
        return f"nobody answered at the gate ({by}: {one_line(silence, LONGEST_REASON)})"
    reason = one_line(str(turn.answers.get(REASON) or ""), LONGEST_REASON)
    return f"{by} rejected the candidates" + (f": “{reason}”" if reason not in ("", "none") else "")


def _find_decision(scene: Scene) -> Turn | None:
    asked = (turn for turn in reversed(scene.turns) if turn.seat.is_person and APPROVAL in turn.asked)
    return next(asked, None)


def _approves(turn: Turn) -> bool:
    return turn.answers.get(APPROVAL) == APPROVE
