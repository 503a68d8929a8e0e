"""Helpers for text that every room shares. Pure, and linear in the length of the text."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import accumulate

WORD = re.compile(r"\w+(?:['’]\w+)*")
# Escape sequences first, then every other control character that could move the cursor, hide text or reorder it.
UNPRINTABLE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b.?"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
LONGEST_WORD = 200  # putting the accents of one letter in order takes time with the square of their number
REMEMBERED = 2_000  # names, items and answers are compared often; whole replies are not worth the memory
MOST_LISTED, LONGEST_LISTED = 100, 80  # known names in an error: a cloned repository may bring any number of files


def fold(text: str) -> str:
    """Normalize case, spacing and Unicode form, so that the same words compare equal."""
    return _fold(text) if len(text) <= REMEMBERED else _fold.__wrapped__(text)


@lru_cache(maxsize=8192)
def _fold(text: str) -> str:
    if not text.isascii():
        parts = ([word[at : at + LONGEST_WORD] for at in range(0, len(word), LONGEST_WORD)] for word in text.split())
        text = " ".join("".join(unicodedata.normalize("NFKC", part) for part in word) for word in parts)
    return " ".join(text.casefold().split())


def slug(text: str, most: int = 50) -> str:
    """Lowercase letters and digits of any script, joined by hyphens; accents go. Empty if the text has neither."""
    text = unicodedata.normalize("NFKD", text[: 20 * most].casefold())
    plain = "".join(letter for letter in text if not "\u0300" <= letter < "\u0370")
    words = "".join(letter if letter.isalnum() else " " for letter in unicodedata.normalize("NFC", plain)).split()
    return "-".join(words)[:most].strip("-")


def one_line(text: str, most: int = 80) -> str:
    line = " ".join(printable(text).split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def width(text: str) -> int:
    """The columns of a line on a terminal: wide letters and emoji take two, marks on other letters none."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


@lru_cache(maxsize=4096)
def _columns(letter: str) -> int:
    if letter == "\ufe0f":  # it widens the sign before it on some terminals: the larger number counts
        return 1
    if unicodedata.category(letter) in ("Mn", "Me", "Cf", "Cc"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def cut(text: str, most: int) -> str:
    """The line, cut to this number of columns."""
    if width(text) <= most:
        return text
    ends = accumulate(map(_columns, text))
    return f"{text[: sum(end < most for end in ends)].rstrip()}…"


def join_words(words: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *most, last = [*words] or [""]
    return f"{', '.join(most)} and {last}" if most else last


def join_reasons(reasons: Iterable[tuple[str, str]]) -> str:
    """`a and b not heard; c absent`, of names with their reasons. Names without a reason are left out."""
    groups: dict[str, list[str]] = {}
    for name, reason in reasons:
        if reason:
            groups.setdefault(reason, []).append(name)
    return "; ".join(f"{join_words(names)} {reason}" for reason, names in groups.items())


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of an error about an unknown word: the nearest known one, or all of them."""
    names = sorted({one_line(name, LONGEST_LISTED) for name in known})
    begun = [name for name in names if len(word) > 2 and name.startswith(word)]
    if near := begun or difflib.get_close_matches(word, names, 1):
        return f'did you mean "{near[0]}"?'
    more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    return f"known: {', '.join(names[:MOST_LISTED]) or 'none'}{more}"


def overlap(text: str, earlier: str) -> float:
    """The share of a text's words that an earlier text also has."""
    words = set(WORD.findall(fold(text)))
    return len(words & set(WORD.findall(fold(earlier)))) / len(words) if words else 0.0


def fence(by: str, text: str, key: str) -> str:
    """Put a text between two marks that say who wrote it. Nobody can forge them without the key."""
    mark = f'said by="{one_line(by).replace(chr(34), chr(39))}" key="{key}"'
    return f"<{mark}>\n{text}\n</{mark}>"


def printable(text: str) -> str:
    """The text without what would move the cursor, recolour a terminal or reorder its letters."""
    return UNPRINTABLE.sub("", text)


def encode(text: str) -> bytes:
    """UTF-8, as everything is stored. A lone surrogate, which no file can hold, becomes a visible escape."""
    return text.encode("utf-8", "backslashreplace")
