"""The scene: all that a rule, an order or a view may know, which is what was said so far and nothing later.

The planner alone adds to it while it walks the workflow, so the scene is always at the place that is being judged.
"""

from __future__ import annotations

import hashlib
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from council.next.replies.read import Passage
from council.next.text import encode, join_words, one_line
from council.next.workflow.model import Seat, Workflow

Moment = tuple[str, int, str]  # phase, round, step. Its turns are one batch, or several where seats follow each other


@dataclass(frozen=True)
class Recorded:
    """What planning needs of a turn file. `most` is what the turn can have cost where `usd` is unknown."""

    body: str
    absent: str | None = None
    by: str = ""
    model: str = ""
    unknown: bool = False  # it was recorded by hand, and nobody said who wrote it
    calls: int = 1
    tokens: int = 0
    usd: float | None = 0.0
    most: float | None = None


@dataclass(frozen=True)
class Turn:
    """One seat that has spoken, with its answers. `asked` names those that its step asks for."""

    id: str
    phase: str
    step: str
    round: int
    seat: Seat
    said: Recorded
    asked: tuple[str, ...] = ()
    answers: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    unread: Mapping[str, str] = field(default_factory=dict)  # the words below headings that could not be read
    prose: str = ""
    first: Recorded | None = None  # the first try, if that could not be read
    passages: tuple[Passage, ...] = ()

    @property
    def moment(self) -> Moment:
        return self.phase, self.round, self.step

    @property
    def absent(self) -> str | None:
        return self.said.absent

    @property
    def text(self) -> str:
        """All that the seat wrote. A second try may hold only what the first one lacked."""
        return "\n\n".join(dict.fromkeys(one.body.strip("\n") for one in (self.first, self.said) if one))

    def silence(self, *names: str) -> str:
        """Why it did not give these answers. Empty if it gave them."""
        if self.absent:
            return "not heard"
        missing = [name.replace("_", " ") for name in names if name not in self.answers]
        return f"spoke, {join_words(missing)} unreadable" if missing else ""

    @property
    def gist(self) -> str:
        """The turn in one line: the gist that it declares, or else the beginning of its words; and its numbers."""
        if self.absent:
            return f"absent: {self.absent}"
        scores = [
            f"{name.replace('_', ' ')} {one}" for name, one in self.answers.items() if isinstance(one, int | float)
        ]
        words = one_line(str(self.answers.get("gist") or self.prose or self.said.body), 300)
        return f"{words} ({', '.join(scores)})" if scores else words


@dataclass(frozen=True)
class Verdict:
    """What a rule says: whether it holds, why, which rules held, what was counted, and who was elected."""

    holds: bool
    reason: str = ""
    fired: tuple[str, ...] = ()
    tally: Mapping[str, Any] = field(default_factory=dict)
    elected: str = ""

    def __bool__(self) -> bool:
        return self.holds


@dataclass(frozen=True)
class Seen:
    """A turn that another may read: in full or as a gist, under its seat's name or under a label."""

    turn: Turn
    gist: bool = False
    label: str = ""


@dataclass
class Scene:
    workflow: Workflow
    seed: str = ""
    topic: str = ""
    attached: Mapping[str, str] = field(default_factory=dict)  # the documents that the debate was given, by path
    frozen: Mapping[str, Any] = field(default_factory=dict)  # the files that the session began from, by path
    turns: list[Turn] = field(default_factory=list)
    moments: dict[Moment, list[Turn]] = field(default_factory=dict)
    rounds: dict[tuple[str, int], list[Turn]] = field(default_factory=dict)  # by phase and round, the oldest first
    batches: list[tuple[Turn, ...]] = field(default_factory=list)  # the turns of a batch have not read each other
    ended: dict[str, str] = field(default_factory=dict)  # the ending of each phase that is over
    elected: str = ""  # by the ending of a phase
    phase: str = ""
    round: int = 0
    cap: int = 0  # the most rounds of this phase
    since: int = 0  # the place of this round's first turn, while the phase's endings are judged
    judged: Verdict = Verdict(False)  # what the endings said of this phase's round before
    kept: dict[str, Any] = field(default_factory=dict)  # what others derive of the turns, so that they derive it once

    def __post_init__(self) -> None:
        self._asking: dict[str, list[Moment]] = defaultdict(list)
        self._said: dict[str, dict[str, list[Turn]]] = defaultdict(lambda: defaultdict(list))  # by answer and seat
        self._places: dict[str, list[Turn]] = defaultdict(list)
        self._by_seat: dict[str, list[Turn]] = defaultdict(list)
        self._order: dict[str, int] = {}  # the place of each turn, by its id
        self.used = {"usd": 0.0, "tokens": 0, "calls": 0}  # by all tries
        self._passages: dict[Passage, str] = {}

    @property
    def options(self) -> Mapping[str, Any]:
        return self.workflow.options

    def add(self, turns: Iterable[Turn]) -> None:
        """Add a batch of turns."""
        self.batches.append(tuple(turns))
        for turn in self.batches[-1]:
            if turn.moment not in self.moments:
                self.moments[turn.moment] = []
                for name in turn.asked:
                    self._asking[name].append(turn.moment)
            self.turns.append(turn)
            self.moments[turn.moment].append(turn)
            self.rounds.setdefault((turn.phase, turn.round), []).append(turn)
            self._by_seat[turn.seat.name].append(turn)
            self._order[turn.id] = len(self._order)
            for said in filter(None, (turn.first, turn.said)):
                self.used["usd"] += (said.most or 0.0) if said.usd is None else said.usd
                self.used["tokens"] += said.tokens
                self.used["calls"] += said.calls
            for place in {turn.phase, turn.step}:
                self._places[place].append(turn)
            for name in turn.answers:
                self._said[name][turn.seat.name].append(turn)
            for passage in turn.passages:
                self._passages.setdefault(passage, turn.seat.name)

    def moments_that_ask(self, *names: str) -> Iterator[list[Turn]]:
        """The turns of each moment that asked for all these answers, the newest first. Absent turns are among them."""
        for moment in reversed(self._asking.get(names[0], ())):
            if set(names) <= set(self.moments[moment][0].asked):
                yield self.moments[moment]

    def latest(self, *names: str) -> list[Turn]:
        """The last moment that asked for these answers. Where a phase's endings are judged, only of this round."""
        turns = next(self.moments_that_ask(*names), [])
        return turns if turns and self.place_of(turns[0]) >= self.since else []

    def last_words(self, name: str) -> Mapping[str, Turn]:
        """Each seat's newest turn with a readable answer of this name. A seat that fell silent keeps its last one."""
        return {seat: turns[-1] for seat, turns in self._said.get(name, {}).items()}

    def before(self, turn: Turn, name: str) -> Any:
        """The seat's last answer of this name before this turn. None if there is none."""
        own = self._said.get(name, {}).get(turn.seat.name, [])
        place = next((place for place in reversed(range(len(own))) if own[place] is turn), len(own))
        return own[place - 1].answers[name] if place else None

    def turns_of(self, seat: str) -> list[Turn]:
        return self._by_seat.get(seat, [])

    def place_of(self, turn: Turn) -> int:
        """How many turns were spoken before this one."""
        return self._order[turn.id]

    def named(self, place: str) -> list[Turn]:
        """The turns of the phase or step of this name."""
        return self._places.get(place, [])

    def newest(self, place: str, name: str) -> Turn | None:
        """The newest turn of a phase or step with this answer. An absence changes nothing."""
        return next((turn for turn in reversed(self.named(place)) if name in turn.answers), None)

    def items(self, source: str) -> tuple[str, ...]:
        """The items of the newest answer `step.answer`. Empty if it was never given."""
        step, _, name = source.partition(".")
        turn = self.newest(step, name)
        value = turn.answers[name] if turn else ()
        return value if isinstance(value, tuple) else (str(value),)

    def is_copy(self, passage: Passage, seat: str) -> bool:
        """Whether somebody else wrote this passage first."""
        return self._passages.get(passage, seat) != seat

    def rng(self, *about: object) -> random.Random:
        """A generator of random numbers that depends only on the session's seed and on `about`."""
        words = "\x1f".join((self.seed, *map(str, about)))
        return random.Random(hashlib.sha256(encode(words)).digest())
