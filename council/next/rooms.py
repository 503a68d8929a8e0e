"""Finds what optional rooms add. A room is a package with a `room.py`, which imports nothing and names what it has:

    rule = {"passes": "words", "dry": "words"}     # name: the module of the room that registers it

A module is imported when one of its names is used, so a default debate imports no room.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Collection
from functools import lru_cache
from types import ModuleType

WORDS = ("rule", "order", "view", "seat")  # what a workflow names


def has(room: str) -> bool:
    return room in every()


def every() -> dict[str, ModuleType]:
    """Each room's `room.py`, by the name of the room. The kit's win."""
    return {**of_others(), **of_the_kit()}


def names(kind: str) -> dict[str, str]:
    """Every name of this kind that a room has, with the room that has it."""
    return {name: room for room, module in every().items() for name in getattr(module, kind, ())}


def used(words: Collection[str], kinds: Collection[str] = (), named: Collection[str] = ()) -> list[str]:
    """The rooms that a session uses: those of these words and kinds of answers, and those that it names."""
    return [
        room
        for room, module in every().items()
        if room in {*kinds, *named} or any({*words} & {*getattr(module, kind, ())} for kind in WORDS)
    ]


def of_kind(kind: str, room: str) -> list[str]:
    """The names of this kind that a room has, each with its module imported."""
    return [name for name, owner in names(kind).items() if owner == room and load(kind, name)]


def load(kind: str, name: str) -> bool:
    """Import the module that registers this name. False if no room has the name."""
    for find in (of_the_kit, of_others):  # other people's rooms are looked for last: that takes 20 ms
        for module in find().values():
            if place := getattr(module, kind, {}).get(name):
                importlib.import_module(f"{module.__package__}.{place}")
                return True
    return False


@lru_cache(maxsize=1)
def of_the_kit() -> dict[str, ModuleType]:
    try:
        from council.next import extras
    except ImportError:  # the whole folder was deleted, which the core can do without
        return {}
    found = pkgutil.iter_modules(extras.__path__)
    return {one.name: importlib.import_module(f"{extras.__name__}.{one.name}.room") for one in found}


@lru_cache(maxsize=1)
def of_others() -> dict[str, ModuleType]:
    """The rooms of other packages, which name them as an entry point `council.rooms`."""
    from importlib.metadata import entry_points

    found = entry_points(group="council.rooms")
    return {one.name: importlib.import_module(f"{one.module}.room") for one in found}
