"""A debate as readers see it, composed once from the record: Markdown, the page and the terminal all draw this.

Nothing in it is markup of ours. What somebody wrote is in it as they wrote it, and each renderer makes it safe.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import datetime
from typing import Any

from council.engine.contributions import Addition, ReportSection
from council.protocols.outcome import Decision
from council.workflow.model import Reply

APART = {"plain": False}  # the metadata of a field that is not data of the debate


@dataclass(frozen=True)
class Fact:
    """A line of the heading: `Rounds`, and how many."""

    name: str
    text: str
    caution: bool = False  # what a reader has to know before the verdict


@dataclass(frozen=True)
class Answer:
    """An answer that a turn gave by name: a text, or the items of a list. A stance has a `tone`, as in the grid."""

    name: str
    title: str
    text: str = ""
    points: tuple[str, ...] = ()
    tone: str = ""

    @property
    def short(self) -> bool:
        """Whether it is a word or a number, which can be shown as a badge."""
        return re.fullmatch(r"[\w.-]{1,20}", self.text) is not None


@dataclass(frozen=True)
class Statement:
    """One turn. `reply` is what it was asked for, `step` a title where the round has several steps.

    Where the first reply could not be read, that is `first`, and `again` says what a second request brought.
    """

    id: str
    seat: str
    label: str
    icon: str
    step: str
    digest: str
    text: str
    absent: str = ""
    remarks: tuple[str, ...] = ()
    first: str | None = None
    again: str = ""
    answers: tuple[Answer, ...] = ()
    reply: Reply = ()


@dataclass(frozen=True)
class Round:
    number: int
    phase: str
    title: str
    statements: tuple[Statement, ...]


@dataclass(frozen=True)
class Stage:
    """A phase: what was decided before it, its rounds, and how it ended."""

    phase: str
    before: tuple[Decision, ...]
    rounds: tuple[Round, ...]
    after: tuple[Decision, ...]


@dataclass(frozen=True)
class Synthesis:
    """What the debate was written up as, and what the program adds to it: in `preface`, that no majority holds it."""

    author: str
    text: str
    additions: tuple[Addition, ...]
    statement: Statement
    preface: str = ""

    @property
    def missing(self) -> str:
        """What stands in place of a synthesis that nobody wrote."""
        return f"(There is none: the {self.author} was absent.)"


@dataclass(frozen=True)
class Effect:
    """Whether the debate helped: in a sentence, with a line for each change of mind, and what one seat said alone."""

    title: str
    text: str
    moves: tuple[str, ...]
    alone: tuple[Statement, ...]


@dataclass(frozen=True)
class OpenTurns:
    """Where a debate that is not over stands. `spoken` are the turns of an open round: nobody may read them yet."""

    phase: str
    labels: tuple[str, ...]
    spoken: tuple[str, ...]


@dataclass(frozen=True)
class ReceiptLine:
    """What one turn took; `usd` is None where the price is unknown."""

    turn: str
    speaker: str
    state: str
    asked: str
    answered: str
    input: int
    output: int
    usd: float | None
    seconds: float


@dataclass(frozen=True)
class Cell:
    """Where a seat stood in one round: the turn that says so, and what it said before where it moved.

    `tone` is agree, mixed or disagree; `absent` and `silent` where there is nothing to read.
    """

    text: str = ""
    tone: str = "silent"
    turn: str = ""
    moved_from: str = ""
    moved_how: str = ""


@dataclass(frozen=True)
class GridRow:
    seat: str
    label: str
    icon: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Grid:
    """Who stood where: a row for each member, a column for each round."""

    columns: tuple[str, ...]
    rows: tuple[GridRow, ...]
    counts: tuple[tuple[str, str, int], ...]  # of the last round: what was said, its tone, by how many


@dataclass(frozen=True)
class Objection:
    """Something that blocks, or why a member disagrees, in that member's words."""

    label: str
    text: str
    turn: str


@dataclass(frozen=True)
class Spending:
    """What the debate took; `usd` is None where a price is unknown. A person's turn is no call."""

    calls: int
    input: int
    cached: int
    output: int
    usd: float | None


@dataclass(frozen=True)
class DebateVerdict:
    """What the debate came to. Every surface draws this one.

    `answer` never claims more than the count: where no answer has a majority it says so, `carried` is false, and
    `path` is only what its author thinks. `outcome` is a word or three, `tally` the count in short, `reason` in full.
    """

    answer: str
    carried: bool
    outcome: str
    reason: str
    tally: str
    tone: str
    grid: Grid
    blocking: tuple[Objection, ...]
    dissent: Objection | None
    path: str
    path_title: str
    confidence: str
    spending: Spending


@dataclass(frozen=True)
class Transcript:
    """The whole debate."""

    id: str
    workflow: str
    title: str
    topic: str
    question: str
    ended_at: datetime
    facts: tuple[Fact, ...]
    members: tuple[str, ...]
    absent: tuple[str, ...]
    verdict: DebateVerdict
    stages: tuple[Stage, ...]
    sections: Mapping[str, ReportSection]
    synthesis: Synthesis | None
    effect: Effect | None
    waiting: OpenTurns | None
    receipts: tuple[ReceiptLine, ...]
    overlaid: Mapping[str, str] = field(default_factory=dict, repr=False, metadata=APART)

    @property
    def rounds(self) -> tuple[Round, ...]:
        return tuple(round for stage in self.stages for round in stage.rounds)


def plain(value: Any) -> Any:
    """The same as plain data, for templates and JSON: no object of ours reaches a template that users can write."""
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value) if one.metadata != APART}
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    return value.isoformat(timespec="seconds") if isinstance(value, datetime) else value
