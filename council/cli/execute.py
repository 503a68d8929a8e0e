"""Runs one session at a terminal: signals end it, and the result is shown."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from council.checks import cost
from council.cli.context import Stopped
from council.config import command_line
from council.config.settings import Config
from council.protocols import outcome
from council.record import files
from council.record.session import Session
from council.reports import filing, markdown, transcript
from council.runner import debate as debates
from council.runner.debate import Limits
from council.speakers import select
from council.speakers.registry import describe
from council.terminal.closing import conclude
from council.terminal.remaining import Remaining
from council.terminal.screen import Screen
from council.terminal.watch import (
    Watcher,
    bound_steps,
    bound_usage,
    format_duration,
    list_costs,
    sum_usage,
)


def execute(
    session: Session, settings: Config, voices: select.Voices, screen: Screen, limits: Limits, watched: bool
) -> dict[str, Any]:
    """Run the session to its end, and show it; the result for --json. If `watched`, the derived files keep up."""
    watcher = Watcher(session, screen, watched)
    watcher.expected = bound_usage(session, settings, voices.name)
    at_once = 1 if describe(voices.name).one_at_a_time else settings.concurrency
    watcher.remaining = Remaining(session.workflow, partial(bound_steps, session, settings), at_once)
    try:
        archived = debates.run(
            session,
            settings,
            voices,
            limits,
            watcher,
            lambda loop: _until_stopped(loop, voices, watcher),
            interruptible=True,
        )
    finally:
        screen.wipe()
    return _show_end(session, settings, screen, archived, time.monotonic() - watcher.began)


def _until_stopped(running: Coroutine[Any, Any, Path], voices: select.Voices, watcher: Watcher) -> Path:
    """Run the loop; signals cancel it cleanly."""
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
            loop.add_signal_handler(signal.SIGTSTP, _suspend, watcher.screen)
        live = asyncio.create_task(watcher.animate())
        try:
            return await running
        finally:
            live.cancel()
            watcher.release()
            watcher.screen.wipe()
            await debates.close(voices)

    try:
        return asyncio.run(main())
    except asyncio.CancelledError:
        raise Stopped(caught[0]) from None
    finally:
        if caught:
            raise Stopped(caught[0])


@contextmanager
def wiped_when_suspended(screen: Screen) -> Iterator[None]:
    """For work without an event loop: the block is gone whenever somebody else has the terminal, and at the end."""
    watched = screen.live and signal.getsignal(signal.SIGTSTP) == signal.SIG_DFL
    if watched:
        signal.signal(signal.SIGTSTP, lambda *_: screen.when_written(partial(_suspend, screen)))
    try:
        yield
    finally:
        if watched:
            signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        screen.wipe()


def _suspend(screen: Screen) -> None:
    """Ctrl-Z: restore the terminal before suspending. The block returns when the debate continues."""
    screen.wipe()
    ours = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    signal.raise_signal(signal.SIGTSTP)
    signal.signal(signal.SIGTSTP, ours)


def _show_end(session: Session, settings: Config, screen: Screen, archived: Path, seconds: float) -> dict[str, Any]:
    plan = session.plan()
    facts = outcome.convergence(plan) or {}
    debate = transcript.compose(session, plan)
    conclude(debate, screen)
    spent, most = sum_usage(session), bound_usage(session, settings)
    screen.say(f"{cost.format_usage(spent, most)}, {format_duration(seconds)}")
    screen.say_command(command_line.name_commands(f"read it: council show {session.id}"))
    screen.say(f"head: {debate.head}")
    screen.say(f"session: {files.tilde(session.folder)}")
    screen.say(f"archive: {files.tilde(archived)}")
    if document := filing.describe_places(session, plan, debate):
        screen.say(document)
    for line in transcript.list_following(session, plan):
        screen.say_command(line)
    return {
        "session_id": session.id,
        "head": debate.head,
        "folder": str(session.folder),
        "archived_to": str(archived),
        "state": "complete",
        **{key: facts.get(key) for key in ("outcome", "converged", "reason", "missing")},
        "synthesis": markdown.synthesis(debate.synthesis, debate.overlaid) if debate.synthesis else "",
        **list_costs(session, spent, most),
    }
