"""The sessions as a table that a person can choose from: as wide as the terminal, or as it has to be in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from council import cells, screen
from council.cli.state import put
from council.paint import SENSE, styled
from council.text import one_line

COLUMNS = ("SESSION", "STATE", "AGE", "COST", "OUTCOME", "TOPIC")
RIGHT = ("AGE", "COST")
STATES = {"complete": "green", "running": "cyan", "damaged": "red"}
ROOMY = 110  # below this many columns an id is told by its end, which every command takes for it
GAP = "  "


def show(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print the table, in colour where stdout has colours."""
    columns = screen.size(sys.stdout)[0] if sys.stdout.isatty() else 0
    for line in lines(rows, columns, screen.coloured(sys.stdout)):
        put(line)


def lines(rows: Sequence[Mapping[str, Any]], columns: int, colour: bool) -> list[str]:
    """The header and a line a session; `columns` is 0 where nothing limits them."""
    table = [facts(row, 0 < columns < ROOMY) for row in rows]
    widths = [max(cells.width(one[place]) for one in (COLUMNS, *table)) for place in range(len(COLUMNS) - 1)]
    rest = max(columns - 1 - sum(widths) - len(GAP) * len(widths), 8) if columns else 0
    shown = []
    for one in (COLUMNS, *table):
        pairs = zip(COLUMNS, one, widths, strict=False)
        padded = [cells.pad(text, width, name in RIGHT) for name, text, width in pairs]
        padded.append(cells.cut(one[-1], rest) if rest else one[-1])
        if colour:
            padded = [styled(text, style) for text, style in zip(padded, styles(one), strict=True)]
        shown.append(GAP.join(padded).rstrip())
    return shown


def facts(row: Mapping[str, Any], short: bool) -> tuple[str, ...]:
    """One session in the order of the columns; where there is no topic to read, it is told why."""
    usd = "?" if row["usd"] is None else f"${row['usd']:.2f}"
    id = str(row["session_id"])
    told = row["topic"] or one_line(f"({row['why']})", 100)
    found = (id[-8:] if short else id, row["state"], row["age"], usd, row["outcome"] or "-", told)
    return tuple(one_line(str(one), 200) for one in found)


def styles(one: Sequence[str]) -> list[str]:
    """The colour of each column of a line."""
    if one is COLUMNS:
        return ["bold"] * len(one)
    return ["", STATES.get(one[1], "yellow"), "dim", "dim", SENSE.get(one[4], "dim"), ""]
