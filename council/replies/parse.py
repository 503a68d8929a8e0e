"""One declaration of a reply both prints the format into the brief and reads the answers back.

Reading never guesses: an answer is there in so many words, or it is missing. Nothing that stands in the brief counts,
and nothing quoted counts: a placeholder is no vote, and a peer's answer is not this seat's. Only what the seat itself
had said, and says again, is its answer once more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from council.replies.quotes import by_others
from council.reviews import model as findings
from council.text import (
    FENCE,
    MARKER,
    WORD,
    fold,
    unwrapped,
)
from council.workflow.model import Kind, Reply

# What comes after one of these, and does not take it back, is a remark.
NOTHING = re.compile(
    r"\W*+(?:none|nothing(?: block(?:s|ing)(?: (?:me|us|this|it))?)?|nil|n/?a|not applicable|keine[rns]?|nichts"
    r"|no (?:(?:blocking|major|serious|further|other) )?(?:items?|issues?|concerns?|blockers?|objections?|risks?))"
    r"(?: (?:so far|yet|at (?:this (?:time|point)|present|the moment)|identified|from (?:me|my (?:side|end))|remaining"
    r"|left|today))?(?=\W*+$|[.:;(,]|\s[—–-]+\s|—)",
    re.I,
)
BULLET = re.compile(r"^\s*(?:[-*+•–—]|\d{1,3}[.)]|\([a-z0-9]\)|\[[ x]\])\s+")
RULED = re.compile(r"\s*(?:(?:[-*_]\s*){3,}|#{1,6}\s.*)")
# Atomic groups and no `*+`: Python before 3.11.4 goes back into a possessive group.
NUMBER = re.compile(
    r"(-?\d++(?>(?:[.,]\d++)*))(?>(?:\s*(?:(%)|(?:/|out of)\s*(\d++)))?)(?=$|\s*[.:;(,]|\s[—–-]+\s|—)(?!\W{0,3}\d)"
)
AFTER = r"\s*(?:[.:;!(]|\s[—–-]+\s|—)\s*"
A_COPY = 12  # words of prose, to the letter as in the brief; two lines of it are a copy however short they are
TAKEN_BACK = re.compile(r"\b(?:unless|if|but|until|except|provided|however|once|al?though|though)\b", re.I)
HEDGED = re.compile(TAKEN_BACK.pattern + r"|\b(?:not?|yet|cannot|can't|don't|nor|or)\b", re.I)


@dataclass(frozen=True)
class Answers:
    """What could be read. `missing` says of each answer that could not, what was wrong; `prose` is the rest."""

    found: Mapping[str, Any]
    missing: Mapping[str, str]
    prose: str

    @property
    def problems(self) -> tuple[str, ...]:
        return tuple(self.missing.values())

    def after(self, first: Answers) -> Answers:
        """A reply that was asked for again, on top of the first: what could be read there need not be said twice."""
        found = {**first.found, **self.found}
        missing = {name: why for name, why in self.missing.items() if name not in found}
        return replace(self, found=found, missing=missing)


UNHEARD = Answers({}, {}, "")


def heading(name: str) -> str:
    return name.replace("_", " ").replace("-", " ").capitalize()


def describe(reply: Reply) -> str:
    """The format of the answers, as it is printed into a brief; empty where a step asks for none."""
    return "\n\n".join(f"## {heading(name)}\n{_placeholder(kind)}" for name, kind in reply)


def _placeholder(kind: Kind) -> str:
    if kind.type == "choice":
        *most, last = kind.options
        return f"[exactly one word of these: {', '.join(most)} or {last}]"
    if kind.type == "range":
        return f"[a number from {kind.low:g} to {kind.high:g}]"
    empty = "there must be at least one" if kind.required else 'the word "none" if there is nothing'
    if kind.type in LISTS:
        return LISTS[kind.type]
    return {
        "text": "[in your own words]",
        "list": f'[one item a line, each beginning with "- "; {empty}]',
        "code": "[one fenced code block]",
        "integer": "[a whole number]",
    }[kind.type]


@lru_cache(maxsize=4096)
def read(reply: Reply, body: str, brief: str = "") -> Answers:
    """The answers of one reply. `brief` is what the seat was given to read."""
    lines = list(_own_lines(body, brief))
    sections, prose = _sections(reply, lines, brief)
    found: dict[str, Any] = {}
    missing: dict[str, str] = {}
    for name, kind in reply:
        if kind.type in LISTS:
            values = [value] if (value := _review(kind, sections.get(name, []), body, brief)) is not None else []
        else:
            given = sections.get(name, [])
            values = [value for value in (_value(kind, section) for section in given) if value is not None]
        if not values:
            missing[name] = _problem(name, kind, bool(sections.get(name)))
        elif any(value != values[0] for value in values):
            missing[name] = f'"{heading(name)}" is answered more than once, and differently'
        else:
            found[name] = values[-1]
    return Answers(found, missing, prose)


LISTS = {"findings": findings.FORMAT, "rulings": findings.RULING_FORMAT.removeprefix("## Rulings\n")}


def _review(kind: Kind, given: list[list[_Line]], body: str, brief: str) -> Any:
    """A list of findings, or what is said of others' findings, wherever in the reply it stands.

    A list has headings and quotations of its own, so its reader is given the reply as it came. None where nothing can
    be read, and nobody says that there is nothing.
    """
    from council.reviews.parse import duplicates as pairing  # only reviews need them, and every command reads replies
    from council.reviews.parse import findings as listing

    own = "\n".join(line.text for section in given for line in section).strip()
    nothing = bool(own) and _is_nothing(own)
    if kind.type == "findings":
        listed = listing.read(body, brief)
        return replace(listed, none=True) if nothing and not listed.items else listed or None
    ruled = pairing.judged(body, brief)
    return ruled if ruled or nothing else None


def _problem(name: str, kind: Kind, given: bool) -> str:
    if not given:
        return f'there is no "## {heading(name)}"'
    return f'what stands under "## {heading(name)}" is not {_placeholder(kind).strip("[]")}'


@dataclass(frozen=True)
class _Line:
    text: str
    code: bool = False


def _own_lines(body: str, brief: str) -> Iterator[_Line]:
    """The reply's lines less what it quotes: blockquotes, and fenced passages copied from the brief."""
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
            yield _Line(text, code=True)
        elif fence:
            yield _Line(text, code=True)
        elif not text.lstrip().startswith(">"):
            yield _Line(text)


def _sections(reply: Reply, lines: list[_Line], brief: str) -> tuple[dict[str, list[list[_Line]]], str]:
    """The lines under each answer's heading, every time that it stands there, and the prose outside of them."""
    quotes = _Quotes(by_others(brief))
    names = {fold(heading(name)): name for name, _ in reply}
    sections: dict[str, list[_Section]] = {}
    prose: list[str] = []
    current: _Section | None = None
    level = 0
    for line in lines:
        title, depth, rest = ("", 0, "") if line.code else _as_heading(line.text)
        copied = quotes.continued(line.text)
        if (name := names.get(title)) is not None:
            current, level = _Section(copied), depth
            sections.setdefault(name, []).append(current)
            if rest:
                current.add(_Line(rest), copied)
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
    """The lines under one heading: `copied` where the heading and what it begins with go on from a copied passage."""

    def __init__(self, copied: bool) -> None:
        self.copied = copied
        self.empty = True
        self.lines: list[_Line] = []

    def add(self, line: _Line, copied: bool) -> None:
        if self.empty and _worded(line.text):
            self.empty, self.copied = False, self.copied and copied
        self.lines.append(line)


class _Quotes:
    """Notices a passage that is copied from the brief: an answer that continues it is its author's, not this seat's.

    A sentence as short as "This matters most." is no copy: two who vote alike may well give the same reason for it.
    """

    def __init__(self, brief: str) -> None:
        self.lines = [line for line in map(_worded, brief.splitlines()) if line]
        self.index: dict[str, list[int]] = {}
        for place, line in enumerate(self.lines):
            self.index.setdefault(line, []).append(place)
        self.places: set[int] = set()
        self.words = self.run = 0  # of copied prose, and in so many lines

    def past(self, text: str, answer: bool) -> None:
        if not (line := _worded(text)):
            return
        following = {place + 1 for place in self.places if self.lines[place + 1 : place + 2] == [line]}
        self.places = following or set(self.index.get(line, ()))
        if not following:
            self.words = self.run = 0
        if self.places and not answer:
            self.words, self.run = self.words + len(WORD.findall(line)), self.run + 1

    def continued(self, text: str) -> bool:
        """Whether this line goes on, in the brief too, from copied prose before it."""
        line = _worded(text) if self.run > 1 or self.words >= A_COPY else ""
        return bool(line) and any(self.lines[place + 1 : place + 2] == [line] for place in self.places)


def _worded(text: str) -> str:
    """A line by its words; empty for one without any, as a ruled line, which is nobody's."""
    line = fold(text)
    return line if any(map(str.isalnum, line)) else ""


def _as_heading(text: str) -> tuple[str, int, str]:
    """A line as a heading: its folded title, its level (7 for bold or plain labels) and what follows on the line."""
    stripped = text.strip()
    if match := re.match(r"(#{1,6})\s+", stripped):
        title, _, rest = re.sub(r"\s#++$", "", stripped[match.end() :]).partition(":")
        return _title(title), len(match.group(1)), rest.strip(" *_")
    plain = BULLET.sub("", stripped, count=1)
    if match := re.match(r"(\*{2,3}|_{2,3})([^*:]{1,60}?)\s*(?::\s*\1|\1\s*:?)\s*", plain):
        return _title(match.group(2)), 7, plain[match.end() :]
    if match := re.match(r"([^\W\d_][\w -]{0,50}):\s*", plain):
        return _title(match.group(1)), 7, plain[match.end() :]
    return "", 0, ""


def _title(text: str) -> str:
    """A heading's words, less numbers, marks and emoji around them; empty where it is too long to be an answer's."""
    words = fold(re.sub(r"[\W_]+", " ", text)) if len(text) <= 80 else ""
    return re.sub(r"^\d{1,2} ", "", words)


def _value(kind: Kind, section: list[_Line]) -> Any:
    """The answer under one heading, None where it cannot be read or is missing."""
    asked = _plain(_placeholder(kind))
    lines = [line for line in section if _plain(BULLET.sub("", line.text, count=1)) != asked]
    if kind.type == "code":
        return _code(lines)
    if kind.type == "text":
        return "\n".join(line.text for line in lines).strip() or None
    texts = [line.text for line in lines if not (line.code and FENCE.match(line.text))]
    if kind.type == "list":
        return _items(texts, kind)
    first = next((text for text in texts if text.strip()), "")
    return _choice(first, kind) if kind.type == "choice" else _number(first, kind)


def _code(lines: list[_Line]) -> str | None:
    block: list[str] = []
    opened = ""
    for line in lines:
        fence = FENCE.match(line.text) if line.code else None
        if fence and not opened:
            opened = fence.group(1)
        elif fence and fence.group(1).startswith(opened) and not fence.group(2).strip():
            break
        elif opened:
            block.append(line.text)
    text = "\n".join(block) if opened else "\n".join(line.text for line in lines).strip()
    return text if text.strip() else None


def _items(texts: list[str], kind: Kind) -> tuple[str, ...] | None:
    """The list's items. Where there are bullets only they are; no words at all are no answer; `none` is empty."""
    lines = ["" if RULED.fullmatch(text) else text.expandtabs(4).rstrip() for text in texts]
    given = [line for line in lines if any(map(str.isalnum, line))]
    if not given:
        return None
    items = list(_bulleted(lines)) if any(map(BULLET.match, given)) else list(_unbulleted(given))
    found = tuple(item for item in items if not _is_nothing(item))
    return None if kind.required and not found else found


def _bulleted(lines: list[str]) -> Iterator[str]:
    """Each bullet with what hangs on it: lines that are indented deeper, or that follow at once."""
    item: list[str] = []
    margin = 0
    after_gap = False
    for line in lines:
        bullet = BULLET.match(line)
        indent = len(line) - len(line.lstrip())
        if bullet and not (item and indent >= margin + 2):
            if item:
                yield " ".join(item)
            item, margin = [line[bullet.end() :].strip()], indent
        elif item and line and (indent > margin or not after_gap):
            item.append(line.strip())
        elif line and item:
            yield " ".join(item)
            item = []
        after_gap = not line
    if item:
        yield " ".join(item)


def _unbulleted(lines: list[str]) -> Iterator[str]:
    """An item a line; an indented line goes on with the one before. What follows on a first `none` is a remark."""
    if _is_nothing(lines[0]):
        return
    item = ""
    for line in lines:
        if item and line[:1].isspace():
            item += " " + line.strip()
        else:
            if item:
                yield item
            item = line.strip()
    yield item


def _is_nothing(words: str) -> bool:
    match = NOTHING.match(words)
    return not any(map(str.isalnum, words)) or (match is not None and not TAKEN_BACK.search(words, match.end()))


def _choice(text: str, kind: Kind) -> str | None:
    """The option that stands alone, or before a full stop or dash with words behind it that take nothing back."""
    plain = _plain(BULLET.sub("", text, count=1))
    for option in sorted(kind.options, key=len, reverse=True):
        if plain == _plain(option):
            return option
        match = re.match(re.escape(_plain(option)) + AFTER, plain)
        if match and not HEDGED.search(rest := plain[match.end() :]) and not _mentions(rest, kind, option):
            return option
    return None


def _mentions(rest: str, kind: Kind, but: str) -> bool:
    return any(re.search(rf"\b{re.escape(_plain(option))}\b", rest) for option in kind.options if option != but)


def _plain(text: str) -> str:
    return re.sub(r"[*_`\"'“”]+", "", fold(text)).strip().rstrip(".!").strip()


def _number(text: str, kind: Kind) -> float | int | None:
    """A number that stands alone or before a remark; `%` and `/ 100` only where they say the same as the range."""
    match = NUMBER.match(_plain(re.sub(r"^\s*[-*+•]\s+(?=\S)", "", text)))
    if not match or (value := _figure(match.group(1))) is None:
        return None
    percent, whole = match.group(2), match.group(3)
    if (percent and kind.high not in (1, 100)) or (whole and float(whole) != kind.high):
        return None
    if percent and kind.high == 1:
        value /= 100
    if kind.type == "range" and not kind.low <= value <= kind.high:
        return None
    if value.is_integer():
        return int(value)
    return None if kind.type == "integer" else value


def _figure(digits: str) -> float | None:
    """`1,000` is a thousand, `0,9` a decimal; anything with more signs in it is no number."""
    if re.fullmatch(r"-?[1-9]\d{0,2}(?:,\d{3})+", digits):
        return float(digits.replace(",", ""))
    return float(digits.replace(",", ".")) if re.fullmatch(r"-?\d+(?:[.,]\d+)?", digits) else None
