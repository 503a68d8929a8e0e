"""The registry behind the four hooks: a name in a workflow is a function here, checked when the workflow is loaded.

A room registers its names in modules that its `hooks.py` imports. A room that is not there registers nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import council
from council.errors import UsageError
from council.text import did_you_mean, join_words

if TYPE_CHECKING:
    from council.workflow.model import Ref

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")  # what is known of a hook: a frozen dataclass


@cache
def load() -> None:
    """Import every room's `hooks` module once, so that all names are registered before the first is looked up."""
    for folder in council.__path__:
        for path in sorted(Path(folder).glob("*/hooks.py")):
            import_module(f"council.{path.parent.name}.hooks")


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

    def __call__(self, function: F, /) -> F:
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
        """Its function's arguments, defaults included; empty for those that `check` refuses."""
        positional, named = _arguments(ref)
        try:
            bound = inspect.signature(self.find(ref.name)).bind(*[None] * self.leading, *positional, **named)
        except (TypeError, UsageError):
            return {}
        bound.apply_defaults()
        return dict(bound.arguments)

    def further(self, ref: Ref) -> dict[str, Any]:
        """Its arguments beside those that its function names: answers, phases or options with values."""
        kinds = inspect.signature(self.find(ref.name)).parameters if ref.name in self.known else {}
        name = next((name for name, one in kinds.items() if one.kind is one.VAR_KEYWORD), "")
        return dict(self.arguments(ref).get(name, {}))

    def check(self, ref: Ref) -> None:
        """Refuse a name that is not registered, and arguments that its function does not take."""
        positional, named = _arguments(ref)
        try:
            inspect.signature(self.find(ref.name)).bind(*[None] * self.leading, *positional, **named)
        except TypeError as wrong:
            raise UsageError(f'the {self.kind} "{ref.name}": {wrong}; {self.usage(ref.name)}') from None

    def usage(self, name: str) -> str:
        """How it is written, with all its arguments."""
        takes = list(inspect.signature(self.find(name)).parameters.values())[self.leading :]
        if not takes:
            return f"it is written {name}, and takes nothing"
        words = ", ".join("ANSWER: VALUE" if one.kind is one.VAR_KEYWORD else f"{one.name}: …" for one in takes)
        needed = [one.name for one in takes if one.default is one.empty and one.kind is not one.VAR_KEYWORD]
        return f"it is written {{{name}: {{{words}}}}}{f', of which it needs {join_words(needed)}' if needed else ''}"


class CheckedHook(Hook[F], Generic[F, T]):
    """A hook whose functions say what the checks have to know of them: `@rule(reads=("field",))`."""

    def __init__(self, kind: str, leading: int, traits: type[T]) -> None:
        super().__init__(kind, leading)
        self._no_traits = traits
        self._traits: dict[str, T] = {}

    @overload
    def __call__(self, function: F, /) -> F: ...
    @overload
    def __call__(self, /, **traits: Any) -> Callable[[F], F]: ...
    def __call__(self, function: F | None = None, /, **traits: Any) -> F | Callable[[F], F]:
        if function is None:
            described = self._no_traits(**traits)

            def register(function: F) -> F:
                self._traits[function.__name__.rstrip("_")] = described
                return super(CheckedHook, self).__call__(function)

            return register
        return super().__call__(function)

    def traits(self, name: str) -> T:
        """What is known of it besides its arguments; nothing, where it says nothing or does not exist."""
        load()
        return self._traits.get(name) or self._no_traits()

    def with_trait(self, trait: str) -> set[str]:
        """The names of all that have it."""
        return {name for name in self.known if getattr(self.traits(name), trait)}


def _arguments(ref: Ref) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if ref.args is None:
        return (), {}
    if isinstance(ref.args, dict):
        return (), ref.args
    return (ref.args,), {}
