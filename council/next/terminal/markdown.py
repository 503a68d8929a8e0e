"""Shows Markdown on a terminal: headings and emphasis as looks, lines of the window's width, code as it is."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TextIO

import click
from markdown_it.common.utils import unescapeAll

from council.next.terminal.output import columns, style, wrap
from council.next.text import printable

MARKS = ("- ", "* ", "+ ", "> ", "↳ ")  # what begins with one is a line of its own
MOST_COLUMNS = 100  # longer lines are hard to read


def print_markdown(text: str) -> None:
    """In a pipe or a file, Markdown itself; on a terminal, a page at a time."""
    text = printable(text)
    if not sys.stdout.isatty():
        click.echo(text.rstrip("\n"))
        return
    shown = "\n".join(lines_of(text, sys.stdout))
    if shown.count("\n") < shutil.get_terminal_size().lines - 1:
        click.echo(shown, color=True)
    else:
        os.environ.setdefault("LESS", "FRX")  # as Git does: plain `less` shows looks as escape sequences
        click.echo_via_pager(shown + "\n", color=True)


def lines_of(text: str, stream: TextIO) -> list[str]:
    """The lines as this stream shows them. Bold words may go on in the next line."""
    lines, most = [], min(MOST_COLUMNS, columns(stream))
    for line, is_code in blocks(text.rstrip("\n")):
        if is_code:
            lines.append(line)
        elif line.startswith("#"):
            lines.append(style(unescape(line.lstrip("#").strip().replace("**", "")), stream, bold=True))
        else:
            bare = line.lstrip()
            mark = next((mark for mark in MARKS if bare.startswith(mark)), "")
            lead = line[: len(line) - len(bare)] + mark
            pieces = list(map(unescape, "\n".join(wrap(line[len(lead) :], most, lead)).split("**")))
            for place in range(1, len(pieces), 2):  # each line by itself: a pager forgets looks at the end of a line
                pieces[place] = "\n".join(style(one, stream, bold=True) for one in pieces[place].split("\n"))
            lines += "".join(pieces).split("\n")
    return lines


def unescape(text: str) -> str:
    """Without the backslashes and entities that keep Markdown from meaning something. Entities can name any sign."""
    return printable(unescapeAll(text))


def blocks(text: str) -> list[tuple[str, bool]]:
    """The lines, and whether each is code. A paragraph or an item is one line, however its lines were broken."""
    found: list[tuple[list[str], bool]] = []
    fenced, whole = False, True  # whole: the next line is not part of the last one
    for line in text.split("\n"):
        bare = line.strip()
        number, dot, _ = bare.partition(". ")
        fence = bare.startswith(("```", "~~~"))
        is_code = fenced or fence or bare.startswith("|") or (whole and line.startswith("    "))
        alone = is_code or not bare or line.startswith("#")
        if alone or whole or bare.startswith(MARKS) or (dot and number.isdigit()):
            found.append(([line], is_code))
        else:
            found[-1][0].append(bare)
        fenced ^= fence
        whole = alone or line.endswith("  ")
    return [(" ".join(lines), is_code) for lines, is_code in found]
