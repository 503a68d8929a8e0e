"""The Markdown of a debate as a terminal shows it: wrapped, with ruled headings, and short answers in a line.

No word of a reply is left out or changed. Whatever is no terminal gets the Markdown itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from council import text_width
from council.replies.compact import compact
from council.text import FENCE, harmless
from council.workflow.model import Reply

STYLES = {
    "bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "magenta": "35", "cyan": "36",
}  # fmt: skip
SEATS = ("cyan", "magenta", "blue", "yellow", "green")
SENSE = {
    "agree": "green", "agreed": "green", "agreed with dissent": "yellow", "mixed": "yellow", "still moving": "yellow",
    "disagree": "red", "stable disagreement": "red", "insufficient": "red", "yes": "green", "no": "red", "none": "dim",
    "consensus": "green", "stalemate": "red", "max-iterations": "red", "fundamental": "yellow",
}  # fmt: skip
WIDEST = 100  # longer lines are hard to read
HEADING = re.compile(r"(#{1,6})\s+(.+?)\s*#*\s*")
OURS = re.compile(r"## Council .*|### (?:Round \d+: .*|Council Synthesis.*|Receipts)")
LEADING = re.compile(r"(\s{0,12}(?:[-*+•]|\d{1,3}[.)])\s+|\s{0,12}>\s?|\s{0,12})(.*)", re.S)
STRONG = re.compile(r"\*\*(\S(?:[^*\n]*\S)?)\*\*")
SAID = re.compile(rf"^(\*\*[A-Z][a-z ]+:\*\* )({'|'.join(sorted(SENSE, key=len, reverse=True))})(?= \(|$)", re.I)
MARK = re.compile(r"<!-- \S+ sha256:[0-9a-f]{64} -->")


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

    def rule(self, title: str = "") -> str:
        """A heading with a line to the end of the row; a heavier one for the synthesis."""
        heavy = not title or title.startswith("Council Synthesis")
        line, styles = ("━", ("bold", "cyan")) if heavy else ("─", ("bold",))
        shown = f" {text_width.cut(' '.join(harmless(title).split()), self.width - 5)} " if title else ""
        return self.style(f"{line * 2}{shown}{line * (self.width - 2 - text_width.width(shown))}", *styles)

    def speech(self, label: str, colour: str, said: str, answers: Reply = (), above: str = "") -> str:
        """A reply below the name of its seat, in that seat's colour; `above` is painted already."""
        name = self.style(harmless(label), "bold", colour) if self.colour else f"**{harmless(label)}:**"
        return f"{name}\n{above}{self.text(said, answers)}\n"

    def text(self, text: str, answers: Reply = ()) -> str:
        """A whole text. `answers` are those that it was to end with."""
        return "\n".join(self._lines(compact(harmless(text).expandtabs(4), answers)))

    def _lines(self, text: str) -> Iterator[str]:
        fence = ""
        for line in text.split("\n"):
            opened = FENCE.match(line)
            if opened and (not fence or (opened.group(1).startswith(fence) and not opened.group(2).strip())):
                fence = "" if fence else opened.group(1)
                yield self.style(line, "dim")
            elif fence or line.lstrip().startswith("|"):
                yield line
            elif not MARK.fullmatch(line):
                yield from self._prose(line)

    def _prose(self, line: str) -> Iterator[str]:
        if OURS.fullmatch(line):
            yield self.rule(line.lstrip("# "))
        elif heading := HEADING.fullmatch(line.strip()):
            words = heading.group(2) if self.colour else line.strip()
            yield from (self.style(part, "bold") for part in text_width.wrap(words, self.width))
        elif (found := LEADING.fullmatch(line)) and found.group(2).strip():
            lead, words = found.groups()
            hang = lead if lead.strip() == ">" else " " * text_width.width(lead)
            yield from text_width.wrap(self._words(words), self.width, lead, hang)
        else:
            yield line.rstrip()

    def _words(self, text: str) -> str:
        """Strong words in bold, each by itself, so that a line may end after any; what they tell has its colour."""
        if not self.colour:
            return text
        told = SAID.sub(lambda found: found.group(1) + _each(found.group(2), SENSE[found.group(2).casefold()]), text)
        return STRONG.sub(lambda found: _each(found.group(1), "bold"), told)


def _each(words: str, style: str) -> str:
    return " ".join(styled(word, style) for word in words.split())
