"""One run over one session: it is held, the loop runs, signals end it, and the end is told."""

from __future__ import annotations

import asyncio
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from council.checks import cost
from council.cli.context import Stopped
from council.config.settings import Config
from council.errors import CouncilError
from council.protocols import outcome
from council.record import files
from council.record.session import Session
from council.reports import derived, filing, markdown, transcript
from council.reports.totals import totals
from council.runner import subagents
from council.runner.budget import Budget
from council.runner.loop import Runner
from council.speakers import select
from council.terminal.screen import Screen
from council.terminal.watch import (
    Watcher,
    billed,
    bounded,
    lasted,
    taken,
)

PATIENCE = 1.0


@dataclass(frozen=True)
class Limits:
    """What a person set for this run: None is no limit."""

    quorum: int | None = None
    calls: int | None = None
    usd: float | None = None

    def budget(self, session: Session) -> Budget:
        """The limits hold for the session, whatever run a call was made in."""
        so_far = totals(session)
        return Budget(self.calls, self.usd, so_far["calls"], sum(one.usd or 0.0 for one in session.receipts.values()))


def execute(
    session: Session, settings: Config, speaking: select.Voices, screen: Screen, limits: Limits
) -> dict[str, Any]:
    """Run the session to its end; what came of it. A pause is noted before it is raised."""
    files.prove_writable(settings.archive)
    with session.hold():
        assert session.holder is not None
        session.holder.note()
        if session.metadata["speaker"] != speaking.name:
            session.merge(speaker=speaking.name)
        screen.out(markdown.announcement(session))
        screen.say(f"speaker: {speaking.name}", "dim")
        if session.said:
            kept = "1 turn is" if len(session.said) == 1 else f"{len(session.said)} turns are"
            screen.say(f"going on: {kept} recorded already", "dim")
        subagents.harvest(session, settings)
        subagents.wait_for_assistant(session)
        watcher = Watcher(session, screen)
        speaking.setup.shown = watcher.shown
        runner = Runner(session, speaking, settings, watcher, limits.quorum, limits.budget(session))
        try:
            archived = _until_stopped(runner, speaking, watcher, settings.archive)
        except CouncilError as failure:
            with suppress(CouncilError):
                session.holder.note(paused=str(failure))
                derived.build(session, session.plan())
            raise
        finally:
            screen.wipe()
        session.holder.clear()
        return _told(session, settings, screen, archived, time.monotonic() - watcher.began)


def _until_stopped(runner: Runner, speaking: select.Voices, watcher: Watcher, archive: Path) -> Path:
    """The loop, with signals that cancel it in place of tearing it apart."""
    caught: list[int] = []

    async def main() -> Path:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None

        def stop(number: int) -> None:
            caught.append(number)
            task.cancel()

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, stop, number)
        if watcher.screen.live and signal.getsignal(signal.SIGTSTP) == signal.SIG_DFL:
            loop.add_signal_handler(signal.SIGTSTP, _asleep, watcher.screen)
        live = asyncio.create_task(watcher.animate())
        try:
            return await runner.run(archive)
        finally:
            live.cancel()
            watcher.release()
            watcher.screen.wipe()
            await _close(speaking)

    try:
        return asyncio.run(main())
    except asyncio.CancelledError:
        raise Stopped(caught[0]) from None
    finally:
        if caught:
            raise Stopped(caught[0])


def _asleep(screen: Screen) -> None:
    """Ctrl-Z: the terminal is given back as it was. When the debate goes on, so does the block."""
    screen.wipe()
    ours = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    signal.raise_signal(signal.SIGTSTP)
    signal.signal(signal.SIGTSTP, ours)


async def _close(speaking: select.Voices) -> None:
    """Connections are closed politely, but nobody waits long for that."""
    with suppress(Exception):
        await asyncio.wait_for(speaking.close(), PATIENCE)


def _told(session: Session, settings: Config, screen: Screen, archived: Path, seconds: float) -> dict[str, Any]:
    plan = session.plan()
    facts = outcome.convergence(plan) or {}
    debate = transcript.compose(session, plan)
    for addition in debate.synthesis.additions if debate.synthesis else ():
        screen.out(markdown.addition_text(addition))
    if debate.absent:
        screen.out(f"**Degraded:** absent: {'; '.join(debate.absent)}\n")
    screen.out(f"**Outcome:** {facts.get('outcome')} ({facts.get('reason')})\n")
    if debate.effect:
        screen.out(markdown.effect_text(debate.effect))
    spent, most = taken(session), bounded(session, settings)
    screen.say(f"{cost.told(spent, most)}, {lasted(seconds)}")
    screen.say(f"session: {files.tilde(session.folder)}")
    screen.say(f"archive: {files.tilde(archived)}")
    if document := filing.told(session, plan):
        screen.say(document)
    return {
        "session_id": session.id,
        "folder": str(session.folder),
        "archived_to": str(archived),
        "state": "complete",
        **{key: facts.get(key) for key in ("outcome", "converged", "reason", "missing")},
        "synthesis": markdown.synthesis(debate.synthesis) if debate.synthesis else "",
        **billed(session, spent, most),
    }
