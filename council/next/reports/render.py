"""Renders report templates. Whatever a template prints is one harmless line, unless a filter says otherwise.

Members' words are printed as they are, and can be nothing but words: no heading, HTML, link or open fence of theirs
becomes a part of the file around them. `in_markdown` escapes line by line and looks at nothing around a line, so it
cannot disagree with a reader's own Markdown about where a paragraph ends.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

from jinja2 import Environment as AnyEnvironment
from jinja2 import FileSystemLoader, StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from council.next.errors import UsageError
from council.next.prompts.sandbox import FAILURES, Sandbox, explain
from council.next.replies.read import heading
from council.next.text import printable

Environment = TypeVar("Environment", bound=AnyEnvironment)
KIT = Path(__file__).parent.parent / "kit" / "templates" / "report"
LEAD = " \t>+0123456789.)"  # what may stand before a rule in a list or a quotation
SIGNS = frozenset("\\`<]#~")
RULES = frozenset("-=*_ \t")  # a line of these alone is a rule, or makes a heading of the line above it


def render(name: str, data: Mapping[str, Any], text: str = "") -> str:
    """A template of the kit, or the text of somebody's own in its place. Data that it lacks is an error."""
    if not text:
        return kit(html=name.endswith(".html.j2")).get_template(name).render(data)
    parts = {path.name: path.read_text("utf-8") for path in KIT.glob("_*.j2")}
    own = Sandbox({**parts, name: text})
    known = {*own.filters}
    dressed(own, html=False)
    own.filters |= {one: own.counting(own.filters[one]) for one in {*own.filters} - known}
    try:
        return own.render(name, data)
    except FAILURES as wrong:
        raise UsageError(explain(wrong, name)) from None


@lru_cache(maxsize=2)
def kit(html: bool) -> ImmutableSandboxedEnvironment:
    plain = ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(KIT),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return dressed(plain, html)


def dressed(found: Environment, html: bool) -> Environment:
    """The environment with our filters, in which words are printed as one harmless line."""

    def finish(value: object) -> object:
        if value is None or html or isinstance(value, Markup):
            return "" if value is None else value
        return Markup(in_line(str(value)))

    def safe(function: Callable[[str], str]) -> Callable[[object], Markup]:
        return lambda value: Markup(function(str(value)))

    found.autoescape, found.finalize = True, finish
    words = {"block": in_html if html else in_markdown, "item": in_item, "cell": in_cell, "quote": in_quote}
    found.filters |= {name: safe(function) for name, function in words.items()}
    found.filters |= {"json": lambda value: Markup(in_json(value)), "hashes": lambda level: Markup("#" * level)}
    found.filters |= {"name": heading, "money": in_dollars, "amount": in_words}
    found.filters.pop("safe", None)  # nobody's words are printed as they are
    return found


def in_markdown(text: str) -> str:
    """Somebody's words for a place of their own in a Markdown file. Their emphasis, lists and code stay."""
    lines, fence = [], ""
    for line in plain(text).split("\n"):
        if fence:
            lines.append(line)
            fence = "" if closes(line, fence) else fence
        else:
            fence = opens(line)
            lines.append(line if fence else escape(line))
    return "\n".join([*lines, fence]).strip("\n")


def in_line(text: str) -> str:
    """Somebody's words as one line, which begins no list and no quotation."""
    line = escape(" ".join(plain(text).split()))
    first, _, _ = line.partition(" ")
    if first in ("-", "+", "*") or line[:1] == ">":
        return f"\\{line}"
    counted = first[-1:] in (".", ")") and first[:-1].isdecimal()
    return f"{first[:-1]}\\{line[len(first) - 1 :]}" if counted else line


def in_cell(text: str) -> str:
    """One line inside a table."""
    return in_line(text).replace("\\|", "|").replace("|", "\\|")


def in_quote(text: str) -> str:
    """Somebody's words as a quotation."""
    return "\n".join(f"> {line}" if line else ">" for line in in_markdown(text).split("\n"))


def in_item(text: str) -> str:
    """Somebody's words as an item of a list, below its marker."""
    return in_markdown(text).replace("\n", "\n  ")


def in_dollars(usd: float | None) -> str:
    return "unknown cost" if usd is None else f"${usd:.4f}"


def in_words(amount: int | None) -> str:
    return "unknown" if amount is None else str(amount)


def in_json(value: object) -> str:
    """A value of YAML front matter, which JSON is too: a number, a text or a list of texts."""
    plain_value = [printable(str(one)) for one in value] if isinstance(value, list) else value
    return json.dumps(printable(value) if isinstance(value, str) else plain_value, ensure_ascii=False)


def in_html(text: str) -> str:
    """Somebody's words as a part of a page: their lists, emphasis and code, and nothing that leads or loads."""
    return str(page_parser().render(plain(text)))


@lru_cache(maxsize=1)
def page_parser() -> Any:
    from markdown_it import MarkdownIt

    off = ["heading", "lheading", "hr", "reference", "link", "image", "autolink"]
    return MarkdownIt("commonmark", {"html": False, "maxNesting": 20}).enable("table").disable(off)


def plain(text: str) -> str:
    return printable(text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd"))


def opens(line: str) -> str:
    """The marks of a fence that this line opens. In a list or quotation it is none: that could end before the fence."""
    for mark in "`~":
        marks = line[: len(line) - len(line.lstrip(mark))]
        if len(marks) > 2 and not {*line[len(marks) :]} & {"`", "|"}:  # with a bar, some take it for a table
            return marks
    return ""


def closes(line: str, fence: str) -> bool:
    indent = len(line) - len(line.lstrip(" "))
    marks = line[indent:].rstrip(" \t")
    return indent < 4 and len(marks) >= len(fence) and {*marks} == {fence[0]}


def escape(line: str) -> str:
    """A line outside of fences, in which only emphasis, lists, quotations and code between marks mean something.

    Marks of different lengths in one line, and the last of an odd number, are shown as the signs that they are: the
    marks of another line could end their code."""
    core = line.strip(" \t").lstrip(LEAD)
    if core and {*core} <= RULES:
        return line.replace(core[0], f"\\{core[0]}", 1)
    if SIGNS.isdisjoint(line):  # most lines are
        return line
    lengths = {len([*run]) for sign, run in groupby(line) if sign == "`"}
    if len(lengths) != 1 or "\\`" in line:
        return escape_words(line)
    mark = "`" * lengths.pop()
    pieces = line.split(mark)
    last = escape_words(mark + pieces.pop()) if len(pieces) % 2 == 0 else ""
    for place in range(0, len(pieces), 2):
        pieces[place] = escape_words(pieces[place], mark if place else "")
    return mark.join(pieces) + last


def escape_words(text: str, before: str = "") -> str:
    """Escape each sign that begins code, a tag, a link's address, a definition, a heading or a fence."""
    kept, is_escaped = [], False
    for place, sign in enumerate(text):
        before, after = text[place - 1] if place else before, text[place + 1 : place + 2]
        begins = (
            sign == "`"
            or (sign == "<" and (after.isalpha() or after in ("/", "!", "?")))
            or (sign in "(:" and before == "]")
            or (sign == "#" and before in ("", " ", "\t", ">") and after in ("", " ", "\t", "#"))
            or (sign == "~" and text.startswith("~~~", place))
        )
        kept.append(f"\\{sign}" if begins and not is_escaped else sign)
        is_escaped = sign == "\\" and not is_escaped
    return "".join(kept)
