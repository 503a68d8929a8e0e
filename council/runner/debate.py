"""A whole debate: begun on disk, held, and run to its end. The command line and the Python API share this."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from council.config import personas, places, protocols
from council.config.protocols import Setting
from council.config.settings import Config
from council.errors import CouncilError, Paused, RateLimited, UsageError
from council.record import desk, files, tracked
from council.record import session as sessions
from council.record.attempts import Attempt
from council.record.session import Session
from council.reports import derived
from council.runner import answering, configured, material, notify, start, subagents, tiers
from council.runner.budget import Budget, explain_unpriced, find_unpriced
from council.runner.loop import Events, Runner
from council.runner.start import Request
from council.speakers import registry, replay, select
from council.speakers.assistant import handouts
from council.speakers.base import Setup, Usage, cost
from council.speakers.select import Choice

CLOSING = 1.0  # seconds that connections may take to close
Drive = Callable[[Coroutine[Any, Any, Path]], Path]


@dataclass(frozen=True)
class Limits:
    """What the user allows for a session; None is no limit. What `others` took counts toward its calls and money."""

    quorum: int | None = None
    calls: int | None = None
    usd: float | None = None
    calls_set_by: str = "--max-calls"
    usd_set_by: str = "--max-cost"
    others: tuple[Session, ...] = ()

    def __post_init__(self) -> None:
        if self.quorum is not None and self.quorum < 1:
            raise UsageError(f"the quorum must be at least 1, not {self.quorum}")
        if self.calls is not None and self.calls < 0:
            raise UsageError(f"the maximum number of calls must not be negative, but is {self.calls}")
        if self.usd is not None and not 0 <= self.usd < math.inf:
            raise UsageError(f"the maximum cost must be an amount in dollars, not {self.usd}")

    def lower(self, found: Mapping[str, Setting]) -> Limits:
        """These limits, or those of Config.md where they are lower."""
        calls, usd = found.get(protocols.CALLS), found.get(protocols.COST)
        lower = self
        if calls and (self.calls is None or calls.value < self.calls):
            lower = replace(lower, calls=int(calls.value), calls_set_by=f"{protocols.CALLS} in {calls.source.path}")
        if usd and (self.usd is None or usd.value < self.usd):
            lower = replace(lower, usd=float(usd.value), usd_set_by=f"{protocols.COST} in {usd.source.path}")
        return lower

    def check_prices(self, session: Session, settings: Config, speaker: str) -> None:
        """Refuse a limit of money before anything is called, if a model has no price."""
        if self.usd is None or session.plan().done:
            return
        if model := find_unpriced(session.workflow, settings, session.metadata["tiers"], speaker):
            raise Paused(explain_unpriced(model, self.usd_set_by))

    def budget(self, session: Session, settings: Config) -> Budget:
        """The limits hold for the session, so what earlier runs of it took counts too."""
        made = [call for one in (*self.others, session) for call in one.calls()]
        calls = [call for call in made if not registry.describe(call.speaker).machine]
        paid = [call for call in calls if registry.describe(call.speaker).costs]
        usd = 0.0 if self.usd is None else math.fsum(_count(call, settings) for call in paid)
        return Budget(self.calls, self.usd, len(calls), usd, self.calls_set_by, self.usd_set_by)


def _count(call: Attempt, settings: Config) -> float:
    """What a call counts toward `--max-cost`: what it cost, or else the most that it can have cost."""
    usage = Usage(call.input, call.cache_read or 0, call.cache_write or 0, call.output)
    for usd in (call.usd, cost(settings.prices.get(str(call.model)), usage), call.most):
        if usd is not None:
            return usd
    raise Paused(explain_unpriced(str(call.model)))


class Audience(Events, Protocol):
    """What watches a whole debate."""

    def begins(self) -> None:
        """The session is held, and nobody has spoken in this run."""


class NoAudience:
    """Watches nothing."""

    watched = False

    def begins(self) -> None: ...

    def due(self, *_: Any) -> None: ...

    def call_began(self, *_: Any) -> None: ...

    def call_ended(self, *_: Any) -> None: ...

    def words(self, *_: Any) -> None: ...

    def waits(self, *_: Any) -> None: ...

    def spoke(self, *_: Any) -> None: ...

    def lost(self, *_: Any) -> None: ...

    def decided(self, *_: Any) -> None: ...

    def unsaved(self, *_: Any) -> None: ...


# ---- begin ----


def with_source(request: Request, speaker: str, source: str | None, settings: Config) -> tuple[Request, str | None]:
    """`--from`: what a replay repeats, or for other speakers the session whose outcome the debate starts from.

    A debate after another has that one's question, unless it is given its own.
    """
    if registry.describe(speaker).replays:
        if not source:
            raise UsageError(f"--speaker {speaker} needs --from, a session or a script")
        return request, name_source(source, settings)
    if not source:
        return request, None
    if Path(source).is_file():
        raise UsageError("--from takes a session here; a script goes with --speaker replay, and a text with --file")
    before = sessions.open_(places.find(settings, source))
    before.read_turns()
    return replace(request, after=before, topic=request.topic or str(before.metadata["topic"])), None


def name_source(source: str, settings: Config) -> str:
    """A script's path, or a session's whole id: once a new session exists, `last` means that one."""
    if Path(source).is_file():
        return source
    if Path(source).suffix:
        raise UsageError(f"{source}: no such file")
    return places.find(settings, source).name


def begin(request: Request, settings: Config, speaker: str, source: str | None, held: bool = True) -> Session:
    """The session on disk; for the replay of a session, the same table around the same question.

    It is held from its birth on, unless the caller goes away.
    """
    if source and not Path(source).is_file():
        spoken = sessions.open_(places.find(settings, name_source(source, settings)))
        spoken.read_turns()
        return start.begin_again(spoken, settings, speaker, request.id, held)
    if source:
        replay.of_script(Path(source))  # refuse what is wrong with it before anything is written
    replayed = Path(source).name if source else None
    return start.begin(replace(request, speaker=speaker, replay_of=replayed), settings, held)


def check_pace(speaker: str, paced: bool) -> None:
    if paced and not registry.describe(speaker).replays:
        raise UsageError("--pace real goes with --speaker replay")


# ---- run ----


def choose_speaker(request: Request, wanted: str | None, settings: Config, can_ask: bool = False) -> Choice:
    """Who will speak in this debate. What is wrong with the request is said before anybody is asked anything."""
    request = start.with_settings(request, settings)
    workflow = start.workflow_of(request)
    material.read_documents(request, workflow)
    settings = replace(settings, tiers=tiers.models_of(workflow, request, settings, personas.load()))
    choice = select.choose(wanted, settings, workflow=workflow, can_ask=can_ask)
    select.check_seats(choice, settings, workflow)
    start.check_project(workflow, replace(request, speaker=choice.name))
    return choice


def choose_again(session: Session, wanted: str | None, settings: Config, can_ask: bool = False) -> Choice:
    """The speaker that was asked for, or the one that spoke before; an assistant, who is not here, is replaced."""
    tracked.refuse(session.folder)  # before anything is asked or fetched for it
    if wanted is None and is_over(session):
        return Choice(registry.describe(session.speaker), "the debate is over, so nobody has to speak")
    frozen = {
        tier: settings.model(tier, str(one["endpoint"]), str(one["model"]))
        for tier, one in session.metadata["tiers"].items()
        if str(one["endpoint"]) in settings.endpoints  # the loop names those that are not
    }
    settings = replace(settings, tiers=frozen or settings.tiers)
    if wanted is None and not registry.describe(session.speaker).manual:
        return select.keep(session.speaker, settings, workflow=session.workflow, can_ask=can_ask)
    return select.choose(wanted, settings, workflow=session.workflow, can_ask=can_ask)


def is_over(session: Session) -> bool:
    """Whether nothing is left to be said. The turns are read only if the metadata say that it ended once."""
    if "completed_at" not in session.metadata:
        return False
    session.read_turns()
    return session.plan().done


def voices_for(
    session: Session,
    speaker: str,
    settings: Config,
    source: str | None = None,
    paced: bool = False,
    ask: bool = False,
    wait: bool = False,
) -> select.Voices:
    """Who speaks for each seat. Persons are asked at the terminal if `ask` says so; `wait` waits for them elsewhere."""
    if source and not registry.describe(speaker).replays:
        raise UsageError(f"--from goes with --speaker replay here; to continue another session, name it: {source}")
    check_pace(speaker, paced)
    select.warm_up(speaker)
    words_of = name_source(source, settings) if source else str(session.metadata.get("replay_of"))
    return select.Voices(speaker, Setup(settings, source=words_of, paced=paced), ask, wait)


def run(
    session: Session,
    settings: Config,
    voices: select.Voices,
    limits: Limits,
    audience: Audience,
    drive: Drive,
    interruptible: bool = False,
) -> Path:
    """Run the session to its end; the path of the archived transcript. What stops it is noted before it is raised.

    `drive` runs the loop's coroutine, and closes the voices. `interruptible`: SIGINT ends this process, and nothing
    else of the user's.
    """
    lowest = configured.find_limits(settings, start.is_shared_review(session.workflow.name))
    limits, settings = limits.lower(lowest), configured.limit_times(settings, lowest)
    with session.hold():
        assert session.lock is not None
        start.check_quorum(session.workflow, limits.quorum)
        limits.check_prices(session, settings, voices.name)
        if not session.plan().done:
            select.check_machines(session.workflow, voices.name, settings)
        archive = places.archive_of(settings, session.folder)
        files.prove_writable(archive)
        desk.clear_pause(session.folder)
        session.lock.note(interruptible=interruptible)
        if session.speaker != voices.name and not session.plan().done:
            session.merge(continued_by=voices.name)
        audience.begins()
        answering.collect(session, settings)
        subagents.wait_for_assistant(session)
        runner = Runner(session, voices, settings, audience, limits.quorum, limits.budget(session, settings))
        was_done = session.plan().done
        try:
            archived = drive(runner.run(archive))
        except BaseException as failure:  # also a signal: whoever looks at the folder next finds what was said
            with suppress(CouncilError):
                if isinstance(failure, CouncilError):
                    why = failure.on_record if isinstance(failure, RateLimited) else str(failure)
                    session.lock.note(paused=why)
                derived.build(session, session.plan())
            if isinstance(failure, CouncilError):
                notify.report_stop(settings.notify, session, runner.called)
            raise
        handouts.remove_notes(session.folder, ())
        desk.clear_pause(session.folder)
        session.lock.clear()
    if not was_done:
        notify.report_end(settings.notify, session, notify.COMPLETE)
    return archived


async def close(voices: select.Voices) -> None:
    """Connections are closed politely, but nobody waits long for that."""
    with suppress(Exception):
        await asyncio.wait_for(voices.close(), CLOSING)
