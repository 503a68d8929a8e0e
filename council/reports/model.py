"""A debate as readers see it, composed once from the record. Markdown, the page and the terminal all render it.

It contains no markup of ours. Members' text is kept as they wrote it, and each renderer makes it safe.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import Any

from council.engine.contributions import Addition, ReportSection
from council.protocols.outcome import Decision
from council.reports.concerns import LedgerTable
from council.workflow.model import Reply

APART = {"plain": False}  # marks a field that is not data of the debate


@dataclass(frozen=True)
class Fact:
    """A line of the heading, such as `Rounds` with their number."""

    name: str
    text: str
    caution: bool = False  # readers have to know it before the verdict
    note: str = field(default="", metadata=APART)  # what documents say in place of the text


@dataclass(frozen=True)
class Answer:
    """A named answer of a turn: a text, or the items of a list. A stance has a `tone`, as in the grid."""

    name: str
    title: str
    text: str = ""
    points: tuple[str, ...] = ()
    tone: str = ""

    @property
    def short(self) -> bool:
        """Whether it is one word or number, which fits in a badge. That there is nothing to say needs none."""
        return re.fullmatch(r"[\w.-]{1,20}", self.text) is not None and self.text.casefold().strip(".") != "none"


@dataclass(frozen=True)
class Statement:
    """One turn. `reply` declares the answers that were requested; `step` is a title if the round has several steps.

    If the first reply could not be read, `first` holds it, and `again` says what the second request returned. A
    machine's turn has a `caption`, what it did, with the `tone` of the result.
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
    by: str = ""
    caption: str = ""
    tone: str = ""


@dataclass(frozen=True)
class Round:
    """A round of the debate, or a part of it that is not numbered, such as an analysis: its `number` is 0."""

    number: int
    phase: str
    title: str
    heading: str
    place: str  # what links and the names of files call it: `round-2`, or `analysis`
    statements: tuple[Statement, ...]


@dataclass(frozen=True)
class Stage:
    """A phase: the decisions before it, its rounds, and how it ended."""

    phase: str
    before: tuple[Decision, ...]
    rounds: tuple[Round, ...]
    after: tuple[Decision, ...]


@dataclass(frozen=True)
class Synthesis:
    """The synthesis and what council adds to it. `preface` says so if it has no majority."""

    author: str
    text: str
    additions: tuple[Addition, ...]
    statement: Statement
    preface: str = ""

    @property
    def missing(self) -> str:
        """What is shown instead of a synthesis that nobody wrote."""
        return f"(There is none: the {self.author} was absent.)"


@dataclass(frozen=True)
class Effect:
    """Whether the debate helped: a summary, a line for each change of mind, and the answer given without a debate."""

    title: str
    text: str
    moves: tuple[str, ...]
    alone: tuple[Statement, ...]


@dataclass(frozen=True)
class OpenTurns:
    """What an unfinished debate waits for. `spoken` are the turns of an open round: nobody may read them yet."""

    phase: str
    labels: tuple[str, ...]
    spoken: tuple[str, ...]


@dataclass(frozen=True)
class ReceiptLine:
    """What one call cost; None is unknown. `state` is empty for a reply; calls that failed are lines of their own."""

    turn: str
    speaker: str
    state: str
    asked: str
    answered: str
    input: int | None
    output: int | None
    usd: float | None
    seconds: float


@dataclass(frozen=True)
class Cell:
    """A seat's stance in one round, the turn that states it, and the earlier stance if it changed, and whose argument
    changed it if the program found that.

    `tone` is agree, mixed or disagree; `absent`, or `silent` if the seat spoke and its stance could not be read; empty
    if it had no turn.
    """

    text: str = ""
    tone: str = ""
    turn: str = ""
    moved_from: str = ""
    moved_how: str = ""
    moved_by: str = ""


@dataclass(frozen=True)
class GridRow:
    seat: str
    label: str
    icon: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Grid:
    """Who held which stance: a row for each member, a column for each round. `target` is the score that is enough."""

    columns: tuple[str, ...]
    rows: tuple[GridRow, ...]
    counts: tuple[tuple[str, str, int], ...]  # of the last round: the answer, its tone, how many gave it
    target: float | None = None


@dataclass(frozen=True)
class Objection:
    """A blocking objection, or why a member disagrees, in that member's words."""

    label: str
    text: str
    turn: str


@dataclass(frozen=True)
class Spending:
    """What the debate cost, calls that failed included; None is unknown. A person's turn is not a call."""

    calls: int
    failed: int
    input: int | None
    cached: int
    output: int | None
    usd: float | None
    usd_at_least: float


@dataclass(frozen=True)
class DebateVerdict:
    """The result of the debate. Every surface shows this object.

    `answer` never claims more than the count: without a majority it says so, `carried` is false, and `path` is only its
    author's opinion. `outcome` is one to three words, `tally` a short count, `reason` the full one.
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
class StepCourse:
    """A step of a phase in its last round: `done`, `now`, `ahead` or `skipped`. `kind` is seat, person, machine or
    cast. `seats` is how many spoke or will speak; 0 if that is not known yet."""

    title: str
    kind: str
    state: str
    seats: int


@dataclass(frozen=True)
class PhaseCourse:
    """How a phase went: `done`, `halted`, `skipped`, `now`, `ahead`, or `unreached` if the debate ended before it.

    `reason` says why it was skipped or how it ended. `sure` is false if the phase has a condition. `absent` is how many
    of its turns nobody spoke.
    """

    title: str
    state: str
    rounds: int
    max_rounds: int
    sure: bool
    outcome: str
    reason: str
    absent: int
    steps: tuple[StepCourse, ...]


@dataclass(frozen=True)
class RoundSpending:
    """What one round cost. None is unknown, and `usd_at_least` is the part that is known. `failed` are calls without a
    reply."""

    title: str
    calls: int
    failed: int
    input: int | None
    output: int | None
    usd: float | None
    usd_at_least: float


@dataclass(frozen=True)
class Vote:
    """The last vote of a phase. `outcome` is winner, tie or none; `counts` has what the method counts, highest first.

    `of` is the weight of all voters, and `silent` are those whose vote was not heard.
    """

    title: str
    method: str
    outcome: str
    summary: str
    counts: tuple[tuple[str, float], ...]
    leading: tuple[str, ...]
    of: float
    silent: tuple[str, ...]


@dataclass(frozen=True)
class Course:
    """How the debate went through its protocol: its phases, its votes, and what each round cost."""

    phases: tuple[PhaseCourse, ...] = ()
    votes: tuple[Vote, ...] = ()
    spending: tuple[RoundSpending, ...] = ()


@dataclass(frozen=True)
class Transcript:
    """The whole debate."""

    id: str
    head: str
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
    ledger: LedgerTable | None = None
    concerns: tuple[Mapping[str, Any], ...] = field(default=(), metadata=APART)
    beside: str = ""  # what members read besides their briefs, as far as that is known
    course: Course = field(default=Course(), metadata=APART)
    overlaid: Mapping[str, str] = field(default_factory=dict, repr=False, metadata=APART)

    @property
    def rounds(self) -> tuple[Round, ...]:
        return tuple(round for stage in self.stages for round in stage.rounds)

    @property
    def speakers(self) -> dict[str, str]:
        """Who spoke each turn, by its id."""
        return {turn.id: turn.label for round in self.rounds for turn in round.statements}


def plain(value: Any) -> Any:
    """Convert to plain data for templates and JSON: no object of ours reaches a template that users can write."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {name: plain(getattr(value, name)) for name in _shown(type(value))}
    if isinstance(value, (dict, Mapping)):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    return value.isoformat(timespec="seconds") if isinstance(value, datetime) else value


@cache
def _shown(kind: type) -> tuple[str, ...]:
    return tuple(one.name for one in fields(kind) if one.metadata != APART)
