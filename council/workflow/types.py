"""Types of answers that a room adds to those of the language, as reviews add `findings`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from council.workflow.registry import load


class Unreadable(Exception):
    """Why an answer cannot be read, as a clause. The seat is asked once more, and told so."""


@dataclass(frozen=True)
class AnswerType:
    """`read(body, brief, says_none)` gets the whole reply, because such an answer has its own headings; it returns
    None if there is no answer, and raises Unreadable if there is one that cannot be read. `grammar` constrains what a
    small local model may write; without one, it writes freely. Where `documents` is not empty, the answer is about
    attached documents, and a debate without any is refused with that sentence. `careful` is why a small model is
    refused. A step has at most one answer of a type that is `alone`.
    """

    name: str
    about: str
    format: str
    read: Callable[[str, str, bool], Any]
    grammar: str
    documents: str = ""
    careful: str = ""
    alone: bool = False


_registered: dict[str, AnswerType] = {}


def answer_type(added: AnswerType) -> None:
    _registered[added.name] = added


def answer_types() -> dict[str, AnswerType]:
    load()
    return _registered
