"""The loop: while something is due, have it spoken and record it. `run` and `recover` are this loop, no more.

It never decides who speaks: the plan does. It never loses a reply: each is on disk before the next thing happens.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

from council.config.models import Model
from council.config.settings import Config
from council.engine.planner import Due, Note, Plan
from council.errors import (
    CallFailed,
    CouncilError,
    Paused,
    StorageError,
    Waiting,
)
from council.prompts import brief as briefs
from council.prompts import for_humans
from council.record.session import Session
from council.record.turn_file import Receipt
from council.reports import derived
from council.reports.archive import finish
from council.runner.budget import Budget
from council.runner.prompt_cache import Start, Warmth
from council.runner.retry import Patience
from council.speakers.base import Brief, Speaker, Spoken
from council.speakers.registry import describe
from council.text import listing
from council.workflow import limits
from council.workflow.model import Cast, Seat

T = TypeVar("T")


class Events(Protocol):
    """What somebody who watches is told. Nothing that happens here depends on it."""

    def due(self, batch: tuple[Due, ...], models: Mapping[str, Model]) -> None: ...

    def words(self, due: Due, piece: str) -> None: ...

    def waits(self, due: Due, why: str, seconds: float) -> None: ...

    def spoke(self, due: Due, receipt: Receipt, body: str) -> None: ...

    def lost(self, due: Due, why: str) -> None: ...

    def decided(self, plan: Plan, note: Note) -> None: ...

    def unsaved(self, due: Due, body: str) -> None: ...


class Late(CallFailed):
    """A call that was under way when the time of its round was over."""


@dataclass
class Clock:
    """The seconds that models have taken in this run, and in the round that is spoken. People may think in peace."""

    run: float = 0.0
    round: float = 0.0
    key: tuple[str, int] = ("", 0)
    began: float = 0.0
    ended: float = 0.0

    def begin(self, phase: str, round: int) -> None:
        """A batch begins; what the one before it took is added up."""
        taken = max(0.0, self.ended - self.began)
        self.run, self.round = self.run + taken, self.round + taken if self.key == (phase, round) else 0.0
        self.key, self.began, self.ended = (phase, round), time.monotonic(), 0.0

    def end(self) -> None:
        """A call of the batch is over."""
        self.ended = time.monotonic()


@dataclass
class Runner:
    """One run over one session that is held. `voice` says who speaks for a seat: None where a person has to."""

    session: Session
    voice: Callable[[Seat], Speaker | None]
    config: Config
    events: Events
    quorum: int | None = None
    budget: Budget = field(default_factory=Budget)
    told: int = 0
    clock: Clock = field(default_factory=Clock)
    patience: Patience = field(init=False)
    warmth: Warmth = field(init=False)
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self.patience = Patience(self.config.retry, asyncio.Semaphore(self.config.concurrency))
        self.warmth = Warmth(self.config.cache_from)

    async def run(self, archive: Path) -> Path:
        """Until nothing is due any more; then what is derived is written and archived; the path of the archive."""
        while not (plan := self.plan()).done:
            await self.batch(plan)
        return await self.disk(partial(finish, self.session, plan, archive))

    async def disk(self, work: Callable[[], T]) -> T:
        """Work on the session's files beside the loop, one piece after the other, each of them to its end.

        What was begun to be written is written, whoever is cancelled meanwhile: it may be a reply that was paid for.
        """
        task = asyncio.create_task(self.alone(work))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            while not task.done():
                with suppress(asyncio.CancelledError):
                    await asyncio.wait([task])
            raise

    async def alone(self, work: Callable[[], T]) -> T:
        async with self.writing:
            return await asyncio.to_thread(work)

    def plan(self) -> Plan:
        plan = self.session.plan()
        for note in plan.notes[self.told :]:
            self.events.decided(plan, note)
        self.told = len(plan.notes)
        return plan

    async def batch(self, plan: Plan) -> None:
        """Everybody who is due speaks; what comes back is recorded as it comes. Then it is said who did not.

        What is derived from the turns before is written meanwhile.
        """
        voices = {due.id: self.voice(due.seat) for due in plan.due}
        batch = tuple(due for due in plan.due if voices[due.id] is not None)
        prepared = [(due, prepare(self.session, self.config, due, voices[due.id])) for due in batch or plan.due]
        await self.disk(partial(self.session.write_briefs, {due.id: brief.text for due, brief in prepared}))
        if not batch:
            ids = ", ".join(due.id for due in plan.due)
            raise Waiting(f"waiting for {ids}; `council next {self.session.id}` shows the briefs")
        self.events.due(batch, {due.id: brief.model for due, brief in prepared})
        self.clock.begin(batch[0].phase.name, batch[0].round)
        speaking = [(due, brief, speaker) for due, brief in prepared if (speaker := voices[due.id])]
        starts = self.warmth.starts(brief for _, brief, speaker in speaking if describe(speaker.name).caches_prompts)
        tasks = [
            asyncio.create_task(self.turn(due, brief, speaker, starts.get(due.id) or Start()))
            for due, brief, speaker in speaking
        ]
        tasks.append(asyncio.create_task(self.build(plan)))
        try:
            *results, built = await asyncio.gather(*tasks, return_exceptions=True)
        except asyncio.CancelledError:
            await asyncio.gather(*tasks, return_exceptions=True)
            raise
        await self.settle(batch, results)
        if built is not None:
            raise built

    async def build(self, plan: Plan) -> None:
        await self.disk(partial(derived.build, self.session.snapshot(), plan))

    async def turn(self, due: Due, brief: Brief, speaker: Speaker, start: Start) -> None:
        brief = replace(brief, keep=start.keep)
        started, clock = datetime.now(UTC), time.monotonic()

        async def attempt() -> Spoken:
            nonlocal started, clock
            async with self.budget.call(speaker.name, brief):
                started, clock = datetime.now(UTC), time.monotonic()
                spoken = await speaker.speak(brief, lambda piece: self.hear(due, brief, start, piece))
                self.budget.paid(describe(speaker.name).usd(spoken, brief.model.price))
                if start.at >= clock:
                    self.warmth.took(start.at - clock, time.monotonic() - clock)
                return spoken

        def waits(why: str, seconds: float) -> None:
            start.begun.set()
            self.events.waits(due, why, seconds)

        async with self.in_time(speaker), start:
            spoken = await self.patience.call(attempt, waits)
        await self.record(
            due,
            receipt(self.session, due, brief.model, speaker.name, spoken, started, time.monotonic() - clock),
            spoken.body,
        )

    @asynccontextmanager
    async def in_time(self, speaker: Speaker) -> AsyncIterator[None]:
        """A call, while its round and the run have time for it. What came is recorded outside of it, in any case."""
        if describe(speaker.name).is_person:
            yield
            return
        round, run = self.seconds(limits.ROUND, speaker), self.seconds(limits.RUN, speaker)
        left = min(round - self.clock.round, run - self.clock.run)
        try:
            async with asyncio.timeout_at(self.clock.began + left if left < math.inf else None) as timer:
                await asyncio.sleep(0)  # where no time is left, nothing is asked
                yield
        except TimeoutError:
            if not timer.expired():
                raise
            if run - self.clock.run <= left:
                raise Paused(f"the run took longer than {run:g} s; `council recover` goes on") from None
            raise Late(f"the round took longer than {round:g} s") from None
        finally:
            self.clock.end()

    def seconds(self, name: str, speaker: Speaker) -> float:
        """A limit, for this speaker: where nobody else is waited for, only one that was set for this debate holds."""
        own = name in self.session.metadata["options"]
        found = (
            None
            if describe(speaker.name).on_this_machine and not own
            else limits.seconds(self.session.workflow.options, name)
        )
        return math.inf if found is None else found

    def hear(self, due: Due, brief: Brief, start: Start, piece: str) -> None:
        if not start.begun.is_set():
            self.warmth.began(brief)
            start.begin()
        if piece:
            self.events.words(due, piece)

    async def record(self, due: Due, receipt: Receipt, body: str) -> None:
        try:
            self.session.remember(*await self.disk(partial(self.session.store, receipt, body)))
        except CouncilError:
            self.events.unsaved(due, body)
            raise
        self.events.spoke(due, receipt, body)

    async def settle(self, batch: tuple[Due, ...], results: list[BaseException | None]) -> None:
        """Raise what stops the debate; record as absent whom the quorum lets it go on without."""
        grave = [failure for failure in results if failure is not None and not isinstance(failure, CallFailed)]
        if grave:
            raise min(grave, key=lambda failure: not isinstance(failure, StorageError))
        lost = [(due, failure) for due, failure in zip(batch, results, strict=True) if failure is not None]
        for due, failure in lost:
            self.events.lost(due, str(failure))
        if lost and not self.spared(batch, len(lost)):
            raise Paused(why_lost(lost))
        for due, failure in lost:
            await self.absent(due, str(failure))

    def spared(self, batch: tuple[Due, ...], lost: int) -> bool:
        """Whether a quorum was given, only members are missing, and enough of them are left in this step.

        Where the seats are cast, whoever has spoken in the phase so far or is due now is a member.
        """
        step = batch[0].id.partition("/")[0]
        here = {turn.partition("/")[2]: said for turn, said in self.session.said.items() if turn.startswith(f"{step}/")}
        members = {seat.name for seat in self.session.workflow.table}
        if any(isinstance(one, Cast) for one in batch[0].step.seats):
            before = {turn.seat.name for turn in batch[0].scene.turns if turn.phase == batch[0].phase.name}
            spoken = {*before, *(name.removesuffix(".2") for name in here), *(due.seat.name for due in batch)}
            members = spoken - self.session.workflow.seat_names()
        gone = [name for name, said in here.items() if said.absent]
        seated = all(due.seat.name in members for due in batch)
        return self.quorum is not None and seated and len(members) - len(gone) - lost >= self.quorum

    async def absent(self, due: Due, why: str) -> None:
        speaker = self.voice(due.seat)
        model = model_of(self.session, self.config, due, speaker)
        silence = Spoken("", stop="absent", absent=why, usd=0.0)
        name = speaker.name if speaker else "nobody"
        await self.record(due, receipt(self.session, due, model, name, silence, datetime.now(UTC), 0.0), "")


def why_lost(lost: list[tuple[Due, BaseException]]) -> str:
    """Who was not heard, and why; those whom the round had no time for are told in one sentence."""
    late = [(due.seat.label, failure) for due, failure in lost if isinstance(failure, Late)]
    told = [f"{due.seat.label} could not be heard: {failure}" for due, failure in lost if not isinstance(failure, Late)]
    if late:
        names = listing(label for label, _ in late)
        told.append(f"{late[0][1]}, and {names} had not answered; `council recover` goes on")
    return "; ".join(told)


def model_of(session: Session, config: Config, due: Due, speaker: Speaker | None) -> Model:
    """What the turn's tier stood for when the session began, with as many tokens as the seat has; a speaker that has
    one model speaks with that."""
    frozen = session.metadata["tiers"].get(due.tier) or {}
    model = config.model(due.tier, frozen.get("endpoint"), frozen.get("model"))
    share = limits.share(session.workflow, due.phase.steps, due.step, due.seat)
    model = replace(model, max_tokens=min(model.max_tokens, share or model.max_tokens))
    own = speaker.model if speaker else None
    return replace(model, name=own, price=None) if own else model


def prepare(session: Session, config: Config, due: Due, speaker: Speaker | None = None) -> Brief:
    """The brief of a turn. It has to be on disk before it is sent."""
    shared, own, marks = briefs.render(session, due)
    model, openings = model_of(session, config, due, speaker), briefs.openings(due)
    casts = briefs.casts(session.workflow, due)
    brief = Brief(
        due.id, due.seat.name, shared, own, model, config.deadline, due.step.reply, openings, marks, casts=casts
    )
    if speaker is None or not describe(speaker.name).is_person:
        return replace(brief, person=due.of_a_person)
    patience = limits.seconds(session.workflow.options, limits.PERSON)
    shown = for_humans.shown(session, due, shared, own)
    return replace(brief, deadline=math.inf if patience is None else patience, person=due.of_a_person, shown=shown)


def receipt(
    session: Session, due: Due, model: Model, speaker: str, spoken: Spoken, started: datetime, seconds: float
) -> Receipt:
    """What is written beside the words of a turn, but for the hash of its brief."""
    who = describe(speaker)
    asked = None if who.is_person else model.name
    return Receipt(
        turn=due.id, seat=due.seat.name, phase=due.phase.name, step=due.step.name, round=due.round,
        speaker=speaker, tier=due.tier, asked=asked, answered=spoken.model, brief="",
        started=started.isoformat(timespec="milliseconds"), seconds=round(seconds, 3),
        input=spoken.usage.input, cache_read=spoken.usage.cache_read, cache_write=spoken.usage.cache_write,
        output=spoken.usage.output, usd=who.usd(spoken, model.price), stop=spoken.stop, absent=spoken.absent,
        replayed=session.metadata.get("replay_of"), call=spoken.call,
    )  # fmt: skip
