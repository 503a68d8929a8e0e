"""What rooms add to the reports of a debate: remarks on a turn, additions below the synthesis, sections, files and
findings.

Reports render what is registered here without knowing who registered it. A room that was removed adds nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from council.engine.facts import PromptContext
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
class Exhibit:
    """Something that a person is asked to approve: how it did, which files, their hash, and the change itself.
    `tests` are counts, `failing` the ids of the tests that failed.
    """

    title: str
    state: str
    hash: str = ""
    paths: tuple[str, ...] = ()
    diff: str = ""
    tests: Mapping[str, int] = field(default_factory=dict)
    failing: tuple[str, ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ArtifactTraits:
    """The names of the files and folders in a session's folder that are the artifact's own. What is in the folders and
    does not follow from the record is removed."""

    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


@dataclass(frozen=True)
class Complaint:
    """What a program that only looked found wrong in a line of a file. `seat` and `turn` say where it is recorded."""

    path: str
    line: int
    rule: str
    severity: str
    message: str
    seat: str
    turn: str


@dataclass(frozen=True)
class Inspection:
    """What programs found in the files that a debate ends with. `texts` are the files in which they found it, `silent`
    those that gave no answer, with the reason, and `unread` the seats and lines that could not be read.
    """

    found: tuple[Complaint, ...]
    texts: Mapping[str, str]
    silent: tuple[str, ...] = ()
    unread: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class IndexEntry:
    """Something in a turn that can be found by words of its own, or counted: a finding, a version of code. `facts` are
    plain data, which the index's views show."""

    kind: str
    turn: str
    text: str
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class IndexTraits:
    """Which finished sessions have such entries: those whose workflow asks for an answer of one of these types, or with
    one of these names."""

    types: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()


@dataclass(frozen=True)
class FoundElsewhere:
    """Something that a search found outside of the sessions: its kind and id, its text, the session that it comes from,
    and the command that shows it."""

    kind: str
    id: str
    text: str
    session: str
    command: str


remark: Hook[Callable[[Turn, Record], Iterable[str]]] = Hook("remark", leading=2)
addition: Hook[Callable[[Record], Addition | None]] = Hook("addition", leading=1)
section: Hook[Callable[[Record], ReportSection | None]] = Hook("section", leading=1)
exhibit: Hook[Callable[[PromptContext], Iterable[Exhibit]]] = Hook("exhibit", leading=1)
# The commands that may come next, once a debate is over; the folder is the session's.
following: Hook[Callable[[Record, Path], Iterable[str]]] = Hook("following", leading=2)
artifact: CheckedHook[Callable[[Record], Mapping[str, bytes]], ArtifactTraits] = CheckedHook(
    "artifact", leading=1, traits=ArtifactTraits
)
# Why a debate that is over did not reach what it was for; empty if it did. The command then exits with 5.
shortfall: Hook[Callable[[Record], str]] = Hook("shortfall", leading=1)
inspection: Hook[Callable[[Record], Inspection | None]] = Hook("inspection", leading=1)
# The findings of a session in a format for programs; None where they are not this room's.
findings_report: Hook[Callable[[Record, str], str | None]] = Hook("report of findings", leading=2)
# What the index of sessions keeps of a finished debate besides its turns.
indexed: CheckedHook[Callable[[Record], Iterable[IndexEntry]], IndexTraits] = CheckedHook(
    "indexed", leading=1, traits=IndexTraits
)
# What a search finds outside of the sessions: in the user's home, for these words, up to a number of results.
elsewhere: Hook[Callable[[Path, tuple[str, ...], int], Iterable[FoundElsewhere]]] = Hook("other search", leading=3)
