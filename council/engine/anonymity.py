"""Translates the words of authors who know the others by labels, for readers who know other labels, or names."""

from __future__ import annotations

import re
from collections.abc import Mapping

from council.engine.scene import Scene, Turn
from council.engine.views import labels_for, view
from council.workflow.model import Seat, Step, Workflow


def translate_labels(text: str, turn: Turn, reader: Seat, workflow: Workflow, scene: Scene) -> str:
    """Replace the labels in an anonymous author's words with those that the reader knows."""
    if not wrote_under_label(turn, workflow):
        return text
    theirs, ours = labels_for(turn.seat, scene), labels_for(reader, scene)
    swap = {theirs[name]: ours[name] for name in theirs if name in ours and name != turn.seat.name}
    return _replace_labels(text, swap)


def restore_names(text: str, turn: Turn, workflow: Workflow, scene: Scene) -> str:
    """Replace the labels in a text from an anonymous author's turn with names."""
    if not wrote_under_label(turn, workflow):
        return text
    seats: Mapping[str, Seat] = {seat.name: seat for seat in workflow.all_seats()} | {
        t.seat.name: t.seat for t in scene.turns
    }
    labels = labels_for(turn.seat, scene)
    return _replace_labels(text, {label: seats[name].label for name, label in labels.items() if name != turn.seat.name})


def _replace_labels(text: str, swap: Mapping[str, str]) -> str:
    return re.sub(r"\bMember [A-Z]{1,2}\b", lambda found: swap.get(found.group(), found.group()), text)


def wrote_under_label(turn: Turn, workflow: Workflow) -> bool:
    step: Step | None = next((s for p, s in workflow.steps() if (p.name, s.name) == (turn.phase, turn.step)), None)
    return step is not None and any(view.traits(ref.name).labels for ref in step.sees)
