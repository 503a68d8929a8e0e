"""Draws who stood where: a row for each seat and a column for each round. A change of mind is an arrow to its cell."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from council.reports.model import Cell, Grid, GridRow
from council.reports.pictures.columns import TOP, Columns, draw_label
from council.reports.pictures.svg import (
    ARROW,
    RADIUS,
    SIZES,
    Link,
    at,
    element,
    frame,
    legend,
    line,
    measure,
    place_on_page,
    sign,
    titled,
    write,
)

WORD = 54  # pixels that a column needs for a word
ROW, LOW_ROW = 50, 32
MEANINGS = {"absent": "absent", "silent": "unreadable", "spoke": "not asked"}


def draw_stances(grid: Grid, link: Link = place_on_page) -> str:
    """The stances of all seats, with a link to each turn. Empty if the debate asked for none."""
    said = [cell for row in grid.rows for cell in row.cells if cell.text]
    if not said or all(cell.tone == "score" for cell in said):
        return ""
    return _Drawing(grid, link).draw()


def describe_cell(row: GridRow, column: int, title: str) -> str:
    """A cell in words: `Engineer, round 2 (Challenges): agree, from mixed, persuaded`."""
    cell = row.cells[column]
    word = cell.text or MEANINGS.get(cell.tone, "")
    moved = f", from {cell.moved_from}, {describe_move(cell)}" if cell.moved_from else ""
    return f"{row.label}, round {column + 1} ({title}): {word}{moved.removesuffix(', ')}"


def describe_move(cell: Cell) -> str:
    """What changed a mind: `persuaded by Engineer`."""
    return f"{cell.moved_how} by {cell.moved_by}" if cell.moved_by else cell.moved_how


class _Drawing:
    def __init__(self, grid: Grid, link: Link) -> None:
        self.grid, self.link, self.columns = grid, link, Columns(grid.columns)
        self.wordy = self.columns.have(WORD)  # in wide places, and in narrow ones
        self.row = ROW if any(self.wordy) else LOW_ROW

    def draw(self) -> str:
        bottom = TOP + self.row * len(self.grid.rows)
        meanings = [] if all(self.wordy) else list(self.meanings())
        rows = (part for place, row in enumerate(self.grid.rows) for part in self.draw_row(row, TOP + self.row * place))
        counts = "; ".join(f"{title}: {count}" for title, _, count in self.grid.counts)
        return frame(
            "Who stood where", f"In the last round: {counts}" if counts else "",
            bottom + (8 + 24 * ((len(meanings) + 1) // 2) if meanings else 0),
            *self.columns.draw_heads(WORD), *rows, *legend(meanings, bottom + 20),
            linked=True, **self.columns.place,
        )  # fmt: skip

    def meanings(self) -> Iterator[tuple[str, str]]:
        cells = [cell for row in self.grid.rows for cell in row.cells if cell.turn]
        yield from dict.fromkeys((cell.tone, cell.text or MEANINGS.get(cell.tone, "")) for cell in cells)
        if any(cell.moved_from for cell in cells):
            yield "flip", "changed their mind"

    def draw_row(self, row: GridRow, top: float) -> Iterator[str]:
        y = top + (17 if any(self.wordy) else self.row / 2)
        yield from draw_label(row, top, y, two_lines=any(self.wordy))
        yield from self.draw_rails(row, y)
        for column, cell in enumerate(row.cells):
            if cell.turn:
                yield self.draw_cell(row, column, y)

    def draw_rails(self, row: GridRow, y: float) -> Iterator[str]:
        """Lines between a seat's stances. An arrow says that the second differs from the first."""
        given = [column for column, cell in enumerate(row.cells) if cell.text]
        for before, column in pairwise(given):
            x1, x2, cell = self.columns.middle(before), self.columns.middle(column), row.cells[column]
            yield line(x1, x2, y, "rail flip" if cell.moved_from else "rail")
            if cell.moved_from:
                yield at(x2, y, element("g", ARROW, transform=f"translate({-RADIUS - 3} 0)"), kind="flip")
            for how in (describe_move(cell), cell.moved_how):
                if how and column == before + 1 and self.columns.have(measure(how, SIZES["faint"]) + 36)[0]:
                    told = write(how, (x1 + x2) / 2, y - 6, kind="faint", anchor="middle")
                    yield element("g", told, class_="wide")
                    break

    def draw_cell(self, row: GridRow, column: int, y: float) -> str:
        cell, x = row.cells[column], self.columns.middle(column)
        word = cell.text or MEANINGS.get(cell.tone, "")
        mark = at(x, y, '<circle r="11" class="gap"/>', sign(cell.tone))
        written = ""
        if any(self.wordy) and cell.tone != "spoke":
            written = write(word, x, y + 25, self.columns.share - 0.005, "word", "middle")
            written = written if all(self.wordy) else element("g", written, class_="wide")
        title = titled(describe_cell(row, column, self.grid.columns[column]))
        return element("a", title, mark, written, class_="cell", href=self.link(cell.turn))
