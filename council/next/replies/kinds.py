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
from council.next.replies.markdown import Block, split_label
from council.next.text import did_you_mean, fold, one_line

# What people put around a word: emphasis, quotation marks of many languages, and signs that nobody sees.
DRESS = "*_`\"'“”\u2018’«»\u2039\u203a„「」『』【】 \n\t\u200b\u2060\ufeff"
BULLETS = ("- ", "• ", "◦ ", "‣ ", "– ", "— ")  # Markdown knows the first alone
NOTHING = frozenset({"none", "nothing", "n/a", "-", "–", "—", ""})
NUMBER = re.compile(r"([0-9]{1,9}(?:[.,][0-9]{1,2})?)(?:\s*(%)|\s*(?:/|(?:out )?of)\s*([0-9]{1,9}))?")
IDENT = re.compile(r"([rkc])([1-9][0-9]{0,3})([b-z]?)(?![^\W_])", re.I)
NARROW = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}  # the wide letters of Chinese and Japanese keyboards
NARROW |= str.maketrans(
    "\u041a\u043a\u0421\u0441\u039a\u03ba", "KkCcKk"
)  # Cyrillic and Greek letters that look the same


class Unreadable(ValueError):
    """The text under a heading is not an answer of this kind. The message says what is wanted."""


@dataclass(frozen=True)
class Kind:
    """One kind of answer, and all that a form must know of it. A room adds its own with `@answer`."""

    type: ClassVar[str] = "text"  # of the field in a form
    whole: ClassVar[bool] = False  # reads all that stands under no other answer's heading
    room: ClassVar[str] = ""  # set by `@answer`: the optional room that has this kind
    filled: bool = False  # declared with `+`: an empty answer is not enough
    optional: bool = False  # declared with `?`: it may be left out, which means nothing
    options: tuple[str, ...] = ()  # the words to choose from
    low: int = 0
    high: int | None = None

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

    def unreadable(self) -> Unreadable:
        return Unreadable(f"it must be {self.wanted()}")


@dataclass(frozen=True)
class Text(Kind):
    def wanted(self) -> str:
        return "your answer in your own words" if self.optional or self.filled else 'your answer, or "none"'

    def read(self, block: Block) -> str:
        if block.fenced:  # a text that would not read back otherwise, such as a log
            return block.code[0].removesuffix("\n")
        text = block.text
        if not text:
            raise Unreadable(f"there is nothing below the heading; write {self.wanted()}")
        if self.filled and is_nothing(text):
            raise Unreadable(f'"none" is no answer here; write {self.wanted()}')
        if "\n" not in text and text.startswith("[") and text.endswith("]"):
            raise Unreadable("put your own words in place of those in brackets")
        return "" if is_nothing(text) else text


@dataclass(frozen=True)
class Items(Kind):
    type: ClassVar[str] = "list"

    def wanted(self) -> str:
        none = "" if self.filled or self.optional else ', or "none"'
        return f'one item a line, each beginning with "- "{none}'

    def read(self, block: Block) -> tuple[str, ...]:
        """The items of the lists, and lines with a bullet or an id. Another line may be a part of an item, a remark
        that takes the items back, or "Nothing blocks": it is asked for again."""
        lines = [line.strip() for line in block.code[0].split("\n")] if block.fenced else block.loose
        for line in lines:
            has_ids = all(map(find_id, split_label(line)[0].split(",")))  # `K1, K2` or `K2: reject`, not `K2 is done`
            if not (line.startswith(BULLETS) or has_ids or is_nothing(line)):
                raise Unreadable(f"it must be {self.wanted()}; other words go above the first heading")
        items = [line.removeprefix(next(filter(line.startswith, BULLETS), "")).strip() for line in lines]
        items = [item for item in (*block.items, *items) if item]
        empty = [item for item in items if is_nothing(item)]
        if empty and len(items) > 1:
            raise Unreadable('it has items and the word "none"; write one or the other')
        if not items or (empty and self.filled):
            raise Unreadable(f"there is no item; write {self.wanted()}")
        return () if empty else tuple(items)


@dataclass(frozen=True)
class Code(Kind):
    type: ClassVar[str] = "code"

    def wanted(self) -> str:
        return "one block of code between two lines of ```"

    def read(self, block: Block) -> str:
        if len(block.code) != 1:
            raise self.unreadable()
        return block.code[0]


@dataclass(frozen=True)
class Number(Kind):
    """A whole number, or one from `low` to `high`."""

    type: ClassVar[str] = "number"

    def wanted(self) -> str:
        return "a whole number, alone" if self.high is None else f"a number from {self.low} to {self.high}, alone"

    def read(self, block: Block) -> float | int:
        """`85`, `85 %`, `85/100` and `92,5`. With a condition beside it, for example, it would be another answer."""
        match = NUMBER.fullmatch(undress(plain(block)))
        if not match:
            raise self.unreadable()
        number, percent, scale = match.groups()
        value, is_whole = float(number.replace(",", ".")), number.isdecimal()
        if self.high is None:
            fits = is_whole and not percent and not scale
        else:
            fits = self.low <= value <= self.high and self.high == (100 if percent else int(scale or self.high))
            # On a wide scale, a share of one such as 0.9 may mean 90.
            fits = fits and (is_whole or value > 1 or self.high < 10)
        if not fits:
            raise self.unreadable()
        return int(value) if value == int(value) else value


@dataclass(frozen=True)
class Choice(Kind):
    type: ClassVar[str] = "choice"

    def wanted(self) -> str:
        *most, last = self.options
        return f"exactly one of these, and nothing else: {', '.join(most)} or {last}"

    def read(self, block: Block) -> str:
        """One of the options alone. A remark behind it may be a condition, so it is asked for again without one."""
        words = undress(plain(block))
        for option in self.options:
            if words == fold(option):
                return option
        raise self.unreadable()


@dataclass(frozen=True)
class Ident(Kind):
    """The id of a recommendation, a condition or a blocking item: R1, R2b, K3, C4. `id | none` takes none as well."""

    or_none: bool = False

    def wanted(self) -> str:
        none = ', or "none"' if self.or_none else ""
        return f"one id from the lists above, such as R1{none}, and nothing else"

    def read(self, block: Block) -> str:
        words = undress(plain(block))
        if id := "none" if self.or_none and words == "none" else find_id(words):
            return id
        raise self.unreadable()


@dataclass(frozen=True)
class Signature:
    """What a member signs: the id of a recommendation, `own`, `none` or `undecided`; and why, in its words."""

    side: str
    why: str = ""


@dataclass(frozen=True)
class Vote(Kind):
    """The one required answer of a debate: the text that a member would sign."""

    type: ClassVar[str] = "vote"
    options: tuple[str, ...] = ("own", "none", "undecided")

    def wanted(self) -> str:
        return 'one id and nothing else, as in R2; or "own"; or "none: why"; or "undecided: what is missing"'

    def read(self, block: Block) -> Signature:
        words = undress(plain(block))
        if words == "own" or find_id(words):
            return Signature(find_id(words) or words)
        label, why = split_label(plain(block))
        if (word := undress(label)) not in ("none", "undecided"):
            raise self.unreadable()
        return Signature(word, " ".join(why.split()).strip(DRESS))

    def data(self, value: Any) -> dict[str, str]:
        return {"side": value.side, "why": value.why}


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
    read_back = [undress(option) for option in options]  # reading must take nothing off an option
    if words in NAMED or (words.isidentifier() and rooms.load("answer", words)):
        found: Kind = NAMED[words]()
    elif dash and low.isdecimal() and high.isdecimal() and len(high) < 10 and int(low) < int(high):
        found = Number(low=int(low), high=int(high))
    elif options == ("id", "none"):
        found = Ident(or_none=True)
    elif len({*read_back}) == len(options) > 1 and all(read_back) and read_back == [*map(fold, options)]:
        found = Choice(options=options)
    else:
        known = did_you_mean(words, [*NAMED, *rooms.names("answer"), "0-100", "yes | no"])
        raise UsageError(f'"{one_line(str(declared))}" is not a kind of answer (+ and ? may follow one); {known}')
    return replace(found, filled=filled, optional=optional)


def plain(block: Block) -> str:
    """The text of a short answer, without the fence, the list or the bullet around it."""
    if block.fenced:
        return block.code[0]
    text = block.items[0] if len(block.items) == 1 and not block.loose else block.own
    return text.removeprefix(next(filter(text.startswith, BULLETS), ""))


def undress(text: str) -> str:
    """The folded words without emphasis, quotation marks, a pair of brackets and a full stop around them."""
    words = fold(text).strip(DRESS)
    words = words[:-1].strip(DRESS) if words.endswith((".", ":", ";", ",", "!", "。")) else words
    return words[1:-1].strip(DRESS) if words[:1] + words[-1:] in ("[]", "()") else words


def find_id(words: str) -> str:
    """The id that these words are, as it is written everywhere: R2b, K3. Empty if they are none."""
    id, rest = split_id(words)
    return "" if rest else id


def split_id(item: str) -> tuple[str, str]:
    """`K2: reject: why` is about K2 and says `reject: why`. An item that begins with no id has an empty one."""
    start = len(item) - len(item.lstrip(DRESS + "[("))
    match = IDENT.match(item.translate(NARROW), start)
    if not match:
        return "", item
    id = f"{match[1].upper()}{match[2]}{match[3].lower()}"
    return id, item[match.end() :].lstrip(DRESS + ")].,;:\uff1a–—-").rstrip()


def is_nothing(text: str) -> bool:
    """Whether an answer says that there is nothing, in one of the words for it: `none`, `- None.`, `n/a`, `—`."""
    return fold(text).removeprefix("- ").strip(DRESS + "[]().。") in NOTHING
