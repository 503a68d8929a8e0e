"""`stats`: sums over your sessions, as a table."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import click

from council import text_width
from council.cli.command import command
from council.cli.options import JSON, options
from council.index.options import FILTERS, NO_MATCH, build_filters, open_for_user, say_nothing, show_remarks, update
from council.terminal import screen
from council.terminal.markdown import styled
from council.terminal.output import print_json, put
from council.text import one_line

BY = ("workflow", "model", "seat", "outcome", "month")
COLUMNS = {
    "SESSIONS": "sessions", "TURNS": "turns", "COST": "usd", "TOKENS IN": "input_tokens", "OUT": "output_tokens",
    "FAILED": "failed_calls", "TIME": "seconds",
}  # fmt: skip
GAP = "  "
UNNAMED = "(none)"


@command()
@click.option("--by", type=click.Choice(BY), default="workflow", show_default=True, help="What a row is for.")
@options(*FILTERS)
@JSON
def stats(by: str, as_json: bool, **given: Any) -> None:
    """Count your sessions, their turns and tokens, and what they cost.

    Failed calls are included. A plus sign after a cost says that the cost of some calls is unknown.
    """
    from council.config import places, settings
    from council.index.counts import count

    filters = build_filters(given)
    with open_for_user(places.list_roots(settings.load())) as index:
        whole = update(index)
        rows = count(index, by, filters)
        show_remarks(index)
    if as_json:
        print_json(rows)
    elif rows:
        wide = screen.size(sys.stdout)[0] if sys.stdout.isatty() else 0
        put("\n".join(table(by, rows, wide, screen.has_colour(sys.stdout))))
    elif whole:
        say_nothing(filters, "there is nothing to count yet" if filters.empty else NO_MATCH)


def table(by: str, rows: Sequence[dict[str, Any]], columns: int, colour: bool) -> Iterator[str]:
    """As many columns as there is room for, the most important first."""
    cells = [[name, *COLUMNS] if (name := by.upper()) else [], *([_name(row), *_figures(row)] for row in rows)]
    widths = [max(text_width.width(row[place]) for row in cells) for place in range(len(COLUMNS) + 1)]
    first = min(widths[0], max(10, columns // 3)) if columns else widths[0]
    shown = 1
    while shown < len(widths) and (not columns or first + sum(2 + one for one in widths[1 : shown + 1]) < columns):
        shown += 1
    for number, row in enumerate(cells):
        padded = [text_width.pad(text_width.cut(row[0], first), first)]
        padded += [text_width.pad(row[at], widths[at], right=True) for at in range(1, shown)]
        line = GAP.join(padded).rstrip()
        yield styled(line, "bold") if colour and not number else line


def _name(row: dict[str, Any]) -> str:
    return one_line(str(row["name"]), 60) if row["name"] is not None else UNNAMED


def _figures(row: dict[str, Any]) -> Iterator[str]:
    from council.terminal.table import price

    for name in COLUMNS.values():
        if name == "usd":
            yield price(row["usd"], row)
        elif name == "seconds":
            yield f"{row[name] / 3600:,.1f} h" if row[name] >= 3600 else f"{row[name] / 60:,.1f} min"
        else:
            yield "?" if row[name] is None else f"{row[name]:,}"
