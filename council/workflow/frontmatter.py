"""Markdown files with YAML frontmatter, read strictly: every scalar is text, except `true` and `false`.

Dates, numbers, `yes` and nulls are not converted. Aliases, tags, repeated keys and deep nesting are errors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml
from frontmatter.default_handlers import YAMLHandler

from council.errors import UsageError
from council.text import FENCE, fold

MAX_DEPTH = 24
MAX_CHARACTERS = 1_000_000
HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*")
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load_yaml(text: str, where: str) -> Any:
    """The value of one YAML document; {} if it is empty."""
    if len(text) > MAX_CHARACTERS:
        raise UsageError(f"{where}: larger than {MAX_CHARACTERS:,} characters")
    try:
        events = yaml.parse(text, Loader=_Loader)
        return _Composer(where, events).document()
    except yaml.YAMLError as bad:
        advice = next((f"; {what}" for sign, what in ADVICE.items() if sign in str(bad)), "")
        raise UsageError(f"{where}: not valid YAML: {' '.join(str(bad).split())}{advice}") from None


# What to do about common mistakes, by a part of the parser's message.
ADVICE = {
    "mapping values are not allowed": "quote text that contains a colon",
    "cannot start any token": "lines must not begin with a tab, and text that begins with > % @ or ` must be quoted",
    "expected ',' or '}'": "a bracket is not closed, or a text with a comma or a colon is not quoted",
    "expected ',' or ']'": "a bracket is not closed, or a text with a comma or a colon is not quoted",
}


def split(text: str, where: str) -> tuple[dict[str, Any], str]:
    """The frontmatter and the body of a Markdown file that people write."""
    keys, body = split_text(text, where)
    return _Strict(where).load(keys), body.strip()


def split_text(text: str, where: str) -> tuple[str, str]:
    """The frontmatter and the body as text. The frontmatter keeps the line numbers of the file."""
    text = text.lstrip("\ufeff")
    if not text.startswith("---"):
        raise UsageError(f"{where}: it must begin with a line of three hyphens, then YAML, then another such line")
    try:
        keys, body = YAMLHandler().split(text)  # frontmatter.parse treats an unclosed block as no frontmatter
    except ValueError:
        raise UsageError(f"{where}: the frontmatter has no closing line of three hyphens") from None
    return "\n" * text.count("\n", 0, text.index(keys)) + keys, body


def find_sections(body: str, title: str) -> Iterator[tuple[str, str]]:
    """The sections one level below the heading `title`, each as its heading and its text."""
    lines, within = body.splitlines(), 0
    headings = list(_headings(lines))
    for number, (place, depth, words) in enumerate(headings):
        if not within or depth <= within:
            within = depth if fold(words) == title else 0
        elif depth == within + 1:
            end = next((other for other, level, _ in headings[number + 1 :] if level <= depth), len(lines))
            yield words, "\n".join(lines[place + 1 : end]).strip()


def _headings(lines: list[str]) -> Iterator[tuple[int, int, str]]:
    """Each heading with its line and its depth. Code blocks have none."""
    fence = ""
    for place, line in enumerate(lines):
        if match := FENCE.match(line):
            marker, info = match.groups()
            closes = marker.startswith(fence) and not info.strip()
            fence = fence or marker if not (fence and closes) else ""
        elif not fence and (match := HEADING.fullmatch(line)):
            yield place, len(match.group(1)), match.group(2)


class _Strict(YAMLHandler):
    def __init__(self, where: str) -> None:
        super().__init__()
        self.where = where

    def load(self, fm: str, **_: object) -> Any:
        value = load_yaml(fm, self.where)
        if not isinstance(value, dict):
            raise UsageError(f"{self.where}: the frontmatter must be keys with values")
        return value


class _Composer:
    """Builds plain values from parser events: dicts, lists, text and booleans, and nothing else."""

    def __init__(self, where: str, events: Iterator[Any]) -> None:
        self.where = where
        self.events = events

    def document(self) -> Any:
        value: Any = None
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                if value is not None:
                    raise self.bad(event, "only one YAML document is allowed")
                value = self.value(next(self.events), 0)
        return value or {}

    def value(self, event: Any, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise self.bad(event, f"nested deeper than {MAX_DEPTH}")
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise self.bad(event, "anchors and aliases are not part of the language")
        if event.tag and event.tag != "!":
            raise self.bad(event, "tags are not part of the language")
        if isinstance(event, yaml.ScalarEvent):
            return {"true": True, "false": False}.get(event.value, event.value) if event.implicit[0] else event.value
        if isinstance(event, yaml.SequenceStartEvent):
            return list(self.items(depth))
        return self.mapping(depth)

    def items(self, depth: int) -> Iterator[Any]:
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            yield self.value(event, depth + 1)

    def mapping(self, depth: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                raise self.bad(event, "a key must be a word")
            if event.value in values:
                raise self.bad(event, f'the key "{event.value}" is repeated')
            self.value(event, depth + 1)  # refuses a tag or an anchor on the key
            values[event.value] = self.value(next(self.events), depth + 1)
        return values

    def bad(self, event: Any, why: str) -> UsageError:
        return UsageError(f"{self.where}: line {event.start_mark.line + 1}: {why}")
