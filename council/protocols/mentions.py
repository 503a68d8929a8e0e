"""Which seats a text names: by their titles, or by the names of their personas."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from council.workflow.model import Seat

# A title that is one common word, such as Test, names its seat only beside such a sign: "by Test", "Test's point".
BEFORE = r"(?:\b(?:[Bb]y|[Tt]o|[Ww]ith|[Ff]rom|[Aa]gainst|[Uu]nlike) |[@*_])"
BEHIND = r"(?=['’]s\b|:|[*_]| (?:says?|said|asks?|asked|wants?|argues?|proposes?|worries|claims?|is right|was right)\b)"
SHORTEST = 3  # letters of a persona's name that stand for it


def find_mentioned(text: str, seats: Iterable[Seat]) -> tuple[Seat, ...]:
    """The seats that a text names, in the order of their first mention."""
    known = {seat.name: seat for seat in seats}
    names = [(seat.name, seat.title, str(seat.attributes.get("name") or "")) for seat in known.values()]
    pattern, owners = _compile(tuple(names))
    found = pattern.finditer(text) if owners else ()
    called = (" ".join(next(filter(None, match.groups())).casefold().split()) for match in found)
    return tuple(known[name] for name in dict.fromkeys(map(owners.__getitem__, called)))


@lru_cache(maxsize=64)
def _compile(seats: tuple[tuple[str, str, str], ...]) -> tuple[re.Pattern[str], dict[str, str]]:
    """One pattern for all names, the longest first: "Meeting Controller" does not also name a Controller."""
    owners: dict[str, str] = {}
    exact, any_case, common = set[str](), set[str](), set[str]()
    for name, title, persona in seats:
        for called in (title, name.replace("-", " "), *(word for word in persona.split() if len(word) >= SHORTEST)):
            owners.setdefault(" ".join(called.casefold().split()), name)
        exact |= {word for word in persona.split() if len(word) >= SHORTEST}
        plain = any_case if " " in title else exact if title.isupper() else common
        plain.add(title)
        if "-" in name:
            any_case.add(name.replace("-", " "))
    parts = [
        rf"(?<!\w)({_any_of(exact)})(?!\w)",
        rf"(?<!\w)((?i:{_any_of(any_case)}))(?!\w)",
        rf"{BEFORE}({_any_of(common)})(?!\w)",
        rf"(?<!\w)({_any_of(common)}){BEHIND}",
    ]
    return re.compile("|".join((parts[1], parts[0], *parts[2:]))), owners


def _any_of(names: Iterable[str]) -> str:
    listed = sorted(filter(None, names), key=lambda name: (-len(name), name))
    return "|".join(r"\s+".join(map(re.escape, name.split())) for name in listed) or r"(?!)"
