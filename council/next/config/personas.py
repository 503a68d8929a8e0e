"""Reads AgentPersonalities.md and lists of specialists: one section a seat, with a list of facts and a perspective."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from council.next.config import places
from council.next.schema import Table
from council.next.text import did_you_mean, slug

FILE = "AgentPersonalities.md"
OPENINGS = ("openings", "answers", "closing")  # sentences that the embedded model begins with
FIELDS = ("title", "name", "icon", "tier", "focus", "accepts", "opposes", *OPENINGS)

Personas = dict[str, dict[str, Any]]


def load(folders: Sequence[Path] = ()) -> Personas:
    """Every persona by its seat. A section replaces the one of the same name in the overlays after it, as a whole."""
    found: Personas = {}
    for path in places.find(FILE, folders):
        found = parse(places.read(path), str(path)) | found
    return found


def parse(text: str, where: str, fields: Sequence[str] = FIELDS) -> Personas:
    """The sections of one file, by their headings: the facts in the list below a heading, by their names, and the text
    below them as `perspective`. What is above the first heading is for people."""
    found: Personas = {}
    texts: dict[str, list[str]] = {}
    seat = ""
    for number, line in enumerate(text.splitlines(), 1):
        place = Table({}, f"{where}: line {number}")
        bullet, _, rest = line.strip().partition("**")
        fact, colon, value = (part.strip() for part in rest.partition(":**"))  # - **Fact:** value
        fact = fact.lower() if bullet.strip() == "-" and colon and value else ""
        if line.startswith("## "):
            seat = line[3:].strip()
            if seat in found:
                raise place.wrong(f'"{seat}" is there twice')
            if not seat or slug(seat) != seat:
                raise place.wrong(f'"{seat}" cannot be a name: use a-z, 0-9 and hyphens')
            found[seat], texts[seat] = {}, []
        elif seat and fact in fields:
            if texts[seat] or fact in found[seat]:
                raise place.wrong(f"{fact} belongs into the list below the heading, once")
            found[seat][fact] = value
        elif seat and fact and not texts[seat]:
            raise place.wrong(f'unknown fact "{fact}"; {did_you_mean(fact, fields)}')
        elif seat and (texts[seat] or line.strip()):
            texts[seat].append(line)
    return {seat: {**facts, "perspective": "\n".join(texts[seat]).strip()} for seat, facts in found.items()}


def called(personas: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The seat for each word that a user may call a member by: the seat's own name, its title, the person's name, or
    the first name. A word that fits two seats is left out."""
    found = {seat: seat for seat in personas}
    names = {seat: str(one.get("name", "")) for seat, one in personas.items()}
    titles = {seat: str(one.get("title", "")) for seat, one in personas.items()}
    for kind in (titles, names, {seat: name.partition(" ")[0] for seat, name in names.items()}):
        words = Counter(map(slug, kind.values()))
        found = {slug(word): seat for seat, word in kind.items() if word and words[slug(word)] == 1} | found
    return found
