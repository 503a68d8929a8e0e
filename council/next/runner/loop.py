"""The loop: while a turn is due, have it spoken and record it. `run` and `recover` are this loop and no more.

It never decides who speaks: the plan does. It never loses a reply: each is on disk before anything else happens.
"""

from __future__ import annotations

import asyncio
import math
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Self

from council.next.config import places
from council.next.config.settings import Settings
from council.next.engine.planner import Due, Plan
from council.next.errors import CouncilError, Paused, StorageError, UsageError, Waiting
from council.next.prompts import brief as briefs
from council.next.prompts.brief import Brief
from council.next.record import desk
from council.next.record.session import Session, now
from council.next.record.turn_file import Receipt
from council.next.reports.build import build
from council.next.reports.finish import finish
from council.next.runner.budget import Budget
from council.next.runner.calls import Caller, Limiter
from council.next.runner.notify import ENDED, NEEDED, notify
from council.next.speakers.base import CallFailed, Refused, Speaker, speakers
from council.next.text import encode, join_words

LOOK = 0.2  # seconds between two looks at the desk while a person is waited for
SHORT = 1 / 4  # of a call: if answers take longer to begin, nobody waits for the first of a batch


class Listener:
    """What an observer of a run is told. All of it may be ignored. It is entered when the run begins, inside the event
    loop, and left when it has ended."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        pass

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
    somebody in this process; with `wait`, a run in which only persons are due waits for answers from elsewhere. Runs
    in one loop that have the same `limiters` share them."""

    session: Session
    speaker: Speaker | None
    settings: Settings
    budget: Budget = field(default_factory=Budget)
    listener: Listener = field(default_factory=Listener)
    person: Speaker | None = None
    quorum: int | None = None
    wait: bool = False
    limiters: dict[str, Limiter] = field(default_factory=dict)
    _tasks: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    _asked: dict[str, tuple[Brief, Speaker]] = field(default_factory=dict)  # the turns that are not on record yet
    _failed: dict[str, CallFailed] = field(default_factory=dict)
    _named: dict[str, Speaker] = field(default_factory=dict)  # whom the workflow names for its seats
    _begins_late: bool = False  # some answer took longer than a SHORT part of its call to begin
    _used: dict[tuple[str, int], float] = field(default_factory=dict)  # seconds of calls, by phase and round
    _needed: set[str] = field(default_factory=set)  # the persons' turns of which the user was told
    _waits_since: float = 0.0

    def __post_init__(self) -> None:
        self._caller = Caller(self.session, self.settings, self.budget, self.listener.say, self.limiters)

    async def until_done(self) -> Plan:
        """Have everything spoken that is due. Raises Paused or Waiting where the debate cannot go on now. Calls that
        are under way then come to their end, because they are paid for."""
        self.session.refresh()
        self._waits_since = time.monotonic()
        try:
            while self.session.advance().due:
                await self._go_on()
        except Exception as ended:  # noqa: BLE001 (whatever it is, the calls under way are paid for)
            failed = await self._finish_calls()
            # What could not be stored matters most.
            raise min([ended, *failed], key=lambda one: not isinstance(one, StorageError)) from None
        return self.session.plan

    async def _go_on(self) -> None:
        """One step of the loop: take what is on the desk, begin what is due, and wait until something happens."""
        session = self.session
        if by := desk.is_paused(session.folder):
            desk.resume(session.folder)
            raise Paused(f"{by} asked for a pause; `council recover {session.id}` goes on")
        if desk.take(session):
            self._drop([id for id in self._tasks if id in session.said])
            self._waits_since = time.monotonic()
            return
        self._begin(session.plan.due)
        if self._tasks:
            await self._wait_for_turn()
            self._waits_since = time.monotonic()
        elif self._failed:
            self._settle()
        else:
            await self._wait_for_person(session.plan.due)

    def _begin(self, dues: tuple[Due, ...]) -> None:
        """Start what is due and not under way. All briefs of a batch are on disk before the first is sent."""
        new = [
            (write_brief(self.session, due, voice), voice)
            for due in dues
            if due.id not in self._tasks and due.id not in self._failed and (voice := self._voice(due))
        ]
        if not new:
            return
        self._asked |= {brief.due.id: (brief, voice) for brief, voice in new}
        limit, left = self._time_left(dues[0])
        if left <= 0:  # no call is begun that nobody would wait for
            late = [brief.due for brief, _ in new if not brief.due.seat.is_person]
            self._failed |= {due.id: CallFailed(limit, again=False) for due in late}
            new = [(brief, voice) for brief, voice in new if brief.due not in late]
        if new:
            self.listener.due(tuple(brief.due for brief, _ in new))
        if not (self.speaker and self.speaker.replays):
            self.call_person()
        firsts: dict[tuple[str, str], asyncio.Event] = {}
        for brief, voice in new:
            desk.drop_words(self.session.folder, brief.due.id)
            begun, place = asyncio.Event(), (voice.place(brief), brief.due.tier)
            # The first answer puts a long shared part into the cache. The others wait until it begins, because each
            # would pay for writing the same entry.
            long = brief.cuts and brief.cuts[-1] >= 4 * self.settings.cache_from
            after = firsts.setdefault(place, begun) if long and not self._begins_late else begun
            turn = self._turn(brief, voice, begun, None if after is begun else after)
            self._tasks[brief.due.id] = asyncio.create_task(turn)

    async def _turn(self, brief: Brief, voice: Speaker, begun: asyncio.Event, after: asyncio.Event | None) -> None:
        """Have one turn spoken, and record it."""
        due, waited = brief.due, math.inf

        def began(text: str) -> None:
            nonlocal waited
            waited = min(waited, time.monotonic() - started)
            begun.set()
            if text:
                self.listener.words(due, text)
                desk.add_words(self.session.folder, due.id, text)

        try:
            if after is not None:
                await after.wait()
            started = time.monotonic()
            receipt, body = await self._caller.call(voice, brief, began)
        finally:
            begun.set()
        self._begins_late |= math.inf > waited > SHORT * (time.monotonic() - started)
        if receipt.absent and self._writes_result(due):
            raise Paused(f"{due.seat.label}: {receipt.absent}; `council recover {self.session.id}` asks again")
        self._record(due, receipt, body)

    def _record(self, due: Due, receipt: Receipt, body: str) -> None:
        try:
            self.session.record(receipt, encode(body))
        except CouncilError:
            self.listener.unsaved(due, body)
            raise
        self._asked.pop(due.id, None)
        desk.drop_words(self.session.folder, due.id)
        self.listener.spoke(due, receipt, body)

    def _voice(self, due: Due) -> Speaker | None:
        """Who speaks for a seat. None where nobody in this process does. Council's machines speak also by hand."""
        if self.speaker and self.speaker.replays:
            return self.speaker
        if due.seat.is_person:
            return self.person
        named: Speaker | None = None
        if name := due.seat.get("speaker"):
            named = self._named[name] = self._named.get(name) or speakers[name](self.settings)
            if named.machine:
                return named
        return self.speaker.voice(due, named) if self.speaker else None

    # ---- waiting ----

    async def _wait_for_turn(self) -> None:
        """Wait until a turn has ended or, where a person is asked, for a moment. Raises what stops the debate."""
        # People think as long as they like: only the time of calls counts.
        calls = [due for id in self._tasks if not (due := self._asked[id][0].due).seat.is_person]
        limit, left = self._time_left(calls[0]) if calls else ("", math.inf)
        look = LOOK if len(calls) < len(self._tasks) else math.inf
        began = time.monotonic()
        done, _ = await asyncio.wait(self._tasks.values(), timeout=min(left, look), return_when=asyncio.FIRST_COMPLETED)
        if calls:
            place = (calls[0].phase.name, calls[0].round)
            self._used[place] = self._used.get(place, 0.0) + time.monotonic() - began
        for id, task in [*self._tasks.items()]:
            error = task.exception() if task in done else None
            if isinstance(error, CallFailed):  # only this seat is lost, and the debate may go on without it
                self._failed[id] = error
            elif error:
                raise error
            if task in done:
                del self._tasks[id]
        if not done and left <= look:  # who answered is on record; the others are asked again later
            self._drop([due.id for due in calls])
            self._failed |= {due.id: CallFailed(limit, again=False, usd=None) for due in calls}

    def _time_left(self, due: Due) -> tuple[str, float]:
        """The nearest limit of time in words, and the seconds left of it."""
        round, whole = (limit_of(self.session, self.settings, name) for name in ("round_timeout", "total_timeout"))
        left = round - self._used.get((due.phase.name, due.round), 0.0)
        left_of_all = whole - sum(self._used.values())
        if left <= left_of_all:
            return f"the round took longer than {round:g} s", left
        return f"the run took longer than {whole:g} s", left_of_all

    async def _wait_for_person(self, dues: tuple[Due, ...]) -> None:
        """Nobody in this process speaks for what is due."""
        names = join_words([due.id for due in dues])
        if not all(due.seat.is_person for due in dues):
            raise Waiting(f"{names} waits: `council next {self.session.id}` shows what to ask")
        if not self.wait:
            raise Waiting(f"{names} waits for a person: `council answer {self.session.id}`")
        self.call_person()
        patience = limit_of(self.session, self.settings, "checkpoint_timeout")
        if time.monotonic() - self._waits_since > patience:
            raise Waiting(f"nobody answered {names} within {patience:g} s; `council answer {self.session.id}`")
        await asyncio.sleep(LOOK)

    def call_person(self) -> None:
        """Tell the user, once, that a person is asked."""
        asked = {due.id for due in self.session.plan.due if due.seat.is_person}
        if asked - self._needed:
            self._needed |= asked
            notify(self.settings.notify, self.session, NEEDED)

    # ---- what ends a run before the debate is over ----

    def _settle(self) -> None:
        """Record members as absent: those that refused and, where the quorum allows it, those whose calls failed.
        Otherwise pause."""
        lost = [(self._asked[id][0].due, failed) for id, failed in self._failed.items()]
        cannot_go = [due for due, failed in lost if not isinstance(failed, Refused) or self._writes_result(due)]
        if cannot_go and not self._has_quorum(cannot_go):
            alike: dict[str, list[str]] = {}  # one cause is one sentence
            for due, failed in lost:
                alike.setdefault(failed.reason, []).append(due.seat.label)
            raise Paused("; ".join(f"{join_words(names)} did not answer: {why}" for why, names in alike.items()))
        for due, failed in lost:
            brief, voice = self._asked[due.id]
            facts = {"speaker": voice.name, "brief": brief.hash, "started": now(), "usd": 0.0, "stop": "absent"}
            self._record(due, Receipt.of(due, absent=failed.reason, **facts), "")
        self._failed.clear()

    def _writes_result(self, due: Due) -> bool:
        return self.session.workflow.writes_result(due.phase.name, due.step.name)

    def _has_quorum(self, lost: list[Due]) -> bool:
        """Whether enough of the step's seats remain. Nobody can do without the seat that writes the result."""
        if self.quorum is None or any(self._writes_result(due) for due in lost):
            return False
        folder = lost[0].id.partition("/")[0]
        gone = {due.id for due in lost} | {id for id, said in self.session.said.items() if said.absent}
        # Who is lost in a second try spoke in the first.
        return sum(f"{folder}/{seat.name}" not in gone for seat in self.session.plan.seats(lost[0].step)) >= self.quorum

    def _drop(self, ids: list[str]) -> None:
        for id in ids:
            self._tasks.pop(id).cancel()

    async def _finish_calls(self) -> list[Exception]:
        """Begin nothing more, and let the calls under way come to their end. Returns what failed."""
        self._caller.ends = True
        for id, task in self._tasks.items():
            if id not in self._caller.calling:
                task.cancel()
        ended = await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        self._tasks.clear()
        return [error for error in ended if isinstance(error, Exception) and not isinstance(error, CallFailed)]

    async def close(self) -> None:
        tasks = [*self._tasks.values()]
        self._drop([*self._tasks])
        await asyncio.gather(*tasks, return_exceptions=True)
        for named in self._named.values():
            await named.close()


async def hold(run: Run) -> Plan:
    """Hold the debate of a session that is held, and write what follows from it, however the run ends."""
    session, how = run.session, run.settings.notify
    places.archive_for(session.folder, run.settings.home)  # refused before anything is spent
    if (session.folder / desk.FOLDER / desk.ASKED).exists():
        from council.next.runner.assistant import members  # for debates alone that an assistant has a part in

        members.wait_for_assistant(session)
    try:
        with run.listener:
            plan = await run.until_done()
    except BaseException as ended:
        with suppress(CouncilError):  # these files can be made again; what went wrong matters more
            build(session)
        if isinstance(ended, Waiting):
            run.call_person()
        elif isinstance(ended, CouncilError):  # nobody has to be told of a signal
            notify(how, session, ENDED)
        if isinstance(ended, UsageError):  # that would say that nothing was spent, but a debate has begun
            raise Paused(str(ended)) from ended
        raise
    finally:
        await run.close()
    finish(session, run.settings.home)
    notify(how, session, ENDED)
    return plan


def write_brief(session: Session, due: Due, voice: Speaker) -> Brief:
    """The brief of a due turn, on disk before it is sent. A machine writes its own."""
    if not voice.machine:
        return briefs.write(session, due)
    text = voice.brief(session, due)
    return Brief(session, due, "", text, (), session.write_brief(due.id, "", text))


def limit_of(session: Session, settings: Settings, name: str) -> float:
    """A limit in seconds: the lower one of the workflow's option and of the settings."""
    own, most = session.workflow.options.get(name), settings.limits.get(name, math.inf)
    return most if own in (None, False, "unlimited") else min(session.workflow.number(own), most)
