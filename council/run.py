"""The loop: while something is due, have it spoken and record it. `run` and `recover` are this loop, no more.

It never decides who speaks: the plan does. It never loses a reply: each is on disk before the next thing happens.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

from council import briefs, publish
from council.config import Config
from council.errors import CallFailed, CouncilError, Paused, StorageError, Waiting
from council.plan import Due, Note, Plan
from council.receipts import Receipt
from council.session import Session
from council.speakers.base import Brief, Model, Speaker, Spoken
from council.speakers.budget import Budget
from council.speakers.cache import Start, Warmth
from council.speakers.retry import Patience
from council.workflow import Seat

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


PAYS = "anthropic"  # the speaker whose prompts cost less where the API has them in its cache


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
        return await self.disk(partial(publish.finish, self.session, plan, archive))

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
        speaking = [(due, brief, speaker) for due, brief in prepared if (speaker := voices[due.id])]
        starts = self.warmth.starts(brief for _, brief, speaker in speaking if speaker.name == PAYS)
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
        await self.disk(partial(publish.build, self.session.snapshot(), plan))

    async def turn(self, due: Due, brief: Brief, speaker: Speaker, start: Start) -> None:
        brief = replace(brief, keep=start.keep)
        started, clock = datetime.now(UTC), time.monotonic()

        async def attempt() -> Spoken:
            nonlocal started, clock
            async with self.budget.call(speaker.name, brief):
                started, clock = datetime.now(UTC), time.monotonic()
                spoken = await speaker.speak(brief, lambda piece: self.hear(due, brief, start, piece))
                self.budget.paid(spoken.usd)
                if start.at >= clock:
                    self.warmth.took(start.at - clock, time.monotonic() - clock)
                return spoken

        def waits(why: str, seconds: float) -> None:
            start.begun.set()
            self.events.waits(due, why, seconds)

        async with start:
            spoken = await self.patience.call(attempt, waits)
        await self.record(
            due,
            receipt(self.session, due, brief.model, speaker.name, spoken, started, time.monotonic() - clock),
            spoken.body,
        )

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
            raise Paused("; ".join(f"{due.seat.label} could not be heard: {failure}" for due, failure in lost))
        for due, failure in lost:
            await self.absent(due, str(failure))

    def spared(self, batch: tuple[Due, ...], lost: int) -> bool:
        """Whether a quorum was given, only members are missing, and enough of them are left in this step."""
        members = {seat.name for seat in self.session.workflow.members}
        step = batch[0].id.partition("/")[0]
        gone = [turn for turn, said in self.session.said.items() if turn.startswith(f"{step}/") and said.absent]
        seated = all(due.seat.name in members for due in batch)
        return self.quorum is not None and seated and len(members) - len(gone) - lost >= self.quorum

    async def absent(self, due: Due, why: str) -> None:
        speaker = self.voice(due.seat)
        model = model_of(self.session, self.config, due, speaker)
        silence = Spoken("", stop="absent", absent=why, usd=0.0)
        name = speaker.name if speaker else "nobody"
        await self.record(due, receipt(self.session, due, model, name, silence, datetime.now(UTC), 0.0), "")


def model_of(session: Session, config: Config, due: Due, speaker: Speaker | None) -> Model:
    """What the turn's tier stood for when the session began; a speaker that has one model speaks with that."""
    frozen = session.metadata["tiers"].get(due.tier) or {}
    model = config.model(due.tier, frozen.get("endpoint"), frozen.get("model"))
    own = speaker.model if speaker else None
    return replace(model, name=own, price=None) if own else model


def prepare(session: Session, config: Config, due: Due, speaker: Speaker | None = None) -> Brief:
    """The brief of a turn. It has to be on disk before it is sent."""
    shared, own, marks = briefs.render(session, due)
    model, openings = model_of(session, config, due, speaker), briefs.openings(due)
    return Brief(due.id, due.seat.name, shared, own, model, config.deadline, due.step.reply, openings, marks)


def receipt(
    session: Session, due: Due, model: Model, speaker: str, spoken: Spoken, started: datetime, seconds: float
) -> Receipt:
    """What is written beside the words of a turn, but for the hash of its brief."""
    asked = None if speaker == "human" else model.name
    return Receipt(
        turn=due.id, seat=due.seat.name, phase=due.phase.name, step=due.step.name, round=due.round,
        speaker=speaker, tier=due.tier, asked=asked, answered=spoken.model, brief="",
        started=started.isoformat(timespec="milliseconds"), seconds=round(seconds, 3),
        input=spoken.usage.input, cache_read=spoken.usage.cache_read, cache_write=spoken.usage.cache_write,
        output=spoken.usage.output, usd=spoken.usd, stop=spoken.stop, absent=spoken.absent,
        replayed=session.metadata.get("replay_of"), call=spoken.call,
    )  # fmt: skip
