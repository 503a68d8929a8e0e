"""The shell: a machine that tries candidates in the sandbox, with the bench that its seat names.

What the bench says is a turn. So a session reads the same for ever, and replays without a sandbox.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from council.speakers.base import Billing, Brief, Caption, Check, NotSetUp, Setup, Speaker, SpeakerType, Spoken

if TYPE_CHECKING:
    from council.config.benches import Bench
    from council.engine.planner import Due
    from council.engine.scene import Turn
    from council.record.session import Session
    from council.sandbox.model import Trial, Tried
    from council.speakers.shell.work import Work

BENCH, ENV = "bench", "env"  # facts of a base: the usual bench, and the project's virtual environment


@cache
def _workers() -> ThreadPoolExecutor:
    """The trials of this process, also of several debates: as many at once as there are cores, so that none of them
    runs out of time because of the others."""
    return ThreadPoolExecutor(os.cpu_count() or 1, "trial")


class Shell(Speaker):
    name = "shell"

    def __init__(self, benches: Mapping[str, Bench]) -> None:
        self.benches = benches
        self.made: dict[tuple[object, ...], tuple[str, Spoken]] = {}
        self.locks: dict[tuple[object, ...], asyncio.Lock] = {}

    async def speak(self, brief: Brief, tell: Callable[[str], None]) -> Spoken:
        """The same trial is made once in a session: of two that are due together, one waits for the other."""
        work: Work = brief.work
        rig = await asyncio.to_thread(self.identify, work)
        key = (work.inputs, rig, brief.reply)
        async with self.locks.setdefault(key, asyncio.Lock()):
            turn, spoken = self.find_made(work, rig) or self.made.get(key) or ("", None)
            if spoken is None:
                spoken = await self.make(brief, work, rig)
                self.remember(key, brief.turn, spoken)
            else:
                spoken = replace(spoken, trial={**(spoken.trial or {}), "cached": turn})
        tell(spoken.body)
        return spoken

    def identify(self, work: Work) -> str:
        """The hash of all that a result depends on besides the candidate: the benches as they are, and their tools."""
        from council import __version__
        from council.sandbox import benches
        from council.speakers.shell.work import hash_facts

        found = [benches.find(name, self.benches) for name in work.benches]
        return hash_facts([__version__, *(benches.identify(one, work.env) for one in found)])

    def find_made(self, work: Work, rig: str) -> tuple[str, Spoken] | None:
        """The trial on record that was the same."""
        for one in work.earlier:
            if one.trial.get("rig") == rig:
                return one.turn, Spoken(one.body, trial=one.trial)
        return None

    def remember(self, key: tuple[object, ...], turn: str, spoken: Spoken) -> None:
        from council.speakers.shell.work import SETTLED

        if (spoken.trial or {}).get("verdict") in SETTLED:
            self.made[key] = turn, spoken

    async def make(self, brief: Brief, work: Work, rig: str) -> Spoken:
        from council.replies.write import write
        from council.speakers.shell.reply import give_answers, make_receipt

        cancel = threading.Event()
        running = _workers().submit(self.attempt, work, cancel)
        try:
            tried = await asyncio.shield(asyncio.wrap_future(running))
        except asyncio.CancelledError:
            cancel.set()
            if not running.cancel():
                await asyncio.wait([asyncio.wrap_future(running)])
            raise
        return Spoken(write(brief.reply, give_answers(tried)), trial=make_receipt(work, tried, rig))

    def attempt(self, work: Work, cancel: threading.Event) -> Tried:
        from council.sandbox import benches, mutants, run
        from council.sandbox.model import FAIL, UNKNOWN, Tried
        from council.speakers.shell.reply import join

        if work.due.misfit:
            return Tried(FAIL, log=f"Nothing was run, because the files do not fit: {work.due.misfit}.")
        if not work.benches:
            return Tried(UNKNOWN, log="Nothing was run, because no bench is named.")

        def attempt(trial: Trial) -> Tried:
            try:
                with run.until(cancel):
                    return benches.try_out(trial, self.benches)
            except run.TreeError as failure:
                if work.due.version is None:
                    raise
                return Tried(UNKNOWN, log=f"Nothing was run, because the files cannot be laid out: {failure}")

        trials = [work.make_trial(bench) for bench in work.benches]
        if work.due.kind == "mutants":
            return join([mutants.try_mutants(trial, work.project.tree, attempt) for trial in trials], work.benches)
        return join([attempt(trial) for trial in trials], work.benches)


def _find_job(session: Session, due: Due) -> tuple[str, Work]:
    from council.speakers.shell import work

    return work.find_job(session, due)


def _caption(trial: Mapping[str, Any]) -> Caption:
    from council.speakers.shell import reply

    return reply.caption(trial)


def _shorten(turn: Turn) -> str:
    from council.speakers.shell import reply

    return reply.shorten(turn)


def _make(setup: Setup) -> Speaker:
    from council.sandbox import benches

    return Shell(benches.load(setup.config))


def _find_obstacle(*_: Any) -> str:
    from council.sandbox import probe

    return probe.find_obstacle()


def _list_checks(_: object) -> Iterable[Check]:
    """Only where there is a sandbox at all: its room is optional."""
    if find_spec("council.sandbox"):
        yield "sandbox", _try_sandbox
        yield "benches", _find_tools


def _try_sandbox() -> str:
    from council.sandbox import probe

    if obstacle := probe.find_obstacle():
        raise NotSetUp(f"no code can be run: {obstacle}")
    return probe.describe()


def _find_tools() -> str:
    from council.sandbox import tools

    if not tools.are_here():
        raise NotSetUp(tools.describe())
    return tools.describe()


SPEAKER = SpeakerType(
    name=Shell.name,
    about="a bench, which tries code in the sandbox; a seat names it",
    make=_make,
    billing=Billing.FREE,
    machine=True,
    on_this_machine=True,
    obstacle=_find_obstacle,
    checks=_list_checks,
    benches=lambda config: config.benches,
    job=_find_job,
    caption=_caption,
    shorten=_shorten,
)
