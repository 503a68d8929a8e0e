"""Reads the value of one answer, of any type, from the lines below its heading."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from council.text import FENCE, fold
from council.workflow.model import Kind
from council.workflow.types import answer_types

# Words that mean an empty answer. Text after them is a comment, unless it takes them back.
NOTHING = re.compile(
    r"\W*+(?:none|nothing(?: block(?:s|ing)(?: (?:me|us|this|it))?)?|nil|n/?a|not applicable|keine[rns]?|nichts"
    r"|no (?:(?:blocking|major|serious|further|other) )?(?:items?|issues?|concerns?|blockers?|objections?|risks?))"
    r"(?: (?:so far|yet|at (?:this (?:time|point)|present|the moment)|identified|from (?:me|my (?:side|end))|remaining"
    r"|left|today))?(?=\W*+$|[.:;(,]|\s[—–-]+\s|—)",
    re.I,
)


RULED = re.compile(r"\s*(?:(?:[-*_]\s*){3,}|#{1,6}\s.*)")
BULLET = re.compile(r"^\s*(?:[-*+•–—]|\d{1,3}[.)]|\([a-z0-9]\)|\[[ x]\])\s+")


# Atomic groups and no `*+`: Python before 3.11.4 goes back into a possessive group.
NUMBER = re.compile(
    r"(-?\d++(?>(?:[.,]\d++)*))(?>(?:\s*(?:(%)|(?:/|out of)\s*(\d++)))?)(?=$|\s*[.:;(,]|\s[—–-]+\s|—)(?!\W{0,3}\d)"
)


WIDE = 10  # a range up to this or more has no use for numbers between 0 and 1


CONDITIONAL = "mixed"  # the option that an answer with a condition is read as, where a step offers it


CROSSES = "❌✗✘🚫⛔👎"  # decoration of a no; beside anything else they make an answer unreadable


DOUBTS = "⚠❓❔" + CROSSES  # signs that are no decoration: with one of them, an answer cannot be read


NEGATIVE = re.compile(r"(?:no|nay|dis\w+|reject\w*|veto\w*|den(?:y|ied)|fail\w*|block\w*|against)\b")


AFTER = re.compile(r"\s*(?:[.:;!(]|\s[—–-]+\s|—)\s*")


# Each alternative of these guards has an example in tests/test_guards.py that only it catches.
TAKEN_BACK = re.compile(
    r"\b(?:unless|if(?! anything)|but|until|except|provided|however|once(?! again| more)|(?:al)?though|condition\w*"
    r"|pending|subject to|assuming|contingent|(?:as|so) long as|reservations?|caveats?)\b",
    re.I,
)


DENIED = re.compile(r"\b(?:not?|never|yet|cannot|nor|or)\b|n['’]t\b")


# The words right behind an option that make it conditional: "(pilot)", ", but …", " with a caveat".
CONDITION = re.compile(
    rf"[\s.,:;!(—–-]*(?:(?:{TAKEN_BACK.pattern}|only (?:if|when|once|after|as|for|in|with)\b)"
    r"|(?:with|on|under) (?:[\w'’]+ ){0,3}?(?:conditions?|reservations?|caveats?|changes|amendments|guardrails)\b"
    r"|(?:mostly|largely|broadly|part(?:ly|ial(?:ly)?)|tentative(?:ly)?|provisional(?:ly)?|limited|pilot|trial|for now"
    r"|in principle)(?=\W*$|[.,:;!)—–]))"
)


@dataclass(frozen=True)
class ReplyLine:
    """A line of a reply. A quotation is not the author's `own`."""

    text: str
    code: bool = False
    own: bool = True


def value_of(kind: Kind, section: list[ReplyLine]) -> Any:
    """The answer under one heading; None if it is missing or cannot be read."""
    lines = [line for line in section if not _is_placeholder(line.text, kind)]
    if kind.type == "code":
        return _code(lines)
    if kind.type == "text":
        return "\n".join(line.text for line in lines).strip() or None
    texts = [line.text for line in lines if not (line.code and FENCE.match(line.text))]
    if kind.type == "list":
        return _items(texts, kind)
    first = next((text for text in texts if text.strip()), "")
    return _choice(texts, kind) if kind.type == "choice" else _number(first, kind)


def _is_placeholder(text: str, kind: Kind) -> bool:
    """Whether a line only repeats the brief's words for the answer, which are in brackets."""
    if "[" not in text and text.isascii():  # other brackets fold to that one
        return False
    return _plain(BULLET.sub("", text, count=1)) == _plain(placeholder(kind))


def _code(lines: list[ReplyLine]) -> str | None:
    """The block of code. With a second one that differs, nobody can tell which is the answer."""
    blocks: list[list[str]] = []
    opened = ""
    for line in lines:
        fence = FENCE.match(line.text) if line.code else None
        if fence and not opened:
            opened = fence.group(1)
            blocks.append([])
        elif fence and fence.group(1).startswith(opened) and not fence.group(2).strip():
            opened = ""
        elif opened:
            blocks[-1].append(line.text)
    if any(block != blocks[0] for block in blocks):
        return None
    text = "\n".join(blocks[0]) if blocks else "\n".join(line.text for line in lines).strip()
    return text if text.strip() else None


def _items(texts: list[str], kind: Kind) -> tuple[str, ...] | None:
    """The items of a list: the bullets if there are any, else the lines. `none` is empty; no words are no answer."""
    lines = ["" if RULED.fullmatch(text) else text.expandtabs(4).rstrip() for text in texts]
    given = [line for line in lines if any(map(str.isalnum, line))]
    if not given:
        return None
    items = list(_bulleted(lines)) if any(map(BULLET.match, given)) else list(_unbulleted(given))
    found = tuple(item for item in items if not is_nothing(item))
    return None if kind.required and not found else found


def _bulleted(lines: list[str]) -> Iterator[str]:
    """Each bullet with its continuation lines: those that are indented deeper or that follow without a gap."""
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
    """One item per line; an indented line continues the one before. Text after a first `none` is a comment."""
    if is_nothing(lines[0]):
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


def is_nothing(words: str) -> bool:
    match = NOTHING.match(words)
    return not any(map(str.isalnum, words)) or (match is not None and not TAKEN_BACK.search(words, match.end()))


def _choice(texts: list[str], kind: Kind) -> str | None:
    """The option, alone or followed by words that do not take it back. With a condition right behind it, it is mixed,
    or no answer if the step does not offer that."""
    first, following, *_ = [*itertools.dropwhile(lambda text: not text.strip(), texts), "", ""]
    plain = _plain(BULLET.sub("", first, count=1))
    plain += f" {_plain(following)}" if CONDITION.match(_plain(following)) else ""
    for option in sorted(kind.options, key=len, reverse=True):
        said = plain.strip(CROSSES + " ") if NEGATIVE.match(_plain(option)) else plain
        match = re.match(rf"{re.escape(_plain(option))}(?!\w)", said)
        if not match:
            continue
        rest = said[match.end() :]
        others = [re.escape(_plain(other)) for other in kind.options if other != option]
        if any(re.fullmatch(other, _plain(following)) for other in others):
            continue
        if DENIED.search(rest) or any(re.search(rf"\b{other}\b", rest) for other in others):
            continue
        if CONDITION.match(rest):
            return CONDITIONAL if CONDITIONAL in kind.options else None
        if not rest or (AFTER.match(rest) and not TAKEN_BACK.search(rest)):
            return option
    return None


def _plain(text: str) -> str:
    """The words, folded, without emphasis, quotation marks and signs such as ✅; an apostrophe inside a word stays."""
    bare = re.sub(r"[*_`\"“”\u2018]+|(?<!\w)['’]+|['’]+(?!\w)", "", fold(text))
    if not bare.isascii():
        bare = "".join(sign for sign in bare if unicodedata.category(sign) != "So" or sign in DOUBTS)
    return bare.replace("\ufe0f", "").strip().rstrip(".!").strip()


def _number(text: str, kind: Kind) -> float | int | None:
    """A number, alone or before a comment; `%` and `/ 100` only if they fit the range."""
    match = NUMBER.match(re.sub(r"^[~≈]\s*", "", _plain(re.sub(r"^\s*[-*+•]\s+(?=\S)", "", text))))
    if not match or (value := _figure(match.group(1))) is None or _is_share(match.group(1), kind):
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


def _is_share(digits: str, kind: Kind) -> bool:
    """Whether a number such as 0.9 may stand for 90 of 100: nobody knows, so it has to be asked for again."""
    return kind.type == "range" and kind.high >= WIDE and re.fullmatch(r"0?[.,]\d+|1[.,]0+", digits) is not None


def describe_mismatch(kind: Kind, section: list[ReplyLine]) -> str:
    """What is wrong with the text of an answer that cannot be read."""
    wanted = placeholder(kind).strip("[]")
    first = next((line.text for line in section if line.text.strip()), "")
    if (number := NUMBER.match(_plain(first))) and _is_share(number.group(1), kind):
        return f"between 0 and 1; write {wanted}"
    return f"not {wanted}"


def _figure(digits: str) -> float | None:
    """`1,000` is a thousand and `0,9` a decimal; anything with more separators is not a number."""
    if re.fullmatch(r"-?[1-9]\d{0,2}(?:,\d{3})+", digits):
        return float(digits.replace(",", ""))
    return float(digits.replace(",", ".")) if re.fullmatch(r"-?\d+(?:[.,]\d+)?", digits) else None


def placeholder(kind: Kind) -> str:
    if kind.type == "choice":
        *most, last = kind.options
        return f"[exactly one word of these: {', '.join(most)} or {last}]"
    if kind.type == "range":
        return f"[a number from {kind.low:g} to {kind.high:g}]"
    empty = "there must be at least one" if kind.required else 'the word "none" if there is nothing'
    if kind.type in answer_types():
        return answer_types()[kind.type].format
    return {
        "text": "[in your own words]",
        "list": f'[one item a line, each beginning with "- "; {empty}]',
        "code": "[one fenced code block]",
        "integer": "[a whole number]",
    }[kind.type]
