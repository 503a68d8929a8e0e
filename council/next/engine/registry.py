"""What a workflow can name: rules, orders, views and checks are functions, registered under their names.

A function's signature is its declaration: a workflow's arguments are checked against it. `check` looks up what the
annotations below name, and tries a `Condition`, which is a rule inside the rule.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from council.next import rooms
from council.next.errors import UsageError
from council.next.text import did_you_mean
from council.next.workflow.model import Ref

Function = TypeVar("Function", bound=Callable[..., Any])
Place = str  # the name of a phase or step
Answer = Any  # the name of an answer, or by the answer's name what it must be
Source = str  # a step and one of its answers, as in analyze.perspectives
Ending = Any  # by a phase's name: how it must have ended
# What an argument with this annotation must be, and how that is said.
PLAIN: dict[str, tuple[type, str]] = {
    **dict.fromkeys(("str", "Place", "Answer", "Source"), (str, "a word")),
    "bool": (bool, "true or false"),
    "Mapping[str, Any]": (dict, "keys with values"),
}


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
        module = str(getattr(self.get(name), "__module__", ""))
        return module.startswith("council.next.") and ".extras." not in module

    def __missing__(self, name: str) -> Callable[..., Any]:
        if not self.knows(name):
            known = (*self, *rooms.names(self.kind))
            raise UsageError(f'there is no {self.kind} "{name}"; {did_you_mean(name, known)}')
        return self[name]

    def call(self, ref: Ref, *given: Any) -> Any:
        """The function's result for a workflow's arguments: several by name, one value for its first, or none."""
        function = self[ref.name]
        list(self.arguments(ref))  # raises what is wrong with them
        if isinstance(ref.args, dict):
            return function(*given, **ref.args)
        return function(*given) if ref.args is None else function(*given, ref.args)

    def arguments(self, ref: Ref) -> Iterator[tuple[str, inspect.Parameter, Any]]:
        """A workflow's arguments by name, with what the function declares of each. A wrong one is a UsageError."""
        own = [*inspect.signature(self[ref.name]).parameters.values()][self.given :]
        named = {one.name: one for one in own if one.kind not in (one.VAR_KEYWORD, one.POSITIONAL_ONLY)}
        free = next((one for one in own if one.kind is one.VAR_KEYWORD), None)
        first = own[0] if own and own[0].kind not in (own[0].VAR_KEYWORD, own[0].KEYWORD_ONLY) else None
        what = f'the {self.kind} "{ref.name}"'
        if ref.args is None:
            args = {}
        elif isinstance(ref.args, dict):
            args = {str(name): value for name, value in ref.args.items()}
        elif first:
            args, named = {first.name: ref.args}, {**named, first.name: first}
        else:
            raise UsageError(f"{what} takes {'arguments by name' if own else 'no arguments'}, not {ref.args!r}")
        for name, value in args.items():
            if not (parameter := named.get(name) or free):
                raise UsageError(f'{what} has no argument "{name}"; {did_you_mean(name, named)}')
            wanted, noun = PLAIN.get(str(parameter.annotation), (object, ""))
            if parameter.kind is not parameter.VAR_KEYWORD and (not isinstance(value, wanted) or value in ("", {})):
                raise UsageError(f"{what}: {name}: {value!r} is not {noun or 'an argument'}")
            yield name, parameter, value
        for name, one in named.items():
            if one.default is one.empty and name not in args:
                raise UsageError(f'{what} needs the argument "{name}"')


rules = Registry("rule", 1)
orders = Registry("order", 2)
views = Registry("view", 2)
checks = Registry("check", 3)  # by the name of an answer: what is wrong with it beyond its form, or nothing
sections = Registry("section", 1)  # what a room adds to the state of a session
endings = Registry("finished", 1)  # what a room does once a debate is over, and again after a kill
rule, order, view, check = rules.register, orders.register, views.register, checks.register
section, finished = sections.register, endings.register
