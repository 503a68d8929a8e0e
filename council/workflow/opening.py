"""What is decided when a session begins, and frozen with it: options that are `auto`, and the output of commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
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


@dataclass(frozen=True)
class CommandRan:
    """How a command ended, in words too, and what it printed; `cut` bytes in the middle were not kept."""

    exit: int | None
    ended: str
    output: bytes
    cut: int


RunCommand = Callable[[tuple[str, ...], Path], CommandRan]
_runners: list[RunCommand] = []


def runs_commands(run: RunCommand) -> RunCommand:
    """Register what runs a command on a copy of a folder, where it can do no harm."""
    _runners[:] = [run]
    return run


def find_runner() -> RunCommand | None:
    """What runs commands; None if the room for it was removed."""
    load()
    return _runners[0] if _runners else None
