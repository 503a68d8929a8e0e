"""Reads AgentPersonalities.md and lists of specialists: one section a seat, with a list of facts and a perspective."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from council.next.config import places
from council.next.errors import UsageError
from council.next.text import did_you_mean, one_line, slug

FILE = "AgentPersonalities.md"
OPENINGS = ("openings", "answers", "closing")  # sentences that the embedded model begins with
FIELDS = ("title", "name", "icon", "tier", "focus", "accepts", "opposes", *OPENINGS)

Personas = dict[str, dict[str, Any]]


def load(folders: Sequence[Path] | None = None) -> Personas:
    """Every persona by its seat. A section replaces the one of the same name in the overlays after it, as a whole."""
    found: Personas = {}
    for path in places.find(FILE, folders):
        found = parse(places.read(path), str(path)) | found
    return found


def parse(text: str, where: str, fields: Sequence[str] = FIELDS) -> Personas:
    """The sections of one file, by their headings. What is above the first one is for people."""
    found: Personas = {}
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("## ")]
    for start, end in pairwise([*starts, len(lines)]):
        name = lines[start][3:].strip()
        if not name or slug(name) != name or name in found:
            problem = "is there twice" if name in found else "cannot be a name: use a-z, 0-9 and hyphens"
            raise UsageError(f'{where}: line {start + 1}: "{one_line(name)}" {problem}')
        found[name] = read_section(lines[start + 1 : end], start + 2, where, fields)
    return found


def read_section(lines: Sequence[str], first: int, where: str, fields: Sequence[str]) -> dict[str, Any]:
    """The facts in the list below a heading by their names, and the text below them as `perspective`. `first` is the
    number of the first line."""
    section: dict[str, Any] = {}
    words: list[str] = []
    for number, line in enumerate(lines, first):
        name, value = read_fact(line)
        if name and (name in section or (name in fields and words)):
            raise UsageError(f"{where}: line {number}: {name} belongs into the list below the heading, once")
        if name and name not in fields and not words:
            raise UsageError(f'{where}: line {number}: unknown fact "{one_line(name)}"; {did_you_mean(name, fields)}')
        if name in fields:
            section[name] = value
        elif words or line.strip():
            words.append(line)
    return {**section, "perspective": "\n".join(words).strip()}


def read_fact(line: str) -> tuple[str, str]:
    """`- **Focus:** what it looks at` is the fact `focus`. Both are empty for another line."""
    bullet, bold, rest = line.strip().partition("**")
    name, colon, value = rest.partition(":**")
    if bullet.strip() != "-" or not bold or not colon or not value.strip():
        return "", ""
    return name.strip().lower(), value.strip()


def called(personas: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The seat for each word that a user may call a member by: the seat's own name, its title, the person's name, or
    the first name. A word that fits two seats is left out."""
    found = {seat: seat for seat in personas}
    for words in (
        {seat: slug(str(one.get("title", ""))) for seat, one in personas.items()},
        {seat: slug(str(one.get("name", ""))) for seat, one in personas.items()},
        {seat: slug(str(one.get("name", "")).partition(" ")[0]) for seat, one in personas.items()},
    ):
        taken = list(words.values())
        found = {word: seat for seat, word in words.items() if word and taken.count(word) == 1} | found
    return found
