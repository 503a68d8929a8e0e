"""The two streams of a run, and on a terminal a block of live lines below everything that was written.

The only escape sequences that reach a terminal are those of this file and of `markdown`.
"""

from __future__ import annotations

import os
import sys
import termios
from collections.abc import Callable, Sequence
from typing import TextIO

from council import text_width
from council.terminal.markdown import WIDEST, Paint, styled
from council.text import harmless

USUAL = (80, 24)
POORER = str.maketrans("─━·…●◐○→“”", '-=|.+~x>""')  # for a terminal without Unicode


def size(stream: TextIO) -> tuple[int, int]:
    """Columns and rows of the terminal behind this stream; the other stream may be piped."""
    try:
        columns, rows = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return USUAL
    return columns or USUAL[0], rows or USUAL[1]


def is_terminal(stream: TextIO) -> bool:
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def has_colour(stream: TextIO) -> bool:
    return is_terminal(stream) and not os.environ.get("NO_COLOR")


def in_foreground(stream: TextIO) -> bool:
    """Whether we are in the foreground. If not, another program reads the keys and owns the screen."""
    try:
        return os.tcgetpgrp(stream.fileno()) == os.getpgrp()
    except OSError:  # not our controlling terminal, so nothing can have put us in the background
        return True


class EchoGuard:
    """Turns echo off while a block is drawn. Typed keys wait in the terminal for the next reader."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.suppressed = False

    def on(self) -> None:
        """Checked each time: a shell that suspended us may have changed the setting."""
        self.suppressed = self._echo(False) or self.suppressed

    def off(self) -> None:
        if self.suppressed:
            self.suppressed = not self._echo(True)

    def _echo(self, wanted: bool) -> bool:
        """Set echo; whether it changed. Never in the background: a process that does it there is stopped."""
        try:
            now = termios.tcgetattr(self.stream)
            if not in_foreground(self.stream) or bool(now[3] & termios.ECHO) is wanted:
                return False
            now[3] ^= termios.ECHO
            termios.tcsetattr(self.stream, termios.TCSANOW, now)
        except (termios.error, OSError, ValueError):
            return False
        return True


class Screen:
    """Two streams and the live block. A broken stream is dropped; the debate continues without it."""

    def __init__(self, quiet: bool = False, silent_out: bool = False) -> None:
        self.quiet = quiet
        self.silent_out = silent_out
        self.watched = sys.stderr.isatty() and not quiet
        self.live = is_terminal(sys.stderr) and not quiet
        self.colour = self.live and has_colour(sys.stderr)
        self.broken: set[int] = set()
        self.unwritten: OSError | None = None
        self.writing = False
        self.waiting: Callable[[], None] | None = None
        self.block: list[str] = []
        self.echo_guard = EchoGuard(sys.stderr)

    @property
    def paint(self) -> Paint | None:
        """How results are shown on a terminal at its current width; None if they go elsewhere."""
        return Paint(size(sys.stdout)[0], has_colour(sys.stdout)) if sys.stdout.isatty() else None

    def out(self, text: str = "") -> None:
        """Print a result: Markdown, wrapped and coloured on a terminal. An empty line at its end stays."""
        paint = self.paint
        self.painted(paint.text(text) + "\n" * text.endswith("\n") if paint else harmless(text))

    def heading(self, title: str, heavy: bool = False) -> None:
        """Print the heading of a round."""
        paint = self.paint
        self.painted(f"{paint.rule(title, heavy)}\n" if paint else f"### {harmless(title)}\n")

    def painted(self, text: str) -> None:
        """Print a result that is safe already, with its colours."""
        if not self.silent_out:
            self._above(sys.stdout, text)

    def say(self, text: str, *styles: str) -> None:
        """Print a progress message."""
        if self.quiet:
            return
        lines = harmless(text).split("\n")
        if self.watched:
            most = min(size(sys.stderr)[0] - 1, WIDEST)
            lines = [row for line in lines for row in text_width.wrap(line, most)]
        self._above(sys.stderr, "\n".join(self.styled(line, *styles) for line in lines))

    def say_command(self, text: str) -> None:
        """Print a command to copy: only the terminal itself may wrap it, so that it is pasted as one line."""
        if not self.quiet:
            self._above(sys.stderr, harmless(text))

    def styled(self, text: str, *styles: str) -> str:
        return styled(text, *styles) if self.colour else text

    def insist(self, text: str) -> None:
        """Print what must be seen even with --quiet."""
        self.wipe()
        self._write(sys.stderr, harmless(text))

    def draw(self, lines: Sequence[str]) -> None:
        """Draw the live block in place of the last one. Each line is one row: callers cut them to `room`."""
        if self.live and not in_foreground(sys.stderr):
            self.block = []  # the foreground program has written over it
        elif self.live:
            self.echo_guard.on()
            home, self.block = self._home(), list(lines)  # what waits for this to be written may wipe it
            self._write(sys.stderr, home + "\x1b[K\n".join(lines) + "\x1b[J")

    def room(self) -> tuple[int, int]:
        """Columns and rows for a live block. The last column stays free, because a terminal may wrap there."""
        columns, rows = size(sys.stderr)
        return columns - 1, max(rows // 2, 1)

    def wipe(self) -> None:
        """Remove the block and turn echo on again."""
        self._clear()
        self.echo_guard.off()

    def _clear(self) -> None:
        if self.live and self.block:
            self._write(sys.stderr, self._home() + "\x1b[J")
            self.block = []

    def _home(self) -> str:
        """Move from the block's end to its beginning. In a narrowed window its lines take more rows."""
        columns, rows = size(sys.stderr)
        taken = sum(max(-(-text_width.width(line) // columns), 1) for line in self.block)
        up = min(taken, rows) - 1
        return "\r" + (f"\x1b[{up}A" if up > 0 else "")

    def _above(self, stream: TextIO, text: str) -> None:
        block = self.block
        self._clear()
        self._write(stream, text + "\n")
        if block:
            self.draw(block)

    def when_written(self, act: Callable[[], None]) -> None:
        """For a signal's handler: do this now, or once what is being written is out. A stream cannot be written twice
        at once."""
        if self.writing:
            self.waiting = act
        else:
            act()

    def _write(self, stream: TextIO, text: str) -> None:
        self.writing = True
        try:
            self._put(stream, text)
        finally:
            self.writing = False
        if act := self.waiting:
            self.waiting = None
            act()

    def _put(self, stream: TextIO, text: str) -> None:
        if stream.fileno() in self.broken:
            return
        encoding = stream.encoding or "utf-8"
        poor = stream.isatty() and not encoding.lower().startswith("utf")
        try:
            shown = text.translate(POORER) if poor else text
            stream.write(shown.encode(encoding, "replace").decode(encoding))
            stream.flush()
        except (OSError, ValueError) as failure:
            if stream is sys.stdout and isinstance(failure, OSError) and not isinstance(failure, BrokenPipeError):
                self.unwritten = failure
            self.broken.add(stream.fileno())
            _to_nowhere(stream)


def _to_nowhere(stream: TextIO) -> None:
    """Redirect the stream, so that buffered text does not raise again when the program ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
