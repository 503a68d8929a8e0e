"""`program.json`: the templates that a session can reach and the personas of its seats, as they were when it began.

Together with `workflow.md` it is the whole program of a session, so a later edit cannot change a debate in progress.
This module only stores the program; `prompts` collects the templates and renders them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from council.errors import Damaged
from council.record import files
from council.record.turn_file import sha256

NAME = "program.json"


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
        whole = json.loads(data)
        templates = {name: one["text"] for name, one in whole["templates"].items()}
        program = Program(templates, whole["personas"])
        if program.data == data and all(isinstance(one, dict) for one in program.personas.values()):
            return program
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        pass
    raise Damaged(path, "not a program that council wrote; restore it from a backup")
