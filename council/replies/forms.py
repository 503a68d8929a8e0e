"""Answers in another form than headings: a table of two columns, an object, a block of `name: value` lines.

They count only for an answer that cannot be read below a heading or label, and never if the brief has the same.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from council.replies.quotes import remove_own_passages
from council.text import FENCE, fold
from council.workflow.model import Kind

LONGEST = 100_000  # characters of an object or a table that is read
RULE = re.compile(r"\s*(?:\|\s*)?:?-+:?\s*\|\s*:?-+:?\s*(?:\|\s*)?")
CELL = re.compile(r"(?<!\\)\|")
LABEL = re.compile(r"\s*(?:[-*+] )?[*_`\"]*([^\W\d_][\w -]{0,50}?)[*_`\"]*\s*:\s*(\S.*)")
UNREADABLE = (ValueError, SyntaxError, RecursionError, MemoryError)


def find_answers(prose: str, names: Mapping[str, str], kinds: Mapping[str, Kind], brief: str) -> Iterator[list[str]]:
    """Each answer as its name and its lines. `names` has an answer's name by its folded heading."""
    for block, fenced in _blocks(prose):
        pairs = _pairs(block, names, fenced)
        given = [(names.get(fold(re.sub(r"[\W_]+", " ", key))), value) for key, value in pairs]
        if any(name for name, _ in given) and not _is_copied(block, brief):
            yield from ([name, *_lines(value, kinds[name])] for name, value in given if name)


def _is_copied(block: list[str], brief: str) -> bool:
    return fold(" ".join(block)) in fold(remove_own_passages(brief))


def _blocks(prose: str) -> Iterator[tuple[list[str], bool]]:
    """The paragraphs and the fenced blocks, without their fences; and all of it, if it begins as an object."""
    block: list[str] = []
    fence = ""
    for line in [*prose.splitlines(), ""]:
        found = FENCE.match(line)
        ends = found is not None and (not fence or (found.group(1).startswith(fence) and not found.group(2).strip()))
        if ends or not (fence or line.strip()):
            yield block, bool(fence)
            block, fence = [], "" if not found or fence else found.group(1)
        else:
            block.append(line)
    if prose.startswith("{"):
        yield prose.splitlines(), False


def _pairs(block: list[str], names: Mapping[str, str], fenced: bool) -> list[tuple[str, Any]]:
    """Names and values of one block; empty if it has another form."""
    text = "\n".join(block).strip()
    if len(text) > LONGEST:
        return []
    if text.startswith("{"):
        return _object(text)
    if len(block) > 2 and RULE.fullmatch(block[1]):
        return _table(block, names)
    labels = [LABEL.fullmatch(line) for line in block] if fenced else []
    found = [(label.group(1), label.group(2)) for label in labels if label]
    return found if len(found) == len(block) and all(fold(key.replace("_", " ")) in names for key, _ in found) else []


def _object(text: str) -> list[tuple[str, Any]]:
    """A JSON object, or one as Python prints it; if it only holds another one, that one. No key may come twice."""
    try:
        found = json.loads(text, object_pairs_hook=_refuse_repeats)
    except KeyError:
        return []
    except UNREADABLE:
        try:
            with warnings.catch_warnings(action="ignore"):  # about what is no Python after all
                found = ast.literal_eval(text)
        except UNREADABLE:
            return []
    if isinstance(found, dict) and len(found) == 1 and isinstance(inner := next(iter(found.values())), dict):
        found = inner
    return [(str(key), value) for key, value in found.items()] if isinstance(found, dict) else []


def _refuse_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise KeyError
    return dict(pairs)


def _table(block: list[str], names: Mapping[str, str]) -> list[tuple[str, Any]]:
    """The rows of a table of two columns; its heading counts too, unless both of its cells are names of answers."""
    rows = [[cell.strip() for cell in CELL.split(row.strip().strip("|"))] for row in (block[0], *block[2:])]
    if any(len(row) != 2 for row in rows):
        return []
    if all(fold(cell.strip("*_` ")) in names for cell in rows[0]):
        return [*zip(rows[0], rows[1], strict=True)] if len(rows) == 2 else []
    return [(key, re.sub(r"<br ?/?>", "\n", value)) for key, value in rows]


def _lines(value: Any, kind: Kind) -> list[str]:
    """A value as somebody would write it below the answer's heading."""
    if isinstance(value, list | tuple):
        return [f"- {one if isinstance(one, str) else json.dumps(one, default=str)}" for one in value] or ["none"]
    if isinstance(value, bool):
        return [("yes" if value else "no") if {"yes", "no"} & set(kind.options) else str(value).lower()]
    return str(value).splitlines() if value is not None else ["none"] if kind.type == "list" else []
