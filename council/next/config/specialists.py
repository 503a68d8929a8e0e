"""Lists of specialists: a project's or a user's Specialists.md, or one of the kit's, by area."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from council.next.config import personas, places
from council.next.config.personas import Personas
from council.next.errors import UsageError
from council.next.text import did_you_mean, one_line, slug
from council.next.workflow.model import RESERVED, Workflow

FILE = "Specialists.md"
AUTO, DEFAULT = "auto", "conferencing"
FIELDS = (*personas.FIELDS, "touches", "paths", "keywords", "features")


@dataclass(frozen=True)
class Specialists:
    """A list: where it is from, and a section for each specialist."""

    path: Path
    sections: Personas

    def features(self) -> dict[str, list[str]]:
        """The types of features that `--feature-type` takes, each with the specialists who take part."""
        found: dict[str, list[str]] = {}
        for name, section in self.sections.items():
            for feature in filter(None, map(str.strip, section.get("features", "").split(","))):
                found.setdefault(feature, []).append(name)
        return found

    def members(self, workflow: Workflow) -> list[str]:
        """Who takes part instead of the workflow's own members. A section for a seat that takes part in any case, such
        as Security, only describes it."""
        groups = {name for step in workflow.steps() for name in step.seats if isinstance(name, str)}
        fixed = {seat.name for seat in workflow.seats([*groups])} - {seat.name for seat in workflow.members}
        named = [name for name in self.sections if name not in fixed]
        if not named:
            raise UsageError(f"{self.path}: everybody on this list takes part in every {workflow.name}; name others")
        return named

    def personas(self, known: Mapping[str, Mapping[str, str]]) -> Personas:
        """The known personas with those of the list. What a section leaves out is that persona's."""
        both: Personas = {name: dict(one) for name, one in known.items()}
        for name, section in self.sections.items():
            both.setdefault(name, {}).update({key: value for key, value in section.items() if value})
        return both


def areas() -> dict[str, Path]:
    """The kit's lists, by the area that each is for."""
    return {path.stem: path for path in sorted((places.KIT / "Specialists").glob("*.md"))}


def load(area: str = AUTO, folders: Sequence[Path] = ()) -> Specialists:
    """The kit's list for an area; for `auto` the project's list, else the user's, else the kit's default."""
    known = areas()
    if area not in (AUTO, *known):
        raise UsageError(f'no list of specialists is called "{one_line(area)}"; {did_you_mean(area, (AUTO, *known))}')
    path = known[area] if area != AUTO else next(places.find(FILE, folders), known[DEFAULT])
    return parse(places.read(path), path)


def parse(text: str, path: Path) -> Specialists:
    found = Specialists(path, personas.parse(text, str(path), FIELDS))
    if not found.sections:
        raise UsageError(f"{path}: there are no specialists; write a section for each, as in `## database`")
    features = found.features()
    for name in (*found.sections, *features):
        if slug(name) != name:
            raise UsageError(f'{path}: "{one_line(name)}" cannot be a type of feature: use a-z, 0-9 and hyphens')
        if name in RESERVED or (name in features and name in found.sections):
            other = "a type of feature" if name in features else "a name that council itself uses"
            raise UsageError(f'{path}: "{name}" is also {other}; rename the section')
    return found
