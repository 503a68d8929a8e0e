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
        starts = (event for event in events if isinstance(event, yaml.DocumentStartEvent))
        found = [(start, compose(next(events), events, where)) for start in starts]
    except yaml.YAMLError as wrong:
        advice = next((what for sign, what in ADVICE.items() if sign in str(wrong)), "")
        raise UsageError(f"{where}: not valid YAML: {' '.join(str(wrong).split())}{advice}") from None
    if len(found) > 1:
        raise wrong_at(found[1][0], where, "only one YAML document is allowed")
    return next((value for _, value in found if value), {})


def compose(event: Any, events: Iterator[Any], where: str, depth: int = 0) -> Any:
    """The plain value that begins with this event of the parser."""
    if depth > DEEPEST:
        raise wrong_at(event, where, f"nested deeper than {DEEPEST}")
    if event.anchor or event.tag not in (None, "!"):
        raise wrong_at(event, where, f"{'anchors and aliases' if event.anchor else 'tags'} are not allowed")
    if isinstance(event, yaml.ScalarEvent):
        plain = event.implicit[0]
        return {"true": True, "false": False}.get(event.value, event.value) if plain else event.value
    if isinstance(event, yaml.SequenceStartEvent):
        items = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            items.append(compose(event, events, where, depth + 1))
        return items
    values: dict[str, Any] = {}
    while not isinstance(event := next(events), yaml.MappingEndEvent):
        if not isinstance(event, yaml.ScalarEvent):
            raise wrong_at(event, where, "a key must be a word")
        compose(event, events, where, depth + 1)  # refuses a tag or an anchor
        if event.value in values:
            raise wrong_at(event, where, f'the key "{event.value}" is repeated')
        values[event.value] = compose(next(events), events, where, depth + 1)
    return values


def wrong_at(event: Any, where: str, problem: str) -> UsageError:
    return UsageError(f"{where}: line {event.start_mark.line + 1}: {problem}")
