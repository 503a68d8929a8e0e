"""Renders members' Markdown as HTML. Their tags, addresses and images do not get through, and no word is lost."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from html import escape, unescape
from itertools import takewhile
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block.table import escapedSplit, table
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

from council.text import harmless

RULE = re.compile(r"[-:| \t]+")
WRAPPED = 80  # characters
LONGEST = 50_000  # characters: a longer text can take minutes to parse
LANGUAGE = re.compile(r"[\w+#.-]*")
TAG = re.compile(r"<[^>]*>")
WORDLESS = re.compile(r"[\W\d_]+")  # digits too: the browser draws the numbers of a list


def clean(text: str) -> str:
    """Make text safe for a page: without markup, direction changes or invalid characters."""
    return escape(_characters(text), quote=True)


def markup(text: str) -> str:
    """Render paragraphs, headings, lists, quotes, code and tables.

    If CommonMark would drop any words (extra cells, lists nested too deep), or the text is too long to parse, it is
    shown as it was written.
    """
    plain = _characters(text).replace("\t", "    ")
    if len(plain) > LONGEST:
        return f"<pre>{escape(plain, quote=True)}</pre>"
    made = str(_parser().render(plain)).strip()
    shown = unescape(TAG.sub("", made))
    return made if WORDLESS.sub("", shown) == WORDLESS.sub("", plain) else f"<pre>{escape(plain, quote=True)}</pre>"


def _characters(text: str) -> str:
    return harmless(text).encode("utf-8", "replace").decode()


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True, "xhtmlOut": False}, renderer_cls=_Page)
    parser.block.ruler.at("table", _whole_table, {"alt": ["paragraph", "reference"]})
    parser.enable("table").disable(
        ["link", "image", "autolink", "reference", "entity", "hr", "html_block", "html_inline"]
    )
    return parser


def _whole_table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A table, unless a row has more cells than the heading: those would be dropped."""
    if start + 1 >= end or not RULE.fullmatch(_line(state, start + 1)):
        return False
    return _widest(state, start + 1, end) <= _cells(state, start) and table(state, start, end, silent)


def _widest(state: StateBlock, start: int, end: int) -> int:
    """The most cells in any row from this line on. Cached, because the parser may ask for every line."""
    known: dict[tuple[int, int, int], int] = state.env.setdefault("widest", {})
    if (start, end, state.level) not in known:
        rows = list(takewhile(lambda line: not state.isEmpty(line) and "|" in _line(state, line), range(start, end)))
        most = 0
        for line in reversed(rows or [start]):
            most = known[line, end, state.level] = max(most, _cells(state, line) if rows else 0)
    return known[start, end, state.level]


def _cells(state: StateBlock, line: int) -> int:
    return len(escapedSplit(_line(state, line).removeprefix("|").removesuffix("|")))


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].strip()


class _Page(RendererHTML):
    """Tags without attributes. Headings start at the fourth level, below the page's own."""

    def heading_open(self, tokens: Sequence[Token], at: int, *_: Any) -> str:
        return f"<{_level(tokens[at])}>"

    def heading_close(self, tokens: Sequence[Token], at: int, *_: Any) -> str:
        return f"</{_level(tokens[at])}>\n"

    def fence(self, tokens: Sequence[Token], at: int, *_: Any) -> str:
        """Code with its language above it; anything that cannot be a language is shown as the first line."""
        info, code = tokens[at].info.strip(), tokens[at].content.rstrip("\n")
        if not info:
            return f"<pre><code>{escape(code)}</code></pre>\n"
        if not LANGUAGE.fullmatch(info):
            return f"<pre><code>{escape(info)}\n{escape(code)}</code></pre>\n"
        kind = "language plain" if info == "text" else "language"
        return f'<pre><span class="{kind}">{escape(info)}</span><code>{escape(code)}</code></pre>\n'

    def code_block(self, tokens: Sequence[Token], at: int, *_: Any) -> str:
        code = tokens[at].content.rstrip("\n")
        return f"<pre><code>{escape(code)}</code></pre>\n"

    def softbreak(self, tokens: Sequence[Token], at: int, *_: Any) -> str:
        """A long line was wrapped, so its break is dropped; a shorter one was meant to end there."""
        length, before = 0, at - 1  # no slice: a copy for each line makes a long paragraph take minutes
        while before >= 0 and length < WRAPPED and tokens[before].type not in ("softbreak", "hardbreak"):
            length, before = length + len(tokens[before].content), before - 1
        return "\n" if length >= WRAPPED else "<br>\n"

    def table_open(self, *_: Any) -> str:
        return '<div class="scroll"><table>\n'

    def table_close(self, *_: Any) -> str:
        return "</table></div>\n"

    def renderToken(self, tokens: Sequence[Token], at: int, options: OptionsDict, env: Any) -> str:  # noqa: N802
        tokens[at].attrs = {name: value for name, value in tokens[at].attrs.items() if name == "start"}
        return super().renderToken(tokens, at, options, env)


def _level(token: Token) -> str:
    return f"h{max(4, min(int(token.tag[1]) + 2, 6))}"
