"""The registry of rules, orders, views and other hooks: a name in a workflow is a function registered here.

A room registers its names in modules that its `hooks.py` imports. A room that was removed registers nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, overload

import council
from council.errors import UsageError
from council.text import did_you_mean, join_words

if TYPE_CHECKING:
    from council.workflow.model import Ref

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")  # the traits of a hook's functions: a frozen dataclass

signature = cache(inspect.signature)  # of each hook, which are asked for their arguments at every step of every plan


@cache
def load() -> None:
    """Import every room's `hooks` module once, so that all names are registered before the first is looked up."""
    for folder in council.__path__:
        for path in sorted(Path(folder).glob("*/hooks.py")):
            import_module(f"council.{path.parent.name}.hooks")


class Hook(Generic[F]):
    """A kind of function that workflows name. Used as a decorator, it registers a function under its name."""

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
        """The arguments of a call, including defaults; empty if `check` would refuse them."""
        positional, named = _arguments(ref)
        try:
            bound = signature(self.find(ref.name)).bind(*[None] * self.leading, *positional, **named)
        except (TypeError, UsageError):
            return {}
        bound.apply_defaults()
        return dict(bound.arguments)

    def parameters(self, name: str) -> list[str]:
        """The names of the arguments that a function takes; empty if no function has this name."""
        function = self.known.get(name)
        return list(signature(function).parameters)[self.leading :] if function else []

    def further(self, ref: Ref) -> dict[str, Any]:
        """The arguments that its function takes as `**keywords`: answers, phases or options with values."""
        parameters = signature(self.find(ref.name)).parameters if ref.name in self.known else {}
        name = next((name for name, parameter in parameters.items() if parameter.kind is parameter.VAR_KEYWORD), "")
        return dict(self.arguments(ref).get(name, {}))

    def check(self, ref: Ref) -> None:
        """Raise UsageError for an unknown name, or for arguments that its function does not take."""
        positional, named = _arguments(ref)
        try:
            signature(self.find(ref.name)).bind(*[None] * self.leading, *positional, **named)
        except TypeError as wrong:
            raise UsageError(f'the {self.kind} "{ref.name}": {wrong}; {self.usage(ref.name)}') from None

    def usage(self, name: str) -> str:
        """How to write it, with all its arguments."""
        parameters = list(signature(self.find(name)).parameters.values())[self.leading :]
        if not parameters:
            return f"write {name}, without arguments"
        written, required = [], []
        for parameter in parameters:
            is_keywords = parameter.kind is parameter.VAR_KEYWORD
            written.append("ANSWER: VALUE" if is_keywords else f"{parameter.name}: …")
            if parameter.default is parameter.empty and not is_keywords:
                required.append(parameter.name)
        needs = f" ({join_words(required)} {'is' if len(required) == 1 else 'are'} required)" if required else ""
        return f"write {{{name}: {{{', '.join(written)}}}}}{needs}"


class CheckedHook(Hook[F], Generic[F, T]):
    """A hook whose functions declare traits for the checks: `@rule(reads=("field",))`."""

    _kinds: ClassVar[dict[str, CheckedHook[Any, Any]]] = {}

    @classmethod
    def of_kind(cls, kind: str) -> CheckedHook[Any, Any]:
        """The hook for rules, orders or views, by the word for its functions."""
        load()
        return cls._kinds[kind]

    def __init__(self, kind: str, leading: int, traits: type[T]) -> None:
        super().__init__(kind, leading)
        self._kinds[kind] = self
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
        """Its traits; the defaults if it declares none or does not exist."""
        load()
        return self._traits.get(name) or self._no_traits()

    def with_trait(self, trait: str) -> set[str]:
        """The names of all functions with this trait."""
        return {name for name in self.known if getattr(self.traits(name), trait)}


def _arguments(ref: Ref) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if ref.args is None:
        return (), {}
    if isinstance(ref.args, dict):
        return (), ref.args
    return (ref.args,), {}
