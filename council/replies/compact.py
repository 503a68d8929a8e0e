"""Formats a reply for readers: each of the short answers at its end becomes one line. Nothing is left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from council.replies import parse, values
from council.text import fold, mark_code
from council.workflow.model import Reply


def compact(text: str, answers: Reply) -> str:
    """Turn each answer of one or two words, and the heading above it, into one line: `**Stance:** agree`."""
    kinds = {fold(parse.format_heading(name)): kind.type for name, kind in answers}
    lines = [(line, "" if code else _title(line)) for line, code in mark_code(text.split("\n"))]
    shown, labelled = list[str](), False
    while lines:
        line, title = lines.pop(0)
        if title not in kinds:
            labelled = labelled and not line.strip()
            shown.append(line)
            continue
        while lines and not lines[0][0].strip():
            lines.pop(0)
        while labelled and not shown[-1].strip():
            shown.pop()
        after, heading = lines[0] if lines else ("", "")
        labelled = bool(lines) and len(after.split()) <= 2 and not values.BULLET.match(after + " ")
        labelled = labelled and kinds[title] not in ("text", "code") and not heading
        value = f" {lines.pop(0)[0].strip()}" if labelled else ""
        shown.append(f"**{parse.format_heading(title)}:**{value}")
    return "\n".join(shown)


@dataclass(frozen=True)
class Piece:
    """A part of a reply: prose, or an answer with its title. A `short` answer fits on one line."""

    title: str
    text: str
    short: bool = False


def pieces(text: str, answers: Reply) -> Iterator[Piece]:
    """Split a reply at the headings of its answers. Nothing is left out."""
    kinds = {fold(parse.format_heading(name)): kind.type for name, kind in answers}
    parts: list[tuple[str, list[str]]] = [("", [])]
    for line, code in mark_code(text.split("\n")):
        if not code and (title := _title(line)) in kinds:
            parts.append((title, []))
        else:
            parts[-1][1].append(line)
    for title, lines in parts:
        words = "\n".join(lines).strip("\n")
        short = len(words.split()) <= 2 and not values.BULLET.match(words + " ")
        if title:
            yield Piece(parse.format_heading(title), words, short and kinds[title] not in ("text", "code"))
        elif words.strip():
            yield Piece("", words)


def _title(line: str) -> str:
    words = line.rstrip().rstrip("#").rstrip().removesuffix(":").rstrip()
    found = re.fullmatch(r"#{1,6}\s+(\S.{0,59})", words)
    return fold(found.group(1)) if found else ""
