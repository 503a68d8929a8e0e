"""Reads the declared answers of one reply, and names what is wrong with the others.

An answer is the seat's own: the form itself and a copy of what somebody else wrote are none.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from council.next.replies.kinds import Choice, Ident, Kind, Number, Text, Unreadable, Vote
from council.next.replies.markdown import Block, scan
from council.next.text import encode, fold

Reply = Mapping[str, Kind]
# Two neighbouring blocks as one number. A reply that has both in this order, word for word, is a copy.
Passage = int
SHORT = (Choice, Ident, Number, Vote)  # kinds that take their value alone, so that no talk reads as one of them
LONG = 12  # words at the end of a block that nobody else writes by chance


@dataclass(frozen=True)
class Answers:
    """What could be read by name, what is wrong with the rest and how that reads, the talk, and the passages."""

    found: Mapping[str, Any] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)
    prose: str = ""
    passages: tuple[Passage, ...] = ()


def heading(name: str) -> str:
    """`moved_by` as briefs print it: `Moved by`."""
    return name.replace("_", " ").capitalize()


def describe(reply: Reply) -> str:
    """The form that a brief ends with. Empty if a step asks for no answers."""
    return "\n\n".join(f"## {heading(name)}\n{kind.placeholder()}" for name, kind in reply.items())


def read(reply: Reply, body: str, is_copy: Callable[[Passage], bool] = frozenset[Passage]().__contains__) -> Answers:
    """The answers of a reply. `is_copy` knows the passages that others wrote before it."""
    if not reply:
        return Answers(prose=body.strip())
    own, passages = without_copies(scan(body, reply), is_copy)
    named = Counter(name for block in own for name in block.named)
    labels = [label for block in own for label in block.labels]
    found: dict[str, Any] = {}
    problems: dict[str, str] = {}
    unread: dict[str, str] = {}
    for name, kind in reply.items():
        blocks = [block for block in own if block.name == name and block.text != kind.placeholder()]
        if kind.whole:
            blocks = [join(name, [block for block in own if block.name in ("", name)])]
        labelled = bool(named[name]) and not blocks
        ending = [label for label in labels if label.name == name]
        if labelled and isinstance(kind, SHORT) and len(ending) == named[name]:
            blocks = ending  # `Signs: R2` in the last line can mean only one thing
        try:
            values = [read_block(kind, block) for block in blocks]
            if any(value != values[0] for value in values):
                raise Unreadable("it is answered twice, and differently; write it once")
            if values:
                found[name] = values[0]
            elif labelled or not kind.optional:
                raise Unreadable(f"the heading is missing, or nothing of your own is below it; write {kind.wanted()}")
        except Unreadable as wrong:
            what = "write this heading on a line of its own, and the answer below it" if labelled else wrong
            problems[name] = f'"## {heading(name)}": {what}'
            if blocks and not kind.whole:
                unread[name] = f"## {heading(name)}\n" + "\n\n".join(block.text for block in blocks)
    prose = "\n\n".join(block.text for block in own if not block.name).strip()
    return Answers(found, problems, unread, prose, passages)


def read_block(kind: Kind, block: Block) -> Any:
    """The answer below a heading, with or without the words of the form above it."""
    form = kind.placeholder()
    if block.fenced:
        return kind.read(block)
    if isinstance(kind, Text) and form in block.text:  # behind the whole form comes talk, and not the last answer
        raise Unreadable("put your own words in place of those in brackets")
    return kind.read(replace(block, lines=[line for line in block.lines if line[1].strip() != form]))


def without_copies(blocks: list[Block], is_copy: Callable[[Passage], bool]) -> tuple[list[Block], tuple[Passage, ...]]:
    """The blocks that are the seat's own, and all passages.

    Two seats may well give the same short answer. A copy shows in what it continues: long words of somebody else, or
    another copy.
    """
    own, passages, copied = blocks[:1], [], False
    words = [fold(block.text) for block in blocks]
    ends = [text.split()[-LONG:] for text in words]  # somebody may put words of its own before a copy
    for place in range(1, len(blocks)):
        before, block = blocks[place - 1], blocks[place]
        both = "\0".join((before.name, *ends[place - 1], block.name, words[place]))
        passages.append(int.from_bytes(hashlib.blake2b(encode(both), digest_size=8).digest()))
        copied = is_copy(passages[-1]) and (copied or len(ends[place - 1]) == LONG)
        if not copied:
            own.append(block)
    return own, tuple(passages)


def join(name: str, blocks: list[Block]) -> Block:
    """Several blocks as one, for a kind that reads the whole reply."""
    lines = [line for block in blocks for line in block.lines]
    items = [item for block in blocks for item in block.items]
    return Block(name, 0, lines, items, [code for block in blocks for code in block.code])
