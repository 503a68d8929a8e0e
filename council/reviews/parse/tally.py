"""What a reply says of its own list: how many findings it has of each severity, whether it approves, and its own words
for the severities. Pure.

A tally is a check, and never a finding: where it differs from what was read, one of the two is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from council.reviews.model import SEVERITIES
from council.reviews.parse.vocabulary import SEVERITY, Line, is_nothing, severity_of

LONGEST = 200  # characters of a line that counts or approves
NOUNS = r"(?:issues?|findings?|items?|problems?|concerns?|blockers?)"
FOUND = r"(?:found|identified|remaining|left|open|in total)"
RUNG = rf"{SEVERITY.replace('<severity>', '<rung>')}"
COUNT = re.compile(
    rf"\W*(?:(?:{SEVERITY}|important|serious|suggestions?)(?:[_ ]?(?:count|{NOUNS}))?\W{{1,6}}(?P<after>\d{{1,3}})"
    rf"|(?P<before>\d{{1,3}})\s(?:{RUNG}|important|serious))(?:\s{NOUNS})?(?:\s{FOUND})?\W*",
    re.I,
)
GLOSS = re.compile(r"\s[—–-]+\s(?P<gloss>.*)$")
JOINS = re.compile(r"\s*[|,;/·•]\s*|\s+and\s+")
APPROVES = re.compile(
    r"[\W_]*(?:(?:overall|final)\s)?(?:status|verdict|decision|recommendation|outcome|result|review)[\s*_]*[:=—–-][\W_]*"
    r"(?P<word>approved?|lgtm)\b(?P<rest>.*)|[\W_]*(?P<alone>approved|lgtm)(?P<end>\W*)",
    re.I,
)
MILDLY = re.compile(
    r"\W*(?:with (?:(?:minor|small|optional|non-blocking|a few|some)\s){1,2}"
    r"(?:comments?|suggestions?|changes|notes?|remarks?|nits?|issues))?\W*",
    re.I,
)
# Severities that are no severity by themselves, and their meaning on a ladder with at least one other rung.
LADDERS = (
    ({"important": "high", "serious": "high", "significant": "high", "suggestion": "low", "suggestions": "low"}, 1),
    ({"must": "blocking", "should": "high", "could": "low"}, 2),
)
WORD = re.compile(
    r"(?P<lead>\s*(?:#{1,6}\s+|[-*+•]\s+)?(?:\d{1,3}[.)]\s+)?[*_]{0,3}[\[(]?)(?P<word>[A-Za-z-]{3,12})"
    r"(?P<rest>[\])]|(?:\s(?:issues?|findings?|items?|problems?|changes?))?[*_]{0,3}(?=\s*(?:$|[:(]|[—–]|-\s|\*\*)))",
    re.I,
)


def counts_in(text: str) -> dict[str, int] | None:
    """The counts in a line that has nothing else: `CRITICAL: 0 | IMPORTANT: 2`, `Blocking: 0 — none found`."""
    if len(text) > LONGEST:
        return None
    gloss = GLOSS.search(text)
    if gloss and (is_nothing(gloss["gloss"]) or re.search(r"\b0\b", text[: gloss.start()])):
        text = text[: gloss.start()]
    found: dict[str, int] = {}
    parts = [part for part in JOINS.split(text.strip(" |")) if part.strip(" *_")]
    for part in parts:
        match = COUNT.fullmatch(part)
        if not match:
            return None
        severity = severity_of(match["severity"] or match["rung"] or "")
        found[severity or "high"] = found.get(severity or "high", 0) + int(match["after"] or match["before"])
    return found or None


def approves(text: str) -> bool:
    """Whether a line says that the author approves; with a condition it says no such thing."""
    match = APPROVES.fullmatch(text) if len(text) <= LONGEST else None
    return match is not None and (match["alone"] is not None or MILDLY.fullmatch(match["rest"]) is not None)


def tally_of(lines: Iterable[Line], copied: Callable[[str], bool]) -> tuple[tuple[tuple[str, int], ...], bool]:
    """How many findings the author counts of each severity, the last word on each, and whether the author approves.

    What is copied from the documents under review ("Status: approved") says nothing of them.
    """
    counted: dict[str, int] = {}
    approved = False
    for line in lines:
        texts = (line.block[1].splitlines() if line.block else [line.text]) if line.kind != "quote" else []
        for text in (text for text in texts if not copied(text)):
            counted |= counts_in(text) or {}
            approved = approved or (not text[:1].isspace() and approves(text))
    return tuple((severity, counted[severity]) for severity in SEVERITIES if severity in counted), approved


def in_known_words(lines: list[Line]) -> list[Line]:
    """The lines with the author's own ladder (critical, important, minor; must, should, could) in the words of ours."""
    heads = {number: match for number, line in enumerate(lines) if (match := _rung(line))}
    said = {match["word"].lower() for match in heads.values()}
    ours = bool([word for word in said if severity_of(word)])
    known: dict[str, str] = {}
    for ladder, least in LADDERS:
        if len(said & ladder.keys()) + ours > least or len(said & ladder.keys()) > 1:
            known |= ladder
    return list(_translated(lines, heads, known))


def _rung(line: Line) -> re.Match[str] | None:
    """A word where a severity is said: as a heading, in bold type, in brackets, in capitals or by itself on a line."""
    match = WORD.match(line.text) if line.kind == "text" else None
    if match and (re.search(r"[#*_\[(]", match["lead"]) or match["word"].isupper()):
        return match
    return None


def _translated(lines: list[Line], heads: dict[int, re.Match[str]], known: dict[str, str]) -> Iterator[Line]:
    for number, line in enumerate(lines):
        match = heads.get(number)
        word = known.get(match["word"].lower()) if match else None
        if match and word:
            yield replace(line, text=line.text[: match.start("word")] + word + line.text[match.end("word") :])
        else:
            yield line
