"""One declaration of a reply both prints the format into the brief and reads the answers back.

Reading never guesses: an answer is there in so many words, or it is missing. Nothing that stands in the brief counts,
and nothing quoted counts: a placeholder is no vote, and a peer's answer is not this seat's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from council.text import fold
from council.workflow import Kind, Reply

NOTHING = re.compile(
    r"(?:\W*)(?:none|nothing|nil|n/?a|no (?:blocking )?(?:items?|issues?|concerns?|blockers?|objections?|risks?)"
    r"|keine[rns]?|nichts)(?: (?:so far|yet|at this (?:time|point)|identified|from me|remaining|left|today))?\W*",
    re.I,
)
BULLET = re.compile(r"\s*(?:[-*+•–]|\d{1,3}[.)]|\([a-z0-9]\)|\[[ x]\])\s+")
FENCE = re.compile(r"\s*(`{3,}|~{3,})(.*)$")
NUMBER = re.compile(r"(-?\d+(?:[.,]\d+)?)\s*(%|/\s*\d+|out of \d+)?")
AFTER = r"\s*(?:[.:;(]|\s[—–-]+\s|—)\s*"
HEDGED = re.compile(r"\b(?:not?|yet|unless|if|but|cannot|can't|don't|nor|or|until|except|provided|however|once)\b", re.I)
MARKER = re.compile(r"<(/?)said by=\"[^\"]*\" key=\"([0-9a-f]+)\">")


@dataclass(frozen=True)
class Answers:
    """What could be read. `problems` says of each answer that could not, what was wrong; `prose` is the rest."""

    found: Mapping[str, Any]
    problems: tuple[str, ...]
    prose: str


UNHEARD = Answers({}, (), "")


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
    problems: list[str] = []
    for name, kind in reply:
        values = [value for value in (_value(kind, section) for section in sections.get(name, [])) if value is not None]
        if not values:
            problems.append(_problem(name, kind, name in sections))
        elif any(value != values[0] for value in values):
            problems.append(f'"{heading(name)}" is answered more than once, and differently')
        else:
            found[name] = values[-1]
    return Answers(found, tuple(problems), prose)


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
    for text in _unwrapped(body.splitlines()):
        if marker := MARKER.search(text):
            closing, key = marker.groups()
            if key in keys or said:
                said = "" if closing else key
                continue
        if said:
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


def _unwrapped(lines: list[str]) -> list[str]:
    """A reply that stands whole inside one code fence is taken out of it: models do that."""
    full = [number for number, line in enumerate(lines) if line.strip()]
    if len(full) > 2 and FENCE.match(lines[full[0]]) and lines[full[-1]].strip() in ("```", "~~~"):
        inner = lines[full[0] + 1 : full[-1]]
        if not any(FENCE.match(line) for line in inner):
            return inner
    return lines


def _sections(reply: Reply, lines: list[_Line], brief: str) -> tuple[dict[str, list[list[_Line]]], str]:
    """The lines under each answer's heading, every time that it stands there, and the prose outside of them."""
    quoted = _Quotes(brief)
    names = {fold(heading(name)): name for name, _ in reply}
    sections: dict[str, list[list[_Line]]] = {}
    prose: list[str] = []
    current: list[_Line] | None = None
    level = 0
    for line in lines:
        title, depth, rest = ("", 0, "") if line.code else _as_heading(line.text)
        if (name := names.get(title)) is not None:
            current, level = [], depth
            if not quoted.continued(line.text):
                sections.setdefault(name, []).append(current)
            if rest:
                current.append(_Line(rest))
        elif current is not None and depth and depth <= (level or 6) and line.text.lstrip().startswith("#"):
            current = None
            prose.append(line.text)
        elif current is not None:
            current.append(line)
        else:
            prose.append(line.text)
        quoted.past(line.text, answer=current is not None)
    return sections, "\n".join(prose).strip()


class _Quotes:
    """Notices a passage that is copied from the brief: an answer that continues one is its author's, not this seat's."""

    def __init__(self, brief: str) -> None:
        self.lines = [fold(line) for line in brief.splitlines() if line.strip()]
        self.places: set[int] = set()
        self.prose = False

    def past(self, text: str, answer: bool) -> None:
        if not (line := fold(text)):
            return
        following = {place + 1 for place in self.places if place + 1 < len(self.lines) and self.lines[place + 1] == line}
        self.places = following or {place for place, other in enumerate(self.lines) if other == line}
        self.prose = bool(self.places) and ((self.prose and bool(following)) or not answer)

    def continued(self, text: str) -> bool:
        """Whether this line goes on, in the brief too, from copied prose before it."""
        line = fold(text)
        return self.prose and any(self.lines[place + 1 : place + 2] == [line] for place in self.places)


def _as_heading(text: str) -> tuple[str, int, str]:
    """A line as a heading: its folded title, its level (7 for bold or plain labels) and what follows on the line."""
    stripped = text.strip()
    if match := re.fullmatch(r"(#{1,6})\s+(.*?)\s*#*", stripped):
        title, _, rest = match.group(2).partition(":")
        return _title(title), len(match.group(1)), rest.strip(" *_")
    plain = re.sub(r"^(?:[-*+•]|\d{1,2}[.)])\s+(?=\*\*|__)", "", stripped)
    if match := re.fullmatch(r"(?:\*\*|__)([^*_:]{1,60}?)\s*(?::\s*(?:\*\*|__)|(?:\*\*|__)\s*:?)\s*(.*)", plain):
        return _title(match.group(1)), 7, match.group(2)
    if match := re.fullmatch(r"([^\W\d_][\w -]{0,50}):\s*(.*)", plain):
        return _title(match.group(1)), 7, match.group(2)
    return "", 0, ""


def _title(text: str) -> str:
    return fold(re.sub(r"^\s*(?:\d{1,2}[.)]|[-*+])\s+", "", text).strip(" *_`#").replace("_", " ").replace("-", " "))


def _value(kind: Kind, section: list[_Line]) -> Any:
    """The answer under one heading, None where it cannot be read or is missing."""
    lines = [line for line in section if fold(line.text).strip("*_` ") != fold(_placeholder(kind))]
    if kind.type == "code":
        return _code(lines)
    texts = [line.text for line in lines]
    if kind.type == "list":
        return _items(texts, kind)
    if kind.type == "text":
        return "\n".join(texts).strip() or None
    first = next((text for text in texts if text.strip()), "")
    return _choice(first, kind) if kind.type == "choice" else _number(first, kind)


def _code(lines: list[_Line]) -> str | None:
    block: list[str] = []
    inside = False
    for line in lines:
        if line.code and FENCE.match(line.text):
            if inside:
                break
            inside = True
        elif inside:
            block.append(line.text)
    text = "\n".join(block) if inside else "\n".join(line.text for line in lines).strip()
    return text if text.strip() else None


def _items(texts: Iterable[str], kind: Kind) -> tuple[str, ...] | None:
    """List items, their continuation lines folded in. No text at all is no answer; `none` is an empty list."""
    items: list[str] = []
    given = False
    for text in texts:
        if not text.strip() or re.fullmatch(r"\s*(?:[-*_]\s*){3,}", text):
            continue
        given = True
        bullet = BULLET.match(text)
        words = (text[bullet.end() :] if bullet else text).strip()
        if items and not bullet and text[:1].isspace():
            items[-1] += " " + words
        elif not NOTHING.fullmatch(words):
            items.append(words)
    if not given or (kind.required and not items):
        return None
    return tuple(items)


def _choice(text: str, kind: Kind) -> str | None:
    """The option that stands alone, or before a full stop or dash with words behind it that take nothing back."""
    plain = _plain(BULLET.sub("", text, count=1))
    for option in sorted(kind.options, key=len, reverse=True):
        if plain == fold(option):
            return option
        match = re.match(re.escape(fold(option)) + AFTER, plain)
        if match and not HEDGED.search(rest := plain[match.end() :]) and not _mentions(rest, kind, option):
            return option
    return None


def _mentions(rest: str, kind: Kind, but: str) -> bool:
    return any(re.search(rf"\b{re.escape(fold(option))}\b", rest) for option in kind.options if option != but)


def _plain(text: str) -> str:
    return re.sub(r"[*_`\"'“”]+", "", fold(text)).strip().rstrip(".!").strip()


def _number(text: str, kind: Kind) -> float | int | None:
    plain = _plain(BULLET.sub("", text, count=1) if re.match(r"\s*[-*+•]\s+\S", text) else text)
    match = re.match(NUMBER.pattern + r"(?=$|\s*[.:;(,]|\s[—–-]+\s|—)", plain)
    if not match or re.search(r"\d", plain[match.end() :].split(".")[0][:4]):
        return None
    value = float(match.group(1).replace(",", "."))
    if match.group(2) and match.group(2) == "%" and kind.type == "range" and kind.high == 1:
        value /= 100
    if kind.type == "integer":
        return int(value) if value.is_integer() else None
    if not kind.low <= value <= kind.high:
        return None
    return int(value) if value.is_integer() else value
