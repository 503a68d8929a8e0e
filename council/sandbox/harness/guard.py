"""Inside the process that runs the candidate: what speaks to the parent, compares, and imports the tests.

Nothing here is kept in a module's names: functions hold what they need, and only the tests' code and the runner hold
them. `audit` watches over the ways that lead to them. It is longer than other files because all that
is kept from the candidate is kept here.
"""

from __future__ import annotations

import builtins
import dis
import importlib.machinery
import json
import os
import reprlib
import sys
import threading
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, cast

MOST_SEEN = 2_000  # parts of a value that are looked at
MOST_LOOKS = 200  # at Python's own library, in the midst of a test
FIXED = (int, float, str, bytes, tuple, frozenset, type, types.FunctionType)
Own = list[tuple[dict[str, Any], dict[str, Any]]]  # the names of each file of the tests, and those that stay


class Voice(NamedTuple):
    """What the runner and the tests' code are given."""

    say: Callable[..., None]
    done: Callable[..., Any]
    compare: Callable[[str, Any, Any], Any]
    look: Callable[[Any], Any]
    tell: Callable[..., str]
    ready: Callable[..., Any]
    remember: Callable[[], Callable[[], None]]
    settle: Callable[[], None]


def raise_voice(
    descriptor: int,
    secret: str,
    is_trusted: Callable[[type], bool],
    own: Own,
    find_replaced: Callable[[bool], list[str]],
) -> Voice:
    """`is_trusted` says of a class whether nothing of the candidate decides what it equals. `own` will have the names
    of the tests' files. `find_replaced` names what was replaced of Python's own library.
    """
    say = _speaker(descriptor, secret)
    compare, look, tell = _comparer(say, is_trusted)
    done, ready, settle = _watcher(say, find_replaced)
    return Voice(say, done, compare, look, tell, ready, lambda: _keeper(say, own), settle)


def _speaker(descriptor: int, secret: str) -> Callable[..., None]:
    write, dumps, lock = os.write, json.dumps, threading.Lock()

    def say(**facts: Any) -> None:
        data = dumps({"secret": secret, **facts}).encode() + b"\n"
        with lock:
            while data:
                data = data[write(descriptor, data) :]

    return say


def _watcher(
    say: Callable[..., None], find_replaced: Callable[[bool], list[str]]
) -> tuple[Callable[..., Any], Callable[..., Any], Callable[[], None]]:
    """What a test calls at its end, and before each of its calls; and what is called when all of them have ended."""
    told: set[str] = set()
    looks = [0]

    def watch(at_the_end: bool) -> None:
        for name in find_replaced(at_the_end):
            if name not in told:
                told.add(name)
                say(replaced=name)

    def done(key: str, *value: Any) -> Any:
        looks[0] = 0
        watch(False)
        say(done=key)
        return value[0] if value else None

    def ready(*value: Any) -> Any:
        looks[0] += 1
        if looks[0] <= MOST_LOOKS:
            watch(False)
        return value[0] if value else ()

    return done, ready, lambda: watch(True)


# ---- comparing ----


def _comparer(
    say: Callable[..., None], is_trusted: Callable[[type], bool]
) -> tuple[Callable[[str, Any, Any], Any], Callable[[Any], Any], Callable[..., str]]:
    last: dict[int, str] = {}
    whose = threading.get_ident
    show, find = _shower(), _finder(is_trusted)

    def refuse(impostors: list[Any]) -> None:
        __tracebackhide__ = True
        if impostors:
            name = show(type(impostors[0]))
            say(impostor=name)
            raise AssertionError(f"{name} equals whatever it is compared with")

    def compare(word: str, left: Any, right: Any) -> Any:
        __tracebackhide__ = True
        result = _decide(word, left, right)
        if word not in ("is", "is not"):
            refuse(find(left, right) or find(right, left))
        last[whose()] = f"{show(left)} {word} {show(right)}"
        return result

    def look(value: Any) -> Any:
        __tracebackhide__ = True
        refuse(find(value, None))
        return value

    def tell(text: str, *message: Any) -> str:
        seen = last.pop(whose(), "")
        return "\n".join([*(str(one) for one in message), f"assert {text}", *([f"  with {seen}"] if seen else [])])

    return compare, look, tell


def _decide(word: str, left: Any, right: Any) -> Any:  # noqa: PLR0911 - one line for each operator
    """Without a table of them: who finds a frame of this finds nothing that it could change."""
    __tracebackhide__ = True
    match word:
        case "==":
            return left == right
        case "!=":
            return left != right
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case ">=":
            return left >= right
        case "is":
            return left is right
        case "is not":
            return left is not right
        case "in":
            return left in right
    return left not in right


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


def _finder(is_trusted: Callable[[type], bool]) -> Callable[[Any, Any], list[Any]]:
    """Finds an object within a value that also equals strangers: something that it has never seen."""
    kinds, dream, vary = type, _dreamer(), _vary

    def find(value: Any, other: Any) -> list[Any]:
        """The object in a list of its own: it may well be false."""
        for part in _unfold(value):
            kind = kinds(part)
            if kind not in PLAIN and not is_trusted(kind):
                close = [other, *vary(other)] if part is value else []
                equals, strangers = _equality(part), dream()
                if any(map(equals, strangers)) or (len(close) > 1 and all(map(equals, close))):
                    return [part]
                if any(map(_nearness(part), strangers)) or _is_everywhere(part):
                    return [part]
        return []

    return find


def _dreamer() -> Callable[[], list[Any]]:
    """Makes values that nobody has seen before."""
    random_bytes = os.urandom

    def dream() -> list[Any]:
        token = random_bytes(8).hex()
        return [object(), int(token, 16), token, [token], (token,), {token: token}]

    return dream


def _vary(value: Any) -> list[Any]:
    """Values of the same kind that are not far from this one, and differ from it."""
    kind = type(value)
    if kind in (int, float):
        return [value + 7919, value - 7919] if value + 7919 != value else []
    if kind is str:
        return [f"{value}?", f"?{value}"]
    if kind in (list, tuple):
        return [value + kind("?"), kind("?") + value]
    return [{**value, "?": "?"}] if kind is dict else [not value] if kind is bool else []


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


def _equality(part: Any) -> Callable[[Any], bool]:
    def equals(stranger: Any) -> bool:
        try:
            return (part == stranger) is True
        except Exception:
            return False

    return equals


def _nearness(part: Any) -> Callable[[Any], bool]:
    """Whether a number is close to it, as `assertAlmostEqual` and `approx` find out; or before everything and after."""

    def near(stranger: Any) -> bool:
        if type(stranger) is not int:
            return False
        try:
            distance = abs(part - stranger)
            return (round(distance, 7) == 0) is True or (distance <= 1e-9) is True
        except Exception:
            return _equality(part)(stranger)

    return near


def _is_everywhere(part: Any) -> bool:
    try:
        return (part < float("-inf")) is True or (part > float("inf")) is True
    except Exception:
        return False


# ---- what decides must stay what it was ----


def _keeper(say: Callable[..., None], own: Own) -> Callable[[], None]:
    """Remembers the functions and classes of everything that decides, and tells if one is another later."""
    remembered = list(_parts())
    namespace_of = vars

    def check() -> None:
        for names, kept in own:
            if changed := next((name for name, value in kept.items() if names.get(name) is not value), ""):
                say(tampered=f"{changed} of a test file was replaced")
                return
        for owner, name, value, code in remembered:
            now = namespace_of(owner).get(name)
            if now is not value or (code is not None and (now.__code__, now.__defaults__) != code):
                say(tampered=f"{getattr(owner, '__name__', type(owner).__name__)}.{name} was replaced")
                return

    return check


DECIDING = (
    "_pytest.runner", "_pytest.reports", "_pytest.python", "_pytest.skipping", "_pytest.unittest", "_pytest.main",
    "_pytest.raises", "_pytest.python_api", "_pytest.outcomes", "_pytest.recwarn", "_pytest.nodes", "_pytest.fixtures",
    "_pytest._code.code", "pluggy._hooks", "pluggy._callers", "pluggy._manager", "unittest.case", "unittest.result",
    "unittest.suite", "unittest.loader", "unittest.mock", "unittest.async_case",
)  # fmt: skip
BORROWED = ("pytest", "unittest")  # where tests take it from


def _parts() -> Iterator[tuple[Any, str, Any, Any]]:
    """What must stay: whose it is, its name, itself, and what a function does."""
    for module in [sys.modules[name] for name in BORROWED if name in sys.modules]:
        yield from ((module, name, value, None) for name, value in vars(module).items() if callable(value))
    for module in [sys.modules[name] for name in DECIDING if name in sys.modules]:
        yield from _functions(module)
        for name, value in vars(module).items():
            if isinstance(value, type) and value.__module__ == module.__name__:
                yield module, name, value, None
                yield from _functions(value)


def _functions(owner: Any) -> Iterator[tuple[Any, str, Any, Any]]:
    for name, value in vars(owner).items():
        if isinstance(value, types.FunctionType):
            yield owner, name, value, (value.__code__, value.__defaults__)
        elif isinstance(value, classmethod | staticmethod | property):
            yield owner, name, value, None


# ---- the tests' own modules ----


class TestImporter:
    """Imports the files of the tests from memory, whatever the candidate has put in their place."""

    def __init__(self, names: Mapping[str, list[str]]) -> None:
        self._names = names

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        del path, target
        if name not in self._names:
            return None
        file = self._choose(name)
        package = [file.rpartition("/")[0]] if file.endswith("/__init__.py") else None
        spec = importlib.machinery.ModuleSpec(name, self, origin=file, is_package=package is not None)  # type: ignore[arg-type]
        spec.has_location = True
        if package:
            spec.submodule_search_locations = package
        return spec

    def _choose(self, name: str) -> str:
        """Of several files of one name, as two `conftest.py`, the one that is found first."""
        files, inside = self._names[name], name.replace(".", "/")
        places = [f"{folder}/{inside}{end}" for folder in sys.path for end in (".py", "/__init__.py")]
        return next((place for place in places if place in files), files[-1])

    def create_module(self, spec: Any) -> None:
        """As usual."""

    def exec_module(self, module: types.ModuleType) -> None:
        codes, own = cast("dict[str, types.CodeType]", "the tests' code"), cast("Own", "the tests' names")
        names, code = vars(module), codes[str(module.__file__)]
        exec(code, names)
        changing = set(_global_names(code))
        kept = {name: value for name, value in names.items() if type(value) in FIXED and name not in changing}
        strangers = [one for one in _own_functions(names) if getattr(one, "__builtins__", None) is not vars(builtins)]
        kept |= {one.__name__: None for one in strangers}  # which it is not: its built-in functions are another's
        own.append((names, kept))


def _own_functions(names: Mapping[str, Any]) -> Iterator[types.FunctionType]:
    """The functions of a file, and of its classes."""
    for value in names.values():
        for one in (value, *(vars(value).values() if isinstance(value, type) else ())):
            if isinstance(one, types.FunctionType) and one.__globals__ is names:
                yield one


def _global_names(code: types.CodeType) -> Iterator[str]:
    """The names that functions of the file assign to: `global x`."""
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from (one.argval for one in dis.get_instructions(inner) if one.opname == "STORE_GLOBAL")
            yield from _global_names(inner)


def hide(codes: Mapping[str, types.CodeType], own: Own) -> None:
    """Give the importer what it needs as constants of its code, which nobody reads without being seen."""
    words = {"the tests' code": codes, "the tests' names": own}
    TestImporter.exec_module.__code__ = bind(TestImporter.exec_module.__code__, words)


def bind(code: types.CodeType, words: Mapping[str, Any]) -> types.CodeType:
    """The code with the guard's functions in the place of the words that stand for them."""
    constants = []
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            constants.append(bind(constant, words))
        else:
            constants.append(words.get(constant, constant) if type(constant) is str else constant)
    return code.replace(co_consts=tuple(constants))
