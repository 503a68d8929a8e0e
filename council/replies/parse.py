"""One declaration of a reply both prints the format into the brief and reads the answers back.

Reading never guesses: an answer is explicit, or it is missing. Text copied from the brief and quotations do not count:
a placeholder is not a vote, and a peer's answer is not this seat's. Only the seat's own earlier words may be repeated
as an answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from council.replies.quotes import remove_own_passages
from council.replies.values import BULLET, ReplyLine, is_nothing, placeholder, value_of
from council.text import (
    FENCE,
    MARKER,
    WORD,
    fold,
    unwrapped,
)
from council.workflow.model import Reply
from council.workflow.types import answer_types

COPIED_WORDS = 12  # words of prose that are a copy if the brief has the same; two equal lines are always a copy


@dataclass(frozen=True)
class Answers:
    """The answers that could be read. `missing` has the problem of each other one; `prose` is the rest of the reply."""

    found: Mapping[str, Any]
    missing: Mapping[str, str]
    prose: str

    @property
    def problems(self) -> tuple[str, ...]:
        return tuple(self.missing.values())

    def after(self, first: Answers) -> Answers:
        """The answers of a second reply, completed with those of the first."""
        found = {**first.found, **self.found}
        missing = {name: why for name, why in self.missing.items() if name not in found}
        return replace(self, found=found, missing=missing)


UNHEARD = Answers({}, {}, "")


def format_heading(name: str) -> str:
    return name.replace("_", " ").replace("-", " ").capitalize()


def describe(reply: Reply) -> str:
    """The format of the answers, as briefs print it; empty if a step asks for none."""
    return "\n\n".join(f"## {format_heading(name)}\n{placeholder(kind)}" for name, kind in reply)


@lru_cache(maxsize=4096)
def read(reply: Reply, body: str, brief: str = "") -> Answers:
    """The answers of one reply. `brief` is the prompt that the seat got."""
    lines = list(_own_lines(body, brief))
    sections, prose = _sections(reply, lines, brief)
    found: dict[str, Any] = {}
    missing: dict[str, str] = {}
    for name, kind in reply:
        if kind.type in answer_types():
            own = "\n".join(line.text for section in sections.get(name, []) for line in section).strip()
            value = answer_types()[kind.type].read(body, brief, bool(own) and is_nothing(own))
            values = [] if value is None else [value]
        else:
            given = sections.get(name, [])
            values = [value for value in (value_of(kind, section) for section in given) if value is not None]
        if not values:
            title = f'"## {format_heading(name)}"'
            wanted = placeholder(kind).strip("[]")
            missing[name] = f"the text under {title} is not {wanted}" if sections.get(name) else f"there is no {title}"
        elif any(value != values[0] for value in values):
            missing[name] = f'"{format_heading(name)}" is answered more than once, and differently'
        else:
            found[name] = values[-1]
    return Answers(found, missing, prose)


def _own_lines(body: str, brief: str) -> Iterator[ReplyLine]:
    """The reply's lines without its quotations: blockquotes, and fenced passages copied from the brief."""
    keys = {match.group(2) for match in MARKER.finditer(brief)}
    fence, said = "", ""
    for text in unwrapped(body.splitlines()):
        markers = [match for match in MARKER.finditer(text) if match.group(2) in keys]
        for closing, key in (marker.groups() for marker in markers):
            said = said if said not in ("", key) else "" if closing else key
        if markers or said:
            continue
        if match := FENCE.match(text):
            if not fence:
                fence = match.group(1)
            elif match.group(1).startswith(fence) and not match.group(2).strip():
                fence = ""
            yield ReplyLine(text, code=True)
        elif fence:
            yield ReplyLine(text, code=True)
        elif not text.lstrip().startswith(">"):
            yield ReplyLine(text)


def _sections(reply: Reply, lines: list[ReplyLine], brief: str) -> tuple[dict[str, list[list[ReplyLine]]], str]:
    """The lines under each answer's heading, once for each time that the heading occurs, and the prose outside them."""
    quotes = _Quotes(remove_own_passages(brief))
    names = {fold(format_heading(name)): name for name, _ in reply}
    sections: dict[str, list[_Section]] = {}
    prose: list[str] = []
    current: _Section | None = None
    level = 0
    for line in lines:
        title, depth, rest = ("", 0, "") if line.code else _parse_heading(line.text)
        copied = quotes.continued(line.text)
        if (name := names.get(title)) is not None:
            current, level = _Section(copied), depth
            sections.setdefault(name, []).append(current)
            if rest:
                current.add(ReplyLine(rest), copied)
        elif current is not None and depth and depth <= (level or 6) and line.text.lstrip().startswith("#"):
            current = None
            prose.append(line.text)
        elif current is not None:
            current.add(line, copied)
        else:
            prose.append(line.text)
        quotes.past(line.text, answer=current is not None)
    own = {name: [section.lines for section in given if not section.copied] for name, given in sections.items()}
    return own, "\n".join(prose).strip()


class _Section:
    """The lines under one heading. `copied` if the heading and the first line continue a copied passage."""

    def __init__(self, copied: bool) -> None:
        self.copied = copied
        self.empty = True
        self.lines: list[ReplyLine] = []

    def add(self, line: ReplyLine, copied: bool) -> None:
        if self.empty and _normalize(line.text):
            self.empty, self.copied = False, self.copied and copied
        self.lines.append(line)


class _Quotes:
    """Detects a passage that is copied from the brief: an answer that continues it is its author's, not this seat's.

    A sentence as short as "This matters most." is not a copy: two seats with the same vote may give the same reason.
    """

    def __init__(self, brief: str) -> None:
        self.lines = [line for line in map(_normalize, brief.splitlines()) if line]
        self.index: dict[str, list[int]] = {}
        for place, line in enumerate(self.lines):
            self.index.setdefault(line, []).append(place)
        self.places: set[int] = set()
        self.words = self.run = 0  # of copied prose, in words and in lines

    def past(self, text: str, answer: bool) -> None:
        if not (line := _normalize(text)):
            return
        following = {place + 1 for place in self.places if self.lines[place + 1 : place + 2] == [line]}
        self.places = following or set(self.index.get(line, ()))
        if not following:
            self.words = self.run = 0
        if self.places and not answer:
            self.words, self.run = self.words + len(WORD.findall(line)), self.run + 1

    def continued(self, text: str) -> bool:
        """Whether this line follows the copied prose in the brief too."""
        line = _normalize(text) if self.run > 1 or self.words >= COPIED_WORDS else ""
        return bool(line) and any(self.lines[place + 1 : place + 2] == [line] for place in self.places)


def _normalize(text: str) -> str:
    """The line, folded; empty if it has no words, such as a ruled line."""
    line = fold(text)
    return line if any(map(str.isalnum, line)) else ""


def _parse_heading(text: str) -> tuple[str, int, str]:
    """Read a line as a heading: its folded title, its level (7 for bold or plain labels) and the rest of the line."""
    stripped = text.strip()
    if match := re.match(r"(#{1,6})\s+", stripped):
        title, _, rest = re.sub(r"\s#++$", "", stripped[match.end() :]).partition(":")
        return _normalize_title(title), len(match.group(1)), rest.strip(" *_")
    plain = BULLET.sub("", stripped, count=1)
    if match := re.match(r"(\*{2,3}|_{2,3})([^*:]{1,60}?)\s*(?::\s*\1|\1\s*:?)\s*", plain):
        return _normalize_title(match.group(2)), 7, plain[match.end() :]
    if match := re.match(r"([^\W\d_][\w -]{0,50}):\s*", plain):
        return _normalize_title(match.group(1)), 7, plain[match.end() :]
    return "", 0, ""


def _normalize_title(text: str) -> str:
    """A heading's words without numbers, marks and emoji around them; empty if it is too long to be an answer's."""
    words = fold(re.sub(r"[\W_]+", " ", text)) if len(text) <= 80 else ""
    return re.sub(r"^\d{1,2} ", "", words)
