"""The words that lessons are found by, and how near a lesson is to them. Pure."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping

from council.text import EMPTY_WORDS

PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W_A-Za-z]+")  # the parts of `offByOne`, `HTTPError`, `x_1`
LONGEST_TEXT = 4_000  # characters of a text whose words are looked at
MOST_ASKED = 20  # words of the topic, and as many of a failure
MOST_SEARCHED = 12  # of these, the rarest: they say most, and are found fastest
COMMON = 2  # words that a lesson must share with a question to be an answer
K1, B = 1.2, 0.75  # of BM25, as SQLite's FTS5 has them


def split(text: str) -> list[str]:
    """The words of a text in order: without accents and case, with the parts of a name in place of the name."""
    plain = unicodedata.normalize("NFKD", text[:LONGEST_TEXT])
    plain = "".join(char for char in plain if not unicodedata.combining(char))
    return [word for piece in PIECE.findall(plain) if (word := piece.casefold()) not in EMPTY_WORDS and len(word) > 1]


def choose(*texts: str) -> tuple[str, ...]:
    """The words to ask for: the first of each text."""
    return tuple(dict.fromkeys(word for text in texts for word in list(dict.fromkeys(split(text)))[:MOST_ASKED]))


def choose_rarest(having: Mapping[str, int]) -> list[str]:
    """Of words and how many lessons have them, the rarest that one has at all."""
    return sorted(filter(having.__getitem__, having), key=lambda word: (having[word], word))[:MOST_SEARCHED]


def is_near(asked: Iterable[str], words: Iterable[str]) -> bool:
    """Whether a lesson shares enough words with the question to be worth showing."""
    asked = set(asked)
    return len(asked & set(words)) >= min(COMMON, len(asked)) > 0


def score(asked: Iterable[str], lessons: Mapping[str, list[str]]) -> dict[str, float]:
    """BM25 of every lesson that has one of the rarest words, as FTS5 computes it: the nearest has the lowest number."""
    counts = {id: Counter(words) for id, words in lessons.items()}
    having = {word: [id for id, count in counts.items() if word in count] for word in asked}
    average = sum(map(len, lessons.values())) / max(1, len(lessons))
    scores: dict[str, float] = {}
    for word in choose_rarest({word: len(ids) for word, ids in having.items()}):
        rarity = math.log((len(lessons) - len(having[word]) + 0.5) / (len(having[word]) + 0.5))
        for id in having[word]:
            often, length = counts[id][word], len(lessons[id])
            weight = often * (K1 + 1) / (often + K1 * (1 - B + B * length / average))
            scores[id] = scores.get(id, 0.0) - (rarity if rarity > 0 else 1e-6) * weight
    return scores
