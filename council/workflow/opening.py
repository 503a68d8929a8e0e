"""Options with the value `auto`: what they are is decided when a session begins, and frozen with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from council.workflow.registry import load

AUTO = "auto"


@dataclass(frozen=True)
class Opening:
    """What is known when a session begins: its topic, the files that rooms freeze with it, and the number of seats."""

    topic: str
    extra: Mapping[str, bytes]
    seats: int


Decide = Callable[[Opening], str]
_deciding: dict[str, Decide] = {}


def settles(option: str) -> Callable[[Decide], Decide]:
    """Register a function that decides what `auto` means for this option."""

    def register(decide: Decide) -> Decide:
        _deciding[option] = decide
        return decide

    return register


def settle(options: Mapping[str, Any], opening: Opening) -> dict[str, str]:
    """The options that are `auto`, with what they are for this session. The others are left out."""
    load()
    return {name: decide(opening) for name, decide in _deciding.items() if options.get(name) == AUTO}
