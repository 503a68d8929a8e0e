"""Remembers Python's own library as far as the tests use it, and finds what somebody has replaced in it since.

A candidate that replaces `open` or `random.randint` decides what its tests see. It may put the real one back as soon as
its own was called, so one look at the end is not enough: the tests' code looks before everything that it calls.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib
import os
import sys
import types
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import is_
from typing import Any

# The functions below keep their own built-in functions, whatever the candidate makes of the others.
globals()["__builtins__"] = dict(vars(builtins))

FREE = frozenset("print input breakpoint exit quit help copyright credits license _".split())
ALWAYS = tuple(  # if they are there: what tests compare with, and what fixtures give them
    "math operator json json.decoder json.encoder json.scanner re difflib copy functools itertools collections "
    "io os posixpath pathlib".split()
)
# What they are for is to be replaced. `warnings` replaces its own functions all the time.
MEANT_TO_BE = frozenset(
    "json.encoder.JSONEncoder.default logging._loggerClass logging._logRecordFactory pydoc.pager pdb.set_trace "
    "ssl._create_default_https_context sys.excepthook sys.displayhook sys.unraisablehook sys.breakpointhook "
    "logging.lastResort threading.excepthook threading._shutdown".split()
)
NOT_KEPT = frozenset(  # the guard keeps what decides; others do something when they are imported
    "warnings builtins __main__ unittest pytest _pytest antigravity this idlelib turtledemo test".split()
)
MACHINERY = frozenset(  # which nearly every module mentions, and tests do not call
    "importlib _frozen_importlib _frozen_importlib_external site _sitebuiltins zipimport types typing abc enum sys "
    "_collections_abc collections.abc weakref _weakrefset dataclasses".split()
)
CONSTANTS = (int, float, complex, str, bytes, tuple, frozenset)
IMMUTABLE = 1 << 8  # a flag of types that are written in C
ABSENT = object()


class Names:
    """The names of a module, class or object as they were, and the most of them that nobody may replace."""

    def __init__(self, name: str, names: Mapping[str, Any], kept: Mapping[str, Any], owner: Any = None) -> None:
        self.name, self.names, self.kept, self.owner = name, names, kept, owner
        self.values, self.shape = [*names.values()], _shape(owner)

    def find(self) -> Iterator[tuple[str, Any]]:
        """The names of what is another now, with what it is."""
        if self.owner is not None and _shape(self.owner) is not self.shape:
            yield self.name, ABSENT
        values = [*self.names.values()]
        if len(values) == len(self.values) and all(map(is_, values, self.values)):
            return
        changed = [name for name, value in self.kept.items() if self.names.get(name, ABSENT) is not value]
        if self.owner is not None:
            changed += [name for name, value in [*self.names.items()] if self._hides(name, value)]
        yield from ((f"{self.name}.{name}", self.names.get(name, ABSENT)) for name in changed)
        if not changed:  # data, which changes
            self.values = values

    def _hides(self, name: str, value: Any) -> bool:
        """Whether this is new, and hides what the class or its bases have under this name."""
        if name in self.kept or not _is_code(value):
            return False
        above = self.owner.__mro__[1:] if isinstance(self.owner, type) else type(self.owner).__mro__
        return any(name in vars(one) and vars(one)[name] is not value for one in above)


def _shape(owner: Any) -> Any:
    """What a class inherits, or the class of an object."""
    return owner.__mro__ if isinstance(owner, type) else type(owner)


def _is_code(value: Any) -> bool:
    return callable(value) or hasattr(type(value), "__get__")


def load(imports: Iterable[str]) -> None:
    """Import what the tests import of the library, while there is only the real one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in filter(_is_library, imports):
            with contextlib.suppress(Exception):
                importlib.import_module(name)


def keep(
    imports: Iterable[str], named: frozenset[str], tests: frozenset[str], is_package: Callable[[str], bool]
) -> Callable[[bool], list[str]]:
    """Remember what the tests import of the library. What comes back looks for what was replaced, in the midst of a
    test or, with True, at the end. Packages of the environment are remembered by the first look after their import.

    `named` are the names that the tests have in quotes or set: a test may replace something for itself, as with
    `monkeypatch`. `tests` are their files, and `is_package` says of a file whether it is of a package.
    """
    modules = {**_reach(imports), **{name: sys.modules[name] for name in ALWAYS if name in sys.modules}}
    kept = [*_keep(modules)]
    loaded, present = sys.modules, modules.items()
    waiting = {name for name in imports if not _is_library(name) and name.partition(".")[0] not in NOT_KEPT}
    ours, get_process = os.getpid(), os.getpid
    is_honest = _judge_makers(lambda file: file in tests or is_package(file))

    def greet() -> None:
        for name in [name for name in waiting if name in loaded]:
            waiting.discard(name)
            if is_package(getattr(loaded[name], "__file__", None) or ""):
                names = vars(loaded[name])
                kept.append(Names(name, names, {word: value for word, value in names.items() if callable(value)}))

    def find(at_the_end: bool) -> list[str]:
        if get_process() != ours:  # a process of the candidate or of the tests, where nobody decides anything
            return []
        greet()
        changed = [(name, loaded.get(name, ABSENT)) for name, module in present if loaded.get(name) is not module]
        for one in kept:
            changed += one.find()
        return [
            name for name, value in changed
            if name not in MEANT_TO_BE and not is_honest(value)
            and (at_the_end or name.rpartition(".")[2] not in named)
        ]  # fmt: skip

    return find


# ---- what is kept ----


def _reach(imports: Iterable[str]) -> dict[str, types.ModuleType]:
    """These modules of the library, and those in which their functions and classes were written."""
    found = {name: sys.modules[name] for name in imports if _is_kept(name)}
    for module in [*found.values()]:
        for value in vars(module).values():
            name = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
            if isinstance(name, str) and name not in MACHINERY and _is_kept(name):
                found[name] = sys.modules[name]
    return found


def _is_kept(name: str) -> bool:
    return name in sys.modules and _is_library(name) and name.partition(".")[0] not in NOT_KEPT


def _is_library(name: str) -> bool:
    return name.partition(".")[0] in sys.stdlib_module_names


def _keep(modules: Mapping[str, types.ModuleType]) -> Iterator[Names]:
    yield Names("builtins", vars(builtins), {name: value for name, value in vars(builtins).items() if name not in FREE})
    owners: dict[int, Any] = {}
    for name, module in modules.items():
        names = vars(module)
        yield Names(name, names, {word: value for word, value in names.items() if _must_stay(word, value)})
        for value in names.values():
            owners |= {id(one): one for one in (value, getattr(value, "__self__", None)) if _is_pliable(one)}
    for owner in owners.values():
        kind = owner if isinstance(owner, type) else type(owner)
        if kind.__module__ in modules:
            kept = {word: value for word, value in vars(owner).items() if _is_code(value)}
            yield Names(f"{kind.__module__}.{kind.__qualname__}", vars(owner), kept, owner)


def _must_stay(name: str, value: Any) -> bool:
    if name.startswith("__"):
        return False
    constant = type(value) in CONSTANTS and not name.startswith("_")
    return constant or _is_code(value) or isinstance(value, types.ModuleType) or _is_pliable(value)


def _is_pliable(value: Any) -> bool:
    """Whether it is a class, or an object of one, of which names can be replaced."""
    if isinstance(value, types.ModuleType | types.FunctionType | types.MethodType):
        return False
    kind = value if isinstance(value, type) else type(value)
    return not kind.__flags__ & IMMUTABLE and hasattr(value, "__dict__")


# ---- who replaced it ----


def _judge_makers(is_theirs: Callable[[str], bool]) -> Callable[[Any], bool]:
    """Whether something was made by the tests, or by a package of the environment, as those that fake the time."""
    function, method, kinds, wrapped = types.FunctionType, types.MethodType, type, (staticmethod, classmethod)

    def is_honest(value: Any) -> bool:
        if kinds(value) is function:
            return is_theirs(value.__code__.co_filename)
        if kinds(value) is method:
            return is_honest(value.__func__)
        for made in (value if isinstance(value, kinds) else kinds(value)).__mro__:
            parts = [one.__func__ if kinds(one) in wrapped else one for one in vars(made).values()]
            if functions := [one for one in parts if kinds(one) is function]:
                return all(map(is_honest, functions))
        return False

    return is_honest
