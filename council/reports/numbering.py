"""How the documents of a folder are named and numbered: the next one follows the style of those that are there."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from council.text import first_line, one_line, slug

MARK = "ADR-NNNN"  # stands in a document until it has a number
NAMED = re.compile(r"(?P<prefix>adr[-_ ]?)(?P<number>\d+)(?![^\W_])(?P<gap>[-_. ]*)", re.I)
BARE = re.compile(r"(?P<prefix>)(?P<number>0\d{2,5})(?P<gap>[-_. ]+)")  # as other tools number them: 0007-x.md
LONGEST_TITLE, LONGEST_SLUG = 100, 50
SENTENCE_END = re.compile(r"(?<=[^\s.])[.!?](?=\s)")


@dataclass(frozen=True)
class Style:
    """How a numbered document is called: `adr-0042-`, `ADR-042_`, `0042-`."""

    prefix: str = "adr-"
    width: int = 4
    gap: str = "-"

    def name(self, number: int, about: str) -> str:
        return f"{self.prefix}{number:0{self.width}}{self.gap}{about}"


def read_number(name: str) -> int | None:
    """The number in the name of a document; None if it has none. Dates do not count."""
    found = NAMED.match(name) or BARE.match(name)
    return int(found["number"]) if found else None


def next_name(names: Iterable[str], about: str) -> str:
    """The name after the highest number, as the newest document is called."""
    stems = (name.removesuffix(".md") for name in names)
    found = [match for stem in stems if (match := NAMED.match(stem) or BARE.match(stem))]
    newest = max(found, key=lambda match: int(match["number"]), default=None)
    if newest is None:
        return Style().name(1, about)
    style = Style(newest["prefix"], len(newest["number"]), newest["gap"][:1] or "-")
    return style.name(int(newest["number"]) + 1, about)


def put_number(text: str, number: int | None) -> str:
    """The document with its number in the title."""
    return text if number is None else re.sub(rf"^# {MARK}", f"# ADR-{number:04}", text, count=1, flags=re.M)


def find_title(topic: str) -> str:
    """The title of a document: the first line of the topic, or its first sentence if that is long."""
    worded = "\n".join(line for line in topic.splitlines() if any(map(str.isalnum, line)))
    line = one_line(first_line(worded or topic), len(topic) + 1)
    if len(line) > LONGEST_TITLE and (end := SENTENCE_END.search(line)):
        line = line[: end.end()]
    if len(line) > LONGEST_TITLE:
        line = f"{line[:LONGEST_TITLE].rsplit(' ', 1)[0].rstrip(',;:')}…"
    return line.rstrip(" .,;:!") or "…"


def shorten(topic: str) -> str:
    """The title as the end of a file's name, cut between words; empty if it has no Latin letters or digits."""
    whole = slug(find_title(topic), LONGEST_TITLE)
    return whole if len(whole) <= LONGEST_SLUG else whole[: LONGEST_SLUG + 1].rsplit("-", 1)[0][:LONGEST_SLUG]
