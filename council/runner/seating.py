"""The workflow that a name stands for, with the personas that its seats may have, and the list that its members are
from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from council.config import overlays, personas, specialists
from council.config.specialists import SpecialistList
from council.protocols.specialists import LIST
from council.workflow.loader import load
from council.workflow.model import Workflow


@dataclass(frozen=True)
class FoundWorkflow:
    """A workflow before anybody sits down: its text, where it was read, and the list of specialists, if it has one."""

    text: str
    where: str
    workflow: Workflow
    personas: Mapping[str, Any]
    listed: SpecialistList | None = None

    def with_personas(self, more: Mapping[str, Any]) -> FoundWorkflow:
        return replace(self, personas={**self.personas, **more}) if more else self


def find_workflow(name: str, options: Mapping[str, Any] | None = None) -> FoundWorkflow:
    """The workflow of that name. If its members come from a list, the options may choose which."""
    text, where = overlays.workflow_text(name)
    workflow, known = load(text, where), personas.load()
    if LIST not in workflow.options:
        return FoundWorkflow(text, where, workflow, known)
    listed = specialists.load(str((options or {}).get(LIST, workflow.options[LIST])))
    return FoundWorkflow(text, where, specialists.seat(workflow, listed), listed.personas(known), listed)
