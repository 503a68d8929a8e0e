"""Errors on standard error: one line in a pipe; on a terminal wrapped, with commands ready to copy."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from council import text_width
from council.config import command_line
from council.text import harmless

COMMAND = re.compile(r"`([a-z][\w.-]* [^`\n]+)`|(?<=: )(council [a-z][^;\n]*)$", re.M)

AROUND = " (),;"  # punctuation that would be left over where a command gets a row of its own


def show_error(failure: str, advice: str = "") -> None:
    """Print what went wrong, and below it what to do."""
    lines = [command_line.name_commands(harmless(text)) for text in (f"council: {failure}", advice) if text]
    if sys.stderr.isatty():
        from council.terminal import screen

        columns = min(screen.size(sys.stderr)[0] - 1, 100)
        lines = [row for text in lines for line in text.split("\n") for row in wrap_line(line, columns)]
    print("\n".join(lines), file=sys.stderr)


def wrap_line(line: str, columns: int) -> Iterator[str]:
    """Wrap the line, with each command on a row of its own; a command is never broken."""
    if text_width.width(line) <= columns:
        yield line
        return
    hang = " " * (len(line) - len(line.lstrip()))
    start = 0
    for found in COMMAND.finditer(line):
        if before := line[start : found.start()].lstrip(AROUND if start else " ").rstrip(AROUND):
            yield from text_width.wrap(before, columns, hang, hang)
        yield f"{hang}    {found[1] or found[2]}"
        start = found.end()
    if rest := line[start:].lstrip(AROUND if start else " ").rstrip():
        yield from text_width.wrap(rest, columns, hang, hang)
