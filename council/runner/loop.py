"""The loop: while a turn is due, have it spoken and record it. `run` and `recover` are this loop and no more.

It never decides who speaks: the plan does. It never loses a reply: each is on disk before anything else happens.
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
from typing import Any, Protocol, TypeVar

from council.config.models import Model
from council.config.settings import Config
from council.engine.planner import Due, Note, Plan
from council.engine.refusals import find_refusal
from council.errors import (
    CallFailed,
    CouncilError,
    Paused,
    RateLimited,
    StorageError,
    Waiting,
)
from council.prompts import brief as briefs
from council.prompts import for_humans
from council.protocols.outcome import writes_synthesis
from council.protocols.specialists import list_table
from council.record import chain, desk
from council.record.session import Session
from council.record.turn_file import ABSENT, Receipt
from council.reports import derived
from council.reports.archive import finish
from council.runner import notify
from council.runner.budget import Budget
from council.runner.calls import CallResult, make_call
from council.runner.clock import Clock, Late
from council.runner.limiter import SHARED, Limiters
from council.runner.live import LiveWords
from council.runner.prompt_cache import PromptCache, Start
from council.runner.retry import RetryPolicy
from council.speakers.base import Brief, Speaker, Spoken
from council.speakers.registry import describe, machine_of
from council.text import join_words
from council.workflow import limits
from council.workflow.model import Cast, Seat

T = TypeVar("T")


class Events(Protocol):
    """What an observer is told. The loop depends on nothing of it but `watched`: whether a person follows the debate,
    so that the derived files keep up with it.
    """

    watched: bool

    def due(self, plan: Plan, batch: tuple[Due, ...], models: Mapping[str, Model]) -> None: ...

    def call_began(self, due: Due) -> None: ...

    def call_ended(self, due: Due) -> None: ...

    def words(self, due: Due, piece: str) -> None: ...

    def waits(self, due: Due, why: str, seconds: float) -> None: ...

    def spoke(self, due: Due, receipt: Receipt, body: str) -> None: ...

    def lost(self, due: Due, why: str) -> None: ...

    def decided(self, plan: Plan, note: Note) -> None: ...

    def unsaved(self, due: Due, body: str) -> None: ...


@dataclass
class Runner:
    """One run of a session whose lock is held. `voice` gives the speaker of a seat: None if its reply is recorded by
    hand. `limiters` are those of the process: all its debates share them.
    """

    session: Session
    voice: Callable[[Seat], Speaker | None]
    config: Config
    events: Events
    quorum: int | None = None
    budget: Budget = field(default_factory=Budget)
    limiters: Limiters = SHARED
    clock: Clock = field(default_factory=Clock)
    called: set[str] = field(default_factory=set)  # the turns that a person was told of
    retries: RetryPolicy = field(init=False)
    cache: PromptCache = field(init=False)
    live: LiveWords = field(init=False)
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self.retries = RetryPolicy(self.config.retry, self.config.concurrency)
        self.cache = PromptCache(self.config.cache_from)
        self.live = LiveWords(self.session.folder, self.session.notices.append)

    async def run(self, archive: Path) -> Path:
        """Run until nothing is due, then write and archive the results. Returns the path of the archive."""
        reported = 0
        while True:
            plan = self.session.plan()
            for note in plan.notes[reported:]:
                self.events.decided(plan, note)
            reported = len(plan.notes)
            if plan.done:
                return await self.disk(partial(finish, self.session, plan, archive))
            desk.heed_pause(self.session.folder)
            await self.batch(plan)

    async def disk(self, work: Callable[[], T]) -> T:
        """Work on the session's files in a thread, one piece at a time.

        A write that has begun is finished even when the run is cancelled: it may be a reply that was paid for.
        """

        async def in_turn() -> T:
            async with self.writing:
                return await asyncio.to_thread(work)

        task = asyncio.create_task(in_turn())
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            while not task.done():
                with suppress(asyncio.CancelledError):
                    await asyncio.wait([task])
            raise

    async def batch(self, plan: Plan) -> None:
        """Call the speaker of every due turn and record each reply as it arrives, then handle the calls that failed.

        If somebody watches, the files derived from the earlier turns are written meanwhile.
        """
        voices = {due.id: self.voice(due.seat) for due in plan.due}
        batch = tuple(due for due in plan.due if voices[due.id] is not None)
        prepared = [(due, prepare(self.session, self.config, due, voices[due.id])) for due in batch or plan.due]
        await self.disk(partial(self.session.write_briefs, {due.id: brief.text for due, brief in prepared}))
        if people := [due for due in batch if _is_asked(voices[due.id])]:
            notify.call_person(self.config.notify, self.session, people)
            self.called |= {due.id for due in people}
        if not batch:
            ids = ", ".join(due.id for due in plan.due)
            raise Waiting(f"waiting for {ids}; `council next {self.session.id}` shows the briefs")
        self.events.due(plan, batch, {due.id: brief.model for due, brief in prepared})
        self.clock.begin(batch[0].phase.name, batch[0].round)
        speaking = [(due, brief, speaker) for due, brief in prepared if (speaker := voices[due.id])]
        starts = self.cache.starts(brief for _, brief, speaker in speaking if describe(speaker.name).caches_prompts)
        tasks: list[asyncio.Task[Any]] = [
            asyncio.create_task(self.turn(due, brief, speaker, starts.get(due.id) or Start()))
            for due, brief, speaker in speaking
        ]
        if self.events.watched:
            tasks.append(asyncio.create_task(self.disk(partial(derived.build, self.session.snapshot(), plan))))
        try:
            done = await asyncio.gather(*tasks, return_exceptions=True)
        except asyncio.CancelledError:
            await asyncio.gather(*tasks, return_exceptions=True)
            raise
        finally:
            self.live.close()
        results, building = done[: len(speaking)], done[len(speaking) :]
        await self.settle(batch, results)
        for failure in building:
            if isinstance(failure, BaseException):
                raise failure

    async def turn(self, due: Due, brief: Brief, speaker: Speaker, start: Start) -> None:
        """Call the speaker until it has answered, then record the reply."""
        brief = replace(brief, keep=start.keep)
        # A person keeps nobody else waiting.
        limiters = Limiters() if describe(speaker.name).is_person else self.limiters

        def arrived(piece: str) -> None:
            if not start.begun.is_set():
                self.cache.answer_began(brief)
                start.at = time.monotonic()
                start.begun.set()
            if piece:
                self.events.words(due, piece)
                self.live.add(due.id, piece)

        async def attempt() -> CallResult:
            self.live.end(due.id)  # the words of an attempt that failed
            self.events.call_began(due)
            try:
                return await make_call(self.session, self.budget, self.disk, speaker, brief, arrived)
            finally:
                self.events.call_ended(due)

        def waits(why: str, seconds: float) -> None:
            start.begun.set()
            self.events.waits(due, why, seconds)

        try:
            async with self.in_time(speaker):
                if start.after is not None:
                    await start.after.wait()
                limiter = limiters.find(speaker.name, brief.model.endpoint)
                answered = await self.retries.call(limiter, attempt, waits)
        finally:
            start.begun.set()
        began = time.monotonic() - answered.seconds
        if start.at >= began:
            self.cache.call_ended(start.at - began, answered.seconds)
        spoken, seconds = answered.spoken, answered.seconds
        made = receipt(self.session, due, brief.model, speaker.name, spoken, answered.started, seconds)
        made = replace(made, most=answered.most if made.usd is None else None)
        await self.record(due, made, spoken.body, answered.number)

    @asynccontextmanager
    async def in_time(self, speaker: Speaker) -> AsyncIterator[None]:
        """A call, as long as its round and the run have time for it. A reply that came is recorded in any case."""
        if describe(speaker.name).is_person:
            yield
            return
        round, run = self.limit(limits.ROUND, speaker), self.limit(limits.RUN, speaker)
        left = min(round - self.clock.round, run - self.clock.run)
        try:
            async with asyncio.timeout_at(self.clock.began + left if left < math.inf else None) as timer:
                await asyncio.sleep(0)  # without time left, nothing is called
                yield
        except TimeoutError:
            if not timer.expired():
                raise
            if run - self.clock.run <= left:
                raise Paused(f"the run took longer than {run:g} s; run `council recover` to continue") from None
            raise Late(f"the round took longer than {round:g} s") from None
        finally:
            self.clock.end()

    def limit(self, name: str, speaker: Speaker) -> float:
        """A limit in seconds. For a speaker on this machine, only one that was set for this debate counts."""
        if describe(speaker.name).on_this_machine and name not in self.session.metadata["options"]:
            return self.config.longest.get(name, math.inf)
        seconds = limits.read_seconds(self.session.workflow.options, name)
        return min(math.inf if seconds is None else seconds, self.config.longest.get(name, math.inf))

    async def record(self, due: Due, receipt: Receipt, body: str, answered: int | None = None) -> None:
        try:
            self.session.remember(*await self.disk(partial(self.session.store, receipt, body, answered)))
        except CouncilError:
            self.events.unsaved(due, body)
            raise
        self.live.end(due.id)
        self.events.spoke(due, receipt, body)

    async def settle(self, batch: tuple[Due, ...], results: list[BaseException | None]) -> None:
        """Raise what stops the debate; where the quorum allows it, record the members whose calls failed as absent."""
        fatal = [failure for failure in results if failure is not None and not isinstance(failure, CallFailed)]
        if fatal:
            raise min(fatal, key=_rank)
        lost = [(due, failure) for due, failure in zip(batch, results, strict=True) if isinstance(failure, CallFailed)]
        if lost and not self.has_quorum(batch, len(lost)):
            raise Paused(explain_losses(lost))
        for due, failure in lost:
            self.events.lost(due, str(failure))
        for due, failure in lost:
            speaker = self.voice(due.seat)
            model = model_of(self.session, self.config, due, speaker)
            absence = Spoken("", stop=ABSENT, absent=str(failure), usd=0.0)
            name = speaker.name if speaker else "nobody"
            await self.record(due, receipt(self.session, due, model, name, absence, datetime.now(UTC), 0.0), "")

    def has_quorum(self, batch: tuple[Due, ...], lost: int) -> bool:
        """Whether a quorum was given, only members were lost, and enough of them remain in this step. Nobody
        can do without the one who writes the synthesis.

        If the seats are cast, the members are those who have spoken in this phase or are due now.
        """
        step = batch[0].id.partition("/")[0]
        here = {turn.partition("/")[2]: said for turn, said in self.session.said.items() if turn.startswith(f"{step}/")}
        members = {seat.name for seat in list_table(self.session.workflow, batch[0].scene)}
        if any(isinstance(one, Cast) for one in batch[0].step.seats):
            before = {turn.seat.name for turn in batch[0].scene.turns if turn.phase == batch[0].phase.name}
            spoken = {*before, *(name.removesuffix(".2") for name in here), *(due.seat.name for due in batch)}
            members = spoken - self.session.workflow.seat_names()
        gone = [name for name, said in here.items() if said.absent]
        seated = all(due.seat.name in members and not writes_synthesis(due, self.session.workflow) for due in batch)
        return self.quorum is not None and seated and len(members) - len(gone) - lost >= self.quorum


def _is_asked(speaker: Speaker | None) -> bool:
    """Whether a person is asked in this process, rather than a replay in their place."""
    return speaker is not None and describe(speaker.name).is_person


def _rank(failure: BaseException) -> tuple[int, float]:
    """Which of several failures is raised: the least. Of rate limits it is the longest."""
    if isinstance(failure, RateLimited):
        return 2, -failure.until.timestamp() if failure.until else -math.inf
    return int(not isinstance(failure, StorageError)), 0.0


def explain_losses(lost: list[tuple[Due, CallFailed]]) -> str:
    """Whose calls failed, and why. What failed for the same reason shares a sentence."""
    alike: dict[str, list[tuple[Due, CallFailed]]] = {}
    for due, failure in lost:
        alike.setdefault(str(failure.__cause__ or failure), []).append((due, failure))
    reasons = []
    for same in alike.values():
        names, failure = join_words(due.seat.label for due, _ in same), same[0][1]
        if isinstance(failure, Late):
            reasons.append(f"{failure}, and {names} had not answered; run `council recover` to continue")
        else:
            reasons.append(f"{names} did not answer: {failure}")
    return "; ".join(reasons)


def model_of(session: Session, config: Config, due: Due, speaker: Speaker | None) -> Model:
    """The model that the turn's tier meant when the session began, within the seat's share of tokens. A speaker with a
    model of its own uses that.
    """
    frozen = session.metadata["tiers"].get(due.tier) or {}
    model = config.model(due.tier, frozen.get("endpoint"), frozen.get("model"))
    share = limits.bound_reply(session.workflow, due.phase.steps, due.step, due.seat)
    model = replace(model, max_tokens=model.limit(share))
    own = describe(speaker.name).own_model() if speaker else None
    return replace(model, name=own, price=config.prices.get(own)) if own else model


def prepare(session: Session, config: Config, due: Due, speaker: Speaker | None = None) -> Brief:
    """The brief of a turn. It must be on disk before it is sent."""
    text, work = briefs.find_job(session, due)
    shared, own, marks = briefs.render(session, due, text)
    deadline: float | None = config.deadline
    shown = place = None
    who = describe(speaker.name) if speaker is not None else None
    if who is not None and who.is_person:
        deadline = limits.read_patience(session.workflow.options, due.phase, config.longest)
        shown, place = for_humans.summarize(session, due, shared, own), desk.Desk(session.folder, due.id)
    return Brief(
        turn=due.id, seat=due.seat.name, shared=shared, own=own, model=model_of(session, config, due, speaker),
        deadline=math.inf if deadline is None else deadline, reply=due.step.reply, openings=briefs.openings(due),
        persona=str(due.seat.attributes.get("perspective") or ""),
        marks=marks, person=due.of_a_person, shown=shown, casts=briefs.casts(session.workflow, due),
        refuse=partial(find_refusal, scene=due.scene), work=work, desk=place, lapses=bool(due.phase.gates),
        problems=due.problems,
        writes=who is not None and who.is_called and not who.replays and writes_synthesis(due, session.workflow),
    )  # fmt: skip


def receipt(
    session: Session, due: Due, model: Model, speaker: str, spoken: Spoken, started: datetime, seconds: float
) -> Receipt:
    """The receipt of a turn, without the hash of its brief."""
    who = describe(speaker)
    asked = model.name if who.is_called and not machine_of(due.seat) else None
    return Receipt(
        turn=due.id, seat=due.seat.name, phase=due.phase.name, step=due.step.name, round=due.round,
        speaker=speaker, tier=due.tier, asked=asked, answered=spoken.model, brief="",
        started=started.isoformat(timespec="milliseconds"), seconds=round(seconds, 3),
        input=spoken.usage.input, cache_read=spoken.usage.cache_read, cache_write=spoken.usage.cache_write,
        output=spoken.usage.output, usd=who.usd(spoken, model.price), stop=spoken.stop, absent=spoken.absent,
        replayed=session.metadata.get("replay_of"), call=spoken.call,
        after=chain.after(session, due), by=spoken.by if who.is_person else None, recorded_by=spoken.recorded_by,
        via=spoken.via if who.is_person else None,
        trial=None if spoken.trial is None else dict(spoken.trial),
    )  # fmt: skip
