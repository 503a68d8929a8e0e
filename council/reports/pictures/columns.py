"""The layout of pictures with a row for each seat and a column for each round."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from council.reports.model import GridRow
from council.reports.pictures.svg import NARROW, SIZES, WIDE, element, line, measure, titled, write

LABELS = 0.34  # of the width
TOP = 34  # pixels above the first row
STEP = 24  # pixels a column, where there are too many for the width
FEW, MANY = 8, 14  # columns that fit a narrow picture, and a wide one


@dataclass(frozen=True)
class Columns:
    titles: tuple[str, ...]

    @property
    def share(self) -> float:
        """What each has of the width."""
        return (1 - LABELS) / max(len(self.titles), 1)

    @property
    def place(self) -> dict[str, str]:
        """The width of the picture: that of its place, if the columns do not get too narrow; otherwise it scrolls."""
        if len(self.titles) <= FEW:
            return {}
        return {"kind": "many"} if len(self.titles) <= MANY else {"width": f"{184 + STEP * len(self.titles)}"}

    def middle(self, column: int) -> float:
        return LABELS + self.share * (column + 0.5)

    def have(self, pixels: float) -> tuple[bool, bool]:
        """Whether each is at least that wide: in wide places, and in narrow ones."""
        return WIDE * self.share >= pixels, NARROW * self.share >= pixels

    def draw_heads(self, room_for_titles: float) -> Iterator[str]:
        """The numbers of the rounds, and their titles where there is room."""
        for column, title in enumerate(self.titles):
            x = self.middle(column)
            yield write(str(column + 1), x, 11, kind="head", anchor="middle")
            repeated = column > 0 and title == self.titles[column - 1]
            if self.have(room_for_titles)[0] and not repeated:
                yield element("g", write(title, x, 26, self.share - 0.01, "faint", "middle"), class_="wide")


def draw_label(row: GridRow, top: float, y: float, two_lines: bool) -> Iterator[str]:
    """The line above a row and its seat: the title, and below it the name of the persona."""
    title, bracket, name = row.label.removesuffix(")").rpartition(" (")
    split = bool(two_lines and bracket and row.label.endswith(")"))
    shown = title if split else row.label
    with_icon = f"{row.icon} {shown}".strip()
    crowded = measure(with_icon, SIZES["label"]) > NARROW * (LABELS - 0.01)
    yield line(0, 1, top, "rule")
    lines = [
        titled(row.label),
        write((with_icon, shown if crowded else with_icon), 0, y + 4.5, LABELS - 0.01, "label"),
    ]
    lines += [write(name, 0, y + 25, LABELS - 0.01, "soft")] if split else []
    yield element("g", *lines)
