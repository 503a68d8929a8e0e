"""Inside the process that runs the candidate: what speaks to the parent, compares, and imports the tests.

Nothing here is kept in a module's names: functions hold what they need, and only the tests' code and the runner hold
them. `audit` watches over the ways that lead to them.
"""

from __future__ import annotations

import builtins
import importlib.machinery
import json
import operator
import os
import reprlib
import sys
import threading
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

MOST_SEEN = 2_000  # parts of a value that are looked at


class Voice(NamedTuple):
    """What the runner and the tests' code are given."""

    say: Callable[..., None]
    done: Callable[..., Any]
    compare: Callable[[str, Any, Any], Any]
    tell: Callable[..., str]
    remember: Callable[[], Callable[[], None]]


def raise_voice(descriptor: int, secret: str) -> Voice:
    say = _speaker(descriptor, secret)
    compare, tell = _comparer(say)
    return Voice(say, _finisher(say), compare, tell, lambda: _keeper(say))


def _speaker(descriptor: int, secret: str) -> Callable[..., None]:
    write, dumps, lock = os.write, json.dumps, threading.Lock()

    def say(**facts: Any) -> None:
        data = dumps({"secret": secret, **facts}).encode() + b"\n"
        with lock:
            while data:
                data = data[write(descriptor, data) :]

    return say


def _finisher(say: Callable[..., None]) -> Callable[..., Any]:
    def done(key: str, *value: Any) -> Any:
        say(done=key)
        return value[0] if value else None

    return done


# ---- comparing ----


def _comparer(say: Callable[..., None]) -> tuple[Callable[[str, Any, Any], Any], Callable[..., str]]:
    last: dict[int, str] = {}
    whose = threading.get_ident
    work: dict[str, Callable[[Any, Any], Any]] = {
        "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
        "is": operator.is_, "is not": operator.is_not,
        "in": lambda a, b: a in b, "not in": lambda a, b: a not in b,
    }  # fmt: skip
    show, find = _shower(), _finder()

    def compare(word: str, left: Any, right: Any) -> Any:
        __tracebackhide__ = True
        result = work[word](left, right)
        if word not in ("is", "is not") and (impostor := find(left, right) or find(right, left)):
            say(impostor=show(type(impostor)))
            raise AssertionError(f"{show(type(impostor))} equals whatever it is compared with")
        last[whose()] = f"{show(left)} {word} {show(right)}"
        return result

    def tell(text: str, *message: Any) -> str:
        seen = last.pop(whose(), "")
        return "\n".join([*(str(one) for one in message), f"assert {text}", *([f"  with {seen}"] if seen else [])])

    return compare, tell


def _shower() -> Callable[[Any], str]:
    short = reprlib.Repr()
    short.maxstring = short.maxother = 400
    short.maxlist = short.maxtuple = short.maxset = short.maxfrozenset = short.maxdict = short.maxdeque = 30

    def show(value: Any) -> str:
        try:
            return short.repr(value)
        except Exception:
            return f"<{type(value).__name__}>"

    return show


PLAIN = (int, float, complex, bool, str, bytes, bytearray, type(None), range, type, types.FunctionType)


def _finder() -> Callable[[Any, Any], Any]:
    """Finds an object within a value that also equals a stranger: something that it has never seen."""
    kinds, function, roll = type, types.FunctionType, _roller()

    def find(value: Any, other: Any) -> Any:
        for part in _unfold(value):
            kind = kinds(part)
            if kind not in PLAIN and kinds(kind.__eq__) is function:
                strangers = [object(), *(roll(other) if part is value else ())]
                if any(_equals(part, stranger) for stranger in strangers):
                    return part
        return None

    return find


def _roller() -> Callable[[Any], list[Any]]:
    """Makes another value of the same kind."""
    random_bytes = os.urandom

    def roll(other: Any) -> list[Any]:
        token, kind = random_bytes(8).hex(), type(other)
        if kind in (int, float):
            return [kind(int(token, 16))]
        if kind in (list, tuple):
            return [kind([token])]
        made: dict[type, list[Any]] = {bool: [not other], str: [token], dict: [{token: token}]}
        return made.get(kind, [])

    return roll


def _unfold(value: Any) -> list[Any]:
    """A value and what is in it, if that is lists and the like."""
    parts = [value]
    for part in parts:
        if type(part) in (list, tuple, set, frozenset):
            parts += list(part)[:MOST_SEEN]
        elif type(part) is dict:
            parts += [*list(part)[:MOST_SEEN], *list(part.values())[:MOST_SEEN]]
        if len(parts) > MOST_SEEN:
            break
    return parts[:MOST_SEEN]


def _equals(part: Any, stranger: Any) -> bool:
    try:
        return (part == stranger) is True
    except Exception:
        return False


# ---- what decides must stay what it was ----


def _keeper(say: Callable[..., None]) -> Callable[[], None]:
    """Remembers the functions and classes of everything that decides, and tells if one is another later."""
    remembered = list(_parts())
    namespace_of = vars

    def check() -> None:
        for owner, name, value, code in remembered:
            now = namespace_of(owner).get(name)
            if now is not value or (code is not None and (now.__code__, now.__defaults__) != code):
                say(tampered=f"{owner.__name__}.{name} was replaced")
                return

    return check


BUILTINS = (
    "AssertionError BaseException Exception isinstance issubclass type object id len all any sorted getattr setattr "
    "super str int bool list dict tuple set repr __build_class__"
).split()
DECIDING = (
    "_pytest.runner", "_pytest.reports", "_pytest.python", "_pytest.skipping", "_pytest.unittest", "_pytest.main",
    "_pytest.raises", "_pytest.python_api", "_pytest.outcomes", "_pytest.recwarn", "_pytest.nodes", "_pytest.fixtures",
    "_pytest._code.code", "pluggy._hooks", "pluggy._callers", "pluggy._manager", "unittest.case", "unittest.result",
    "unittest.suite", "unittest.loader", "unittest.mock",
)  # fmt: skip


def _parts() -> Iterator[tuple[Any, str, Any, Any]]:
    for name in BUILTINS:
        yield builtins, name, getattr(builtins, name), None
    for module in [sys.modules[name] for name in DECIDING if name in sys.modules]:
        for name, value in list(vars(module).items()):
            if isinstance(value, types.FunctionType):
                yield module, name, value, (value.__code__, value.__defaults__)
            elif isinstance(value, type) and value.__module__ == module.__name__:
                yield module, name, value, None
                for inner, method in list(vars(value).items()):
                    if isinstance(method, types.FunctionType):
                        yield value, inner, method, (method.__code__, method.__defaults__)
                    elif isinstance(method, classmethod | staticmethod | property):
                        yield value, inner, method, None


# ---- the tests' own modules ----


class TestImporter:
    """Imports the files of the tests from memory, whatever the candidate has put in their place."""

    def __init__(self, codes: Mapping[str, types.CodeType], names: Mapping[str, str]) -> None:
        self._codes, self._names = codes, names

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        del path, target
        if name not in self._names:
            return None
        file = self._names[name]
        package = [file.rpartition("/")[0]] if file.endswith("/__init__.py") else None
        spec = importlib.machinery.ModuleSpec(name, self, origin=file, is_package=package is not None)  # type: ignore[arg-type]
        spec.has_location = True
        if package:
            spec.submodule_search_locations = package
        return spec

    def create_module(self, spec: Any) -> None:
        """As usual."""

    def exec_module(self, module: types.ModuleType) -> None:
        exec(self._codes[str(module.__file__)], vars(module))


def bind(code: types.CodeType, words: Mapping[str, Any]) -> types.CodeType:
    """The code with the guard's functions in the place of the words that stand for them."""
    constants = []
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            constants.append(bind(constant, words))
        else:
            constants.append(words.get(constant, constant) if type(constant) is str else constant)
    return code.replace(co_consts=tuple(constants))
