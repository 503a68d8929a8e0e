"""The registry: a hook's name in a workflow is a function here, and a word that the program reads is declared here.

A room registers its names in modules that its `hooks.py` imports. A room that is not there registers nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import council
from council.errors import UsageError
from council.text import did_you_mean, listing

if TYPE_CHECKING:
    from council.workflow.model import Ref

F = TypeVar("F", bound=Callable[..., Any])


@cache
def load() -> None:
    """Import every room's `hooks` module once, so that all names are registered before the first is looked up."""
    for folder in council.__path__:
        for path in sorted(Path(folder).glob("*/hooks.py")):
            import_module(f"council.{path.parent.name}.hooks")


@dataclass(frozen=True)
class Word:
    """A word of the language that the program reads by name: declared beside the code that reads it.

    `types` are those that an answer of this name must have, if it cannot be any. A document's `parts` are what it takes
    from the synthesis. A role's `option` is one that a workflow must have for a phase to get the role by its name.
    """

    name: str
    about: str
    types: tuple[str, ...] = ()
    parts: Mapping[str, str] = field(default_factory=dict)
    option: str = ""


class Words:
    """All words of one kind. Calling it declares one, and gives back its name."""

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

    def check(self, name: str) -> None:
        """Refuse a word that nothing declares."""
        if name not in self.known:
            raise UsageError(f'there is no {self.kind} "{name}"; {did_you_mean(name, self.known)}')


answer, option, seat, role, document = (
    *(Words("answer"), Words("option"), Words("seat")),
    *(Words("role"), Words("kind of document")),
)


class Hook(Generic[F]):
    """Used as a decorator it registers a function under its name."""

    def __init__(self, kind: str, leading: int) -> None:
        self.kind = kind
        self.leading = leading
        self._registered: dict[str, F] = {}

    @property
    def known(self) -> dict[str, F]:
        load()
        return self._registered

    def __call__(self, function: F) -> F:
        self._registered[function.__name__.rstrip("_")] = function
        return function

    def call(self, ref: Ref, *lead: Any) -> Any:
        positional, named = _arguments(ref)
        return self.find(ref.name)(*lead, *positional, **named)

    def find(self, name: str) -> F:
        if name not in self.known:
            raise UsageError(f'there is no {self.kind} "{name}"; {did_you_mean(name, self.known)}')
        return self.known[name]

    def arguments(self, ref: Ref) -> dict[str, Any]:
        """What its function would be given, with what it takes without a word; empty for what `check` refuses."""
        positional, named = _arguments(ref)
        try:
            bound = inspect.signature(self.find(ref.name)).bind(*[None] * self.leading, *positional, **named)
        except (TypeError, UsageError):
            return {}
        bound.apply_defaults()
        return dict(bound.arguments)

    def check(self, ref: Ref) -> None:
        """Refuse a name that is not registered, and arguments that its function does not take."""
        positional, named = _arguments(ref)
        try:
            inspect.signature(self.find(ref.name)).bind(*[None] * self.leading, *positional, **named)
        except TypeError as wrong:
            raise UsageError(f'the {self.kind} "{ref.name}": {wrong}; {self.called(ref.name)}') from None

    def called(self, name: str) -> str:
        """How it is written, with all that it takes."""
        takes = list(inspect.signature(self.find(name)).parameters.values())[self.leading :]
        if not takes:
            return f"it is written {name}, and takes nothing"
        words = ", ".join("ANSWER: VALUE" if one.kind is one.VAR_KEYWORD else f"{one.name}: …" for one in takes)
        needed = [one.name for one in takes if one.default is one.empty and one.kind is not one.VAR_KEYWORD]
        return f"it is written {{{name}: {{{words}}}}}{f', of which it needs {listing(needed)}' if needed else ''}"


def _arguments(ref: Ref) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if ref.args is None:
        return (), {}
    if isinstance(ref.args, dict):
        return (), ref.args
    return (ref.args,), {}
