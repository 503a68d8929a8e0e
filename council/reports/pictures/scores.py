"""Draws scores from 0 to 100: a row for each seat, a bar for each round, and a line at the score that is enough."""

from __future__ import annotations

from collections.abc import Iterator

from council.reports.model import Cell, Grid, GridRow
from council.reports.pictures.columns import TOP, Columns, draw_label
from council.reports.pictures.stances import describe_cell
from council.reports.pictures.svg import Link, at, element, frame, line, place_on_page, sign, titled, write

NUMBER = 22  # pixels that a column needs for a number
TITLE = 60
FULL = 30.0  # pixels that stand for 100
ROW = 60


def draw_scores(grid: Grid, link: Link = place_on_page) -> str:
    """The scores of all seats, with a link to each turn. Empty if the debate asked for none."""
    if not any(cell.tone == "score" for row in grid.rows for cell in row.cells):
        return ""
    columns = Columns(grid.columns)
    rows = (
        part for place, row in enumerate(grid.rows) for part in _draw_row(row, grid, columns, link, TOP + ROW * place)
    )
    bottom = TOP + ROW * len(grid.rows)
    note, enough = [], ""
    if grid.target is not None:
        enough = f"{grid.target:g} is enough"
        note = [line(0, 0.06, bottom + 14, "target"), write(enough, 0.08, bottom + 18, 0.9, "soft")]
    heads = columns.draw_heads(TITLE)
    height = bottom + (24 if note else 0)
    return frame("Scores by round", enough, height, *heads, *rows, *note, linked=True, **columns.place)


def _draw_row(row: GridRow, grid: Grid, columns: Columns, link: Link, top: float) -> Iterator[str]:
    base = top + 8 + FULL
    yield from draw_label(row, top, top + 21, two_lines=True)
    for column, cell in enumerate(row.cells):
        if cell.turn:
            title = titled(describe_cell(row, column, grid.columns[column]))
            drawn = _draw_score(cell, grid.target, columns, column, base)
            yield element("a", title, *drawn, class_="cell", href=link(cell.turn))
    if grid.target is not None:
        yield line(columns.middle(0) - columns.share / 2, 1, base - FULL * grid.target / 100, "target")


def _draw_score(cell: Cell, target: float | None, columns: Columns, column: int, base: float) -> Iterator[str]:
    x = columns.middle(column)
    if cell.tone != "score":
        yield at(x, base - FULL / 2, sign(cell.tone))
        return
    score = float(cell.text)
    kind = "" if target is None else " enough" if score >= target else " short"
    height = max(FULL * min(max(score, 0), 100) / 100, 1)
    yield at(x, base, element("rect", x=-6.0, y=-height, width=12, height=height, rx=2, class_=f"bar{kind}"))
    number = write(cell.text, x, base + 14, columns.share, f"word{kind}", "middle")
    yield number if all(columns.have(NUMBER)) else element("g", number, class_="wide")
