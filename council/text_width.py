"""The width of text on a terminal, in columns: wide characters take two, combining ones none. Pure."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

EMOJI_STYLE = "\ufe0f"
STYLE = re.compile(r"\x1b\[[0-9;]*m")


@lru_cache(maxsize=4096)
def of(char: str) -> int:
    """The columns of one character. Where terminals disagree, the larger number counts, so that nothing overflows."""
    if char == EMOJI_STYLE:
        return 1  # it widens the character before it, on terminals that support that
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf", "Cc"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def width(text: str) -> int:
    """The columns of a line; colours take none."""
    return sum(map(of, STYLE.sub("", text)))


def cut(text: str, most: int) -> str:
    """Truncate a line without colours to `most` columns, keeping its beginning."""
    if width(text) <= most:
        return text
    return _beginning(text, most - 1).rstrip() + "…" if most > 0 else ""


def tail(text: str, most: int) -> str:
    """Truncate a line without colours to `most` columns, keeping its end."""
    if width(text) <= most:
        return text
    return "…" + _beginning(text[::-1], most - 1)[::-1].lstrip() if most > 0 else ""


def _beginning(text: str, most: int) -> str:
    used = 0
    for place, char in enumerate(text):
        used += of(char)
        if used > most:
            return text[:place]
    return text


def pad(text: str, columns: int, right: bool = False) -> str:
    space = " " * (columns - width(text))
    return space + text if right else text + space


def wrap(text: str, most: int, first: str = "", then: str = "") -> list[str]:
    """Wrap a paragraph to `most` columns. `first` is the indent of the first line, `then` that of the others.

    A word may be coloured as a whole. A word that is too long for a line is broken if its script allows breaks
    anywhere; otherwise the terminal wraps it, so that a path can still be copied.
    """
    lines, line, bare = [], first, True
    for word in text.split():
        if not bare and width(line) + 1 + width(word) > most:
            lines.append(line)
            line, bare = then, True
        line, bare = line + ("" if bare else " ") + word, False
        while width(line) > most > width(then) + 2 and width(word) > len(word) and not STYLE.search(line):
            head = _beginning(line, most)
            lines.append(head)
            line = then + line[len(head) :]
    return [*lines, line]
