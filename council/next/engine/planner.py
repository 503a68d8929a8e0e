"""The planner: given a workflow and the turns so far, which turns may be spoken now? No clock, dice, disk or network.

The debate is a generator that reads like the workflow. It stops where a turn is missing and goes on from there, so all
plans of one debate together cost one walk. Planning from the files is a new walk, and comes to the same plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import takewhile

from council.next.engine import orders, registry, rules, views
from council.next.engine.conditions import combine, judge
from council.next.engine.scene import Recorded, Scene, Seen, Turn, Verdict
from council.next.errors import UsageError
from council.next.replies.read import Answers, heading, read
from council.next.text import slug
from council.next.workflow.gates import UNANSWERED
from council.next.workflow.model import RESERVED, Cast, Condition, Phase, Seat, Step, Workflow

REGISTERED = (orders, rules, views)  # importing them makes their words known to workflows
RETRY = ".2"  # ends the id of a turn's second try
LIMIT, DONE = "limit", "done"  # how a phase ends that no rule ended: its rounds are used up, or it has no such rule
Said = Mapping[str, Recorded]


@dataclass(frozen=True)
class Due:
    """A turn that may be spoken now. In a second try, `first` is the reply that could not be read."""

    id: str
    phase: Phase
    step: Step
    round: int
    seat: Seat
    sees: tuple[Seen, ...] = ()
    first: Recorded | None = None
    problems: tuple[str, ...] = ()

    @property
    def tier(self) -> str:
        return self.seat.get("tier") or self.step.tier


@dataclass(frozen=True)
class Note:
    """A decision of the planner: `entered` or `skipped` by a `when`, a `round` over, a phase `ended`, or `halted`."""

    kind: str
    phase: str
    round: int
    verdict: Verdict
    step: str = ""
    ending: str = ""
    turns: int = 0  # how many had been spoken


class Plan:
    """`due` are the turns to be spoken now. `batches` holds the ids of the turns that were asked for together, and
    `open` those of the batch of which some are still due."""

    def __init__(self, workflow: Workflow, seed: str = "", scene: Scene | None = None) -> None:
        self.workflow = workflow
        self.scene = scene or Scene(workflow, seed)
        self._said: Said = {}
        self._sees: dict[str, tuple[Seen, ...]] = {}
        self._begin()

    def _begin(self) -> None:
        self.due: tuple[Due, ...] = ()
        self.notes: list[Note] = []
        self.batches: list[tuple[str, ...]] = []
        self.open: tuple[str, ...] = ()
        self.halted, self.done = "", False
        self._walk = self._debate()

    def advance(self, said: Said) -> Plan:
        """Go on as far as the recorded turns reach. A walk that failed or was interrupted begins again."""
        self._said, self.open = said, ()
        try:
            self.due = next(self._walk, ())
        except BaseException:
            self.scene = self._new_scene()
            self._begin()
            raise
        return self

    def _new_scene(self) -> Scene:
        old = self.scene
        return Scene(old.workflow, old.seed, old.topic, old.attached, old.frozen)

    def before(self, turn: str) -> tuple[Plan, Due]:
        """The plan when a turn was asked for, and that turn: what its speaker could know."""
        past = takewhile(lambda batch: turn not in batch, [*self.batches, self.open])
        ids = {*(id for batch in past for id in batch), turn.removesuffix(RETRY)} - {turn}
        plan = Plan(self.workflow, scene=self._new_scene())
        for due in plan.advance({id: said for id, said in self._said.items() if id in ids}).due:
            if due.id == turn:
                return plan, due
        raise UsageError(f"{turn} was never asked for")

    def strays(self) -> list[str]:
        """The recorded turns that were not asked for: a seat does not sit, or a turn before them is missing."""
        return sorted(self._said.keys() - {id for batch in (*self.batches, self.open) for id in batch})

    def check(self, due: Due, body: str) -> tuple[str, ...]:
        """What is wrong with this reply to a due turn, if it were recorded now. A second try adds to the first."""
        answers, problems = self._read(due, Recorded(body))
        if due.first is not None:
            problems = self._check(due, both(self._read(due, due.first)[0], answers))
        return tuple(problems.values())

    def _debate(self) -> Iterator[tuple[Due, ...]]:
        for phase in self.workflow.phases:
            yield from self._phase(phase)
            if self.halted:
                break
        self.done = True

    def _phase(self, phase: Phase) -> Iterator[tuple[Due, ...]]:
        scene, (least, most) = self.scene, self.workflow.span(phase)
        scene.phase, scene.round, scene.cap, scene.judged = phase.name, 0, most, Verdict(False)
        if phase.when and not self._holds(phase.when):
            return
        ending = ""
        while not ending:
            scene.round, begun = scene.round + 1, len(scene.turns)
            for step in phase.steps:
                if step.when is None or self._holds(step.when, step.name):
                    yield from self._step(phase, step)
                    if self.halted:
                        return
            persons = (turn for turn in scene.turns[begun:] if turn.seat.is_person)  # no model can grant a round
            scene.cap += sum(int(turn.answers.get("grant", 0)) for turn in persons)
            scene.since = begun
            ending = self._ending(phase, least)
            scene.since = 0
        scene.ended[phase.name] = ending
        scene.elected = scene.judged.elected or scene.elected
        self._note("ended", scene.judged, ending=ending)

    def _step(self, phase: Phase, step: Step) -> Iterator[tuple[Due, ...]]:
        scene = self.scene
        folder = phase.folder(scene.round, step, repeats=self.workflow.span(phase)[1] > 1)
        for batch in registry.orders.call(step.order, self.seats(step), scene):
            asked = [Due(f"{folder}/{seat.name}", phase, step, scene.round, seat) for seat in batch]
            turns: dict[str, Turn] = {}
            self._sees = {}
            while due := tuple(missing for one in asked if (missing := self._missing(one, turns, asked))):
                # A second try may be on record before its turn is whole: it is no stray.
                ids = {*(one.id for one in (*asked, *due)), *tries(turns.values())}
                self.open = tuple(sorted(ids))
                yield due
            spoken = [turns[one.id] for one in asked]
            self.batches.append(tuple(tries(spoken)))
            scene.add(spoken)
            for ending, condition in self.workflow.halt.items():
                if not self.halted and (verdict := judge(condition, scene)):
                    self._halt(phase, ending, verdict)
            writer = self.workflow.phase("synthesis")
            # Nothing comes of the debate without the person asked at a gate, or before the result.
            needed = bool(phase.gates) or writer is None or phase.number < writer.number
            gone = next((turn for turn in spoken if needed and turn.seat.is_person and turn.absent), None)
            if gone and not self.halted:
                self._halt(phase, UNANSWERED, Verdict(True, f"{gone.seat.label} absent: {gone.absent}"))
            if self.halted:
                return

    def _halt(self, phase: Phase, ending: str, verdict: Verdict) -> None:
        self.halted = self.scene.ended[phase.name] = ending
        self._note("halted", verdict, ending=ending)

    def _missing(self, due: Due, turns: dict[str, Turn], batch: list[Due]) -> Due | None:
        """What is still to be spoken for a turn: nothing, itself, or a second try after an unreadable reply.

        The record counts for more than this reader, which may be stricter or less strict than the one of the version
        that held the debate: a second try that is there was asked for, and where the debate went on, none was."""
        if due.id in turns:
            return None
        if (first := self._said.get(due.id)) is None:
            return replace(due, sees=self._look(due))
        said, answers, problems, asked_again = first, *self._read(due, first), None
        second = self._said.get(due.id + RETRY)
        if problems and second is None and not self._went_on(batch):
            why = tuple(problems.values())
            return replace(due, id=due.id + RETRY, sees=self._look(due), first=first, problems=why)
        if second is not None:
            answers, asked_again = both(answers, self._read(due, second)[0]), first
            said = first if second.absent else second  # who is absent from the second try spoke in the first
            problems = self._check(due, answers)
        turns[due.id] = Turn(
            id=due.id,
            phase=due.phase.name,
            step=due.step.name,
            round=due.round,
            seat=due.seat,
            said=said,
            asked=tuple(due.step.reply),
            answers=answers.found,
            problems=tuple(problems.values()),
            unread=answers.unread,
            prose=answers.prose,
            first=asked_again,
            passages=answers.passages,
        )
        return None

    def _went_on(self, batch: list[Due]) -> bool:
        """Whether turns that come after this batch are on record."""
        own = {id for one in batch for id in (one.id, one.id + RETRY)}
        return bool(self._said.keys() - own - {id for past in self.batches for id in past})

    def _look(self, due: Due) -> tuple[Seen, ...]:
        """What a turn may read. Nothing is added while its batch speaks, so it is looked up once."""
        if due.id not in self._sees:
            self._sees[due.id] = views.look(due.step.sees, due.seat, self.scene)
        return self._sees[due.id]

    def _read(self, due: Due, said: Recorded) -> tuple[Answers, dict[str, str]]:
        """The answers of one reply, and what is wrong with it. Who is absent is not asked again."""
        if said.absent:
            return Answers(), {}
        answers = read(due.step.reply, said.body, lambda passage: self.scene.is_copy(passage, due.seat.name))
        return answers, self._check(due, answers)

    def _check(self, due: Due, answers: Answers) -> dict[str, str]:
        """What is wrong: what could not be read, and what does not fit what was said before."""
        problems = {name: why for name, why in answers.problems.items() if name not in answers.found}
        for name, kind in due.step.reply.items():
            known = name in registry.checks or bool(kind.room and registry.checks.knows(name))
            if known and name not in problems and (wrong := registry.checks[name](answers.found, self.scene, due.seat)):
                problems[name] = f'"## {heading(name)}": {wrong}'
        return problems

    def seats(self, step: Step) -> tuple[Seat, ...]:
        """Everybody who sits in a step, those too whom a reply has cast."""
        named = self.workflow.seats(name for name in step.seats if isinstance(name, str))
        return (*named, *(seat for one in step.seats if isinstance(one, Cast) for seat in self._cast(one)))

    def _cast(self, cast: Cast) -> tuple[Seat, ...]:
        """The seats that a reply names: `Security: what it stands for` becomes a seat of that name."""
        left_out = {slug(item.partition(":")[0], 40) for item in self.scene.items(cast.without)}
        taken, seats = {*RESERVED, *self.workflow.all_seats(), *self.workflow.groups}, dict[str, Seat]()
        for item in self.scene.items(cast.source):
            title, _, about = item.partition(":")
            if (name := slug(title, 40)) and name not in left_out:
                persona = self.workflow.personas.get(name, {})
                attributes = {**persona, "title": title.strip(), "stands_for": about.strip("*_` ")}
                name = f"the-{name}" if name in taken else name  # a reply cannot take a seat of the workflow
                seats.setdefault(name, Seat(name, cast.source, attributes))
        return tuple(seats.values())

    def _ending(self, phase: Phase, least: int) -> str:
        """Why the phase ends after this round. Empty if it goes on."""
        verdicts, ending = [], ""
        for name, condition in phase.until.items() if self.scene.round >= least else ():
            verdicts.append(judge(condition, self.scene))
            if verdicts[-1]:
                ending = name
                break
        self.scene.judged = verdicts[-1] if ending else combine(verdicts)
        if not ending and self.scene.round >= self.scene.cap:
            ending = LIMIT if phase.until else DONE
        self._note("round", self.scene.judged, ending=ending)
        return ending

    def _holds(self, condition: Condition, step: str = "") -> bool:
        verdict = judge(condition, self.scene)
        self._note("entered" if verdict else "skipped", verdict, step=step)
        return verdict.holds

    def _note(self, kind: str, verdict: Verdict, step: str = "", ending: str = "") -> None:
        self.notes.append(Note(kind, self.scene.phase, self.scene.round, verdict, step, ending, len(self.scene.turns)))


def both(before: Answers, after: Answers) -> Answers:
    """Two tries as one reply. What either of them says counts, the second one first."""
    found = {**before.found, **after.found}
    unread = {name: words for name, words in {**before.unread, **after.unread}.items() if name not in found}
    prose = max(after.prose, before.prose, key=len)  # a second try may begin with "Here it is:" and no more
    return Answers(found, after.problems, unread, prose, (*before.passages, *after.passages))


def tries(turns: Iterable[Turn]) -> Iterator[str]:
    """The ids of turns, each with that of its second try, if there was one."""
    for turn in turns:
        yield from (turn.id, turn.id + RETRY) if turn.first else (turn.id,)


def plan(workflow: Workflow, said: Said, seed: str = "") -> Plan:
    return Plan(workflow, seed).advance(said)
