"""What protocols refuse of a person's answers before they are recorded.

A person can correct an answer; a turn that is recorded stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from council.engine.scene import Scene
from council.workflow.registry import Hook

refusal: Hook[Callable[[Mapping[str, Any], Scene], str]] = Hook("refusal", leading=2)


def find_refusal(answers: Mapping[str, Any], scene: Scene) -> str:
    """Why these answers are refused; empty if they can be recorded."""
    return next(filter(None, (function(answers, scene) for function in refusal.known.values())), "")
