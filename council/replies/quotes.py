"""The passages that a brief quotes between marks, and which of them its reader wrote.

The author of a passage cannot know the key of its mark, so no text can end its own passage or begin another. Anything
inside a passage that looks like a mark is part of the passage.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

OPENED = re.compile(r'^<(said by="([^"\n]*)" key="([0-9a-f]+)")>\n', re.M)
KEY = re.compile(r'key="([0-9a-f]+)"')
OWN_WORDS = "Your own words are those marked "
YOURS = re.compile(rf'^{OWN_WORDS}(key="[0-9a-f]+"(?:, key="[0-9a-f]+")*)\.$', re.M)


@dataclass(frozen=True)
class Passage:
    """One passage: the author that the mark names, the key, and the position of the text in the brief."""

    by: str
    key: str
    text: str
    start: int
    end: int


def passages(brief: str) -> Iterator[Passage]:
    """Every passage that is not inside another one."""
    place = 0
    while opened := OPENED.search(brief, place):
        place = opened.end()
        end = brief.find(f"\n</{opened.group(1)}>", place - 1)
        if end >= 0:
            yield Passage(opened.group(2), opened.group(3), brief[place : max(place, end)], place, max(place, end))
            place = end + 1


def describe_own(keys: Iterable[str]) -> str:
    """The sentence that tells a reader which passages are its own; empty if none is. `YOURS` reads it back."""
    named = ", ".join(f'key="{key}"' for key in dict.fromkeys(keys))
    return f"{OWN_WORDS}{named}." if named else ""


def remove_own_passages(brief: str) -> str:
    """The brief without its reader's own words, because repeating oneself is not an echo.

    Only the program's sentence outside all passages says which words those are. The name in a mark does not count,
    because a reply chooses the name of a seat that it casts. The marks stay, so that no two passages are joined.
    """
    if OWN_WORDS not in brief:
        return brief
    found = list(passages(brief))
    own = _keys_of_reader(brief, found)
    kept, place = [], 0
    for passage in found:
        if passage.key in own:
            kept.append(brief[place : passage.start])
            place = passage.end
    return "".join([*kept, brief[place:]])


def _keys_of_reader(brief: str, found: list[Passage]) -> set[str]:
    """The keys in the last sentence by `describe_own` outside the passages: nothing by others comes after it."""
    outside, place = [], 0
    for passage in found:
        outside.append(brief[place : passage.start])
        place = passage.end
    sentences = YOURS.findall("".join([*outside, brief[place:]]))
    return set(KEY.findall(sentences[-1])) if sentences else set()
