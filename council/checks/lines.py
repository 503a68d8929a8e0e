"""Finds the line of a workflow's file that a message is about, by the words with which the message begins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from council.errors import UsageError
from council.workflow import frontmatter
from council.workflow.vocabulary import INHERITED

Entry = tuple[str, int, Any]


def line_of(problem: str, text: str) -> int | None:
    """The line of the key that a message begins with, as in `phase talk, step answer: when: …`."""
    named = [
        (len(what), line)
        for what, line in places(text).items()
        if problem.startswith(what) and problem[len(what) : len(what) + 1] in ("", *":;, ")
    ]
    return max(named, key=lambda pair: pair[0])[1] if named else None


def places(text: str) -> dict[str, int]:
    """Line numbers by the words for what is in the line. Empty if the file is invalid, which is reported elsewhere."""
    try:
        top = yaml.compose(frontmatter.split_text(text, "")[0], Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError, UsageError):
        return {}
    return dict(_top(top))


def _top(top: Any) -> Iterator[tuple[str, int]]:
    for key, line, value in _entries(top):
        yield key, line
        yield f'a workflow has no key "{key}"', line
        for inner, at, _ in _entries(value):
            yield f"{key}: {inner}", at
        for number, phase in enumerate(_items(value) if key == "phases" else (), 1):
            yield f"phase {number}", _line(phase)
            yield from _phase(phase)
        for _, _, group in _entries(value) if key == "seats" else ():
            for seat in _items(group):
                yield from ((f"seat {name}", at) for name, at in _names(seat))
                for name, _, attributes in _entries(seat):
                    yield from ((f"seat {name}: {inner}", at) for inner, at, _ in _entries(attributes))


def _names(seat: Any) -> Iterator[tuple[str, int]]:
    if isinstance(seat, yaml.ScalarNode):
        yield seat.value, _line(seat)
    yield from ((name, line) for name, line, _ in _entries(seat))


def _phase(phase: Any) -> Iterator[tuple[str, int]]:
    keys = {key: (key, line, value) for key, line, value in _entries(phase)}
    name = _name(phase)
    yield from _keys(f"phase {name}", phase)
    inherited = [keys[key] for key in INHERITED if key in keys]
    for step in _items(keys["steps"][2]) if "steps" in keys else [phase]:
        what = f"phase {name}, step {_name(step)}"
        for key, line, value in inherited:
            yield from _key(what, key, line, value)
        yield from _keys(what, step)


def _keys(what: str, node: Any) -> Iterator[tuple[str, int]]:
    yield what, _line(node)
    for key, line, value in _entries(node):
        yield f'{what} has no key "{key}"', line
        yield from _key(what, key, line, value)


def _key(what: str, key: str, line: int, value: Any) -> Iterator[tuple[str, int]]:
    yield f"{what}: {key}", line
    yield from ((f"{what}: {key}: {inner}", at) for inner, at, _ in _entries(value))


def _entries(node: Any) -> list[Entry]:
    if not isinstance(node, yaml.MappingNode):
        return []
    return [(str(key.value), _line(key), value) for key, value in node.value]


def _items(node: Any) -> list[Any]:
    return node.value if isinstance(node, yaml.SequenceNode) else [node]


def _name(node: Any) -> str:
    return next((str(value.value) for key, _, value in _entries(node) if key == "name"), "")


def _line(node: Any) -> int:
    return int(node.start_mark.line) + 1
