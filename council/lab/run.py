"""`council lab run`: a folder of sessions, whose ids are known before.

There is no scheduler: a run takes the tasks in their order, and of each the arms in theirs. A session that another run
holds is that one's work; a session that is complete is left as it is. So a run that was killed is continued by the next
one, and two at once share the work.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine, Iterable, Mapping
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from council.config.settings import Config
from council.errors import Busy, Damaged, Denied, OverBudget, Paused, RateLimited, UsageError
from council.lab import results
from council.lab.arms import BEST, MOST_SAMPLES, SINGLE, write_baseline
from council.lab.budget import allow
from council.lab.experiment import Experiment, session_folder
from council.lab.once import AskOnce
from council.lab.sets.task import Say, Task
from council.record import catalog, files, lock
from council.record import session as sessions
from council.record.session import Session
from council.runner import debate
from council.runner.debate import Limits, NoAudience
from council.runner.start import Request
from council.speakers.select import Voices
from council.terminal.watch import bound_usage

MOST_DENIED = 3  # sessions in a row that the API refused: the next ones would be refused too
BASELINE_FOLDER = "workflows"


@dataclass
class LabRun:
    """One run of an experiment. Sessions are held in threads of their own; their loops share one event loop, and so the
    connections and the model.
    """

    folder: Path
    experiment: Experiment
    tasks: Mapping[str, Task]
    settings: Config
    voices: Voices
    jobs: int
    usd: float | None
    say: Say
    stopped: threading.Event = field(default_factory=threading.Event)
    driven: set[Future[Path]] = field(default_factory=set)  # the loops of the sessions that run now
    denied: int = 0
    elsewhere: list[str] = field(default_factory=list)  # tasks that another run is at
    costs: dict[str, float] = field(default_factory=dict)  # of sessions that are complete
    loop: asyncio.AbstractEventLoop | None = None

    def __post_init__(self) -> None:
        self.settings = replace(self.settings, home=self.folder, home_set_by="--folder")

    async def run(self) -> None:
        """Work through all tasks; raises what makes it useless to go on."""
        self.loop = asyncio.get_running_loop()
        self.loop.set_default_executor(ThreadPoolExecutor(4 * self.jobs + 4))  # each session writes, and tries code
        workers = ThreadPoolExecutor(self.jobs)
        try:
            await self.run_tasks(workers, self.experiment.tasks)
            # The other run may have been killed meanwhile, or have ended.
            left, self.elsewhere[:] = [entry for entry in self.experiment.tasks if entry["id"] in self.elsewhere], []
            await self.run_tasks(workers, left)
        except asyncio.CancelledError:  # a signal; otherwise, calls that are under way are paid for, so they may end
            for session in list(self.driven):
                session.cancel()
            raise
        finally:
            self.stopped.set()
            # The sessions need this loop until they have ended, so it must not be kept waiting for their threads.
            await asyncio.to_thread(workers.shutdown, cancel_futures=True)
            await debate.close(self.voices)

    async def run_tasks(self, workers: ThreadPoolExecutor, entries: Iterable[Mapping[str, Any]]) -> None:
        assert self.loop is not None
        await asyncio.gather(*(self.loop.run_in_executor(workers, self.run_task, entry) for entry in entries))

    def run_task(self, entry: Mapping[str, Any]) -> None:
        """All arms of one task, one after the other: the last one takes as many calls as the workflow took."""
        for arm in self.experiment.arms:
            if self.stopped.is_set():
                return
            try:
                self.run_arm(entry, arm)
            except Busy:
                if not self.stopped.is_set():
                    self.elsewhere.append(str(entry["id"]))
                return
            except CancelledError:
                return
            except OverBudget as failure:
                self.stopped.set()
                raise OverBudget(
                    f"--max-cost {self.usd:g} leaves too little for the next call of {entry['id']}, {arm}; continue "
                    "with a higher limit"
                ) from failure
            except RateLimited as failure:  # the other sessions would meet it too
                self.stopped.set()
                raise RateLimited(failure.why, failure.until, "run the same command again") from failure
            except (Paused, Damaged, Denied) as failure:
                self.give_up(entry, arm, failure)
            except BaseException:
                self.stopped.set()
                raise

    def run_arm(self, entry: Mapping[str, Any], arm: str) -> None:
        id = entry["sessions"][arm]
        task = self.tasks[entry["id"]]
        if catalog.exists(self.settings.sessions, id) and self._open(id).metadata.get("completed_at"):
            return
        session = self.begin(task, arm, id, entry)
        bound = bound_usage(session, self.settings, self.voices.name) if self.usd is not None else None
        most = bound.usd if bound else None
        room = (
            nullcontext(None) if self.usd is None else allow(self.folder, id, most, self.usd, self.spent, self.stopped)
        )
        voices = AskOnce(self.voices) if arm in (SINGLE, BEST) else self.voices
        with room as cap:
            debate.run(session, self.settings, voices, Limits(usd=cap), NoAudience(), self.drive)
        results.unmark(self.folder, id)
        self.denied = 0
        self.tell(entry, arm)

    def begin(self, task: Task, arm: str, id: str, entry: Mapping[str, Any]) -> Session:
        """The session, held: a new one, or the one that an earlier run left."""
        if catalog.exists(self.settings.sessions, id):
            if lock.is_held(session_folder(self.folder, id)):
                raise Busy(f"another run holds {id}")
            return self._open(id)
        options = {} if arm in (SINGLE, BEST) else dict(self.experiment.options)
        request = Request(
            topic=task.topic, workflow=self.find_workflow(task, arm, entry), options=options, find_files=False,
            speaker=self.voices.name, base=task.base if task.is_code else None, id=id, max_cost=self.usd,
        )  # fmt: skip
        try:
            return debate.begin(request, self.settings, self.voices.name, None)
        except UsageError:
            if catalog.exists(self.settings.sessions, id):  # another run was faster
                return self._open(id)
            raise

    def _open(self, id: str) -> Session:
        return sessions.open_(session_folder(self.folder, id))

    def find_workflow(self, task: Task, arm: str, entry: Mapping[str, Any]) -> str:
        if arm not in (SINGLE, BEST):
            return self.experiment.workflow
        samples = 1 if arm == SINGLE else self.count_calls(entry)
        path = self.folder / BASELINE_FOLDER / f"{SINGLE if samples == 1 else f'{BEST[:-1]}{samples}'}.md"
        files.make_folder(path.parent)
        data, own = (
            write_baseline(samples, task.is_code).encode(),
            f".{os.getpid()}-{threading.get_ident()}{files.TEMP}",
        )
        if not files.claim(path, data, path.with_name(own)):  # other threads and runs write it too
            files.replace(path, data, path.with_name(own))
        return str(path)

    def count_calls(self, entry: Mapping[str, Any]) -> int:
        """The calls that the workflow took for this task."""
        id = entry["sessions"][self.experiment.arms[-2]]
        if not catalog.exists(self.settings.sessions, id):
            return 1
        session = self._open(id)
        session.read_turns()
        return min(max(1, results.count_calls(session)), MOST_SAMPLES)

    def drive(self, running: Coroutine[Any, Any, Path]) -> Path:
        assert self.loop is not None
        driven = asyncio.run_coroutine_threadsafe(running, self.loop)
        self.driven.add(driven)
        try:
            return driven.result()
        finally:
            self.driven.discard(driven)

    def spent(self, id: str) -> float:
        """What a session has cost, or the most that it can have cost."""
        if id in self.costs or not catalog.exists(self.settings.sessions, id):
            return self.costs.get(id, 0.0)
        session = self._open(id)
        session.read_turns()
        usd = Limits(usd=0.0).budget(session, self.settings).usd
        if session.metadata.get("completed_at"):
            self.costs[id] = usd
        return usd

    def give_up(self, entry: Mapping[str, Any], arm: str, failure: Exception) -> None:
        """The session stays as it is, and counts as failed unless a later run ends it."""
        results.mark(self.folder, entry["sessions"][arm], str(failure))
        self.say(f"{entry['id']}: {arm}: given up: {failure}")
        self.denied = self.denied + 1 if isinstance(failure, Denied) else 0
        if self.denied >= MOST_DENIED:
            self.stopped.set()
            raise failure

    def tell(self, entry: Mapping[str, Any], arm: str) -> None:
        about = results.read_result(self.folder, entry["id"], arm, entry["sessions"][arm], entry.get("choice", ""))
        calls = f"{about.calls} call{'s' * (about.calls != 1)}"
        self.say(f"{about.task}: {arm}: {about.why or about.state} ({calls}, {about.seconds:.1f} s)")
