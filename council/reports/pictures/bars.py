"""Draws amounts as bars: what each round cost, the votes, the last count. An unknown amount is hatched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from council.checks.cost import format_dollars
from council.reports.model import Grid, RoundSpending, Vote
from council.reports.pictures.svg import NARROW, SIZES, WIDE, cut, element, frame, legend, line, measure, percent, write

ROW, BAR = 42, 10
ON_THE_LINE = 0.03  # of the width
SHORTEST = 0.004  # of the width: an amount above zero can be seen
UNKNOWN_REST = 0.08  # of the width: what is unknown on top of a known part


@dataclass(frozen=True)
class Bar:
    """A label, a note at its right, and an amount below. None is unknown; `at_least` is the part that is known.

    `kind` is `leads` for the result of a vote, and `short` for what was not chosen. `brief` is the note for narrow
    places.
    """

    label: str
    note: str
    amount: float | None
    kind: str = ""
    at_least: float = 0
    brief: str = ""


def draw_bars(title: str, about: str, bars: Sequence[Bar], of: float = 0) -> str:
    """Bars below one another. `of` is the amount of the whole width, the greatest of them if it is not given."""
    whole = max([of, *(bar.at_least if bar.amount is None else bar.amount for bar in bars)], default=0)
    if not bars:
        return ""
    drawn = (part for place, bar in enumerate(bars) for part in _draw_bar(bar, whole, ROW * place))
    described = "; ".join(f"{bar.label}: {bar.note}" for bar in bars)
    return frame(title, f"{about}. {described}" if about else described, ROW * len(bars) - 8, *drawn)


def _draw_bar(bar: Bar, whole: float, top: float) -> Iterator[str]:
    y = top + 22
    notes = tuple(
        cut(note, 0.6 * room, SIZES["soft"]) for note, room in ((bar.note, WIDE), (bar.brief or bar.note, NARROW))
    )
    left = (room - measure(note, SIZES["soft"]) - 12 for note, room in zip(notes, (WIDE, NARROW), strict=True))
    wide, narrow = (cut(bar.label, room, SIZES["label"]) for room in left)
    yield write((wide, narrow), 0, top + 13, kind="label" if bar.kind == "leads" else "")
    yield write((notes[0], notes[1]), 1, top + 13, kind="soft", anchor="end")
    yield element("rect", x=0, y=float(y), width="100%", height=BAR, rx=3, class_="track")
    known = bar.at_least if bar.amount is None else bar.amount
    share = max(known / whole, SHORTEST) if known and whole else 0.0
    if bar.amount is None:
        rest = min(1.0, share + UNKNOWN_REST) if share else 1.0
        yield line(min(share, 0.98), rest, y + BAR / 2, "unknown")
    if share:
        yield element("rect", x=0, y=float(y), width=percent(share), height=BAR, rx=3, class_=f"bar {bar.kind}".strip())


# ---- what each round cost ----


def draw_spending(rounds: Sequence[RoundSpending]) -> str:
    """What each round cost, in dollars if any are known, otherwise in tokens. Empty if nothing was counted."""
    priced = any(one.usd_at_least for one in rounds)
    tokens = [None if one.input is None or one.output is None else one.input + one.output for one in rounds]
    if not priced and not any(count or count is None for count in tokens):
        return ""
    bars = [
        Bar(
            f"{one.title} ({one.failed} failed)" if one.failed else one.title,
            f"{_format_usd(one)} · {_format_tokens(one.input)} in, {_format_tokens(one.output)} out",
            one.usd if priced else count,
            at_least=one.usd_at_least if priced else 0,
            brief=_format_usd(one) if priced else f"{_format_tokens(count)} tokens",
        )
        for one, count in zip(rounds, tokens, strict=True)
    ]
    return draw_bars("Cost by round", "Bars show dollars" if priced else "Bars show tokens", bars)


def _format_usd(one: RoundSpending) -> str:
    if one.usd is None:
        return f"at least {format_dollars(one.usd_at_least)}" if one.usd_at_least else "cost unknown"
    return format_dollars(one.usd)


def _format_tokens(count: int | None) -> str:
    if count is None:
        return "unknown"
    return (
        f"{count / 1_000_000:.1f}M" if count >= 1_000_000 else f"{count / 1000:.1f}k" if count >= 1000 else str(count)
    )


# ---- votes ----


def draw_vote(vote: Vote) -> str:
    """A bar for each option, the highest first. What won, or shares first place, says so."""
    word = {"winner": "won", "tie": "tied"}.get(vote.outcome, "")
    bars = []
    for option, count in vote.counts:
        leads = word if option in vote.leading else ""
        note = " · ".join(filter(None, [f"{count:g}", leads]))
        bars.append(Bar(option, note, count, "leads" if leads == "won" else "tied" if leads else "short"))
    if vote.silent:
        number = str(len(vote.silent))
        bars.append(Bar("Not heard", f"{number}: {', '.join(vote.silent)}", None, brief=number))
    counted_in_voters = vote.method not in ("borda", "condorcet")
    return draw_bars(f"The vote: {vote.title}", vote.summary, bars, vote.of if counted_in_voters else 0)


# ---- the last count ----


def draw_count(grid: Grid) -> str:
    """The stances of the last round in one bar, with a line at half of all members. Empty if none were asked for."""
    total = sum(count for _, _, count in grid.counts)
    if not total:
        return ""
    order = ("agree", "mixed", "disagree", "silent")
    counts = sorted(grid.counts, key=lambda one: order.index(one[1]) if one[1] in order else len(order))
    agreed = sum(count for _, tone, count in counts if tone == order[0])
    answer = next((title for title, tone, _ in counts if tone == order[0]), order[0])
    said = f"{agreed} of {total} {'' if answer == order[0] else 'say '}{answer}"
    verdict = f"{said}: {'a majority' if 2 * agreed > total else 'no majority'}"
    drawn, left = [], 0.0
    for _, tone, count in counts:
        share = count / total
        drawn.append(element("rect", x=percent(left), y=26.0, width=percent(share), height=18, class_=f"part {tone}"))
        if tone == "mixed":
            drawn.append(element("rect", x=percent(left), y=35.0, width=percent(share), height=9, class_="half"))
        middle = left + share / 2
        aside = middle - share / 4 if abs(middle - 0.5) < ON_THE_LINE else middle  # not where the line at half is
        drawn.append(write(str(count), aside, 39, share, f"count {tone}", "middle"))
        left += share
    drawn += [element("line", x1="50%", x2="50%", y1=20.0, y2=50.0, class_="target")]
    drawn.append(write(verdict, 0.5, 14, kind="soft", anchor="middle"))
    drawn += legend([(tone, f"{count} {title}") for title, tone, count in counts], 68)
    described = ", ".join(f"{title} {count}" for title, _, count in counts)
    return frame("The last count", f"{described}; {verdict}", 58 + 24 * ((len(counts) + 1) // 2), *drawn)
