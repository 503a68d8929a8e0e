"""Renders report templates. Whatever a template prints is one harmless line, unless a filter says otherwise.

Members' words are printed as they are, and can be nothing but words: no heading, HTML, link or open fence of theirs
becomes a part of the file around them. `in_markdown` escapes line by line and looks at nothing around a line, so it
cannot disagree with a reader's own Markdown about where a paragraph ends.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

from jinja2 import Environment as AnyEnvironment
from jinja2 import FunctionLoader, StrictUndefined
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
        loader=FunctionLoader(lambda name: (KIT / name).read_text("utf-8") if "/" not in name else None),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return dressed(plain, html)


def dressed(found: Environment, html: bool) -> Environment:
    """The environment with our filters, in which words are printed as one harmless line."""

    def safe(function: Callable[[str], str]) -> Callable[[object], Markup]:
        return lambda value: Markup(function(str(value)))

    def finish(value: object) -> object:
        if value is None or html or isinstance(value, Markup):
            return "" if value is None else value
        return Markup(in_line(str(value)))

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
    """A line outside of fences, in which only emphasis, lists, quotations and whole spans of code mean something."""
    core = line.strip(" \t").lstrip(LEAD)
    if core and {*core} <= RULES:
        return line.replace(core[0], f"\\{core[0]}", 1)
    if SIGNS.isdisjoint(line):  # most lines are
        return line
    kept, place, marks_at = [], 0, marks_of(line)
    while place < len(line):
        letter, end = line[place], place + 1
        if letter == "\\":
            end += 1  # what follows is escaped already
        elif letter == "`":
            while line[end : end + 1] == "`":
                end += 1
            marks = end - place
            starts = marks_at.get(marks, [])
            later = bisect_left(starts, end)
            if later == len(starts):  # nothing in this line ends the code: it could be ended by another line's marks
                kept.append("\\`" * marks)
                place = end
                continue
            end = starts[later] + marks
        elif means_something(line, place):
            kept.append("\\")
        kept.append(line[place:end])
        place = end
    return "".join(kept)


def marks_of(line: str) -> dict[int, list[int]]:
    """Where runs of backticks begin, by their length."""
    found: dict[int, list[int]] = {}
    place = 0
    for mark, run in groupby(line):
        length = len([*run])
        if mark == "`":
            found.setdefault(length, []).append(place)
        place += length
    return found


def means_something(line: str, place: int) -> bool:
    """Whether a tag, a link's address, a definition, a heading or a fence begins here."""
    letter, before, after = line[place], line[place - 1 : place], line[place + 1 : place + 2]
    if letter == "<":
        return after.isalpha() or after in ("/", "!", "?")
    if letter in "(:":
        return before == "]"
    if letter == "#":
        return before in ("", " ", "\t", ">") and after in ("", " ", "\t", "#")
    return line.startswith("~~~", place)
