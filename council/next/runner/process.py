"""Holds one debate in this process, which signals may end."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine
from typing import Any

from council.next.engine.planner import Plan
from council.next.errors import Interrupted

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


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
