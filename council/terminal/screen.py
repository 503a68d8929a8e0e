"""The two streams of a run, and on a terminal a block of live lines below everything that was written.

Nothing that is written reaches a terminal with an escape sequence in it, but for the few of this file and of `paint`.
"""

from __future__ import annotations

import os
import sys
import termios
from collections.abc import Sequence
from typing import TextIO

from council import text_width
from council.terminal.markdown import WIDEST, Paint, styled
from council.text import harmless

USUAL = (80, 24)
POORER = str.maketrans("─━·…●◐○→“”", '-=|.+~x>""')  # for a terminal that knows no Unicode


def size(stream: TextIO) -> tuple[int, int]:
    """Columns and rows of the terminal behind this very stream; the other one may be piped."""
    try:
        columns, rows = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return USUAL
    return columns or USUAL[0], rows or USUAL[1]


def terminal(stream: TextIO) -> bool:
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def coloured(stream: TextIO) -> bool:
    return terminal(stream) and not os.environ.get("NO_COLOR")


def in_front(stream: TextIO) -> bool:
    """Whether the terminal is ours just now. In the background somebody else types there and reads the answers."""
    try:
        return os.tcgetpgrp(stream.fileno()) == os.getpgrp()
    except OSError:  # it is not the terminal that controls us: then nobody has put us in the background
        return True


class Hush:
    """While a block is drawn, typed keys are not echoed into it. They wait in the terminal for whoever reads next."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.hushed = False

    def on(self) -> None:
        """Looked at anew each time: a shell that put us aside for a while may have changed it."""
        self.hushed = self._echo(False) or self.hushed

    def off(self) -> None:
        if self.hushed:
            self.hushed = not self._echo(True)

    def _echo(self, wanted: bool) -> bool:
        """Whether anything was changed. Who changes a terminal from the background is stopped, so nobody does."""
        try:
            now = termios.tcgetattr(self.stream)
            if not in_front(self.stream) or bool(now[3] & termios.ECHO) is wanted:
                return False
            now[3] ^= termios.ECHO
            termios.tcsetattr(self.stream, termios.TCSANOW, now)
        except (termios.error, OSError, ValueError):
            return False
        return True


class Screen:
    """Two streams and the live block. A stream that breaks is given up; the debate goes on without it."""

    def __init__(self, quiet: bool = False, silent_out: bool = False) -> None:
        self.quiet = quiet
        self.silent_out = silent_out
        self.watched = sys.stderr.isatty() and not quiet
        self.live = terminal(sys.stderr) and not quiet
        self.colour = self.live and coloured(sys.stderr)
        self.broken: set[int] = set()
        self.unwritten: OSError | None = None
        self.block: list[str] = []
        self.hush = Hush(sys.stderr)

    @property
    def paint(self) -> Paint | None:
        """How results are shown on a terminal, as wide as it is now; None where they go elsewhere."""
        return Paint(size(sys.stdout)[0], coloured(sys.stdout)) if sys.stdout.isatty() else None

    def out(self, text: str = "") -> None:
        """A result: Markdown, which a terminal gets wrapped and painted."""
        paint = self.paint
        self.painted(paint.text(text) if paint else harmless(text))

    def heading(self, title: str, heavy: bool = False) -> None:
        """The heading of a round, with a line below it."""
        paint = self.paint
        self.painted(f"{paint.rule(title, heavy)}\n" if paint else f"### {harmless(title)}\n")

    def painted(self, text: str) -> None:
        """A result that is harmless already, with its colours."""
        if not self.silent_out:
            self._above(sys.stdout, text)

    def say(self, text: str, *styles: str) -> None:
        """Anything else."""
        if self.quiet:
            return
        lines = harmless(text).split("\n")
        if self.watched:
            most = min(size(sys.stderr)[0] - 1, WIDEST)
            lines = [row for line in lines for row in text_width.wrap(line, most)]
        self._above(sys.stderr, "\n".join(self.styled(line, *styles) for line in lines))

    def styled(self, text: str, *styles: str) -> str:
        return styled(text, *styles) if self.colour else text

    def insist(self, text: str) -> None:
        """What must be seen even when nothing else is to be."""
        self.wipe()
        self._write(sys.stderr, harmless(text))

    def draw(self, lines: Sequence[str]) -> None:
        """The live block, in place of the one before. Each line is one row: whoever makes them cuts them to `room`."""
        if self.live and not in_front(sys.stderr):
            self.block = []  # whoever has the terminal now has written over it
        elif self.live:
            self.hush.on()
            self._write(sys.stderr, self._home() + "\x1b[K\n".join(lines) + "\x1b[J")
            self.block = list(lines)

    def room(self) -> tuple[int, int]:
        """Columns and rows that a live block may fill. The last column stays free, for there a terminal may wrap."""
        columns, rows = size(sys.stderr)
        return columns - 1, max(rows // 2, 1)

    def wipe(self) -> None:
        """No block any more, and keys are echoed again."""
        self._clear()
        self.hush.off()

    def _clear(self) -> None:
        if self.live and self.block:
            self._write(sys.stderr, self._home() + "\x1b[J")
            self.block = []

    def _home(self) -> str:
        """From the block's end to its beginning. A window made narrower has wrapped its lines into more rows."""
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

    def _write(self, stream: TextIO, text: str) -> None:
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
    """What is still buffered must not raise again when the program ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
