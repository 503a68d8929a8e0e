"""What rooms add to the reports of a debate: remarks on a turn, additions below the synthesis, sections and files.

Reports render what is registered here without knowing who registered it. A room that was removed adds nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from council.engine.planner import Plan
from council.engine.scene import Turn
from council.workflow.model import Workflow
from council.workflow.registry import CheckedHook, Hook


@dataclass(frozen=True)
class Record:
    """What a contribution may read: the workflow, its plan, the topic and the session's metadata.

    `frozen` are the further files that the session froze when it began, by name. `trials` says what machines did, by
    turn.
    """

    workflow: Workflow
    plan: Plan
    topic: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    frozen: Mapping[str, bytes] = field(default_factory=dict)
    trials: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Addition:
    """Something the program adds below the synthesis. `aside` says in small print who added it, or why."""

    title: str
    text: str = ""
    aside: str = ""
    points: tuple[str, ...] = ()


@dataclass(frozen=True)
class Part:
    """A titled part of a section, in Markdown. `tone` is its severity, which renderers may show in color."""

    title: str
    text: str
    tone: str = ""


@dataclass(frozen=True)
class ReportSection:
    """A list or table that a protocol ends in: a file of the session, named after the function, and a part of the
    transcript (before the synthesis), of the page (above the grid) and of what a run prints at its end.

    Give an `answer` only if this is what the debate was for: then that sentence is the verdict, in place of what the
    synthesis recommends, and `tone` is how it is drawn: agree, mixed or disagree.
    """

    title: str
    text: str
    parts: tuple[Part, ...] = ()
    answer: str = ""
    tone: str = ""


@dataclass(frozen=True)
class ArtifactTraits:
    """The names of the files and folders in a session's folder that are the artifact's own. What is in the folders and
    does not follow from the record is removed."""

    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


remark: Hook[Callable[[Turn, Record], Iterable[str]]] = Hook("remark", leading=2)
addition: Hook[Callable[[Record], Addition | None]] = Hook("addition", leading=1)
section: Hook[Callable[[Record], ReportSection | None]] = Hook("section", leading=1)
# The commands that may come next, once a debate is over; the folder is the session's.
following: Hook[Callable[[Record, Path], Iterable[str]]] = Hook("following", leading=2)
artifact: CheckedHook[Callable[[Record], Mapping[str, bytes]], ArtifactTraits] = CheckedHook(
    "artifact", leading=1, traits=ArtifactTraits
)
