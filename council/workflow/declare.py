"""The words that the program reads by name: answers, options, seats, roles and kinds of documents.

Each is declared beside the code that reads it, as in `STANCE = declare.answer("stance", "agree, mixed or disagree")`.
The vocabulary of the language, what lint checks and docs/workflows.md are derived from these declarations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from council.errors import UsageError
from council.text import did_you_mean
from council.workflow.registry import load


@dataclass(frozen=True)
class Word:
    """One word that the program reads by name.

    `types` are the types that an answer of this name may have; empty for any. A document's `parts` are what it takes
    from the synthesis, and `fills` are the answers that are such a part where a workflow does not name one. A phase
    named after a role has that role only in workflows with the role's `option`, if set.
    `also` are other headings, in lower case, that a reply may give an answer under. A number that is no `opinion` shows
    no change of mind. The items of a list are concerns of that kind, if `concern` names one; a concern that `lapses` is
    settled once its owner no longer names it. A debate that asks for an answer that `concludes` needs no synthesis.
    """

    name: str
    about: str
    types: tuple[str, ...] = ()
    parts: Mapping[str, str] = field(default_factory=dict)
    fills: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    option: str = ""
    also: tuple[str, ...] = ()
    opinion: bool = True
    concludes: bool = False
    concern: str = ""
    lapses: bool = False


class Words:
    """All words of one kind. Calling it declares a word and returns its name."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._declared: dict[str, Word] = {}

    @property
    def known(self) -> Mapping[str, Word]:
        load()
        return self._declared

    def __call__(self, name: str, about: str, **more: Any) -> str:
        assert name not in self._declared, f"the {self.kind} {name} is declared twice"
        self._declared[name] = Word(name, about, **more)
        return name

    def is_opinion(self, name: str) -> bool:
        """Whether an answer of that name may be what a seat thinks of the question."""
        return name not in self.known or self.known[name].opinion

    def concludes(self, names: Iterable[str]) -> bool:
        """Whether one of these answers is what a debate is for, so that nobody has to sum it up."""
        return any(name in self.known and self.known[name].concludes for name in names)

    def check(self, name: str) -> None:
        """Refuse a word that nothing declares."""
        if name not in self.known:
            raise UsageError(f'there is no {self.kind} "{name}"; {did_you_mean(name, self.known)}')


answer = Words("answer")
option = Words("option")
seat = Words("seat")
role = Words("role")
document = Words("kind of document")
