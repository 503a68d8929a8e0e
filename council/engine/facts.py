"""Facts: the variables of prompt templates. Each is registered by the room that knows it.

A fact is computed when a template reads it, once per brief. Its docstring is its entry in docs/workflows.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from council.engine.conditions import judge
from council.engine.planner import Due
from council.engine.scene import Scene
from council.text import fence, one_line
from council.workflow.model import Workflow
from council.workflow.registry import Hook


@dataclass(frozen=True)
class PromptContext:
    """What a fact is computed from. `key(text, about)` is the secret key for the marks around a text. `extra` are the
    files that a room froze with the session, and `own_keys` those of the passages that facts quote from this seat.
    """

    due: Due
    workflow: Workflow
    topic: str
    key: Callable[[str, str], str]
    extra: Mapping[str, bytes] = field(default_factory=dict)
    own_keys: list[str] = field(default_factory=list, compare=False)

    @property
    def scene(self) -> Scene:
        return self.due.scene

    def fence(self, by: str, text: str, about: str) -> str:
        """The text between two marks that its author could not forge."""
        return fence(one_line(by), text, self.key(text, about))

    def fence_own(self, by: str, text: str, about: str) -> str:
        """The same for the seat's own words: repeating them is no echo."""
        self.own_keys.append(self.key(text, about))
        return self.fence(by, text, about)

    def noted(self, key: str) -> list[Any]:
        """What this phase's `until` rules tallied under that key after the previous round; nothing in the first."""
        if self.scene.round < 2:
            return []
        phase = next(phase for phase in self.workflow.phases if phase.name == self.scene.phase)
        return [item for _, condition in phase.until for item in judge(condition, self.scene).tally.get(key, [])]


fact: Hook[Callable[[PromptContext], Any]] = Hook("fact", leading=1)


class Facts(dict[str, Any]):
    """The facts of one brief, each computed when it is first read."""

    def __init__(self, context: PromptContext) -> None:
        self.context = context

    def __missing__(self, name: str) -> Any:
        self[name] = fact.known[name](self.context)
        return self[name]


def describe_facts() -> dict[str, str]:
    """Every fact by its name, with its docstring."""
    return {name: " ".join((function.__doc__ or "").split()) for name, function in sorted(fact.known.items())}
