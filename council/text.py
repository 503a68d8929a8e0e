"""Helpers for text: similarity, slugs, marks, safety on a terminal. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache

CHARS_A_TOKEN = 4  # of English prose, about
TOKENS_A_WORD = Fraction(3, 2)  # of English prose, about
MOST_LISTED, LONGEST_LISTED = 100, 80  # in an error; a cloned repository may bring any files
WORD = re.compile(r"\w+(?:['’]\w+)*")
# Words without content of their own: two texts that share only these are not similar.
EMPTY_WORDS = frozenset(
    "a about after all also an and any are as at be because been before but by can could did do does for from had has "
    "have he her his how i if in into is it its just like me more most my no not of on one only or our out over she "
    "should so some such than that the their them then there these they this to too up us was we were what when which "
    "who why will with would you your".split()
)
# Whole escape sequences first, then all other control characters that could move the cursor or hide text.
ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_].*?(?:\x07|\x1b\\|$)|\x1b.?"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]",
    re.S,
)
REMEMBERED = 2_000  # characters of a text whose folded form is kept: names, items and passages are compared often
WRAPPED = re.compile(r"(?<=\S)[ \t]*\n[ \t]*([^\W\d_])(?!\d)")
PASSAGE_END = re.compile(r"\n\s*\n|\n\s*(?=[-*+•]\s|\d+[.)]\s|\|)")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Complete an error about an unknown word: suggest the nearest known one, or list them all."""
    names = sorted({one_line(str(name), LONGEST_LISTED) for name in known})
    if near := nearest(word, names):
        return f'did you mean "{near}"?'
    more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    return "known: " + (", ".join(names[:MOST_LISTED]) or "none") + more


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that was probably meant; empty if none is close.

    Words that start with it come first: --round means --rounds, although it also resembles --only.
    """
    import difflib

    names = sorted(known)
    begins = [name for name in names if name.startswith(word) and len(word.strip("-")) > 2]
    return min(begins, key=len) if begins else next(iter(difflib.get_close_matches(word, names, n=1)), "")


def slug(text: str, most: int = 50) -> str:
    """Lower-case letters, digits and single hyphens; empty if the text has none of them."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:most].rstrip("-")


def harmless(text: str) -> str:
    """The text without control sequences for a terminal. Line breaks and tabs stay."""
    return ESCAPES.sub("", text.replace("\r\n", "\n"))


def first_line(text: str) -> str:
    """The first line with words, without the marks of a heading."""
    return next((line.strip().lstrip("#").strip() for line in text.splitlines() if line.strip(" #\t")), "")


def one_line(text: str, most: int = 80) -> str:
    """The text as a single line of at most `most` characters, for headings and tables."""
    flat = " ".join(harmless(text).split())
    return flat if len(flat) <= most else flat[: most - 1].rstrip() + "…"


def fold(text: str) -> str:
    """Normalize case, spacing and Unicode form, so that the same words compare equal."""
    return fold_short(text) if len(text) <= REMEMBERED else fold_short.__wrapped__(text)


@lru_cache(maxsize=8192)
def fold_short(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


@lru_cache(maxsize=2048)
def content_words(text: str) -> frozenset[str]:
    return frozenset(word for word in WORD.findall(fold(text)) if word not in EMPTY_WORDS)


def unwrap(text: str) -> str:
    """The text with a line that goes on in small letters joined to the one before, so that a sentence stays whole."""
    return WRAPPED.sub(lambda found: f" {found[1]}" if found[1].islower() else found[0], text)


def overlap(text: str, earlier: str) -> float:
    """The share of the text's content words that are also in the earlier text."""
    words = content_words(text)
    return len(words & content_words(earlier)) / len(words) if words else 0.0


def likeness(words: frozenset[str], others: frozenset[str]) -> float:
    """The share of the words of two texts, taken together, that both have."""
    return 2 * len(words & others) / (len(words) + len(others)) if words and others else 0.0


def split_passages(text: str) -> list[str]:
    """The paragraphs, list items and table rows of a text in Markdown."""
    return [part for part in PASSAGE_END.split(text) if part.strip()]


def stands_in(words: str, source: str) -> bool:
    """Whether the words are one contiguous passage of the source, whatever its line ends."""
    return " ".join(words.split()) in " ".join(source.split())


def join_words(names: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def fence(by: str, text: str, key: str) -> str:
    """Put the text between two marks that say who wrote it. Without the key, nobody can forge them."""
    mark = f'said by="{by.replace(chr(34), chr(39))}" key="{key}"'
    return f"<{mark}>\n{text}\n</{mark}>"


# Replies, which come in Markdown.

FENCE = re.compile(r"\s*(`{3,}+(?!.*`)|~{3,}+)(.*)$")
MARKER = re.compile(r"<(/?)said by=\"[^\"]*\" key=\"([0-9a-f]+)\">")


def mark_code(lines: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it is in a block of code or one of its fences."""
    fence = ""
    for line in lines:
        found = FENCE.match(line)
        yield line, bool(fence or found)
        if found and not fence:
            fence = found.group(1)
        elif found and found.group(1).startswith(fence) and not found.group(2).strip():
            fence = ""


def unwrapped(lines: list[str]) -> list[str]:
    """The lines without the block of code around them, if the whole reply is inside one."""
    full = [number for number, line in enumerate(lines) if line.strip()]
    if len(full) < 3 or not (outer := FENCE.match(lines[full[0]])) or lines[full[-1]].strip() != outer.group(1):
        return lines
    if outer.group(2).strip().lower() not in ("", "markdown", "md", "text"):
        return lines
    inner, nested = lines[full[0] + 1 : full[-1]], ""
    for fence in filter(None, map(FENCE.match, inner)):
        marker, info = fence.group(1), fence.group(2).strip()
        if not nested and not info and marker.startswith(outer.group(1)):
            return lines  # the outer fence ends here: the reply has several blocks
        nested = marker if not nested else "" if marker.startswith(nested) and not info else nested
    return lines if nested else inner
