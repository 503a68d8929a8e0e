"""The words of a search: what FTS5 is asked, and where they are in a text.

Nothing that a user types reaches FTS5 but as a quoted word, so no word is an operator and none is an error.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property

from council.errors import UsageError
from council.index.facts import CJK, COLUMNS, DECISION, FINDING, TOPIC, TURN
from council.text import harmless

PLACES = {"topics": (TOPIC,), "turns": (TURN, DECISION), "decisions": (DECISION,), "findings": (FINDING,)}
MOST = 32  # words of one search
TERM = re.compile(r'"([^"]*)"|(\S+)')
WEIGHTS = {TOPIC: 8.0, TURN: 1.0, DECISION: 3.0, FINDING: 2.0}
AROUND = 60  # characters of a snippet before the first word that was found
LONGEST = 240  # characters of a snippet
FAR = 200_000  # characters of a text in which the words are looked for


@dataclass(frozen=True)
class Term:
    """One word or phrase; `prefix` if it may go on."""

    text: str
    prefix: bool = False

    @cached_property
    def folded(self) -> str:
        return fold(self.text)[0]

    @property
    def quoted(self) -> str:
        spread = CJK.sub(r" \1 ", self.text)
        return f'"{" ".join(spread.split())}"' + ("*" if self.prefix else "")


def split(typed: str, growing: bool = False) -> tuple[Term, ...]:
    """The words that somebody typed: all must be there. Quotation marks hold a phrase together, and a star at the end
    of a word stands for any ending; in a search as one types (`growing`), the last word has one.
    """
    terms = []
    for phrase, word in TERM.findall(typed.replace("\0", " ")):
        text = (phrase or word.replace('"', " ")).strip()
        plain = " ".join(re.findall(r"[^\W_]+", unicodedata.normalize("NFC", text)))
        if plain:
            terms.append(Term(plain, bool(word) and word.endswith("*")))
    if growing and terms and typed[-1:].isalnum():
        terms[-1] = Term(terms[-1].text, True)
    return tuple(dict.fromkeys(terms))[:MOST]


def match(terms: tuple[Term, ...], places: tuple[str, ...] = ()) -> str:
    """The query for FTS5."""
    columns = dict.fromkeys(column for place in places for column in PLACES[place])
    within = f"{{{' '.join(columns)}}} : " if columns else ""
    return within + "(" + " AND ".join(term.quoted for term in terms) + ")"


def weights() -> str:
    return ", ".join(str(WEIGHTS[column]) for column in COLUMNS)


def check_place(place: str | None) -> tuple[str, ...]:
    if place is None:
        return ()
    if place not in PLACES:
        raise UsageError(f'"{place}" is not searched; known: {", ".join(PLACES)}')
    return (place,)


def fold(text: str) -> tuple[str, list[int]]:
    """The text as words are compared, without case and accents, and for each of its characters the place in `text`."""
    folded, places = [], []
    for at, character in enumerate(text):
        for part in unicodedata.normalize("NFKD", character).casefold():
            if not unicodedata.combining(part):
                folded.append(part)
                places.append(at)
    return "".join(folded), places


@dataclass(frozen=True)
class Snippet:
    """A passage around the words, on one line, and the ranges of its characters that are those words."""

    text: str
    marks: tuple[tuple[int, int], ...]


def cut_snippet(text: str, terms: tuple[Term, ...]) -> Snippet | None:
    """The passage with the most of the words; None if one of them is not in the text."""
    flat = " ".join(harmless(text[:FAR]).split())
    folded, places = (flat.casefold(), range(len(flat))) if flat.isascii() else fold(flat)
    spots: list[tuple[int, int]] = []
    for term in terms:
        pattern = r"[\W_]*".join(map(re.escape, term.folded.split()))
        found = [(hit.start(), hit.end()) for hit in re.finditer(rf"(?<![^\W_]){pattern}", folded)]
        found = found or [(hit.start(), hit.end()) for hit in re.finditer(pattern, folded)]
        if not found:
            return None
        spots += found[:200]
    spots.sort()
    begin = _choose_window(spots, len(terms))
    first = max(0, places[begin] - AROUND)
    if first:
        first = flat.find(" ", first, places[begin]) + 1 or first
    window = flat[first : first + LONGEST]
    marks: list[tuple[int, int]] = []
    for start, end in spots:
        low, high = places[start] - first, places[end - 1] + 1 - first
        if low >= 0 and high <= len(window) and (not marks or low >= marks[-1][1]):
            marks.append((low, high))
    before, after = "…" if first else "", "…" if first + LONGEST < len(flat) else ""
    shift = len(before)
    return Snippet(before + window.rstrip() + after, tuple((low + shift, high + shift) for low, high in marks))


def _choose_window(spots: list[tuple[int, int]], terms: int) -> int:
    """Where the most words are close together; the first such place."""
    if terms == 1:
        return spots[0][0]
    near = [sum(1 for other, _ in spots if 0 <= other - start < LONGEST - AROUND) for start, _ in spots[:200]]
    return spots[near.index(max(near))][0]
