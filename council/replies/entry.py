"""Asks a person for the answers of a reply one by one: the questions, reading an entry, and composing the reply.

The reply has the same format as any other seat's, so `parse` reads it back. An entry that it could not read back is
refused before it is recorded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from council.errors import UsageError
from council.replies import parse, values
from council.text import FENCE, did_you_mean, fold, one_line
from council.workflow.model import Kind, Reply

ASKABLE_TYPES = ("choice", "range", "integer", "text", "list", "code")
MULTILINE_TYPES = ("text", "list", "code")  # answers that may take more than one line
NOTHING = "none"
SHARED_PREFIX = (
    4  # letters that an answer's name must share with an option to belong to it, as `guidance` does to `guide`
)
STRUCTURE = re.compile(r"#{1,6}\s|>|`{3}|~{3}")  # the start of a Markdown line that is not prose


def can_ask(declared: Reply) -> bool:
    """Whether the answers can be asked for one by one. Free text and reviews are written as a whole."""
    return bool(declared) and all(kind.type in ASKABLE_TYPES for _, kind in declared)


def describe_allowed(kind: Kind) -> str:
    """What an answer may be, in words."""
    if kind.type == "choice":
        *first, last = kind.options
        return f"{', '.join(first)} or {last}"
    if kind.type == "range":
        return f"a number from {kind.low:g} to {kind.high:g}"
    words = {"integer": "a whole number", "text": "your own words", "list": "items, one per line", "code": "code"}
    return words[kind.type] + ("" if is_required(kind) else f', or "{NOTHING}"')


def is_required(kind: Kind) -> bool:
    return kind.required or (kind.type not in MULTILINE_TYPES and not kind.optional)


# ---- the questions ----


def find_shortcuts(options: Sequence[str]) -> dict[str, str]:
    """The shortest unique prefix of each option; all of an option that is itself a prefix of another."""
    shortcuts = {}
    for option in options:
        others = [fold(other) for other in options if other != option]
        sizes = range(1, len(option) + 1)
        size = next((n for n in sizes if not any(other.startswith(fold(option[:n])) for other in others)), len(option))
        shortcuts[option] = option[:size]
    return shortcuts


def format_menu(kind: Kind) -> str:
    """`[C]ontinue  [G]uide  [E]nd`"""
    marked = find_shortcuts(kind.options)
    return "  ".join(
        f"[{marked[option][:1].upper()}{marked[option][1:]}]{option[len(marked[option]) :]}" for option in kind.options
    )


def format_question(name: str, kind: Kind, declared: Reply) -> str:
    """The prompt for an entry. A choice that explains itself is asked for without its name."""
    title = parse.format_heading(name)
    if kind.type == "choice":
        alone = sum(one.type == "choice" for _, one in declared) == 1 and not {"yes", "no"} & set(kind.options)
        return f"{format_menu(kind)}\n> " if alone else f"{title}: {format_menu(kind)}\n> "
    if kind.type == "range":
        return f"{title} ({kind.low:g}-{kind.high:g}): "
    if kind.type == "integer":
        return f"{title} (a whole number): "
    form = {"list": ", one item per line", "code": ", as code"}.get(kind.type, "")
    end = "a single full stop ends it" if kind.type == "code" else "an empty line ends it"
    return f"Your {title.lower()}{form} ({end}{'' if kind.required else '; Enter for none'}): "


def applies(name: str, kind: Kind, declared: Reply, entries: Mapping[str, str]) -> bool:
    """Whether an answer is asked for at all: `guidance` only if `guide` was chosen before it."""
    beginning = fold(name)[:SHARED_PREFIX]
    for before, choice in declared if len(beginning) == SHARED_PREFIX and not is_required(kind) else ():
        options = {option for option in choice.options if fold(option)[:SHARED_PREFIX] == beginning}
        if options and before in entries:
            return entries[before] in options
    return True


# ---- reading an entry ----


def read_entry(name: str, kind: Kind, given: str, declared: Reply, brief: str = "") -> str:
    """The entry as it is written in the reply. Raises UsageError, saying what is allowed, if it cannot be read."""
    written = _to_markdown(kind, given, declared)
    read = parse.read(declared, _format_answer(name, written), brief).found
    if list(read) == [name] and (kind.type != "text" or read[name] == written):
        return written
    if not given.strip():
        raise UsageError(f"an answer is required: {describe_allowed(kind)}")
    if kind.type == "text":
        raise UsageError("this text cannot be read back: remove the marks copied from the brief")
    raise UsageError(f'"{one_line(given, 40)}" is not a valid answer: write {describe_allowed(kind)}')


def _to_markdown(kind: Kind, given: str, declared: Reply) -> str:
    text = "\n".join(line.rstrip() for line in given.splitlines()).strip("\n")
    if kind.type == "choice":
        return match_option(kind, text) or text.strip()
    if not text.strip():
        return "" if is_required(kind) else NOTHING
    if kind.type == "code":
        fence = "`" * max([3, *(len(found) + 1 for found in re.findall(r"`{3,}", text))])
        return text if FENCE.match(text) else f"{fence}\n{text}\n{fence}"
    titles = {fold(parse.format_heading(name)) for name, _ in declared}
    lines = [_escape_line(line, titles) for line in text.splitlines()]
    if kind.type == "list":
        items = [values.BULLET.sub("", line).strip() for line in lines if line.strip()]
        is_nothing = len(items) == 1 and fold(items[0]).rstrip(".") in (NOTHING, "-")
        return "\n".join(f"- {item}" for item in items) if not is_nothing else NOTHING
    return "\n".join(lines).strip() if kind.type == "text" else text.strip()


def match_option(kind: Kind, given: str) -> str:
    """The option that an entry names by its word, a unique prefix or its number; empty if there is none."""
    word = fold(given).rstrip(".")
    if word in map(fold, kind.options):
        return next(option for option in kind.options if fold(option) == word)
    near = [option for option in kind.options if word and fold(option).startswith(word)]
    if len(near) == 1:
        return near[0]
    place = int(word) if re.fullmatch(r"[1-9]\d?", word) else 0
    return kind.options[place - 1] if 0 < place <= len(kind.options) else ""


def _escape_line(line: str, titles: set[str]) -> str:
    """Escape a line that would end its answer or count as a quotation, as Markdown does."""
    bullet = values.BULLET.match(line)
    start = bullet.end() if bullet else len(line) - len(line.lstrip())
    before, rest = line[:start], line[start:]
    title, colon, after = rest.partition(":")
    bold = re.match(r"(\*{2,3}|_{2,3})(.+?)\1", rest)
    if STRUCTURE.match(rest) or (bold and _bare_words(bold.group(2)) in titles):
        return f"{before}\\{rest}"
    return f"{before}{title}\\:{after}" if colon and _bare_words(title) in titles else line


def _bare_words(text: str) -> str:
    return fold(re.sub(r"[\W_]+", " ", text))


# ---- the reply ----


def compose_reply(declared: Reply, entries: Mapping[str, str]) -> str:
    """The reply: every answer below its heading. Answers that were not asked for are written as `none`."""
    return "\n".join(_format_answer(name, entries.get(name, NOTHING)) for name, _ in declared)


def _format_answer(name: str, written: str) -> str:
    return f"## {parse.format_heading(name)}\n{written}\n"


def build_reply(declared: Reply, given: Iterable[tuple[str, str]], brief: str) -> str:
    """The reply made of answers by name, each of them checked. A list may be given item by item."""
    values = _group_by_name(declared, given)
    entries = {}
    for name, kind in declared:
        try:
            entries[name] = read_entry(name, kind, values.get(name, ""), declared, brief)
        except UsageError as wrong:
            raise UsageError(f"{name}: {wrong}") from None
    return compose_reply(declared, entries)


def _group_by_name(declared: Reply, given: Iterable[tuple[str, str]]) -> dict[str, str]:
    kinds, values = dict(declared), dict[str, Any]()
    known = {fold(parse.format_heading(name)): name for name in kinds}
    for word, value in given:
        name = known.get(fold(parse.format_heading(word)))
        if name is None:
            raise UsageError(f'this turn does not ask for an answer "{word}"; {did_you_mean(word, kinds)}')
        if name in values and kinds[name].type != "list":
            raise UsageError(f"{name} is given twice")
        values[name] = f"{values[name]}\n{value}" if name in values else value
    return values
