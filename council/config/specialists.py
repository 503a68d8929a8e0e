"""Reads lists of specialists: a project's or a user's Specialists.md, or a kit's list, one section per specialist.

A section has the form of a persona, and says what the specialist is for: what it touches, its paths, its keywords, and
the types of features for which it sits. What it leaves out is taken from the persona of that name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from council.config import overlays, personas
from council.config.personas import Persona
from council.errors import UsageError
from council.text import did_you_mean
from council.workflow.model import HUMAN, Seat, Workflow, is_name
from council.workflow.opening import AUTO

FILE = "Specialists.md"
KITS = "Specialists"  # the folder of the kit's lists
DEFAULT = "conferencing"
FEATURES = "features"
FIELDS = (*personas.FIELDS, "touches", "paths", "keywords", FEATURES)


@dataclass(frozen=True)
class SpecialistList:
    """A list: the file it comes from, its text, and its sections by name."""

    path: Path
    text: str
    sections: Mapping[str, Persona]

    def features(self) -> dict[str, list[str]]:
        """The specialists for each type of feature."""
        found: dict[str, list[str]] = {}
        for name, section in self.sections.items():
            for feature in filter(None, map(str.strip, str(section.get(FEATURES, "")).split(","))):
                found.setdefault(feature, []).append(name)
        return found

    def personas(self, known: Mapping[str, Persona]) -> dict[str, Persona]:
        """The known personas with those of the list. A section replaces only what it says."""
        own = {name: {key: value for key, value in one.items() if value} for name, one in self.sections.items()}
        return {**known, **{name: {**known.get(name, {}), **section} for name, section in own.items()}}


def kits() -> dict[str, Path]:
    """The kit's lists, by name."""
    return {path.stem: path for path in sorted((overlays.kit_folder() / KITS).glob("*.md"))}


def load(name: str = AUTO) -> SpecialistList:
    """The kit's list of that name; for `auto` the project's list, else the user's, else the kit's default."""
    if name != AUTO and name not in kits():
        raise UsageError(f'no list of specialists has the name "{name}"; {did_you_mean(name, (AUTO, *kits()))}')
    path = kits()[name] if name != AUTO else next(overlays.find(FILE), kits()[DEFAULT])
    return parse(overlays.read(path), path)


def parse(text: str, path: Path) -> SpecialistList:
    sections = personas.parse(text, str(path), FIELDS)
    if not sections:
        raise UsageError(f"{path}: there are no specialists; write a section for each, as in `## database`")
    found = SpecialistList(path, text, sections)
    for name in (*sections, *found.features()):
        if not is_name(name):
            raise UsageError(f'{path}: "{name}" cannot be a name: use lowercase letters, digits and hyphens')
    if HUMAN in sections:
        raise UsageError(f'{path}: "{HUMAN}" means the person in every workflow; rename the section')
    if clash := sorted(set(sections) & set(found.features())):
        raise UsageError(f'{path}: "{clash[0]}" is a specialist and a type of feature; rename one of them')
    return found


def seat(workflow: Workflow, found: SpecialistList) -> Workflow:
    """The workflow with the list as its members. Types of features are the list's, too.

    Seats that share a step with the members sit anyway, so a section for one of them only describes it.
    """
    first = next(iter(workflow.groups))
    used = {name for _, step in workflow.steps() for name in step.seats if isinstance(name, str)} | {first}
    fixed = {one.name for one in workflow.table} - {one.name for one in workflow.members}
    taken = {one.name for one in workflow.seats(used)} - {one.name for one in workflow.members} - fixed
    declared = {one.name: one for one in workflow.members}
    names = [name for name in found.sections if name not in fixed]
    if wrong := [name for name in names if name in taken or name in used]:
        raise UsageError(f"{found.path}: {wrong[0]} has another role in {workflow.name}; rename the section")
    if not names:
        raise UsageError(f"{found.path}: it names only {', '.join(found.sections)}, who sit in every {workflow.name}")
    if clash := sorted(used & set(found.features())):
        raise UsageError(f'{found.path}: "{clash[0]}" cannot be a type of feature: {workflow.name} has such seats')
    members = {first: tuple(declared.get(name, Seat(name, first)) for name in names)}
    kept = {name: seats for name, seats in workflow.groups.items() if name in used}
    features = {
        feature: tuple(Seat(name, feature) for name in listed if name not in fixed)
        for feature, listed in found.features().items()
    }
    return replace(workflow, groups={**members, **{k: v for k, v in kept.items() if k != first}, **features})
