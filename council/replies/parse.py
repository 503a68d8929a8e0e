"""One declaration of a reply both prints the format into the brief and reads the answers back.

Reading never guesses: an answer is explicit, or it is missing. Text copied from the brief and quotations do not count:
a placeholder is not a vote, and a peer's answer is not this seat's. Only the seat's own earlier words may be repeated
as an answer.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from council.replies import forms
from council.replies.fields import clear_fields
from council.replies.quotes import remove_own_passages
from council.replies.values import BULLET, ReplyLine, describe_mismatch, is_nothing, placeholder, value_of
from council.text import (
    FENCE,
    MARKER,
    WORD,
    content_words,
    fold,
    fold_short,
    unwrapped,
)
from council.workflow import declare
from council.workflow.model import Kind, Reply
from council.workflow.types import Unreadable, answer_types

LONG = ("text", "list", "code")  # answers that may have sub-headings and labels
CONDITION = re.compile(r"\s*\((?:if|optional|required|\d)\b[^()]*\)\W*$", re.I)  # after a heading: (if below 90 %)
TITLE = re.compile(r"(#{1,6})\s+")
CLOSING = re.compile(r"\s#++$")
BOLD_LINE = re.compile(r"(\*{2,3}|_{2,3})([^*:]{1,60}):\s*([^\s*_][^*]*?)\1\s*(\W?)")
BOLD_LABEL = re.compile(r"(\*{2,3}|_{2,3})([^*:]{1,60}?)\s*(?::\s*\1|\1\s*:?)\s*")
LABEL = re.compile(r"([^\W\d_][\w -]{0,50}):\s*")
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


@dataclass(frozen=True)
class Outline:
    """A reply as its author wrote it, line by line: the text before the first answer, and the text of each answer."""

    preface: str
    answers: Mapping[str, str]


def format_heading(name: str) -> str:
    return name.replace("_", " ").replace("-", " ").capitalize()


def describe(reply: Reply) -> str:
    """The format of the answers, as briefs print it; empty if a step asks for none."""
    return "\n\n".join(f"## {format_heading(name)}\n{placeholder(kind)}" for name, kind in reply)


@lru_cache(maxsize=4096)
def read(reply: Reply, body: str, brief: str = "") -> Answers:
    """The answers of one reply. `brief` is the prompt that the seat got."""
    sections = _sections(reply, list(_lines(body, brief)), brief)
    found: dict[str, Any] = {}
    missing: dict[str, str] = {}
    prose = "\n".join(line for section in sections for line in section.prose).strip()
    otherwise: dict[str, list[list[ReplyLine]]] | None = None
    for name, kind in reply:
        given = [section.lines for section in sections if section.name == name and not section.copied]
        if kind.type in answer_types():
            own = "\n".join(line.text for lines in given for line in lines).strip()
            try:
                value = answer_types()[kind.type].read(body, brief, bool(own) and is_nothing(own))
            except Unreadable as unreadable:
                missing[name] = str(unreadable)
                continue
            values = [] if value is None else [value]
        else:
            values = _values(kind, given)
            if not values:
                otherwise = _in_other_forms(reply, prose, brief) if otherwise is None else otherwise
                values = _values(kind, otherwise.get(name, []))
        if not values:
            title = f'"## {format_heading(name)}"'
            wrong = describe_mismatch(kind, given[-1]) if given else ""
            missing[name] = f"the text under {title} is {wrong}" if given else f"there is no {title}"
        elif any(value != values[0] for value in values):
            missing[name] = f'"{format_heading(name)}" is answered more than once, and differently'
        else:
            found[name] = values[-1]
    return Answers(found, {name: why for name, why in missing.items() if not dict(reply)[name].optional}, prose)


def _values(kind: Kind, sections: list[list[ReplyLine]]) -> list[Any]:
    return [value for value in (value_of(kind, lines) for lines in sections) if value is not None]


def _in_other_forms(reply: Reply, prose: str, brief: str) -> dict[str, list[list[ReplyLine]]]:
    """The lines of answers that a table, an object or a block of labels gives, without headings."""
    kinds = {name: kind for name, kind in reply if kind.type not in answer_types()}
    given: dict[str, list[list[ReplyLine]]] = {}
    for name, *lines in forms.find_answers(prose, {fold(format_heading(name)): name for name in kinds}, kinds, brief):
        given.setdefault(name, []).append([ReplyLine(line) for line in lines])
    return given


def forget() -> None:
    """What is remembered of replies and briefs: a process that goes on to other sessions does not need it again."""
    for remembered in (read, outline, _normalize, fold_short, content_words):
        remembered.cache_clear()


@lru_cache(maxsize=256)
def outline(reply: Reply, body: str, brief: str = "") -> Outline:
    """All lines of a reply, by the answer that they belong to. Nothing is read, and nothing is left out."""
    preface, *sections = _join_nested(_sections(reply, list(_lines(body, brief)), brief))
    texts: dict[str, list[str]] = {}
    for section in sections:
        texts.setdefault(section.name, []).append("\n".join(section.text).strip("\n"))
    answers = {name: "\n\n".join(filter(str.strip, given)) for name, given in texts.items()}
    return Outline("\n".join(preface.text).strip("\n"), answers)


def _lines(body: str, brief: str) -> Iterator[ReplyLine]:
    """The reply's lines. Its quotations are not its own: blockquotes, and fenced passages copied from the brief."""
    keys = {match.group(2) for match in MARKER.finditer(brief)} if "said by=" in body else set()
    fence, said = "", ""
    for text in unwrapped(body.splitlines()):
        markers = [match for match in MARKER.finditer(text) if match.group(2) in keys] if keys else []
        for closing, key in (marker.groups() for marker in markers):
            said = said if said not in ("", key) else "" if closing else key
        if markers or said:
            yield ReplyLine(text, own=False)
        elif match := FENCE.match(text):
            if not fence:
                fence = match.group(1)
            elif match.group(1).startswith(fence) and not match.group(2).strip():
                fence = ""
            yield ReplyLine(text, code=True)
        elif fence:
            yield ReplyLine(text, code=True)
        else:
            yield ReplyLine(text, own=not text.lstrip().startswith(">"))


def _sections(reply: Reply, lines: list[ReplyLine], brief: str) -> list[_Section]:
    """The text before the first answer's heading, then the text under each such heading, in the order written."""
    quotes = _Quotes(remove_own_passages(brief))
    headings = [_parse_heading(line.text) if line.own and not line.code else ("", 0, "") for line in lines]
    kinds, names = dict(reply), _titles(reply, {title for title, _, _ in headings})
    headings = clear_fields(lines, headings, names)
    sections = [current := _Section()]
    for line, (title, level, rest) in zip(lines, headings, strict=True):
        if not line.own:
            current.text.append(line.text)
            continue
        copied = quotes.continued(line.text)
        if (name := names.get(title)) is not None:
            sections.append(current := _Section(name, kinds[name].type, level, line.text, copied))
            if rest:
                current.inline = 1
                current.add(ReplyLine(rest), copied)
        else:
            if level and line.text.lstrip().startswith("#") and level <= (current.level or 6):
                # A text may have headings of its own level. They end any other answer.
                current.ended = current.ended or current.kind != "text" or level < current.level
            current.add(line, copied)
        quotes.past(line.text, answer=not current.ended)
    return sections


def _titles(reply: Reply, used: Collection[str]) -> dict[str, str]:
    """The answer for each heading: its own name, and its other names if this reply does not use its own."""
    names = {fold(format_heading(name)): name for name, _ in reply}
    for title, name in [*names.items()]:
        if title not in used and name in declare.answer.known:
            for other in declare.answer.known[name].also:
                names.setdefault(other, name)
    return names


def _join_nested(sections: list[_Section]) -> list[_Section]:
    """Where a long answer has a heading, a lower heading or a label of that name is a part of the text around it."""
    levels: dict[str, int] = {}
    for section in sections:
        if section.kind in LONG and not section.copied:
            levels[section.name] = min(section.level, levels.get(section.name, section.level))
    joined: list[_Section] = []
    for section in sections:
        if section.level > levels.get(section.name, section.level):
            joined[-1].text += [section.heading, *section.text[section.inline :]]
        else:
            joined.append(section)
    return joined


class _Section:
    """The text under one heading, or before the first. `lines` answer, and `prose` follows the end of the answer.

    `inline` lines of the text were in the line of the heading. `copied` if the heading and the first line continue a
    copied passage.
    """

    def __init__(self, name: str = "", kind: str = "", level: int = 0, heading: str = "", copied: bool = False) -> None:
        self.name, self.kind, self.level, self.heading, self.copied = name, kind, level, heading, copied
        self.empty, self.ended, self.inline = True, not name, 0
        self.text: list[str] = []
        self.lines: list[ReplyLine] = []
        self.prose: list[str] = []

    def add(self, line: ReplyLine, copied: bool) -> None:
        if self.empty and _normalize(line.text):
            self.empty, self.copied = False, self.copied and copied
        self.text.append(line.text)
        if self.ended:
            self.prose.append(line.text)
        else:
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


@lru_cache(maxsize=2048)
def _normalize(text: str) -> str:
    """The line, folded; empty if it has no words, such as a ruled line. The briefs of a round share most of theirs."""
    line = fold(text)
    return line if any(map(str.isalnum, line)) else ""


def _parse_heading(text: str) -> tuple[str, int, str]:
    """Read a line as a heading: its folded title, its level (7 for bold or plain labels) and the rest of the line."""
    stripped = text.strip()
    if match := TITLE.match(stripped):
        title, _, rest = CLOSING.sub("", stripped[match.end() :]).partition(":")
        title = CONDITION.sub("", title)
        return _normalize_title(title), len(match.group(1)), rest.strip(" *_")
    plain = BULLET.sub("", stripped, count=1)
    if not plain.startswith(("**", "__")):
        match = LABEL.match(plain) if ":" in plain else None
        return (_normalize_title(match.group(1)), 7, plain[match.end() :]) if match else ("", 0, "")
    if match := BOLD_LINE.match(plain):
        dash = "" if match.group(4) else "— "  # what follows is a remark
        rest = f"{match.group(3)} {dash}{plain[match.start(4) :]}"
        return _normalize_title(CONDITION.sub("", match.group(2))), 7, rest.removesuffix(" — ")
    if match := BOLD_LABEL.match(plain):
        return _normalize_title(CONDITION.sub("", match.group(2))), 7, plain[match.end() :]
    return "", 0, ""


def _normalize_title(text: str) -> str:
    """A heading's words without numbers, marks and emoji around them; empty if it is too long to be an answer's."""
    words = fold(re.sub(r"[\W_]+", " ", text)) if len(text) <= 80 else ""
    return re.sub(r"^\d{1,2} ", "", words)
