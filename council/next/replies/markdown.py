"""One scan of a reply's Markdown: which part of it is below which answer's heading."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from textwrap import dedent
from typing import TYPE_CHECKING

from council.next.text import fold

if TYPE_CHECKING:  # importing it takes 40 ms, and many commands read no reply
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

BULLETS = ("• ", "◦ ", "‣ ", "– ", "— ")  # written as bullets, though Markdown does not know them as such
WRAPPERS = ("", "markdown", "md", "text")
LABEL = 9  # the level of a bold label, which is below every heading


@dataclass
class Block:
    """The part below one answer's heading. Without a name, the part below none.

    `own` is the text without quotations, `items` are those of its top-level lists, `loose` are the lines of `own`
    outside of lists and code, and `code` is what its fences hold.
    """

    name: str
    level: int = 0
    lines: list[str] = field(default_factory=list)
    own_lines: list[str] = field(default_factory=list)
    loose: list[str] = field(default_factory=list)
    items: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.lines).strip()

    @property
    def own(self) -> str:
        return "\n".join(self.own_lines).strip()

    @property
    def fenced(self) -> bool:
        """Whether the block is one fence and nothing else."""
        return len(self.code) == 1 and self.own.count("\n") == self.code[0].count("\n") + 1


@dataclass
class Scan:
    """The blocks of a reply in its order, and the answers that are labelled without a heading."""

    blocks: list[Block]
    mislabelled: set[str]


@lru_cache(maxsize=1)
def parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # Only blocks matter: inline marks stay as they are written, and no reference definition swallows a line.
    return MarkdownIt("commonmark", {"html": False, "maxNesting": 20}).disable(["inline", "reference"])


def scan(body: str, names: Collection[str]) -> Scan:
    """The blocks of a reply. Only the top level can begin one: a heading inside a quotation, a list or
    a block of code is not this seat's own answer."""
    lines, tokens = parse(body)
    found = Scan([Block("")], set())
    reached = 0
    for place, token in enumerate(tokens):
        if token.level or token.map is None:
            continue
        first, last = token.map
        keep(found.blocks[-1], lines[reached:first])  # blank lines
        reached = last
        if token.type == "heading_open":
            add_heading(found, int(token.tag[1]), tokens[place + 1].content, lines[first:last], names)
        elif token.type == "paragraph_open":
            for line in lines[first:last]:
                add_line(found, line, names)
        else:
            keep(found.blocks[-1], lines[first:last], own=token.type != "blockquote_open")
        if token.type == "fence":
            found.blocks[-1].code.append(token.content)
        elif token.type.endswith("list_open"):
            add_items(found, tokens, place, lines, names)
    return found


def parse(body: str) -> tuple[list[str], list[Token]]:
    plain = body.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    lines = without_passages(plain.split("\n"))
    tokens = parser().parse("\n".join(lines))
    if len(tokens) == 1 and tokens[0].type == "fence" and tokens[0].info.strip() in WRAPPERS:
        lines = tokens[0].content.split("\n")  # the whole reply stands inside one fence
        tokens = parser().parse(tokens[0].content)
    return lines, tokens


def add_heading(found: Scan, level: int, content: str, lines: list[str], names: Collection[str]) -> None:
    """A heading begins its answer's block. Another one ends the block before, unless it is a part of that answer."""
    title, rest = split_label(content)
    if (name := answer_name(title)) in names:
        found.blocks.append(Block(name, level))
        keep_loose(found.blocks[-1], [rest] if rest else [])
        return
    if level <= found.blocks[-1].level:
        found.blocks.append(Block("", level))
    keep(found.blocks[-1], lines)


def add_items(found: Scan, tokens: list[Token], place: int, lines: list[str], names: Collection[str]) -> None:
    """The items of a top-level list, and the labels in it that should have been headings."""
    quotations = 0
    while (token := tokens[(place := place + 1)]).level > 0:
        quotations += token.nesting if token.type.startswith("blockquote") else 0
        if token.type == "list_item_open" and token.level == 1 and token.map:
            found.blocks[-1].items.append(item_text(lines[slice(*token.map)], token))
        elif token.type == "inline" and not quotations:
            labels = (label(line, names)[0] for line in token.content.splitlines())
            found.mislabelled.update(filter(None, labels))


def add_line(found: Scan, line: str, names: Collection[str]) -> None:
    """Add a paragraph's line, which begins a block if it begins with a bold label, as in `**Signs:** R2`."""
    name, bold, rest = label(line, names)
    if name and bold:
        found.blocks.append(Block(name, LABEL))
        line = rest
    elif name:
        found.mislabelled.add(name)
    keep_loose(found.blocks[-1], [line])


def keep(block: Block, lines: list[str], own: bool = True) -> None:
    block.lines += lines
    block.own_lines += lines if own else []


def keep_loose(block: Block, lines: list[str]) -> None:
    keep(block, lines)
    block.loose += [line.strip() for line in lines if line.strip()]


def label(line: str, names: Collection[str]) -> tuple[str, bool, str]:
    """The answer that a line labels, whether the label is bold, and the rest of the line. An empty name is none."""
    title, rest = split_label(line.strip())
    bold = title.startswith("**")
    if title == line.strip() and not (bold and title.endswith("**")):
        return "", False, ""
    name = answer_name(title.removeprefix("**").removesuffix("**"))
    return (name, bold, rest.removeprefix("**").strip()) if name in names else ("", False, "")


def split_label(line: str) -> tuple[str, str]:
    """The parts of a line before and after its first colon."""
    place = min((at for colon in ":\uff1a" if (at := line.find(colon)) >= 0), default=len(line))
    return line[:place], line[place + 1 :].strip()


def answer_name(title: str) -> str:
    """A heading's words as the name of an answer: `2. Suggested Changes (optional)` is `suggested_changes`."""
    words = fold(title).partition("(")[0].strip("*_`# ")
    start = next((place for place, letter in enumerate(words) if letter.isalpha()), len(words))
    before = words[:start]  # a number or a picture may stand before the words
    if any(unicodedata.category(one)[0] not in "NPSZM" and one != "\u200d" for one in before):
        return ""
    return words[start:].strip("*_`: ").replace("-", "_").replace(" ", "_")


def item_text(lines: list[str], token: Token) -> str:
    """An item without its marker: one line, unless it has a list or a block of code inside."""
    marker = len(token.info) + len(token.markup)
    text = lines[0].lstrip()[marker:].strip()
    rest = [line.strip() for line in lines[1:]]
    while rest and not rest[-1]:
        rest.pop()
    if "" in rest or any(line.startswith(("- ", "* ", "+ ", "```", "~~~")) for line in rest):
        return f"{text}\n{dedent(chr(10).join(lines[1:]))}".strip()
    return " ".join([text, *rest])


def without_passages(lines: list[str]) -> list[str]:
    """The lines of a reply without passages that it copied from its brief together with the marks around them."""
    kept: list[str] = []
    opened: int | None = None  # where in `kept` a passage begins
    for line in lines:
        if opened is None and line.startswith('<said by="'):
            opened = len(kept)
        elif opened is not None and line.startswith("</said"):
            del kept[opened:]
            opened = None
            continue
        kept.append(line)
    return kept


def code_blocks(text: str) -> Iterator[tuple[str, str]]:
    """Every top-level block of fenced code: the words behind the fence, and the code."""
    for token in parser().parse(text):
        if token.type == "fence" and token.level == 0:
            yield token.info.strip(), token.content
