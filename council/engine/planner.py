"""The planner: given a workflow and the turns so far, which turns are due? No clock, randomness, disk or network.

It walks the workflow from the beginning each time. Each rule, order and view sees the scene as it was at its place in
the workflow, so planning again from the files always gives the same result, in any process.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from council.engine.conditions import combine, judge
from council.engine.orders import order
from council.engine.scene import RecordedTurn, Scene, Turn, Verdict
from council.engine.views import View, look
from council.replies import parse
from council.text import fold, slug
from council.workflow import declare
from council.workflow.model import (
    Cast,
    Condition,
    Phase,
    Seat,
    Step,
    Workflow,
)

GRANT = declare.answer(
    "grant", "from a person: how many more rounds than planned the phase may have", types=("integer", "range")
)
RETRY = ".2"  # ends the id of a turn's second try
ENDED_BY_CAP = "cap"
ENDED = "done"


@dataclass(frozen=True)
class Due:
    """A turn that is due. In a second try, `first` is the reply that could not be read, and `problems` say why."""

    id: str
    phase: Phase
    step: Step
    round: int
    seat: Seat
    sees: View
    scene: Scene = field(repr=False, compare=False)
    first: RecordedTurn | None = None
    problems: tuple[str, ...] = ()

    @property
    def of_a_person(self) -> bool:
        return self.seat.is_person

    @property
    def tier(self) -> str:
        return str(self.seat.attributes.get("tier") or self.step.tier)


@dataclass(frozen=True)
class Note:
    """A decision of the planner. Its kind is `entered`, `skipped`, `round` (a round is over), `ended` or `halted`."""

    kind: str
    phase: str
    round: int = 0
    step: str = ""
    outcome: str = ""
    verdict: Verdict = Verdict(True)
    turns: int = 0


@dataclass(frozen=True)
class Plan:
    """`due` are the turns to be spoken now, all at once. `scene` has all recorded turns. `expected` has the id of every
    turn, with the number of turns in the scene when it was due.
    """

    due: tuple[Due, ...]
    notes: tuple[Note, ...]
    scene: Scene
    expected: Mapping[str, int]

    @property
    def done(self) -> bool:
        return not self.due


def is_possible(turn: str, workflow: Workflow) -> bool:
    """Whether the workflow could ever ask for this turn."""
    folder = turn.partition("/")[0]
    for phase, step in workflow.steps():
        repeated = re.match(rf"{phase.number:02}-{re.escape(phase.name)}-r(\d\d)", folder)
        if folder in {phase.folder(round, step) for round in (1, int(repeated[1]) if repeated else 1)}:
            return True
    return False


def plan(workflow: Workflow, said: Mapping[str, RecordedTurn], seed: str = "") -> Plan:
    """The turns that are due, and every decision that led there."""
    walk = _Walk(workflow, said, seed)
    due: tuple[Due, ...] = ()
    try:
        for phase in workflow.phases:
            walk.phase(phase)
    except _NotYet as stop:
        due = stop.due
    except _Halted:
        pass
    return Plan(due, tuple(walk.notes), walk.scene, walk.expected)


class _NotYet(Exception):
    """Some of a batch are not recorded: the walk ends here."""

    def __init__(self, due: tuple[Due, ...]) -> None:
        self.due = due


class _Halted(Exception):
    """A `halt` rule holds: the debate is over."""


class _Walk:
    def __init__(self, workflow: Workflow, said: Mapping[str, RecordedTurn], seed: str) -> None:
        self.workflow = workflow
        self.said = said
        beside = frozenset(phase.name for phase in workflow.phases if not phase.numbered)
        self.scene = Scene(seed, workflow.options, workflow.groups, roles=workflow.roles, unnumbered=beside)
        self.notes: list[Note] = []
        self.expected: dict[str, int] = {}

    def phase(self, phase: Phase) -> None:
        self.scene = self.scene.at(phase.name, 0, phase.max_rounds)
        if phase.when is not None and not self.decided(phase.when):
            return
        round, outcome = 0, ""
        while not outcome:
            round += 1
            begun = len(self.scene.turns)
            self.scene = self.scene.at(phase.name, round, phase.max_rounds + self.granted(phase))
            for step in phase.steps:
                if step.when is None or self.decided(step.when, step.name):
                    self.step(phase, step, round)
            outcome, verdict = self.outcome(phase, round, begun)
            self.note(Note("round", phase.name, round, outcome=outcome, verdict=verdict))
        self.scene = replace(self.scene, outcomes={**self.scene.outcomes, phase.name: outcome})
        self.note(Note("ended", phase.name, round, outcome=outcome, verdict=verdict))

    def step(self, phase: Phase, step: Step, round: int) -> None:
        batches = order.call(step.order, self.seats(step), self.scene)
        for batch in batches:
            spoken = [self.turn(phase, step, round, seat) for seat in batch]
            if due := tuple(one for one in spoken if isinstance(one, Due)):
                raise _NotYet(due)
            heard = (one for one in spoken if isinstance(one, Turn))
            self.scene = replace(self.scene, turns=(*self.scene.turns, *heard))
            self.check_halt()

    def turn(self, phase: Phase, step: Step, round: int, seat: Seat) -> Turn | Due:
        """The seat's turn as recorded, or the call that is due: the first, or a second after an unreadable reply."""
        id = f"{phase.folder(round, step)}/{seat.name}"
        self.expected[id] = len(self.scene.turns)
        first = self.said.get(id)
        if first is None:
            return Due(id, phase, step, round, seat, look(step.sees, seat, self.scene), self.scene)
        answers = self.read(seat, step, first) if not first.absent else parse.UNHEARD
        asked = tuple(name for name, _ in step.reply)
        found, problems = answers.found, answers.problems
        optional = tuple(name for name, kind in step.reply if kind.optional)
        turn = Turn(
            id,
            phase.name,
            step.name,
            round,
            seat,
            first,
            asked,
            found,
            problems,
            prose=answers.prose,
            optional=optional,
        )
        if not answers.problems:
            return turn
        again = id + RETRY
        self.expected[again] = len(self.scene.turns)
        second = self.said.get(again)
        if second is None:
            sees = look(step.sees, seat, self.scene)
            return Due(again, phase, step, round, seat, sees, self.scene, first, answers.problems)
        if second.absent:
            return turn
        answers = self.read(seat, step, second).after(answers)
        found, problems = answers.found, answers.problems
        return replace(turn, said=second, answers=found, problems=problems, first=first, prose=answers.prose)

    def read(self, seat: Seat, step: Step, said: RecordedTurn) -> parse.Answers:
        """The answers of a reply. One without declared answers lacks what its seat always gives."""
        answers = parse.read(step.reply, said.body, said.brief)
        if step.reply or not seat.gives:
            return answers
        words = fold(said.body)
        lacking = {f"/{one}": f"it gives no {one}; name it" for one in seat.gives if fold(one) not in words}
        return replace(answers, missing=lacking)

    def seats(self, step: Step) -> tuple[Seat, ...]:
        spoken = [turn.seat for turn in self.scene.turns]
        named = self.workflow.seats((name for name in step.seats if isinstance(name, str)), spoken)
        cast = [seat for one in step.seats if isinstance(one, Cast) for seat in self.cast(one)]
        return (*named, *cast)

    def cast(self, cast: Cast) -> Iterable[Seat]:
        """The seats that a reply names: `Name: what it stands for` becomes a seat of that name. A reply cannot cast a
        seat of the workflow, or a person."""
        seated = self.workflow.seat_names()
        left_out = {slug(item.partition(":")[0], 40) for item in self.answered(cast.without)} if cast.without else set()
        seats: dict[str, Seat] = {}
        for item in self.answered(cast.source):
            title, _, about = item.partition(":")
            if (name := slug(title, 40)) and name not in left_out:
                known = self.workflow.catalog.get(name, {})
                name = f"the-{name}" if name in seated else name
                attributes = {**known, "title": title.strip(), "about": about.strip()}
                seats.setdefault(name, Seat(name, cast.source[0], attributes))
        return seats.values()

    def answered(self, source: tuple[str, str]) -> list[str]:
        """The items of the newest readable answer of that name. An absence changes nothing."""
        step, name = source
        given = [turn.answers[name] for turn in self.scene.named(step) if name in turn.answers][-1:]
        return [str(item) for value in given for item in (value if isinstance(value, tuple) else [value])]

    def granted(self, phase: Phase) -> int:
        """The extra rounds that a person granted with the answer `grant`. Models cannot grant any."""
        granting = (turn for turn in self.scene.turns if GRANT in turn.answers and turn.seat.is_person)
        return sum(int(turn.answers[GRANT] or 0) for turn in granting if phase.name in (turn.phase, turn.step))

    def outcome(self, phase: Phase, round: int, begun: int) -> tuple[str, Verdict]:
        """Why the phase ends after this round; empty if it continues."""
        cap = phase.max_rounds + self.granted(phase)
        scene = replace(self.scene, since=begun, cap=cap)
        verdicts = []
        if round >= phase.min_rounds:
            for outcome, condition in phase.until:
                verdicts.append(judge(condition, scene))
                if verdicts[-1]:
                    return outcome, verdicts[-1]
        verdict = combine(verdicts) if verdicts else Verdict(False)
        if round >= cap:
            return (ENDED_BY_CAP if phase.until else ENDED), replace(verdict, holds=True)
        return "", verdict

    def decided(self, condition: Condition, step: str = "") -> bool:
        """Whether a `when` holds. Either result is noted."""
        verdict = judge(condition, self.scene)
        self.note(Note("entered" if verdict else "skipped", self.scene.phase, self.scene.round, step, verdict=verdict))
        return verdict.holds

    def check_halt(self) -> None:
        for outcome, condition in self.workflow.halt:
            if verdict := judge(condition, self.scene):
                self.scene = replace(self.scene, outcomes={**self.scene.outcomes, self.scene.phase: outcome})
                self.note(Note("halted", self.scene.phase, self.scene.round, outcome=outcome, verdict=verdict))
                raise _Halted

    def note(self, note: Note) -> None:
        self.notes.append(replace(note, turns=len(self.scene.turns)))
        chosen = note.verdict.tally.get("winner")
        if note.verdict.holds and isinstance(chosen, str):
            self.scene = replace(self.scene, elected=(*self.scene.elected, chosen))
