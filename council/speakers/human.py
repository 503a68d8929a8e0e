"""A person, at the terminal or elsewhere: the first answer counts. Without a terminal, `run` pauses unless it may wait.

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
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace

from council import text_width
from council.config.identity import user_name
from council.errors import CouncilError, UsageError, Waiting
from council.record.desk import PLACES, TERMINAL, heed_pause
from council.record.turn_file import ABSENT
from council.replies import entry, parse
from council.speakers.base import Billing, Brief, Shown, Speaker, SpeakerType, Spoken
from council.text import harmless
from council.workflow.model import HUMAN, Kind

HOW = "Type your reply. End it with a line that contains only a full stop."
STOP = "."
THEN = "... "
AWHILE = 0.05  # seconds: nobody types two lines so fast, so they were pasted, empty lines included
WAITING = "Waiting for a person: {turn}; `council record {id} {turn} …` answers it."
LOOK = 0.2  # seconds between two looks at the desk
LONGEST_LINE = 4095  # bytes: a terminal drops the rest of a longer line without a word
CUT = f"A line was longer than {LONGEST_LINE:,} bytes, and the terminal cut it off. Try again with shorter lines"
WIDEST, NARROW = 100, 20
FREE = 6  # rows below a question


SPEAKER = SpeakerType(
    name=HUMAN,  # the workflow language has the word too: a seat of that name is a person's
    about="a person at the terminal; without one, the run pauses until the reply is recorded",
    make=lambda setup: HumanSpeaker(setup.keyboard),
    billing=Billing.FREE,
    is_person=True,
)


class HumanSpeaker(Speaker):
    """Without a `keyboard`, persons answer elsewhere only."""

    name = SPEAKER.name

    def __init__(self, keyboard: bool = True) -> None:
        self.keyboard = keyboard
        self.terminal = asyncio.Lock()
        self.asking = ""

    async def speak(self, brief: Brief, tell: Callable[[str], None]) -> Spoken:
        """The first answer: from this terminal, or from the desk."""
        desk = asyncio.create_task(_watch(brief))
        tasks = [desk, *([asyncio.create_task(self.ask(brief))] if self.keyboard else [])]
        if not self.keyboard:
            say(WAITING.format(turn=brief.turn, id=brief.desk.folder.name if brief.desk else "last"))
        patience = None if self.keyboard or brief.deadline == math.inf else brief.deadline
        try:
            done, _ = await asyncio.wait(tasks, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if not done:
            return _give_up(brief)
        if desk in done and self.keyboard:
            self._say_who(brief, desk.result())
        return (desk if desk in done else tasks[-1]).result()

    async def ask(self, brief: Brief) -> Spoken:
        """One person at a time. The deadline is the longest pause between two lines."""
        async with self.terminal:
            self.asking = brief.turn
            try:
                async with asyncio.timeout(None) as clock:
                    with Keys(lambda: clock.reschedule(_from_now(brief.deadline))) as keys:
                        show(brief.shown)
                        if brief.deadline < math.inf:
                            say(describe_deadline(brief.deadline, brief.lapses))
                        return Spoken(await _reply(brief, keys), usd=0.0, by=user_name(), via=TERMINAL)
            except TimeoutError:
                _discard_input()
                return _give_up(brief)
            except EOFError:
                why = f"the input ended before {brief.turn} was answered"
                raise Waiting(f"{why}; run `council recover` to be asked again") from None

    def _say_who(self, brief: Brief, spoken: Spoken) -> None:
        said = f"{brief.turn} was answered by {spoken.by} {PLACES[str(spoken.via)]}"
        if self.asking == brief.turn:
            _discard_input()
            said += "; what was typed here is discarded"
        say(f"{said}.")


def _discard_input() -> None:
    """What was typed and not sent yet: the shell, or the next question, would take it for its own."""
    with suppress(termios.error):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def describe_deadline(seconds: float, lapses: bool) -> str:
    time = f"{seconds / 60:g} minutes" if seconds >= 120 else f"{seconds:g} seconds"
    after = "it counts as not approved" if lapses else "the run pauses, and `council recover` asks again"
    return f"You have {time} for each line that you type; after that, {after}."


async def _watch(brief: Brief) -> Spoken:
    """What somebody answers elsewhere. What cannot be read, or cannot be an answer, is named once and passed over."""
    assert brief.desk is not None
    told = {""}
    while True:
        heed_pause(brief.desk.folder)
        wrong = ""
        try:
            if found := brief.desk.take():
                spoken = Spoken(found.body, usd=0.0, by=found.by, via=found.via, call=found.id)
                if found.absent:
                    return replace(spoken, stop=ABSENT, absent=found.absent)
                wrong = brief.refuse(parse.read(brief.reply, found.body, brief.text).found)
                if not wrong:
                    return spoken
        except (OSError, CouncilError) as failure:
            wrong = str(failure)
        if wrong not in told:
            told.add(wrong)
            say(f"{brief.turn}: {wrong}")
        await asyncio.sleep(LOOK)


def _give_up(brief: Brief) -> Spoken:
    why = f"nobody answered {brief.turn} within {brief.deadline:g} s"
    if brief.lapses:  # a gate: silence is no approval, and nobody is asked again
        return Spoken("", stop=ABSENT, absent=why, usd=0.0)
    raise Waiting(f"{why}; run `council recover` to be asked again")


def _from_now(seconds: float) -> float | None:
    return None if seconds == math.inf else asyncio.get_running_loop().time() + seconds


async def _reply(brief: Brief, keys: Keys) -> str:
    """What the person chose, and then only what is still missing."""
    entries = await _choose(brief, keys)
    if not entry.can_ask(brief.reply):
        return "".join(entries.values()) or await _free(keys)
    for name, kind in brief.reply if brief.shown is None else ():
        if entry.applies(name, kind, brief.reply, entries):
            entries[name] = await _answer(name, kind, brief, keys, entries)
    kinds = dict(brief.reply)
    while brief.shown and (name := next(iter(brief.shown.missing(entries)), "")):
        entries[name] = await _answer(name, kinds[name], brief, keys, entries)
    return entry.compose_reply(brief.reply, entries)


async def _choose(brief: Brief, keys: Keys) -> dict[str, str]:
    """The answers that a choice stands for; none where there is nothing to choose from."""
    while brief.shown and brief.shown.menu:
        one_line = entry.can_ask(brief.reply)
        text = await (keys.line(f"{brief.shown.menu}\n> ") if one_line else keys.text(f"{HOW}\n", (STOP,), ""))
        try:
            given = dict(brief.shown.read("?" if keys.stray else text)) if not keys.cut else {}
            kinds = dict(brief.reply)
            found = {
                name: entry.read_entry(name, kinds[name], value, brief.reply, brief.text) if kinds else value
                for name, value in given.items()
            }
            if why := CUT if keys.cut else brief.refuse(found):
                raise UsageError(why)
            return found
        except UsageError as wrong:
            say(f"{wrong}.")
    return {}


async def _free(keys: Keys) -> str:
    while True:
        text = await keys.text(f"{HOW}\n", (STOP,), "")
        if text.strip() and not keys.cut:
            return text
        say(f"{CUT}." if keys.cut else "The reply is empty.")


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
            say(f"{CUT}.")
        except UsageError as wrong:
            say(f"{wrong}.")


# ---- output ----


def show(shown: Shown | None) -> None:
    """Print the question, in what the window has room for."""
    if shown is not None:
        columns, rows = _window()
        say(f"\n{shown.fit(columns, rows)}\n")


def say(text: str) -> None:
    print(_fitting(text), file=sys.stderr, flush=True)


def _fitting(text: str) -> str:
    """Lines that fit the window, without control characters."""
    columns, _ = _window()
    return "\n".join(row for line in harmless(text).split("\n") for row in _rows(line, columns))


def _window() -> tuple[int, int]:
    """The columns and rows that text may take: the last ones stay free for what is typed."""
    try:
        size = os.get_terminal_size(sys.stderr.fileno())
    except (OSError, ValueError):
        size = os.terminal_size((80, 24))
    return max(min((size.columns or 80) - 1, WIDEST), 1), max((size.lines or 24) - FREE, 1)


def _rows(line: str, most: int) -> list[str]:
    """A line that fits stays as it is; a list item is continued under its own text."""
    if text_width.width(line) <= most:
        return [line]
    return text_width.wrap(line, most, then="  " if line.startswith("- ") and most > NARROW else "")


# ---- input ----


class Keys:
    """Lines from the terminal, without a thread that would keep the program alive when it is interrupted.

    What was typed before the question is discarded. `heard` is called for each line. `cut` means that the terminal cut
    off a line of the last answer, `stray` that the last line had only keys that write nothing, such as arrows.
    """

    def __init__(self, heard: Callable[[], None]) -> None:
        self.terminal = sys.stdin.fileno()
        self.loop = asyncio.get_running_loop()
        self.heard = heard
        self.typed = b""
        self.ended = False
        self.cut = False
        self.stray = False
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
        text = harmless(line.decode("utf-8", "backslashreplace"))
        self.stray = bool(line) and not text
        return text, not end

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
