"""One strict reader for everything that people write as YAML: workflows, Config.md, scripts, a room's settings.

    table, body = read_markdown(text, "Workflows/Debate.md", "name", "seats", "phases")
    name = table.text("name")

Every scalar is text, except `true` and `false`: dates, numbers, `yes` and nulls stay the words they are. An unknown key
is refused when a table is made, a wrong type when its key is read, both with the place in the message.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import yaml
from frontmatter.default_handlers import YAMLHandler

from council.next.errors import UsageError
from council.next.text import did_you_mean, one_line

MOST_CHARACTERS, DEEPEST, LONGEST_MESSAGE = 1_000_000, 24, 600
REQUIRED: Any = object()
# What to do about common mistakes, by a part of the parser's message.
ADVICE = {
    "mapping values are not allowed": "; quote text that contains a colon",
    "cannot start any token": "; no line may begin with a tab; quote text that begins with > % @ or `",
    "expected ',' or": "; a bracket is not closed, or text with a comma or a colon is not quoted",
}


class Table:
    """A mapping of keys to values that says what is wrong with it, and where."""

    def __init__(self, value: object, where: str, *known: str) -> None:
        self.where = where
        if not isinstance(value, Mapping):
            raise self.wrong("must be keys with values")
        self.values: Mapping[str, Any] = value
        for key in value:
            if known and key not in known:
                raise self.wrong(f'unknown key "{one_line(str(key))}"; {did_you_mean(str(key), known)}')

    def wrong(self, problem: str) -> UsageError:
        return UsageError(one_line(f"{self.where}: {problem}", LONGEST_MESSAGE))

    def get(self, key: str, default: Any = REQUIRED, kind: type = object, noun: str = "") -> Any:
        if key not in self.values:
            if default is REQUIRED:
                raise self.wrong(f'"{key}" is missing')
            return default
        if not isinstance(self.values[key], kind):
            raise self.wrong(f'"{key}" must be {noun}, not {self.values[key]!r}')
        return self.values[key]

    def text(self, key: str, default: Any = REQUIRED) -> str:
        return str(self.get(key, default, str, "text"))

    def flag(self, key: str, default: Any = REQUIRED) -> bool:
        return bool(self.get(key, default, bool, "true or false"))

    def mapping(self, key: str, default: Any = REQUIRED) -> dict[str, Any]:
        return dict(self.get(key, default, Mapping, "keys with values"))

    def items(self, key: str, default: Any = REQUIRED) -> list[Any]:
        """A list. A single value counts as a list of one."""
        value = self.get(key, default)
        return value if isinstance(value, list) else [value]

    def number(self, key: str, default: Any = REQUIRED) -> float:
        value = self.get(key, default)
        try:
            return float(value)
        except (TypeError, ValueError):
            raise self.wrong(f'"{key}" must be a number, not {value!r}') from None


def read_markdown(text: str, where: str, *known: str) -> tuple[Table, str]:
    """The frontmatter of a Markdown file as a table, and its body."""
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n")
    handler = YAMLHandler()
    try:
        head, body = handler.split(plain) if handler.detect(plain) else ("", plain)
    except ValueError:
        raise UsageError(f"{where}: the frontmatter has no closing line of three hyphens") from None
    above = plain.count("\n", 0, plain.find(head)) if head else 0  # so that a message names the file's line
    return Table(load_yaml("\n" * above + head, where), where, *known), body.strip()


def load_yaml(text: str, where: str) -> Any:
    """The value of one YAML document of words, lists and keys. Aliases, tags and repeated keys are refused."""
    if len(text) > MOST_CHARACTERS:
        raise UsageError(f"{where}: larger than {MOST_CHARACTERS:,} characters")
    try:
        events = yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        return Composer(where, events).document()
    except yaml.YAMLError as wrong:
        advice = next((what for sign, what in ADVICE.items() if sign in str(wrong)), "")
        raise UsageError(f"{where}: not valid YAML: {' '.join(str(wrong).split())}{advice}") from None


class Composer:
    """Makes plain values of a parser's events."""

    def __init__(self, where: str, events: Iterator[Any]) -> None:
        self.where, self.events = where, events

    def document(self) -> Any:
        found: list[Any] = []
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                if found:
                    raise self.wrong(event, "only one YAML document is allowed")
                found.append(self.value(next(self.events), 0))
        return found[0] if found and found[0] else {}

    def value(self, event: Any, depth: int) -> Any:
        if depth > DEEPEST:
            raise self.wrong(event, f"nested deeper than {DEEPEST}")
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise self.wrong(event, "anchors and aliases are not allowed")
        if event.tag and event.tag != "!":
            raise self.wrong(event, "tags are not allowed")
        if isinstance(event, yaml.ScalarEvent):
            plain = event.implicit[0]
            return {"true": True, "false": False}.get(event.value, event.value) if plain else event.value
        if isinstance(event, yaml.SequenceStartEvent):
            items = []
            while not isinstance(inner := next(self.events), yaml.SequenceEndEvent):
                items.append(self.value(inner, depth + 1))
            return items
        return self.mapping(depth)

    def mapping(self, depth: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                raise self.wrong(event, "a key must be a word")
            self.value(event, depth + 1)  # refuses a tag or an anchor
            if event.value in values:
                raise self.wrong(event, f'the key "{event.value}" is repeated')
            values[event.value] = self.value(next(self.events), depth + 1)
        return values

    def wrong(self, event: Any, problem: str) -> UsageError:
        return UsageError(f"{self.where}: line {event.start_mark.line + 1}: {problem}")
