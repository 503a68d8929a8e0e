"""Renders a reply's Markdown for a terminal: wrapped, with short answers on one line, in colour if available.

No word of a reply is dropped or changed. Anything that is not a terminal gets the Markdown itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from council import text_width
from council.text import FENCE, harmless, mark_code

if TYPE_CHECKING:
    from council.workflow.model import Reply

STYLES = {
    "bold": "1", "dim": "2", "italic": "3", "red": "31", "green": "32", "yellow": "33", "blue": "94", "magenta": "35",
    "cyan": "36",
}  # fmt: skip
SEATS = ("cyan", "magenta", "blue", "yellow", "green")
SENSE = {
    "agree": "green", "agreed": "green", "agreed with dissent": "yellow", "mixed": "yellow", "still moving": "yellow",
    "disagree": "red", "stable disagreement": "red", "insufficient": "red", "yes": "green", "no": "red", "none": "dim",
    "split": "yellow", "undecided": "yellow", "disagreement": "red", "consensus": "green", "stalemate": "red",
    "consensus with dissent": "yellow", "max-iterations": "red", "fundamental": "yellow",
}  # fmt: skip
CHANGED = {"+": "green", "-": "red", "@": "cyan"}  # the lines of a diff
WIDEST = 100  # longer lines are hard to read
HEADING = re.compile(r"(#{1,6})\s+(.+)")
LEADING = re.compile(r"(\s{0,12}(?:[-*+•]|\d{1,3}[.)])\s+|\s{0,12}>\s?|\s{0,12})(.*)", re.S)
INLINE = re.compile(
    r"\\(?P<escaped>[\\`*_\[\]<>#|~&$+=:.-])|`(?P<code>[^`\n]+)`|\*\*(?P<strong>\S(?:[^*\n]*\S)?)\*\*"
    r"|(?<![\w*])\*(?P<emphasis>[^*\s](?:[^*\n]*[^*\s])?)\*(?![\w*])"
)
INLINE_STYLES = {"code": "cyan", "strong": "bold", "emphasis": "italic"}


def unwrap(lines: Iterable[str], width: int) -> Iterator[str]:
    """Lines of Markdown. A paragraph that somebody wrapped for a wider window becomes one line, to be wrapped again."""
    paragraph: list[str] = []
    for line, code in mark_code(lines):
        found = LEADING.fullmatch(line)
        starts = bool(found and found[1].strip())  # an item of a list, or a quotation
        prose = any(map(str.isalnum, line)) and not (code or HEADING.fullmatch(line.strip()) or line.lstrip()[0] == "|")
        if paragraph and (starts or not prose):
            yield from _join(paragraph, width)
            paragraph = []
        if prose and (paragraph or starts or not line.startswith("    ")):  # which would be code
            paragraph.append(line)
        else:
            yield line
    yield from _join(paragraph, width)


def _join(paragraph: list[str], width: int) -> Iterator[str]:
    """Undo the breaks of a paragraph that is too wide, but not after a line that ends early: that break was meant."""
    widest = max(map(text_width.width, paragraph), default=0)
    if widest <= width:
        yield from paragraph
        return
    joined = paragraph[0]
    for line, after in pairwise(paragraph):
        word = after.split()[0]
        wrapped = text_width.width(line) + 1 + text_width.width(word) > widest * 3 / 4
        spaced = text_width.of(line.rstrip()[-1]) < 2 or text_width.of(word[0]) < 2
        if wrapped and spaced and not line.endswith(("  ", "\\")):
            joined = f"{joined.rstrip()} {after.strip()}"
        else:
            yield joined
            joined = after
    yield joined


def styled(text: str, *styles: str) -> str:
    codes = ";".join(STYLES[style] for style in styles if style)
    return f"\x1b[{codes}m{text}\x1b[0m" if codes and text else text


@dataclass(frozen=True)
class Paint:
    """How to show Markdown: in how many columns, and whether in colour."""

    columns: int = 80
    colour: bool = False

    @property
    def width(self) -> int:
        return max(min(self.columns - 1, WIDEST), 10)

    def style(self, text: str, *styles: str) -> str:
        return styled(text, *styles) if self.colour else text

    def rule(self, title: str = "", heavy: bool = False) -> str:
        """A heading with a line to the end of the row; heavy for the result of a debate."""
        line, styles = ("━", ("bold", "cyan")) if heavy else ("─", ("bold",))
        shown = f" {text_width.cut(' '.join(harmless(title).split()), self.width - 5)} " if title else ""
        return self.style(f"{line * 2}{shown}{line * (self.width - 2 - text_width.width(shown))}", *styles)

    def speech(self, label: str, colour: str, said: str, answers: Reply = (), above: str = "") -> str:
        """A reply below the name of its seat, in that seat's colour; `above` is rendered already."""
        name = self.style(harmless(label), "bold", colour) if self.colour else f"**{harmless(label)}:**"
        return f"{name}\n{above}{self.text(said, answers)}\n"

    def text(self, text: str, answers: Reply = ()) -> str:
        """A whole text. `answers` are those that were requested at its end."""
        from council.replies.compact import pieces  # most commands show no text

        shown: list[str] = []
        long = False
        for piece in pieces(harmless(text).expandtabs(4), answers):
            if piece.title:
                shown += [""] * long
                long = not piece.short
                title = self.style(f"{piece.title}:", "bold") if self.colour else f"**{piece.title}:**"
                value = f" {self.style(piece.text, SENSE.get(piece.text.casefold(), ''))}" if piece.short else ""
                shown += [title + value.rstrip(), *(() if piece.short or not piece.text else self._lines(piece.text))]
            else:
                shown += [*self._lines(piece.text), ""]
        return "\n".join(shown).rstrip("\n") if answers else "\n".join(shown[:-1])

    def field(self, name: str, text: str, column: int = 0) -> str:
        """`Name: text`, wrapped so that the text starts at that column."""
        lead = " " * max(text_width.width(name) + 2, column)
        first, *rest = text_width.wrap(text, self.width, lead, lead)
        return "\n".join([self.style(f"{name}:", "bold") + first[text_width.width(name) + 1 :], *rest])

    def _lines(self, text: str) -> Iterator[str]:
        fence, language = "", ""
        for line in unwrap(text.split("\n"), self.width):
            opened = FENCE.match(line)
            if opened and (not fence or (opened.group(1).startswith(fence) and not opened.group(2).strip())):
                fence, language = ("", "") if fence else (opened.group(1), opened.group(2).strip())
                if not self.colour or (fence and language not in ("", "text")):
                    yield self.style(language, "dim") if self.colour else line
            elif fence:
                yield self.style(line, CHANGED.get(line[:1], "") if language == "diff" else "cyan")
            elif line.lstrip().startswith("|"):
                yield line
            else:
                yield from self._prose(line)

    def _prose(self, line: str) -> Iterator[str]:
        if heading := HEADING.fullmatch(line.strip()):
            words = heading.group(2).rstrip("# ") if self.colour else line.strip()
            yield from (self.style(part, "bold") for part in text_width.wrap(words, self.width))
        elif (found := LEADING.fullmatch(line)) and found.group(2).strip():
            lead, words = found.groups()
            hang = lead if lead.strip() == ">" else " " * text_width.width(lead)
            yield from text_width.wrap(self._words(words), self.width, lead, hang)
        else:
            yield line.rstrip()

    def _words(self, text: str) -> str:
        """Style strong, emphasised and code words one by one, so that a line can break after each."""
        return INLINE.sub(self._inline, text) if self.colour else text

    def _inline(self, found: re.Match[str]) -> str:
        if found["escaped"]:
            return found["escaped"]
        kind = found.lastgroup or ""
        return " ".join(self.style(word, INLINE_STYLES[kind]) for word in found[kind].split())
