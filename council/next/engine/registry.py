"""What a workflow can name: rules, orders, views and checks are functions, registered under their names.

A function's signature is its declaration: a workflow's arguments are checked against it. Two annotations tell lint
more: a `Place` must be the name of a phase or step, and a `Condition` is a rule inside the rule.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, TypeVar

from council.next import rooms
from council.next.errors import UsageError
from council.next.text import did_you_mean
from council.next.workflow.model import Ref

Function = TypeVar("Function", bound=Callable[..., Any])
Place = str  # as the annotation of an argument: the name of a phase or step
# What an argument with this annotation must be, and how that is said.
PLAIN: dict[str, tuple[type, str]] = {"str": (str, "a word"), "Mapping[str, Any]": (dict, "keys with values")}


@lru_cache(maxsize=256)
def parameters(function: Callable[..., Any]) -> tuple[inspect.Parameter, ...]:
    return (*inspect.signature(function).parameters.values(),)


class Registry(dict[str, Callable[..., Any]]):
    """The functions of one kind. A name that the core does not have is looked for in the optional rooms."""

    def __init__(self, kind: str, given: int) -> None:
        super().__init__()
        self.kind, self.given = kind, given  # the engine itself passes the first `given` arguments

    def register(self, function: Function) -> Function:
        self[function.__name__.rstrip("_")] = function
        return function

    def knows(self, name: str) -> bool:
        return name in self or (rooms.load(self.kind, name) and name in self)

    def is_core(self, name: str) -> bool:
        """Whether the core has this name, and no room is needed for it."""
        return (
            name in self
            and self[name].__module__.startswith("council.next.")
            and ".extras." not in self[name].__module__
        )

    def __missing__(self, name: str) -> Callable[..., Any]:
        if not self.knows(name):
            known = (*self, *rooms.names(self.kind))
            raise UsageError(f'there is no {self.kind} "{name}"; {did_you_mean(name, known)}')
        return self[name]

    def call(self, ref: Ref, *given: Any) -> Any:
        """The function's result for a workflow's arguments: several by name, one value for its first, or none."""
        function = self[ref.name]
        for parameter, value in self.arguments(ref):
            if (wanted := PLAIN.get(str(parameter.annotation))) and not (value and isinstance(value, wanted[0])):
                what = f'the {self.kind} "{ref.name}": {parameter.name}'
                raise UsageError(f"{what}: {value!r} is not {wanted[1]}")
        if isinstance(ref.args, dict):
            return function(*given, **ref.args)
        return function(*given) if ref.args is None else function(*given, ref.args)

    def arguments(self, ref: Ref) -> Iterator[tuple[inspect.Parameter, Any]]:
        """A workflow's arguments with what the function declares of each. Raises UsageError where they do not fit."""
        own = parameters(self[ref.name])[self.given :]
        named = {one.name: one for one in own if one.kind is not one.VAR_KEYWORD}
        free = next((one for one in own if one.kind is one.VAR_KEYWORD), None)
        what = f'the {self.kind} "{ref.name}"'
        if ref.args is None:
            args = {}
        elif isinstance(ref.args, dict):
            args = {str(name): value for name, value in ref.args.items()}
        elif first := next((one.name for one in own if one.kind is one.POSITIONAL_OR_KEYWORD), ""):
            args = {first: ref.args}
        else:
            raise UsageError(f"{what} takes {'arguments by name' if own else 'no arguments'}, not {ref.args!r}")
        for name, value in args.items():
            if not (parameter := named.get(name) or free):
                raise UsageError(f'{what} has no argument "{name}"; {did_you_mean(name, named)}')
            yield parameter, value
        for name, one in named.items():
            if one.default is one.empty and name not in args:
                raise UsageError(f'{what} needs the argument "{name}"')


rules = Registry("rule", 1)
orders = Registry("order", 2)
views = Registry("view", 2)
checks = Registry("check", 3)  # by the name of an answer: what is wrong with a reply beyond its form
sections = Registry("section", 1)  # what a room adds to the state of a session
endings = Registry("finished", 1)  # what a room does once a debate is over, and again after a kill
rule, order, view, check = rules.register, orders.register, views.register, checks.register
section, finished = sections.register, endings.register
