"""A person at the terminal. Without one, `run` pauses and the reply is recorded with `council record`."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable

from council.errors import Waiting
from council.speakers.base import Brief, Spoken
from council.text import harmless

HOW = "Your reply. End it with a line that holds a single full stop."


class HumanSpeaker:
    name = "human"
    model = None

    def __init__(self) -> None:
        self.terminal = asyncio.Lock()

    async def speak(self, brief: Brief, tell: Callable[[str], None]) -> Spoken:
        """The brief is printed; the reply ends with a line that holds a single full stop, or with the end of input."""
        async with self.terminal:
            print(f"\n{harmless(brief.text)}\n\n{HOW}", file=sys.stderr)
            text = await _typed()
        if not text.strip():
            raise Waiting(f"nothing was typed for {brief.turn}")
        return Spoken(text, usd=0.0)

    async def close(self) -> None:
        pass


async def _typed() -> str:
    """Lines from the terminal, without a thread that would keep the program alive when it is interrupted."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()
    pieces: list[bytes] = []

    def readable() -> None:
        piece = os.read(sys.stdin.fileno(), 65536)
        pieces.append(piece)
        if not done.done() and (not piece or b"".join(pieces).endswith((b"\n.\n", b"\r\n.\r\n")) or pieces == [b".\n"]):
            done.set_result(None)

    loop.add_reader(sys.stdin.fileno(), readable)
    try:
        await done
    finally:
        loop.remove_reader(sys.stdin.fileno())
    text = b"".join(pieces).decode("utf-8", "backslashreplace")
    return text.rstrip().removesuffix("\n.").removesuffix("\n.") if text.rstrip() != "." else ""


def at_a_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
