"""The kinds of answers: how each is printed into a brief, and how it is read back from a reply.

The same object makes the forms of terminal, page and MCP. Reading is strict, because a wrong reading is worse than
one more question: a choice is one word and nothing else, a number is a number alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from council.next import rooms
from council.next.errors import UsageError
from council.next.replies.markdown import BULLETS, Block
from council.next.text import did_you_mean, fold, one_line

DRESS = "*_`\"'“”\u2018’«»„[]() \n\t"  # what people put around a word
NOTHING = frozenset({"none", "nothing", "n/a", "-", "–", "—", ""})
NUMBER = re.compile(r"([0-9]{1,9})(?:[.,]([0-9]{1,2}))?(?:\s*%|\s*(?:/|out of)\s*([0-9]{1,9}))?")
IDENT = re.compile(r"([rkc])([1-9][0-9]{0,3})([b-z]?)(?![^\W_])", re.I)


class Unreadable(ValueError):
    """The text under a heading is not an answer of this kind. The message says what is wanted."""


@dataclass(frozen=True)
class Field:
    """The answer as a field of a form. `type` is text, list, code, number, choice or vote."""

    type: str
    options: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    required: bool = True


@dataclass(frozen=True)
class Kind:
    """One kind of answer. A room adds its own with `@answer`."""

    filled: bool = False  # declared with `+`: an empty answer is not enough
    optional: bool = False  # declared with `?`: it may be left out, which means nothing
    whole: ClassVar[bool] = False  # reads all that stands under no other answer's heading
    room: ClassVar[str] = ""  # set by `@answer`: the optional room that has this kind

    def placeholder(self) -> str:
        """The format, as the brief prints it below the heading."""
        return f"[{'optional; ' if self.optional else ''}{self.wanted()}]"

    def wanted(self) -> str:
        """The format in words, for the placeholder and for what is wrong with a reply."""
        raise NotImplementedError

    def read(self, block: Block) -> Any:
        """The answer's value. Raises Unreadable if the block is not an answer of this kind."""
        raise NotImplementedError

    def data(self, value: Any) -> Any:
        """The value as plain data, for state.json."""
        return list(value) if isinstance(value, tuple) else value

    def field(self) -> Field:
        return Field("text", required=not self.optional)

    def unreadable(self) -> Unreadable:
        return Unreadable(f"it must be {self.wanted()}")


@dataclass(frozen=True)
class Text(Kind):
    def wanted(self) -> str:
        return "your answer in your own words" if self.optional or self.filled else 'your answer, or "none"'

    def read(self, block: Block) -> str:
        text = block.text
        if block.fenced:  # a text that would not read back otherwise, such as a log
            text = block.code[0].removesuffix("\n")
        elif not text:
            raise Unreadable("there is nothing below the heading")
        if block.fenced or not is_nothing(text):
            return text
        if self.filled:
            raise self.unreadable()
        return ""


@dataclass(frozen=True)
class Items(Kind):
    def wanted(self) -> str:
        none = "" if self.filled or self.optional else ', or "none"'
        return f'one item a line, each beginning with "- "{none}'

    def read(self, block: Block) -> tuple[str, ...]:
        """The items of the lists, or the only line. Lines that are no items may be one sentence that was wrapped."""
        loose, items = block.loose, block.items
        if block.fenced:
            loose, items = [], [line.removeprefix("- ") for line in block.code[0].splitlines()]
        if not items:
            marked = [line for line in loose if line.startswith(BULLETS) or split_id(line)[0]]
            if len(loose) > 1 and len(marked) < len(loose):
                raise self.unreadable()
            items = [line.removeprefix(next(filter(line.startswith, BULLETS), "")).strip() for line in loose]
        elif any(is_nothing(line) for line in loose):
            raise Unreadable('it holds items and the word "none"')
        if not items:
            raise self.unreadable()
        kept = tuple(item for item in items if not is_nothing(item))
        if self.filled and not kept:
            raise Unreadable("there must be at least one item")
        return kept

    def field(self) -> Field:
        return Field("list", required=not self.optional)


@dataclass(frozen=True)
class Code(Kind):
    def wanted(self) -> str:
        return "one fenced block of code"

    def read(self, block: Block) -> str:
        if len(block.code) != 1:
            raise self.unreadable()
        return block.code[0]

    def field(self) -> Field:
        return Field("code", required=not self.optional)


@dataclass(frozen=True)
class Number(Kind):
    """A whole number, or one in a range."""

    low: int = 0
    high: int | None = None

    def wanted(self) -> str:
        return "a whole number, alone" if self.high is None else f"a number from {self.low} to {self.high}, alone"

    def read(self, block: Block) -> float | int:
        """`85`, `85 %`, `85/100` and `92,5`. With a condition beside it, for example, it would be another answer."""
        match = NUMBER.fullmatch(bare(block))
        if not match:
            raise self.unreadable()
        whole, decimals, scale = match.groups()
        value = float(f"{whole}.{decimals or 0}")
        if self.high is None:
            fits = not decimals and scale is None and "%" not in match[0]
        else:
            # On a wide scale, a share of one such as 0.9 may mean 90.
            fits = self.low <= value <= self.high and not (self.high >= 10 and decimals and value <= 1)
            fits = fits and (scale is None or int(scale) == self.high) and ("%" not in match[0] or self.high == 100)
        if not fits:
            raise self.unreadable()
        return int(value) if value == int(value) else value

    def field(self) -> Field:
        return Field("number", (), self.low, self.high, not self.optional)


@dataclass(frozen=True)
class Choice(Kind):
    options: tuple[str, ...] = ()

    def wanted(self) -> str:
        *most, last = self.options
        return f"exactly one of these, and nothing else: {', '.join(most)} or {last}"

    def read(self, block: Block) -> str:
        """One of the options alone. A remark behind it may be a condition, so it is asked for again without one."""
        words = bare(block)
        for option in self.options:
            if words == fold(option):
                return option
        raise self.unreadable()

    def field(self) -> Field:
        return Field("choice", self.options, required=not self.optional)


@dataclass(frozen=True)
class Ident(Kind):
    """The id of a recommendation, a condition or a blocking item: R1, R2b, K3, C4. `id | none` takes none as well."""

    or_none: bool = False

    def wanted(self) -> str:
        none = ', or "none"' if self.or_none else ""
        return f"one id from the lists above, such as R1{none}, and nothing else"

    def read(self, block: Block) -> str:
        words = bare(block)
        if self.or_none and words == "none":
            return words
        if not (id := find_id(words)):
            raise self.unreadable()
        return id


@dataclass(frozen=True)
class Signature:
    """What a member signs: the id of a recommendation, `own`, `none` or `undecided`; and why, in its words."""

    side: str
    why: str = ""


@dataclass(frozen=True)
class Vote(Kind):
    """The one required answer of a debate: the text that a member would sign."""

    words: ClassVar[tuple[str, ...]] = ("own", "none", "undecided")

    def wanted(self) -> str:
        return 'one id, as in R2; or "own"; or "none: why"; or "undecided: what is missing"'

    def read(self, block: Block) -> Signature:
        words = bare(block)
        if words == "own" or (side := find_id(words)):
            return Signature("own" if words == "own" else side)
        word, colon, _ = words.partition(":")
        word = word.strip(DRESS)
        if word not in ("none", "undecided") or (not colon and words != word):
            raise self.unreadable()
        text = block.own.replace("\uff1a", ":")
        why = " ".join(text.partition(":")[2].split()).strip(DRESS)
        return Signature(word, why)

    def data(self, value: Any) -> dict[str, str]:
        return {"side": value.side, "why": value.why}

    def field(self) -> Field:
        return Field("vote", self.words, required=not self.optional)


NAMED: dict[str, Callable[[], Kind]] = {
    "text": Text,
    "list": Items,
    "code": Code,
    "integer": Number,
    "id": Ident,
    "vote": Vote,
}


def answer(name: str) -> Callable[[type[Kind]], type[Kind]]:
    """Register a room's kind of answer under this name."""

    def register(kind_: type[Kind]) -> type[Kind]:
        kind_.room = kind_.__module__.rpartition(".")[0].rpartition(".")[2]
        NAMED[name] = kind_
        return kind_

    return register


def kind(declared: object) -> Kind:
    """The kind that a workflow declares: `text`, `list+`, `yes | no ?`, `0-100`."""
    words = str(declared).strip()
    optional, words = words.endswith("?"), words.removesuffix("?").strip()
    filled, words = words.endswith("+"), words.removesuffix("+").strip()
    low, dash, high = words.partition("-")
    options = tuple(option.strip() for option in words.split("|"))
    if words in NAMED or (words.isidentifier() and rooms.load("answer", words)):
        found: Kind = NAMED[words]()
    elif dash and low.isdecimal() and high.isdecimal() and len(high) < 10 and int(low) < int(high):
        found = Number(low=int(low), high=int(high))
    elif options == ("id", "none"):
        found = Ident(or_none=True)
    elif len(options) > 1 and all(map(is_word, options)) and len(set(map(fold, options))) == len(options):
        found = Choice(options=options)
    else:
        known = did_you_mean(words, [*NAMED, *rooms.names("answer"), "0-100", "yes | no"])
        shown = one_line(str(declared))
        raise UsageError(f'"{shown}" is not a kind of answer, with or without + and ? behind it; {known}')
    return replace(found, filled=filled, optional=optional)


def is_word(option: str) -> bool:
    """Whether an option of a choice can be read back: it is not empty, and reading takes nothing off it."""
    return bool(option) and option == option.strip(DRESS).rstrip(".:").strip(DRESS)


def bare(block: Block) -> str:
    """The folded words of a short answer, without the emphasis, quotation marks, list or fence around them."""
    text = block.own
    if block.fenced:
        text = block.code[0]
    elif len(block.items) == 1 and not block.loose:
        text = block.items[0]
    words = fold(text)
    for bullet in BULLETS:
        words = words.removeprefix(bullet)
    return words.strip(DRESS).rstrip(".:").strip(DRESS)


def find_id(words: str) -> str:
    """The id that these words are, as it is written everywhere: R2b, K3. Empty if they are none."""
    id, rest = split_id(words)
    return "" if rest else id


def split_id(item: str) -> tuple[str, str]:
    """`K2: reject: why` is about K2 and says `reject: why`. An item that begins with no id has an empty one."""
    start = len(item) - len(item.lstrip(DRESS))
    match = IDENT.match(item, start)
    if not match:
        return "", item
    id = f"{match[1].upper()}{match[2]}{match[3].lower()}"
    return id, item[match.end() :].lstrip(DRESS + ".,;:\uff1a–—-").rstrip()


def is_nothing(text: str) -> bool:
    """Whether an answer says that there is nothing, in one of the words for it: `none`, `- None.`, `n/a`, `—`."""
    return fold(text).removeprefix("- ").strip(DRESS + ".") in NOTHING
