"""Formats a reply for readers: each of the short answers at its end becomes one line. Nothing is left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from council.replies import parse, values
from council.text import fold
from council.workflow.model import Reply


def compact(text: str, answers: Reply) -> str:
    """Turn each answer of one or two words, and the heading above it, into one line: `**Stance:** agree`."""
    kinds = {fold(parse.format_heading(name)): kind.type for name, kind in answers}
    lines, shown, labelled = text.split("\n"), list[str](), False
    while lines:
        line = lines.pop(0)
        if (title := _title(line)) not in kinds:
            labelled = labelled and not line.strip()
            shown.append(line)
            continue
        while lines and not lines[0].strip():
            lines.pop(0)
        while labelled and not shown[-1].strip():
            shown.pop()
        labelled = bool(lines) and len(lines[0].split()) <= 2 and not values.BULLET.match(lines[0] + " ")
        labelled = labelled and kinds[title] not in ("text", "code") and not _title(lines[0])
        value = f" {lines.pop(0).strip()}" if labelled else ""
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
    for line in text.split("\n"):
        if (title := _title(line)) in kinds:
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
    found = re.fullmatch(r"#{1,6}\s+(.{1,60}?)\s*:?\s*#*\s*", line)
    return fold(found.group(1)) if found else ""
