"""Shows Markdown on a terminal: headings and emphasis as looks, lines of the window's width, code as it is."""

from __future__ import annotations

import shutil
import sys

import click

from council.next.terminal.output import columns, style, wrap
from council.next.text import printable

LISTS = ("- ", "* ", "> ", "  - ", "↳ ")
ESCAPES = "\\`*_{}[]()#+-.!<>|~:"
MOST_COLUMNS = 100  # longer lines are hard to read


def print_markdown(text: str) -> None:
    """In a pipe or a file, Markdown itself; on a terminal, a page at a time."""
    text = printable(text)
    if not sys.stdout.isatty():
        click.echo(text.rstrip("\n"))
        return
    shown = "\n".join(lines_of(text, min(MOST_COLUMNS, columns(sys.stdout))))
    if shown.count("\n") < shutil.get_terminal_size().lines - 1:
        click.echo(shown, color=True)
    else:
        click.echo_via_pager(shown + "\n", color=True)


def lines_of(text: str, wide: int) -> list[str]:
    lines: list[str] = []
    fenced = False
    for line in text.rstrip("\n").split("\n"):
        fence = line.lstrip().startswith(("```", "~~~"))
        fenced ^= fence
        if line.startswith("#") and not fenced:
            lines.append(style(plain(line.lstrip("#").strip().replace("**", "")), sys.stdout, bold=True))
        elif fenced or fence or line.startswith("|"):
            lines.append(line)
        else:
            lead = next((mark for mark in LISTS if line.startswith(mark)), "")
            indent = " " * len(lead)
            first, *others = wrap(line[len(lead) :], wide - len(lead))
            lines += emphasised([lead + first, *(indent + one for one in others)])
    return lines


def emphasised(lines: list[str]) -> list[str]:
    """A paragraph with its bold words bold, also where they go on in the next line."""
    found, bold = [], False
    for line in lines:
        pieces = line.split("**")
        shown = ""
        for place, piece in enumerate(pieces):
            bold ^= place > 0
            shown += style(plain(piece), sys.stdout, bold=True) if bold and piece else plain(piece)
        found.append(shown)
    return found


def plain(text: str) -> str:
    """Without the backslashes that keep Markdown from meaning something."""
    kept, place = [], 0
    while place < len(text):
        place += text[place] == "\\" and text[place + 1 : place + 2] in ESCAPES and place + 1 < len(text)
        kept.append(text[place])
        place += 1
    return "".join(kept)
