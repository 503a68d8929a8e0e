"""Which files of the user's and the project's overlays a new session takes into its program, for its metadata."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from council.config import overlays, personas
from council.record import files
from council.record.program import Program
from council.record.turn_file import sha256
from council.runner.seating import FoundWorkflow


def list_overlays(workflow: FoundWorkflow, program: Program) -> list[dict[str, Any]]:
    """Each overlay that is used: whose it is, its folder, and the hash of each file that the session freezes."""
    found: dict[tuple[str, Path], dict[str, str]] = {}
    for path, content in _sources(workflow, program):
        if place := overlays.origin(path):
            found.setdefault(place, {})[path.relative_to(place[1]).as_posix()] = sha256(files.encode(content))
    return [{"whose": whose, "folder": str(folder), "files": names} for (whose, folder), names in found.items()]


def _sources(workflow: FoundWorkflow, program: Program) -> Iterator[tuple[Path, str]]:
    yield Path(workflow.where).absolute(), workflow.text
    if workflow.listed:
        yield workflow.listed.path, workflow.listed.text
    for name, template in program.templates.items():
        if path := overlays.find_template(name):
            yield path, template
    yield from personas.find_sources(program.personas)
