"""One scan of a reply's Markdown: which part of it is below which answer's heading."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import dropwhile
from textwrap import dedent
from typing import TYPE_CHECKING

from council.next.text import fold

if TYPE_CHECKING:  # importing it takes 40 ms, and many commands read no reply
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

WRAPPERS = ("", "markdown", "md", "text")
LONGEST_NAME = 120
LABEL = 9  # the level of a bold label, which is below every heading
BOLD = ("**", "__")
SEPARATOR = re.compile(r"[:\uff1a]| [-–—|](?: |$)")  # between a label and its answer
# Where a line stands. A rule (`---`) is nobody's words.
OWN, LIST, QUOTED, RULE = "own", "list", "quoted", "rule"
PLACES = {"bullet_list_open": LIST, "ordered_list_open": LIST, "blockquote_open": QUOTED, "hr": RULE}


@dataclass
class Block:
    """The part below one answer's heading; without a name, the part below none. Each line has its place."""

    name: str
    level: int = 0
    lines: list[tuple[str, str]] = field(default_factory=list)
    items: list[str] = field(default_factory=list)  # of its top-level lists
    code: list[str] = field(default_factory=list)  # what its fences hold
    named: list[str] = field(default_factory=list)  # answers with a label in it that is no heading
    labels: list[Block] = field(default_factory=list)  # those labels at its end, each with the rest of its line

    def add(self, lines: list[str], place: str = OWN) -> None:
        self.lines += [(place, line) for line in lines]
        if place != RULE and any(map(str.strip, lines)):
            self.labels.clear()

    @property
    def text(self) -> str:
        """All of it. A rule at its end only parts it from what follows."""
        rest = dropwhile(lambda one: one[0] == RULE or not one[1].strip(), reversed(self.lines))
        return "\n".join([line for _, line in rest][::-1]).strip()

    @property
    def own(self) -> str:
        """The text without quotations."""
        return "\n".join(line for place, line in self.lines if place in (OWN, LIST)).strip()

    @property
    def loose(self) -> list[str]:
        """The seat's own lines outside of lists."""
        return [line.strip() for place, line in self.lines if place == OWN and line.strip()]

    @property
    def fenced(self) -> bool:
        """Whether the block is one fence and nothing else."""
        return len(self.code) == 1 and self.own.count("\n") == self.code[0].count("\n") + 1


@lru_cache(maxsize=1)
def parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # Only blocks matter: inline marks stay as they are written, and no reference definition swallows a line.
    return MarkdownIt("commonmark", {"html": False, "maxNesting": 20}).disable(["inline", "reference"])


def scan(body: str, names: Collection[str]) -> list[Block]:
    """The blocks of a reply. Only the top level can begin one: a heading inside a quotation, a list or
    a block of code is not this seat's own answer."""
    lines, tokens = parse(body)
    blocks = [Block("")]
    reached = 0
    for place, token in enumerate(tokens):
        if token.map is None:
            continue
        part = lines[slice(*token.map)]
        if token.type == "list_item_open" and token.level == 1:
            blocks[-1].items.append(item_text(part, token))
            note_label(blocks[-1], blocks[-1].items[-1].partition("\n")[0], names)
        if token.level:
            continue
        blocks[-1].add(lines[reached : token.map[0]])  # blank lines
        reached = token.map[1]
        if token.type == "heading_open":
            add_heading(blocks, token, tokens[place + 1].content, part, names)
        elif token.type == "paragraph_open":
            add_paragraph(blocks, part, names)
        else:
            blocks[-1].add(part, PLACES.get(token.type, OWN))
            blocks[-1].code += [token.content] if token.type == "fence" else []
    return blocks


def parse(body: str) -> tuple[list[str], list[Token]]:
    plain = body.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    lines = without_passages(plain.split("\n"))
    tokens = parser().parse("\n".join(lines))
    if len(tokens) == 1 and tokens[0].type == "fence" and tokens[0].info.strip() in WRAPPERS:
        lines = tokens[0].content.split("\n")  # the whole reply stands inside one fence
        tokens = parser().parse(tokens[0].content)
    return lines, tokens


def add_heading(blocks: list[Block], token: Token, title: str, part: list[str], names: Collection[str]) -> None:
    """A heading begins its answer's block. Another one ends the block before, unless it is a part of that answer."""
    level, (label, rest) = int(token.tag[1]), split_label(title)
    if (name := answer_name(label)) in names:
        blocks.append(Block(name, level))
        blocks[-1].add([rest] if rest else [])
    elif token.markup == "-":  # people part answers with `---`, and need no blank line before it
        add_paragraph(blocks, part[:-1], names)
        blocks[-1].add(part[-1:], RULE)
    else:
        if level <= blocks[-1].level:
            blocks.append(Block("", level))
        blocks[-1].add(part)


def add_paragraph(blocks: list[Block], part: list[str], names: Collection[str]) -> None:
    """Each line that begins with a bold label begins a block, as in `**Signs:** R2`."""
    for line in part:
        label, rest = split_label(line)
        if label.startswith(BOLD) and (name := answer_name(label)) in names:
            blocks.append(Block(name, LABEL))
            blocks[-1].add([rest])
        else:
            blocks[-1].lines.append((OWN, line))
            note_label(blocks[-1], line, names)


def note_label(block: Block, line: str, names: Collection[str]) -> None:
    """A line such as `Signs: R2`. It may be talk, and it may be the only place where a seat says it."""
    label, rest = split_label(line)
    if (name := answer_name(label)) in names:
        block.named.append(name)
        block.labels.append(Block(name, lines=[(OWN, rest)]))
    else:
        block.labels.clear()


def split_label(line: str) -> tuple[str, str]:
    """The parts of a line before and after its first colon or dash. Bold letters may end behind either."""
    label, *rest = SEPARATOR.split(line.strip(), maxsplit=1)
    bold = label[:2] if label.startswith(BOLD) and not label.endswith(BOLD) else ""
    return label.strip(), "".join(rest).replace(bold, "", 1).strip()


def answer_name(title: str) -> str:
    """A heading's words as the name of an answer: `2. Suggested Changes (optional)` is `suggested_changes`."""
    words = fold(title) if len(title) <= LONGEST_NAME else ""
    start = next((place for place, letter in enumerate(words) if letter.isalpha()), len(words))
    before = words[:start]  # a number, a bullet or a picture may stand before the words, but no mark of a quotation
    if ">" in before or any(unicodedata.category(one)[0] not in "NPSZM" and one != "\u200d" for one in before):
        return ""
    return words[start:].partition("(")[0].strip("*_`# ").replace("-", "_").replace(" ", "_")


def item_text(lines: list[str], token: Token) -> str:
    """An item without its marker: one line, unless it has a list or a block of code inside."""
    marker = len(token.info) + len(token.markup)
    text = lines[0].lstrip()[marker:].strip()
    rest = dedent("\n".join(lines[1:])).rstrip()
    parts = [line.strip() for line in rest.split("\n")]
    if rest and any(not part or part.startswith(("- ", "* ", "+ ", "```", "~~~")) for part in parts):
        return f"{text}\n{rest}".strip()
    return " ".join([text, *parts]).strip()


def without_passages(lines: list[str]) -> list[str]:
    """The lines of a reply without passages that it copied from its brief together with the marks around them.

    A mark without its counterpart takes nothing away: what follows it may be the seat's own.
    """
    kept: list[str] = []
    opened: dict[str, int] = {}  # the last mark of each passage that has begun, and where it begins in `kept`
    for line in lines:
        kept.append(line)
        mark = line.rstrip()  # an indented one is a text that says what marks look like
        if mark.startswith('<said by="'):
            opened.pop(last := f"</{mark[1:]}", None)  # the newest is at the end
            opened[last] = len(kept) - 1
        elif mark in opened or (opened and mark == "</said>"):
            last, begin = opened.popitem()
            while mark not in (last, "</said>"):
                last, begin = opened.popitem()
            del kept[begin:]
    return kept


def code_blocks(text: str) -> Iterator[tuple[str, str]]:
    """Every top-level block of fenced code: the words behind the fence, and the code."""
    for token in parser().parse(text):
        if token.type == "fence" and token.level == 0:
            yield token.info.strip(), token.content
