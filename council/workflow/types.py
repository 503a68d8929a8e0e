"""Types of answers that a room adds to those of the language, as reviews add `findings`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from council.workflow.registry import load


@dataclass(frozen=True)
class AnswerType:
    """`read(body, brief, says_none)` is given the whole reply, because such an answer has headings of its own; it
    returns None for one that cannot be read. `grammar` is what a small local model is held to.
    """

    name: str
    about: str
    format: str
    read: Callable[[str, str, bool], Any]
    grammar: str


_registered: dict[str, AnswerType] = {}


def answer_type(added: AnswerType) -> None:
    _registered[added.name] = added


def answer_types() -> dict[str, AnswerType]:
    load()
    return _registered
