"""`program.json`: the templates that a session can reach and the personas of its seats, as they were when it began.

Together with `workflow.md` it is the whole program of a session, so nothing that is edited later can change a debate
that is under way. This module only stores the program; `prompts` collects the templates and renders them.
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
    """Two programs of the same bytes are equal, so what is compiled from one serves the other."""

    templates: Mapping[str, str] = field(compare=False)
    personas: Mapping[str, Mapping[str, Any]] = field(compare=False)
    sha256: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sha256", sha256(self.data))

    @cached_property
    def data(self) -> bytes:
        """The file. Personas keep their order, because a catalog is printed in it."""
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
    raise Damaged(path, "it is not a program that council wrote; put it back from a backup")
