"""The public Python API: `council.run`, `council.review`, `council.recover` and `council.load_session`.

It prints nothing, asks nobody at the terminal and downloads nothing. The command line calls the same functions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from council.checks.cost import DebateCost
from council.config import places, project
from council.config import settings as config
from council.config.settings import Config
from council.errors import CouncilError, UsageError
from council.prompts.invocation import PATCHLIST
from council.record import session as sessions
from council.record.session import Session
from council.reports.summary import DebateResult, summarize
from council.runner import debate, price
from council.runner.debate import Limits, NoAudience
from council.runner.start import Request
from council.speakers import select
from council.speakers.select import Choice

if TYPE_CHECKING:
    from council.reviews.entries import Merged

Names = str | Iterable[str]  # one name, or several


@dataclass(frozen=True)
class ReviewFinding:
    """One finding of a review. `status` says whether it is open. Without a place, `path` and the lines are empty.

    `inferred`: nobody said plainly how severe it is. `wordings` are the other findings that were taken for the same.
    """

    id: str
    severity: str
    status: str
    issue: str
    change: str
    path: str
    first_line: int
    last_line: int
    found_by: tuple[str, ...]
    inferred: bool = False
    wordings: tuple[ReviewFinding, ...] = ()


@dataclass(frozen=True)
class ReviewResult:
    """A review. `findings` are the open ones, the worst first; `set_aside` were rejected or dismissed; `unparsed` has
    what could not be read, each piece with its author.
    """

    session: DebateResult
    findings: tuple[ReviewFinding, ...]
    set_aside: tuple[ReviewFinding, ...]
    summary: str
    unparsed: tuple[tuple[str, str], ...] = ()


def run(
    topic: str,
    *,
    workflow: str = "debate",
    with_members: Names = (),
    without_members: Names = (),
    only_members: Names = (),
    mode: str = "deliberative",
    options: Mapping[str, Any] | None = None,
    tier_map: Mapping[str, str] | None = None,
    files: Iterable[str | Path] = (),
    evidence: Iterable[str | Path] = (),
    evidence_commands: Iterable[str] = (),
    speaker: str | None = None,
    source: str | Path | None = None,
    quorum: int | None = None,
    max_calls: int | None = None,
    max_cost: float | None = None,
    yes: bool = False,
    overlays: bool | None = None,
    id: str | None = None,
) -> DebateResult:
    """Hold a debate and return its result. The arguments are the options of `council run`; `source` is `--from`.

    `overlays` says whether the project's `.council` counts; by default it does, but not in CI.
    """
    request = Request(
        topic=topic,
        workflow=workflow,
        with_=_names(with_members),
        without=_names(without_members),
        only=_names(only_members),
        mode=mode,
        options=_words(options),
        tier_map=tuple(f"{tier}={target}" for tier, target in (tier_map or {}).items()),
        files=tuple(map(Path, files)),
        evidence=tuple(map(Path, evidence)),
        evidence_commands=tuple(evidence_commands),
        quorum=quorum,
        max_cost=max_cost,
        id=id,
    )
    with project.decided(overlays):
        return summarize(_hold(request, speaker, source, Limits(quorum, max_calls, max_cost), yes).folder)


def review(
    files: str | Path | Iterable[str | Path],
    *,
    diff: str | None = None,
    with_members: Names = (),
    without_members: Names = (),
    only_members: Names = (),
    options: Mapping[str, Any] | None = None,
    tier_map: Mapping[str, str] | None = None,
    speaker: str | None = None,
    source: str | Path | None = None,
    max_tokens: int | None = None,
    quorum: int | None = None,
    max_calls: int | None = None,
    max_cost: float | None = None,
    yes: bool = False,
    overlays: bool = False,
    id: str | None = None,
) -> ReviewResult:
    """Review files (paths or glob patterns) and return the findings. The arguments are those of `council review`."""
    from council.reviews import inputs

    names = (files,) if isinstance(files, str | Path) else tuple(files)
    paths = inputs.expand(tuple(map(str, names)))
    topic = inputs.topic_of(paths, diff)
    inputs.check_size(paths, topic, max_tokens or inputs.MAX_TOKENS)
    request = Request(
        topic=topic,
        workflow=PATCHLIST,
        with_=_names(with_members),
        without=_names(without_members),
        only=_names(only_members),
        mode=PATCHLIST,
        options=_words(options),
        tier_map=tuple(f"{tier}={target}" for tier, target in (tier_map or {}).items()),
        files=paths,
        quorum=quorum,
        max_cost=max_cost,
        id=id,
    )
    with project.decided(overlays):
        return _reviewed(_hold(request, speaker, source, Limits(quorum, max_calls, max_cost), yes))


def recover(
    session: str = "last",
    *,
    speaker: str | None = None,
    source: str | Path | None = None,
    quorum: int | None = None,
    max_calls: int | None = None,
    max_cost: float | None = None,
    yes: bool = False,
) -> DebateResult:
    """Continue a session where it stopped. Completed turns are never billed twice."""
    settings = config.load()
    found = sessions.open_(places.find(settings, session))
    limits = Limits(quorum, max_calls, max_cost)
    return summarize(_finish(found, settings, speaker, _path(source), limits, yes).folder)


def load_session(session: str = "last") -> DebateResult:
    """A session by its id, a part of the id, or `last`, whatever its state."""
    return summarize(places.find(config.load(), session))


def _hold(request: Request, speaker: str | None, source: str | Path | None, limits: Limits, yes: bool) -> Session:
    settings = config.load()
    wanted = speaker or settings.speaker
    request, replayed = debate.with_source(request, wanted, _path(source), settings)
    name = _present(debate.choose_speaker(request, speaker, settings))
    _refuse_large(price.bound_start(request, settings, name), settings, limits, yes)
    session = debate.begin(request, settings, name, replayed)
    return _finish(session, settings, name, replayed, limits, yes)


def _refuse_large(most: DebateCost | None, settings: Config, limits: Limits, yes: bool) -> None:
    if most and limits.usd is None and not yes and price.is_large(most, settings):
        raise price.refuse_large(most, settings, "max_cost or yes=True")


def _finish(
    session: Session, settings: Config, speaker: str | None, source: str | None, limits: Limits, yes: bool
) -> Session:
    name = _present(debate.choose_again(session, speaker, settings))
    _refuse_large(price.bound_switch(session, settings, name), settings, limits, yes)
    voices = debate.voices_for(session, name, settings, source)
    try:
        debate.run(session, settings, voices, limits, NoAudience(), lambda running: _drive(running, voices))
    except CouncilError as failure:
        failure.session_id = session.id
        raise
    return session


def _present(choice: Choice) -> str:
    """The speaker's name; refused if something has to be downloaded first."""
    if (download := choice.speaker.download()) is not None:
        fetch = f"`council run --speaker {choice.name}`"
        raise UsageError(f"{download.what} ({download.size}) is not here yet; {fetch} fetches it")
    return choice.name


def _drive(running: Coroutine[Any, Any, Path], voices: select.Voices) -> Path:
    """Run the loop; beside a loop that runs already, as in a notebook, in a thread of its own."""

    async def main() -> Path:
        try:
            return await running
        finally:
            await debate.close(voices)

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        beside = False
    else:
        beside = True
    if not beside:
        return asyncio.run(main())
    return _drive_beside(main())


def _drive_beside(main: Coroutine[Any, Any, Path]) -> Path:
    """Run it in a thread. An interrupt arrives in this thread, so the other one must be asked to stop."""
    loop = asyncio.new_event_loop()

    def run() -> Path:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            return runner.run(main)

    def stop() -> None:
        for task in asyncio.all_tasks(loop):
            task.cancel()

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run)
        try:
            return running.result()
        except BaseException:
            with suppress(RuntimeError):  # the loop is closed: it ended by itself
                loop.call_soon_threadsafe(stop)
            raise


def _names(given: Names) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _words(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """A workflow's options are true, false or words."""
    return {name: value if isinstance(value, bool) else str(value) for name, value in (options or {}).items()}


def _path(source: str | Path | None) -> str | None:
    return None if source is None else str(source)


def _reviewed(session: Session) -> ReviewResult:
    from council.reviews import report

    found = report.review(session.plan(), session.topic, session.metadata)
    findings, aside = (tuple(map(_finding, some)) for some in (found.open, found.set_aside))
    return ReviewResult(summarize(session.folder), findings, aside, found.summary, found.unparsed)


def _finding(finding: Merged) -> ReviewFinding:
    place = finding.place
    return ReviewFinding(
        id=finding.id,
        severity=finding.severity,
        status=finding.status,
        issue=finding.issue,
        change=finding.change,
        path=place.path,
        first_line=place.first,
        last_line=place.last,
        found_by=tuple(finding.supporters),
        inferred=finding.inferred,
        wordings=tuple(map(_finding, finding.wordings[1:])),
    )
