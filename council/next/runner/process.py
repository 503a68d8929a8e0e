"""Holds one debate in this process, which signals may end."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from council.next.engine.planner import Plan
from council.next.errors import Interrupted
from council.next.runner.loop import Run, hold

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
T = TypeVar("T")


def run(debate: Run) -> Plan:
    """Hold a debate in this process, and close its speaker. A signal ends it at once; what was said is on record."""
    caught: list[int] = []
    # One that is ignored, as under nohup, or that the calling program handles is left to it.
    free = [number for number in SIGNALS if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler)]

    async def main() -> Plan:
        loop, this = asyncio.get_running_loop(), asyncio.current_task()
        assert this is not None

        def end(number: int) -> None:
            caught.append(number)
            this.cancel()

        for number in free if threading.current_thread() is threading.main_thread() else ():
            loop.add_signal_handler(number, end, number)
        try:
            return await hold(debate)
        finally:
            if debate.speaker:
                await debate.speaker.close()

    try:
        return beside(lambda: asyncio.run(main()))
    except asyncio.CancelledError:
        if not caught:
            raise
        raise Interrupted(caught[0]) from None


def beside(work: Callable[[], T]) -> T:
    """The result of work that needs an event loop of its own: in a thread where one runs already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(work).result()
