"""Reads AgentPersonalities.md: the persona of each seat, one section per seat."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from council.config import overlays
from council.errors import UsageError
from council.text import did_you_mean

FILE = "AgentPersonalities.md"
FIELDS = ("title", "name", "icon", "tier", "focus", "accepts", "opposes", "openings", "answers", "closing")
FIELD = re.compile(r"-\s+\*\*(\w+):\*\*\s*(.+)")

Persona = dict[str, Any]


def parse(text: str, where: str, fields: Collection[str] = FIELDS) -> dict[str, Persona]:
    """The personas of one file, by seat: its fields, and the text below them as `perspective`."""
    personas: dict[str, Persona] = {}
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        title, _, rest = section.partition("\n")
        personas[title.strip()] = _persona(rest, f"{where}: {title.strip()}", fields)
    return personas


def _persona(text: str, where: str, fields: Collection[str]) -> Persona:
    persona: Persona = {}
    words: list[str] = []
    for line in text.strip().splitlines():
        if match := FIELD.fullmatch(line.strip()):
            name = match.group(1).lower()
            if name not in fields:
                raise UsageError(f'{where}: unknown field "{name}"; {did_you_mean(name, fields)}')
            persona[name] = match.group(2).strip()
        else:
            words.append(line)
    return persona | {"perspective": "\n".join(words).strip()}


def find_sources(names: Collection[str]) -> Iterator[tuple[Path, str]]:
    """The files that these personas are from, with their texts: of the user's and the project's, not of the kit's."""
    missing = set(names)
    for path in overlays.find(FILE):
        if overlays.origin(path):
            text = overlays.read(path)
            if given := missing & set(parse(text, str(path))):
                missing -= given
                yield path, text


def load() -> dict[str, Persona]:
    """Every known persona. Of several with the same name, the one in the nearest file is used."""
    personas: dict[str, Persona] = {}
    for path in overlays.find(FILE):
        personas = parse(overlays.read(path), str(path)) | personas
    return personas
