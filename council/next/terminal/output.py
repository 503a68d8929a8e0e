"""Prints results and remarks. Words of members and files may hold escape sequences: none of them reaches a terminal.

Everything is drawn here. Rich was tried: it leaves out what looks like HTML in a member's words, breaks commands that
people copy, and takes 11 MB.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TextIO

import click

from council.next.text import cut, printable, width

NARROWEST = 24
TIE = "\ue000"  # stands for a blank at which no line is broken


def echo(text: str = "") -> None:
    """A result, on standard output."""
    sys.stdout.write(f"{printable(text)}\n")


def say(text: str, lead: str = "") -> None:
    """A result in sentences of ours, on standard output."""
    sys.stdout.write(fit(text, columns(sys.stdout), lead) + "\n")


def note(text: str, mark: str = "", **how: Any) -> None:
    """A remark beside the result, on standard error. A mark is coloured, or else the text. Nobody may be there to read
    it: that stops no debate."""
    with suppress(OSError, ValueError):
        words = fit(text, columns(sys.stderr) - width(mark))
        shown = style(mark, sys.stderr, **how) + words if mark else style(words, sys.stderr, **how) if how else words
        sys.stderr.write(f"{shown}\n")
        sys.stderr.flush()


def print_json(value: Any) -> None:
    """JSON escapes control characters itself."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    sys.stdout.write(text.encode("utf-8", "backslashreplace").decode() + "\n")


def columns(stream: TextIO) -> int:
    """The width of the terminal. Not limited where the text goes into a pipe or a file."""
    if not stream.isatty():
        return 100_000
    with suppress(OSError, ValueError):
        return max(NARROWEST, os.get_terminal_size(stream.fileno()).columns or 80)
    return 80


def style(text: str, stream: TextIO, **how: Any) -> str:
    """Coloured where a terminal shows colours and the user wants them."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not stream.isatty()
    return text if plain else click.style(text, **how)


def fit(text: str, most: int, lead: str = "") -> str:
    """Words of ours, each command as it can be run. Lines that are wider than the window are wrapped."""
    lines = printable(text.replace("`council ", f"`{program()} ")).split("\n")
    rows = [row for line in lines for row in ([lead + line] if width(lead + line) <= most else wrap(line, most, lead))]
    return "\n".join(rows).replace(TIE, " ")


def wrap(text: str, most: int, lead: str = "") -> list[str]:
    """The lines of a text, the first after `lead` and the others below it. A command, or a word that is longer than a
    line, is left to the terminal, so that it can be copied."""
    pieces = text.split("`")
    for place in range(1, len(pieces) - 1, 2):
        if pieces[place].startswith(f"{program()} "):
            pieces[place] = pieces[place].replace(" ", TIE)
    lead = lead or text[: len(text) - len(text.lstrip())]
    lines, begun = [lead], False
    for word in "`".join(pieces).split():
        if begun and width(lines[-1]) + 1 + width(word) > most:
            lines.append(" " * width(lead))
            begun = False
        lines[-1] += " " * begun + word.replace(TIE, " ")
        begun = True
    return lines


def print_columns(rows: Sequence[Sequence[str]], loose: int = -1) -> None:
    """Rows below one another, each column as wide as its longest cell. The loose column takes what is left of a
    terminal's line, and is cut."""
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    others = sum(widths) - widths[loose] + 2 * (len(widths) - 1)
    widths[loose] = max(10, min(widths[loose], columns(sys.stdout) - others))
    for row in rows:
        cells = [cut(cell, wide) for cell, wide in zip(row, widths, strict=True)]
        padded = [cell + " " * (wide - width(cell)) for cell, wide in zip(cells, widths, strict=True)]
        echo("  ".join(padded).rstrip())


@cache
def program() -> str:
    """How this program was called, for commands that people copy: quoted for the shell."""
    name = sys.argv[0] if sys.argv else ""
    if name.endswith("__main__.py"):
        return f"{shlex.quote(sys.executable)} -m {__package__.rpartition('.')[0]}"
    path, found = Path(name), shutil.which("council")
    if path.name != "council" or not path.is_file() or (found and path.samefile(found)):
        return "council"
    return shlex.quote(str(path.absolute()))
