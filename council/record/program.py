"""`program.json`: the templates that a session can reach and the personas of its seats, as they were when it began.

Together with `workflow.md` it is the whole program of a session, so a later edit cannot change a debate in progress.
This module stores the program, and gives a session's workflow what it froze; `prompts` collects the templates and
renders them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from council.errors import Damaged
from council.record import files
from council.record.turn_file import sha256
from council.workflow.loader import load
from council.workflow.model import Seat, Workflow

NAME = "program.json"
Options = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Program:
    """Two programs with the same bytes are equal, so templates compiled for one can be used for the other."""

    templates: Mapping[str, str] = field(compare=False)
    personas: Mapping[str, Mapping[str, Any]] = field(compare=False)
    sha256: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sha256", sha256(self.data))

    @cached_property
    def data(self) -> bytes:
        """The bytes of the file. Personas keep their order, because a catalog lists them in it."""
        templates = {
            name: {"sha256": sha256(files.encode(text)), "text": text} for name, text in sorted(self.templates.items())
        }
        whole = {"templates": templates, "personas": self.personas}
        return files.encode(json.dumps(whole, indent=2, ensure_ascii=False) + "\n")


def decode(data: bytes, path: Path) -> Program:
    """The program in a file whose hash was checked. Its metadata may be forged, so the shape is checked too."""
    try:
        return _decode(data)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        raise Damaged(path, "not a program that council wrote; restore it from a backup") from None


@lru_cache(maxsize=8)
def _decode(data: bytes) -> Program:
    """Sessions of one workflow have the same program, and reading it takes as long as the rest of a small session."""
    whole = json.loads(data)
    templates = {name: one["text"] for name, one in whole["templates"].items()}
    program = Program(templates, whole["personas"])
    if program.data != data or not all(isinstance(one, dict) for one in program.personas.values()):
        raise ValueError("not as council writes it")
    return program


def load_workflow(text: str, where: str, metadata: Mapping[str, Any], program: Program | None) -> Workflow:
    """The frozen workflow with the members, the options and the personas that its session has."""
    members, options = tuple(map(str, metadata["members"])), tuple(metadata["options"].items())
    workflow = load(text, where)
    if program is None:
        return _complete(workflow, members, options, metadata["seats"])
    return _load_again(text, members, options, program)


@lru_cache(maxsize=8)
def _load_again(text: str, members: tuple[str, ...], options: Options, program: Program) -> Workflow:
    """A workflow that was loaded before. Sessions of one program share it."""
    return _complete(load(text, "workflow.md"), members, options, program.personas)


def _complete(
    workflow: Workflow, members: Iterable[str], options: Options, personas: Mapping[str, Mapping[str, Any]]
) -> Workflow:
    declared = {seat.name: seat for seat in workflow.members}  # a tier, a weight, a speaker, another's persona
    workflow = workflow.with_members(declared.get(name, Seat(name, "")) for name in members)
    return workflow.with_options(dict(options)).with_attributes(personas)
