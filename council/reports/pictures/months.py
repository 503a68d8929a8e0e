"""Draws the debates of each month by how they ended, and below them what the month cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from council.checks.cost import format_dollars
from council.protocols import stances
from council.reports.pictures.svg import element, frame, legend, line, percent, titled, write

FEW, MOST = 6, 12  # months that are drawn: at least these, so that one alone is no wall, and at most those
NUMBER, COUNTS, COSTS = 16, 104, 44  # pixels: of a number above a bar, of the highest bar of debates, and of costs
HEAD = 22  # pixels above a row of bars
BAR = 0.6  # of a month's width
GAP, LEAST = 2, 3  # pixels between the parts of a bar, and of the smallest part
UNFINISHED, OTHER = "", "other"
KINDS = {
    "agree": ("agreed", (stances.AGREED, stances.CONSENSUS)),
    "mixed": ("with dissent", (stances.AGREED_WITH_DISSENT, stances.CONSENSUS_WITH_DISSENT)),
    "disagree": (
        "no agreement",
        (stances.SPLIT, stances.OPPOSED, stances.UNDECIDED, stances.STABLE, stances.MOVING),
    ),
    "spoke": ("another outcome", (OTHER,)),
    "absent": ("not finished", (UNFINISHED,)),
}  # from the bottom of a bar to its top, with the sign of each
TONES = {outcome: tone for tone, (_, outcomes) in KINDS.items() for outcome in outcomes}


@dataclass(frozen=True)
class Month:
    """What happened in a month, such as 2026-11. `outcomes` counts its debates; those without one are not finished.

    `usd` is None if a part of it is unknown, and `at_least` is the part that is known.
    """

    name: str
    outcomes: Mapping[str, int] = field(default_factory=dict)
    usd: float | None = 0.0
    at_least: float = 0.0

    @property
    def total(self) -> int:
        return sum(self.outcomes.values())

    @property
    def tones(self) -> dict[str, int]:
        """How many debates each part of the bar stands for, from the bottom up."""
        counts = dict.fromkeys(KINDS, 0)
        for outcome, number in self.outcomes.items():
            counts[TONES.get(outcome, TONES[OTHER])] += number
        return {tone: number for tone, number in counts.items() if number}

    @property
    def cost(self) -> str:
        """With a plus sign if a part of it is unknown; empty if it was nothing."""
        if not self.at_least and self.usd is not None:
            return ""
        return f"{_format(self.at_least)}{'+' if self.usd is None else ''}"


def draw_months(months: Sequence[Month]) -> str:
    """The newest months, also those in which nothing happened. Empty if nothing ever did."""
    shown = list(fill_gaps(months))
    if not any(month.total for month in shown):
        return ""
    drawn, bottom = list(_draw_counts(shown)), HEAD + NUMBER + COUNTS
    if any(month.cost for month in shown):
        drawn += _draw_costs(shown, bottom + HEAD)
        bottom += HEAD + NUMBER + COSTS
    drawn += _draw_names(shown, bottom)
    tones = [tone for tone in KINDS if any(tone in month.tones for month in shown)]
    drawn += legend([(tone, KINDS[tone][0]) for tone in tones], bottom + 56)
    about = ". ".join(describe(month) for month in shown if month.total)
    return frame("Debates by month", about, bottom + 46 + 24 * ((len(tones) + 1) // 2), *drawn)


def fill_gaps(months: Sequence[Month]) -> Iterator[Month]:
    """The months up to the newest, each once, with those between them."""
    known = {month.name: month for month in months}
    if not known:
        return
    newest, oldest = max(known), min(known)
    names = [newest]
    while len(names) < MOST and (len(names) < FEW or names[-1] > oldest):
        year, month = map(int, names[-1].split("-"))
        names.append(f"{year - 1}-12" if month == 1 else f"{year}-{month - 1:02}")
    yield from (known.get(name, Month(name)) for name in reversed(names))


def _format(usd: float) -> str:
    return f"${usd:,.2f}" if usd >= 0.1 else format_dollars(usd)


def describe(month: Month) -> str:
    """`November 2026: 12 debates, 9 agreed, 3 not finished, $1.20`."""
    parts = [f"{number} {KINDS[tone][0]}" for tone, number in month.tones.items()]
    debates = f"{month.total} debate{'s' if month.total != 1 else ''}"
    return f"{_date(month):%B %Y}: {', '.join(filter(None, [debates, *parts, month.cost]))}"


def _date(month: Month) -> date:
    return date.fromisoformat(f"{month.name}-01")


def _columns(months: Sequence[Month]) -> Iterator[tuple[Month, float, float]]:
    """Each month with the middle of its column, and the width of a column."""
    share = 1 / len(months)
    yield from ((month, share * (place + 0.5), share) for place, month in enumerate(months))


def _place_bar(middle: float, share: float) -> tuple[str, str]:
    return percent(middle - BAR * share / 2), percent(BAR * share)


def _draw_part(place: tuple[str, str], y: float, height: float, kind: str) -> str:
    return element("rect", x=place[0], width=place[1], y=float(y), height=float(height), rx=2, class_=kind)


def _draw_counts(months: Sequence[Month]) -> Iterator[str]:
    """A bar for each month, with a part for each kind of outcome: filled, half filled, hollow, grey, dashed."""
    base, most = HEAD + NUMBER + COUNTS, max(month.total for month in months)
    yield write("Debates", 0, 11, kind="head")
    for month, middle, share in _columns(months):
        parts, y, place = [], float(base), _place_bar(middle, share)
        for tone, number in month.tones.items():
            height = max(COUNTS * number / most, LEAST)
            y -= height
            parts.append(_draw_part(place, y + GAP / 2, max(height - GAP, 1.0), f"stack {tone}"))
            if tone == "mixed":
                parts.append(_draw_part(place, y + height / 2, max((height - GAP) / 2, 0.5), "half"))
        if month.total:
            total = write(str(month.total), middle, y - 5, share, "word", "middle")
            yield element("g", titled(describe(month)), *parts, total)
    yield line(0, 1, base, "rule")


def _draw_costs(months: Sequence[Month], top: float) -> Iterator[str]:
    """A bar for each month; of one whose cost is not wholly known, the known part, and a dashed end."""
    base, most = top + NUMBER + COSTS, max(month.at_least for month in months)
    yield write("Cost", 0, top + 4, kind="head")
    for month, middle, share in _columns(months):
        if not month.cost:
            continue
        height, place = max((COSTS - 8) * month.at_least / most if most else 0.0, 1.0), _place_bar(middle, share)
        y = base - height
        parts = [_draw_part(place, y, height, "bar")]
        if month.usd is None:
            parts.append(_draw_part(place, y - 7, 6, "stack absent"))
            y -= 8
        shown = (month.cost, _shorten(month))
        yield element("g", titled(describe(month)), *parts, write(shown, middle, y - 5, 1.1 * share, "faint", "middle"))
    yield line(0, 1, base, "rule")


def _shorten(month: Month) -> str:
    """The cost where a column has room for four characters."""
    known, plus = month.at_least, "+" if month.usd is None else ""
    if known >= 999.5:
        return f"${known / 1000:.0f}k{plus}"
    return f"${known:.0f}{plus}" if known >= 0.995 else f"{100 * known:.0f}¢{plus}" if known >= 0.005 else f"<1¢{plus}"


def _draw_names(months: Sequence[Month], base: float) -> Iterator[str]:
    """The months, by a letter each where there is little room; the year below January, and below the first of them."""
    second = months[1].name
    for month, middle, share in _columns(months):
        name = f"{_date(month):%b}"
        yield write((name, name[0]), middle, base + 17, share, "soft", "middle")
        if month.name.endswith("-01") or (month is months[0] and not second.endswith("-01")):
            yield write(month.name[:4], middle, base + 31, 2 * share, "faint", "middle")
