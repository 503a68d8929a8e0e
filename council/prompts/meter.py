"""What one rendering of a stranger's template may still do: what it handles is weighed, and its steps are counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from jinja2.exceptions import SecurityError
from jinja2.utils import Namespace

MOST_STEPS = 50_000  # passes of loops and calls of macros: many times what a debate of ten rounds takes
WORK = 50_000_000  # characters handled in one rendering, likewise
CELL = 50  # what a value weighs besides its characters
TOO_MUCH = "it makes too much text or too many values"
NUMBERS = {int, float, bool}
LASTING = {list, dict, tuple}  # no template can change one, so it weighs the same each time, if all in it lasts too


class Meter:
    """`material` is the size of what the template quotes: no template is to blame for that."""

    def __init__(self, material: int = 0) -> None:
        self.left = WORK + 100 * material
        self.steps = 0
        self.known: dict[int, tuple[Any, int]] = {}  # with the values, so that no other value gets the id of one

    def take(self, amount: int) -> None:
        self.left -= amount
        if self.left < 0:
            raise SecurityError(TOO_MUCH)

    def step(self, amount: int) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise SecurityError(f"its loops take more than {MOST_STEPS:,} steps")
        self.take(CELL + amount)

    def weigh(self, value: Any) -> int:
        """The size of a value, as `weigh` has it. Loops within loops ask for the same lists again and again."""
        if type(value) is str:
            return CELL + len(value)
        if (known := self.known.get(id(value))) is not None:
            return known[1]
        size, lasts = _measure(value, self.left)
        if lasts and size <= self.left and type(value) in LASTING:
            self.known[id(value)] = value, size
        return size


def weigh(value: Any, most: int) -> int:
    """The size of a value, written out, but hardly more than `most`. A list may be in another twice."""
    return _measure(value, most)[0]


def _measure(value: Any, most: int) -> tuple[int, bool]:
    """The size of a value, and whether it lasts: no template can change it, or anything in it."""
    total, waiting, lasts = 0, [value], True
    while waiting and total <= most:
        one = waiting.pop()
        total += CELL
        kind = type(one)
        if kind is str:
            total += len(one)
        elif kind is dict:
            waiting += one
            waiting += one.values()
        elif kind is list or kind is tuple:
            waiting += one
        elif one is not None and kind not in NUMBERS:
            lasts = False
            size, held = _measure_other(one)
            total += size
            waiting += held
    return total, lasts


def _measure_other(one: Any) -> tuple[int, Iterable[Any]]:
    """The size of a value of a rarer kind, and the values in it."""
    if isinstance(one, (str, bytes)):
        return len(one), ()
    if isinstance(one, Mapping):
        return 0, [*one, *one.values()]
    if isinstance(one, (list, tuple, set, frozenset)):
        return 0, one
    if isinstance(one, range):
        return CELL * len(one), ()
    if isinstance(one, Namespace):
        return 0, [object.__getattribute__(one, "_Namespace__attrs")]
    return 0, ()
