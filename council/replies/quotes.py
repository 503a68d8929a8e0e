"""What a brief quotes: the passages between its marks, and which of them its reader wrote. Pure.

A mark's key is one that nobody could know who wrote what stands inside, so no text can end its own passage, and none
can begin another: what looks like a mark inside of a passage is a part of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

OPENED = re.compile(r'^<(said by="([^"\n]*)" key="([0-9a-f]+)")>\n', re.M)
KEY = re.compile(r'key="([0-9a-f]+)"')
YOURS = re.compile(r'^Your own words are those marked (key="[0-9a-f]+"(?:, key="[0-9a-f]+")*)\.$', re.M)


@dataclass(frozen=True)
class Passage:
    """One passage: whom the mark names, its key, and where in the brief its text stands."""

    by: str
    key: str
    text: str
    start: int
    end: int


def passages(brief: str) -> Iterator[Passage]:
    """Every passage that does not stand inside another one."""
    place = 0
    while opened := OPENED.search(brief, place):
        place = opened.end()
        end = brief.find(f"\n</{opened.group(1)}>", place - 1)
        if end >= 0:
            yield Passage(opened.group(2), opened.group(3), brief[place : max(place, end)], place, max(place, end))
            place = end + 1


def describe_own(keys: Iterable[str]) -> str:
    """The sentence that tells a reader which passages are its own; empty where none is. It is read back, too."""
    named = ", ".join(f'key="{key}"' for key in dict.fromkeys(keys))
    return f"Your own words are those marked {named}." if named else ""


def remove_own_passages(brief: str) -> str:
    """The brief without what its reader had written: whoever says that again echoes nobody.

    Whose words they are is for the program to say, outside of all passages; a name in a mark is not asked for it,
    because a seat that is cast bears the name that a reply gave it. The marks stay, so that nothing is joined.
    """
    found = list(passages(brief))
    own = _keys_of_reader(brief, found)
    kept, place = [], 0
    for passage in found:
        if passage.key in own:
            kept.append(brief[place : passage.start])
            place = passage.end
    return "".join([*kept, brief[place:]])


def _keys_of_reader(brief: str, found: list[Passage]) -> set[str]:
    """As the last such sentence outside of the passages has them: nothing that others wrote stands below it."""
    outside, place = [], 0
    for passage in found:
        outside.append(brief[place : passage.start])
        place = passage.end
    told = YOURS.findall("".join([*outside, brief[place:]]))
    return set(KEY.findall(told[-1])) if told else set()
