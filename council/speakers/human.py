"""A person at the terminal. Without one, `run` pauses and the reply is recorded with `council record`.

The answers that a step declares are asked for one by one, an invalid one again at once; a reply without any is free
text. Lines are edited by the terminal, which hands them over when they are complete.
"""

from __future__ import annotations

import asyncio
import math
import os
import signal
import sys
import termios
from collections.abc import Callable, Container, Mapping
from contextlib import suppress

from council import text_width
from council.config.identity import user_name
from council.errors import UsageError, Waiting
from council.replies import entry
from council.speakers.base import Billing, Brief, Shown, Speaker, SpeakerType, Spoken
from council.text import harmless
from council.workflow.model import HUMAN, Kind

HOW = "Type your reply. End it with a line that contains only a full stop."
STOP = "."
THEN = "... "
AWHILE = 0.05  # seconds: nobody types two lines so fast, so they were pasted, empty lines included
LONGEST_LINE = 4095  # bytes: a terminal drops the rest of a longer line without a word
CUT = f"A line was longer than {LONGEST_LINE:,} bytes, and the terminal cut it off. Try again with shorter lines."
WIDEST, NARROW = 100, 20


SPEAKER = SpeakerType(
    name=HUMAN,  # the workflow language has the word too: a seat of that name is a person's
    about="a person at the terminal; without one, the run pauses until the reply is recorded",
    make=lambda setup: HumanSpeaker(setup.shown),
    billing=Billing.FREE,
    is_person=True,
)


class HumanSpeaker(Speaker):
    """`seen` are the turns that this terminal shows anyway."""

    name = SPEAKER.name

    def __init__(self, seen: Container[str] = ()) -> None:
        self.seen = seen
        self.terminal = asyncio.Lock()

    async def speak(self, brief: Brief, tell: Callable[[str], None]) -> Spoken:
        """One person at a time. The deadline is the longest pause between two lines."""
        async with self.terminal:
            try:
                async with asyncio.timeout(None) as clock:
                    with Keys(lambda: clock.reschedule(_from_now(brief.deadline))) as keys:
                        show(brief.shown, self.seen)
                        return Spoken(await _reply(brief, keys), usd=0.0, by=user_name())
            except TimeoutError:
                why = f"nobody answered {brief.turn} within {brief.deadline:g} s"
            except EOFError:
                why = f"the input ended before {brief.turn} was answered"
        raise Waiting(f"{why}; run `council recover` to be asked again")


def _from_now(seconds: float) -> float | None:
    return None if seconds == math.inf else asyncio.get_running_loop().time() + seconds


async def _reply(brief: Brief, keys: Keys) -> str:
    if not entry.can_ask(brief.reply):
        return await _free(keys)
    entries: dict[str, str] = {}
    for name, kind in brief.reply:
        if entry.applies(name, kind, brief.reply, entries):
            entries[name] = await _answer(name, kind, brief, keys, entries)
    return entry.compose_reply(brief.reply, entries)


async def _free(keys: Keys) -> str:
    while True:
        text = await keys.text(f"{HOW}\n", (STOP,), "")
        if text.strip() and not keys.cut:
            return text
        say(CUT if keys.cut else "The reply is empty.")


async def _answer(name: str, kind: Kind, brief: Brief, keys: Keys, before: Mapping[str, str]) -> str:
    """Ask until the answer can be read."""
    question = entry.format_question(name, kind, brief.reply)
    ends = (STOP,) if kind.type == "code" else (STOP, "")
    while True:
        given = await (keys.text(question, ends) if kind.type in entry.MULTILINE_TYPES else keys.line(question))
        try:
            if not keys.cut:
                written = entry.read_entry(name, kind, given, brief.reply, brief.text)
                if why := brief.refuse({**before, name: written}):
                    raise UsageError(why)
                return written
            say(CUT)
        except UsageError as wrong:
            say(f"{wrong}.")


# ---- output ----


def show(shown: Shown | None, seen: Container[str]) -> None:
    """Print what the person should read, without the turns that the terminal shows anyway."""
    if shown is None:
        return
    bar = "═══" if (sys.stderr.encoding or "").lower().startswith("utf") else "==="
    say(f"\n{bar} {shown.heading} {bar}")
    for turn, text in shown.turns:
        if turn not in seen:
            say(text)
    if shown.task:
        say(f"\n{shown.task}\n")


def say(text: str) -> None:
    print(_fitting(text), file=sys.stderr, flush=True)


def _fitting(text: str) -> str:
    """Lines that fit the window, without control characters."""
    try:
        columns = os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except (OSError, ValueError):
        columns = 80
    most = max(min(columns - 1, WIDEST), 1)
    lines = harmless(text).split("\n")
    return "\n".join(row for line in lines for row in _rows(line, most))


def _rows(line: str, most: int) -> list[str]:
    """A line that fits stays as it is; a list item is continued under its own text."""
    if text_width.width(line) <= most:
        return [line]
    return text_width.wrap(line, most, then="  " if line.startswith("- ") and most > NARROW else "")


# ---- input ----


class Keys:
    """Lines from the terminal, without a thread that would keep the program alive when it is interrupted.

    What was typed before the question is discarded. `heard` is called for each line. `cut` means that the terminal cut
    off a line of the last answer.
    """

    def __init__(self, heard: Callable[[], None]) -> None:
        self.terminal = sys.stdin.fileno()
        self.loop = asyncio.get_running_loop()
        self.heard = heard
        self.typed = b""
        self.ended = False
        self.cut = False
        self.prompt = ""

    def __enter__(self) -> Keys:
        with suppress(termios.error):
            termios.tcflush(self.terminal, termios.TCIFLUSH)
        self.loop.add_signal_handler(signal.SIGCONT, self.again)
        self.heard()
        return self

    def __exit__(self, *failure: object) -> None:
        self.loop.remove_signal_handler(signal.SIGCONT)
        if any(failure):
            print(file=sys.stderr, flush=True)  # so that the next message does not follow a prompt

    def again(self) -> None:
        """Back in the foreground: print the prompt again."""
        with suppress(OSError):
            if os.tcgetpgrp(self.terminal) == os.getpgrp():
                self.ask(self.prompt)

    def ask(self, prompt: str) -> None:
        self.prompt = prompt
        space = prompt[len(prompt.rstrip(" ")) :]
        print(_fitting(prompt.rstrip(" ")) + space, end="", file=sys.stderr, flush=True)

    async def line(self, prompt: str) -> str:
        self.ask(prompt)
        self.cut = False
        line, over = await self._line()
        if over and not line:
            raise EOFError
        return line.strip()

    async def text(self, prompt: str, ends: tuple[str, ...], then: str = THEN) -> str:
        """Lines up to one of the `ends`, or the end of input. An empty line within pasted text does not end it."""
        lines: list[str] = []
        self.ask(prompt)
        self.cut = False
        while True:
            line, over = await self._line()
            if over and not line and not lines:
                raise EOFError
            pasted = not over and line != STOP and await self._more()
            if over or line == STOP or (line in ends and not pasted):
                return "\n".join([*lines, line] if over else lines).strip("\n")
            lines.append(line)
            if not pasted:
                self.ask(then)

    async def _line(self) -> tuple[str, bool]:
        """The next line, and whether the input ended instead."""
        while b"\n" not in self.typed and not self.ended:
            await self._take()
        line, end, self.typed = self.typed.partition(b"\n")
        self.ended = self.ended and bool(end)  # a terminal can be read again after the end of its input
        self.cut = self.cut or len(line) >= LONGEST_LINE
        return harmless(line.decode("utf-8", "backslashreplace")), not end

    async def _more(self) -> bool:
        """Whether something follows at once."""
        with suppress(TimeoutError):
            async with asyncio.timeout(AWHILE):
                await self._take()
        return bool(self.typed)

    async def _take(self) -> None:
        ready = asyncio.Event()
        self.loop.add_reader(self.terminal, ready.set)
        try:
            await ready.wait()
        finally:
            self.loop.remove_reader(self.terminal)
        try:
            piece = os.read(self.terminal, 65536)
        except OSError:  # the terminal is gone
            piece = b""
        self.typed, self.ended = self.typed + piece, not piece
        self.heard()


def at_a_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
