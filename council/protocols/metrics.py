"""What the program measured of a debate, for briefs and documents: plain figures, which no seat could have made up."""

from __future__ import annotations

from typing import Any

from council.engine.rules_course import repeated
from council.engine.scene import Scene, Turn
from council.workflow.model import Workflow

SAME = 0.6  # of a turn's words: from there on it says the same again


def measured(scene: Scene, workflow: Workflow) -> dict[str, Any]:
    """For templates: how the scores went, and who repeats what they said a round before."""
    return {"trajectory": trajectory(scene, workflow), "repeats": repeats(scene)}


def score_field(workflow: Workflow, phase: str) -> str:
    """The first answer of the phase that is a number in a range; empty where it asks for none."""
    fields = (
        name
        for found, step in workflow.steps()
        for name, kind in step.reply
        if found.name == phase and kind.type == "range" and kind.high > 1
    )
    return next(fields, "")


def trajectory(scene: Scene, workflow: Workflow, phase: str = "") -> list[dict[str, Any]]:
    """The scores of each round of a phase, the oldest first. Whoever gave none has None, and counts as nothing."""
    field = score_field(workflow, phase or scene.phase)
    if not field:
        return []
    rounds = [turns for turns in scene.asking(field) if turns[0].phase == (phase or scene.phase)]
    return [_round(turns, field) for turns in reversed(rounds)]


def _round(turns: tuple[Turn, ...], field: str) -> dict[str, Any]:
    scores = [{"seat": turn.seat.name, "by": turn.seat.label, "score": turn.answers.get(field)} for turn in turns]
    mean = sum(float(turn.answers.get(field) or 0) for turn in turns) / len(turns)
    return {"round": turns[0].round, "mean": round(mean, 1), "scores": scores}


def repeats(scene: Scene) -> list[dict[str, Any]]:
    """Who said again in this round, for the most part, what they had said in the one before, and how much of it."""
    now = (turn for turn in scene.turns if (turn.phase, turn.round) == (scene.phase, scene.round))
    shares = [(turn, round(repeated(turn, scene) or 0.0, 2)) for turn in now]
    return [{"by": turn.seat.label, "step": turn.step, "share": share} for turn, share in shares if share > SAME]
