"""The loop: while a turn is due, have it spoken and record it. `run` and `recover` are this loop and no more.

It never decides who speaks: the plan does. It never loses a reply: each is on disk before anything else happens.
"""

from __future__ import annotations

import asyncio
import math
import signal
import threading
import time
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from council.next.config import places
from council.next.config.settings import Settings
from council.next.engine.planner import RETRY, Due, Plan
from council.next.errors import CouncilError, Interrupted, Paused, StorageError, Waiting
from council.next.prompts import brief as briefs
from council.next.prompts.brief import Brief
from council.next.record import desk
from council.next.record.session import Session, now
from council.next.record.turn_file import Receipt
from council.next.reports.build import build
from council.next.reports.finish import finish
from council.next.runner.assistant import members
from council.next.runner.budget import Budget
from council.next.runner.calls import Caller, receive
from council.next.speakers.base import CallFailed, Refused, Speaker, Spoken, speakers
from council.next.text import encode, join_words

LOOK = 0.2  # seconds between two looks at the desk while a person is waited for
SHORT = 1 / 4  # of a call: if answers take longer to begin, nobody waits for the first of a batch
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Listener:
    """What an observer of a run is told. All of it may be ignored."""

    def due(self, dues: tuple[Due, ...]) -> None:
        """These turns begin now."""

    def words(self, due: Due, text: str) -> None:
        """A piece of a reply has arrived."""

    def spoke(self, due: Due, receipt: Receipt, body: str) -> None:
        """A turn is on record."""

    def say(self, line: str) -> None:
        """Something that a person who watches should know, such as a wait."""

    def unsaved(self, due: Due, body: str) -> None:
        """A reply could not be stored. This is the last chance to keep it."""


@dataclass
class Run:
    """One run of a session that is held. Without a `speaker`, members' replies are recorded by hand. `person` asks
    somebody in this process; with `wait`, a run in which only persons are due waits for answers from elsewhere."""

    session: Session
    speaker: Speaker | None
    settings: Settings
    budget: Budget = field(default_factory=Budget)
    listener: Listener = field(default_factory=Listener)
    person: Speaker | None = None
    quorum: int | None = None
    wait: bool = False
    _tasks: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    _dues: dict[str, Due] = field(default_factory=dict)
    _failed: dict[str, CallFailed] = field(default_factory=dict)
    _named: dict[str, Speaker] = field(default_factory=dict)  # by seats: council's own machines are among them
    _begun: dict[tuple[str, ...], asyncio.Event] = field(default_factory=dict)
    _shares: list[float] = field(default_factory=list)  # of each call's time, until its answer began
    _used: dict[tuple[str, int], float] = field(default_factory=dict)  # seconds of calls, by phase and round

    def __post_init__(self) -> None:
        self._caller = Caller(self.session, self.settings, self.budget, self.listener.say)

    async def until_done(self) -> Plan:
        """Have everything spoken that is due. Raises Paused or Waiting where the debate cannot go on now."""
        plan = self.session.refresh()
        waiting_since = time.monotonic()
        while plan.due:
            if by := desk.is_paused(self.session.folder):
                await self._finish_calls()
                desk.resume(self.session.folder)
                raise Paused(f"{by} asked for a pause; `council recover {self.session.id}` goes on")
            if desk.take(self.session):
                plan = self.session.plan
                self._drop(id for id in [*self._tasks] if id in self.session.said)
                continue
            self._begin(plan.due)
            if not self._tasks and self._failed:
                self._settle()
            elif not self._tasks:
                await self._wait_for_person(plan.due, waiting_since)
            else:
                await self._wait_for_turn()
                waiting_since = time.monotonic()
            plan = self.session.advance()
        return plan

    async def _wait_for_turn(self) -> None:
        """Wait until a turn has ended or, where a person is asked, for a moment. Raises what stops the debate."""
        limit, left = self._time_left()
        asks_person = any(self._dues[id].seat.is_person for id in self._tasks)
        began = time.monotonic()
        timeout = min(left, LOOK if asks_person else math.inf)
        done, _ = await asyncio.wait(
            self._tasks.values(),
            timeout=None if timeout == math.inf else max(0.0, timeout),
            return_when=asyncio.FIRST_COMPLETED,
        )
        calls = [self._dues[id] for id in self._tasks if not self._dues[id].seat.is_person]
        if calls:
            place = (calls[0].phase.name, calls[0].round)
            self._used[place] = self._used.get(place, 0.0) + time.monotonic() - began
        ended = {id: task for id, task in self._tasks.items() if task in done}
        self._tasks = {id: task for id, task in self._tasks.items() if id not in ended}
        fatal = [error for id, task in ended.items() if (error := task.exception()) and not self._lost(id, error)]
        if fatal:
            fatal += await self._finish_calls()
            raise min(fatal, key=lambda error: not isinstance(error, StorageError))
        if not done and calls and left <= timeout:
            self._give_up(calls, limit)

    def _lost(self, id: str, error: BaseException) -> bool:
        """Whether only this seat is lost, and the debate may go on without it."""
        if isinstance(error, CallFailed):
            self._failed[id] = error
        return isinstance(error, CallFailed)

    def _begin(self, dues: tuple[Due, ...]) -> None:
        """Start what is due and not under way. All briefs of a batch are on disk before the first is sent."""
        voices = {due.id: self._voice(due) for due in dues if due.id not in self._tasks and due.id not in self._failed}
        new = [(due, voice) for due in dues if (voice := voices.get(due.id)) is not None]
        if not new:
            return
        written = [(write_brief(self.session, due, voice), voice) for due, voice in new]
        self.listener.due(tuple(due for due, _ in new))
        for brief, voice in written:
            id = brief.due.id
            self._dues[id] = brief.due
            self._tasks[id] = asyncio.create_task(self._turn(brief, voice, self._starts_after(brief, voice)))

    async def _turn(self, brief: Brief, voice: Speaker, after: asyncio.Event | None) -> None:
        """Have one turn spoken, and record it."""
        due, started = brief.due, time.monotonic()
        began_at = 0.0
        key = batch_of(brief, voice)

        def began(text: str) -> None:
            nonlocal began_at
            began_at = began_at or time.monotonic()
            self._begun[key].set()
            if text:
                self.listener.words(due, text)

        try:
            if after is not None:
                await after.wait()
                started = time.monotonic()
            receipt, body = await self._caller.call(voice, brief, began)
        finally:
            self._begun[key].set()
        if began_at and (total := time.monotonic() - started) > 0:
            self._shares.append((began_at - started) / total)
        if receipt.absent and self._writes_result(due):
            raise Paused(f"{due.seat.label}: {receipt.absent}; `council recover {self.session.id}` asks again")
        self._record(due, receipt, body)

    def _record(self, due: Due, receipt: Receipt, body: str) -> None:
        try:
            self.session.record(receipt, encode(body))
        except CouncilError:
            self.listener.unsaved(due, body)
            raise
        self.listener.spoke(due, receipt, body)

    def _voice(self, due: Due) -> Speaker | None:
        """Who speaks for a seat. None where nobody in this process does. A replay speaks for all."""
        if self.speaker and self.speaker.replays:
            return self.speaker
        if due.seat.is_person:
            return self.person
        if name := due.seat.get("speaker"):
            named = self._named.get(name) or speakers[name](self.settings)
            self._named[name] = named
            if named.machine:
                return named
        return self.speaker.voice(due) if self.speaker and not self.speaker.by_hand else None

    def _starts_after(self, brief: Brief, voice: Speaker) -> asyncio.Event | None:
        """The answer to wait for, where its beginning puts a long shared part into the cache. Otherwise every parallel
        turn pays for writing the same entry."""
        key = batch_of(brief, voice)
        if (first := self._begun.get(key)) is None or first.is_set():
            self._begun.setdefault(key, asyncio.Event())
            return None
        long = brief.cuts and brief.cuts[-1] >= 4 * self.settings.cache_from
        return first if long and min(self._shares, default=0.0) <= SHORT else None

    # ---- what ends a run before the debate is over ----

    async def _wait_for_person(self, dues: tuple[Due, ...], since: float) -> None:
        """Nobody in this process speaks for what is due."""
        names = join_words([due.id for due in dues])
        if not all(due.seat.is_person for due in dues):
            raise Waiting(f"{names} waits: `council next {self.session.id}` shows what to ask")
        if not self.wait:
            raise Waiting(f"{names} waits for a person: `council answer {self.session.id}`")
        patience = limit_of(self.session, self.settings, "checkpoint_timeout")
        if time.monotonic() - since > patience:
            raise Waiting(f"nobody answered {names} within {patience:g} s; `council answer {self.session.id}`")
        await asyncio.sleep(LOOK)

    def _settle(self) -> None:
        """Record members as absent: those that refused and, where the quorum allows it, those whose calls failed.
        Otherwise pause."""
        lost = [(self._dues[id], failed) for id, failed in self._failed.items()]
        cannot_go = [due for due, failed in lost if not isinstance(failed, Refused) or self._writes_result(due)]
        if cannot_go and not self._has_quorum(cannot_go):
            raise Paused(explain(lost))
        for due, failed in lost:
            voice = self._voice(due)
            assert voice is not None  # it was called, and failed
            brief = write_brief(self.session, due, voice)
            receipt = receive(voice, brief, Spoken("", usd=0.0, stop="absent", absent=failed.reason), now(), 0.0)
            self._record(due, receipt, "")
        self._failed.clear()

    def _writes_result(self, due: Due) -> bool:
        return self.session.workflow.writes_result(due.phase.name, due.step.name)

    def _has_quorum(self, lost: list[Due]) -> bool:
        """Whether enough of the step's seats remain. Nobody can do without the seat that writes the result."""
        if self.quorum is None or any(self._writes_result(due) for due in lost):
            return False
        folder = lost[0].id.partition("/")[0]
        here = {id.removesuffix(RETRY): said for id, said in self.session.said.items() if id.startswith(f"{folder}/")}
        return sum(not said.absent for said in here.values()) >= self.quorum

    def _time_left(self) -> tuple[str, float]:
        """The nearest limit of time in words, and the seconds left of it. Only the time of calls counts."""
        due = next((self._dues[id] for id in self._tasks if not self._dues[id].seat.is_person), None)
        if due is None:
            return "", math.inf
        round = limit_of(self.session, self.settings, "round_timeout")
        whole = limit_of(self.session, self.settings, "total_timeout")
        left = round - self._used.get((due.phase.name, due.round), 0.0)
        left_of_all = whole - sum(self._used.values())
        return (
            (f"the round took longer than {round:g} s", left)
            if left <= left_of_all
            else (f"the run took longer than {whole:g} s", left_of_all)
        )

    def _give_up(self, dues: list[Due], limit: str) -> None:
        """Stop waiting for these calls. Those who answered are on record; the others are asked again later."""
        self._drop(due.id for due in dues)
        self._failed.update({due.id: CallFailed(limit, again=False, usd=None) for due in dues})

    def _drop(self, ids: Iterable[str]) -> None:
        for id in ids:
            self._tasks.pop(id).cancel()

    async def _finish_calls(self) -> list[BaseException]:
        """Begin nothing more, and let the calls under way come to their end: they are paid for. Returns what failed."""
        self._drop(id for id in [*self._tasks] if id not in self._caller.calling)
        ended = await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        self._tasks.clear()
        return [error for error in ended if isinstance(error, Exception) and not isinstance(error, CallFailed)]

    async def close(self) -> None:
        tasks = [*self._tasks.values()]
        self._drop([*self._tasks])
        await asyncio.gather(*tasks, return_exceptions=True)
        for machine in self._named.values():
            await machine.close()


async def hold(run: Run) -> Plan:
    """Hold the debate of a session that is held, and write what follows from it, however the run ends."""
    members.wait_for_assistant(run.session)
    try:
        plan = await run.until_done()
    except BaseException:
        with suppress(CouncilError):  # these files can be made again; what went wrong matters more
            build(run.session)
        raise
    finally:
        await run.close()
    finish(run.session, places.archive_for(run.session.folder, run.settings.home))
    return plan


def run(debate: Callable[[], Coroutine[Any, Any, Plan]]) -> Plan:
    """Hold a debate in this process. A signal ends it at once, and what was said is on record."""
    caught: list[int] = []

    async def main() -> Plan:
        loop, this = asyncio.get_running_loop(), asyncio.current_task()

        def end(number: int) -> None:
            caught.append(number)
            if this is not None:
                this.cancel()

        for number in SIGNALS if threading.current_thread() is threading.main_thread() else ():
            loop.add_signal_handler(number, end, number)
        return await debate()

    try:
        return asyncio.run(main())
    except asyncio.CancelledError:
        if not caught:
            raise
        raise Interrupted(caught[0]) from None


def write_brief(session: Session, due: Due, voice: Speaker) -> Brief:
    """The brief of a due turn, on disk before it is sent. A machine writes its own."""
    if not voice.machine:
        return briefs.write(session, due)
    text = voice.brief(session, due)
    return Brief(session, due, "", text, (), session.write_brief(due.id, "", text))


def batch_of(brief: Brief, voice: Speaker) -> tuple[str, ...]:
    """The turns whose shared part one cache entry serves: those of a step, at one place, for one tier."""
    return brief.due.id.partition("/")[0], voice.place(brief), brief.due.tier


def limit_of(session: Session, settings: Settings, name: str) -> float:
    """A limit in seconds: the lower one of the workflow's option and of the settings."""
    own, most = session.workflow.options.get(name), settings.limits.get(name)
    limits = (float(one) for one in (own, most) if isinstance(one, int | float) and one is not True)
    return min(limits, default=math.inf)


def explain(lost: list[tuple[Due, CallFailed]]) -> str:
    """Who did not answer, and why. One cause is one sentence."""
    alike: dict[str, list[str]] = {}
    for due, failed in lost:
        alike.setdefault(failed.reason, []).append(due.seat.label)
    return "; ".join(f"{join_words(names)} did not answer: {reason}" for reason, names in alike.items())
