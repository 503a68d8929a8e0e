"""What a rule, an order or a view may know: what was said so far, and nothing later."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from council.text import join_words, one_line, stands_in
from council.workflow import declare
from council.workflow.model import Seat

GIST = declare.answer("gist", "the turn in one sentence, for seats that see gists", types=("text",))

Moment = tuple[str, int, str]


@dataclass(frozen=True)
class RecordedTurn:
    """One turn file, as `plan` needs it: the reply, its brief, and what its calls took.

    Where `usd` is unknown, `most` is the most that they can have cost; None if that is unknown too. `trial` is what a
    machine did for it, None for every other seat.
    """

    body: str
    brief: str = ""
    absent: str | None = None
    tokens: int = 0
    usd: float | None = 0.0
    model: str | None = None
    most: float | None = None
    trial: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Turn:
    """A recorded turn with its answers. `asked` are the answers that its step asks for; `prose` is everything else."""

    id: str
    phase: str
    step: str
    round: int
    seat: Seat
    said: RecordedTurn
    asked: tuple[str, ...] = ()
    answers: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    first: RecordedTurn | None = None
    prose: str = ""
    optional: tuple[str, ...] = ()  # of those asked

    @property
    def moment(self) -> Moment:
        return (self.phase, self.round, self.step)

    @property
    def body(self) -> str:
        return self.said.body

    @property
    def whole(self) -> str:
        """All that the seat wrote: a second reply may hold only what the first one lacked."""
        return "\n\n".join(said.body for said in (self.first, self.said) if said)

    @property
    def passage(self) -> str:
        """What the seat wrote before its answers: the beginning of its prose, as far as that is one piece."""
        lines = self.prose.split("\n")
        parts = ("\n".join(lines[:end]) for end in range(len(lines), 0, -1))
        return next((part for part in parts if part.strip() and stands_in(part, self.whole)), self.body)

    @property
    def absent(self) -> str | None:
        return self.said.absent

    def describe_silence(self, *names: str, short: bool = False) -> str:
        """Why it did not give these answers: it was not heard, or `spoke, stance unreadable`; empty if it did."""
        lost = [name.replace("_", " ") for name in names if name not in (*self.answers, *self.optional)]
        if not lost or self.absent:
            return "not heard" if lost else ""
        return "spoke, unreadable" if short else f"spoke, {join_words(lost)} unreadable"

    @property
    def gist(self) -> str:
        """The turn in one line: its own gist and its numbers if the step asks for a gist, else its short answers and
        its first words."""
        if self.absent:
            return f"absent: {self.absent}"
        if self.answers.get(GIST):
            numbers = ((name, value) for name, value in self.answers.items() if isinstance(value, (int, float)))
            figures = [f"{name.replace('_', ' ')} {value}" for name, value in numbers if not isinstance(value, bool)]
            return one_line(str(self.answers[GIST]), 300) + (f" ({', '.join(figures)})" if figures else "")
        short = [f"{name}: {value}" for name, value in self.answers.items() if isinstance(value, (str, int, float))]
        return one_line("; ".join([*(part for part in short if len(part) < 60), self.body]), 300)


def describe_silent(turns: Iterable[Turn], *names: str) -> str:
    """`engineer not heard; architect and designer spoke, stance unreadable`; empty if all gave these answers."""
    by_reason: dict[str, list[str]] = {}
    for turn in turns:
        if why := turn.describe_silence(*names):
            by_reason.setdefault(why, []).append(turn.seat.name)
    return "; ".join(f"{join_words(seats)} {why}" for why, seats in sorted(by_reason.items()))


@dataclass(frozen=True)
class Verdict:
    """The result of a rule. `fired` names the rules that held; `tally` has what was counted."""

    holds: bool
    reason: str = ""
    fired: tuple[str, ...] = ()
    tally: Mapping[str, Any] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self.holds


@dataclass(frozen=True)
class Seen:
    """A turn that another may read: in full or as a gist, under its seat's name or under a label."""

    turn: Turn
    gist: bool = False
    label: str | None = None


@dataclass(frozen=True)
class Scene:
    """`since` is the index of the first turn that an `until` judges: the start of the round that has just ended."""

    seed: str
    options: Mapping[str, Any]
    groups: Mapping[str, tuple[Seat, ...]]
    turns: tuple[Turn, ...] = ()
    phase: str = ""
    round: int = 0
    cap: int = 0
    outcomes: Mapping[str, str] = field(default_factory=dict)
    since: int = 0
    roles: Mapping[str, str] = field(default_factory=dict)
    unnumbered: frozenset[str] = frozenset()  # phases whose rounds are no rounds of the debate
    elected: tuple[str, ...] = ()  # what each vote has chosen, oldest first

    def role(self, name: str) -> str:
        """The phase that has this role; empty if none has it."""
        return self.roles.get(name, "")

    def at(self, phase: str, round: int, cap: int) -> Scene:
        return replace(self, phase=phase, round=round, cap=cap)

    def moments(self) -> tuple[tuple[Turn, ...], ...]:
        """The turns grouped by phase, round and step, oldest first."""
        return self._moments

    @cached_property
    def _moments(self) -> tuple[tuple[Turn, ...], ...]:
        moments: dict[Moment, list[Turn]] = {}
        for turn in self.turns:
            moments.setdefault((turn.phase, turn.round, turn.step), []).append(turn)
        return tuple(map(tuple, moments.values()))

    def rounds_that_ask(self, *fields: str) -> Iterator[tuple[Turn, ...]]:
        """Every moment that asked for all these answers, newest first, including absent turns."""
        for turns in reversed(self.moments()):
            if set(fields) <= set(turns[0].asked):
                yield turns

    def latest(self, *fields: str) -> tuple[Turn, ...]:
        """The last moment since `since` that asked for these answers. Older answers do not count."""
        window = replace(self, turns=self.turns[self.since :])
        return next(window.rounds_that_ask(*fields), ())

    def last_words(self, name: str) -> dict[str, tuple[Turn, Any]]:
        """Each seat's newest readable answer of that name, from any round."""
        newest: dict[str, tuple[Turn, Any]] = {}
        for turns in self.rounds_that_ask(name):
            for turn in turns:
                if name in turn.answers:
                    newest.setdefault(turn.seat.name, (turn, turn.answers[name]))
        return newest

    def named(self, name: str) -> tuple[Turn, ...]:
        """The turns of the phase or step of that name."""
        return tuple(turn for turn in self.turns if name in (turn.phase, turn.step))

    def rng(self, *about: object) -> random.Random:
        """A random generator that depends only on the session's seed and on `about`."""
        words = "\x1f".join([self.seed, *map(str, about)])
        return random.Random(hashlib.sha256(words.encode("utf-8", "surrogatepass")).digest())
