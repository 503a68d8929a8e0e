"""The sessions as a table: as wide as the terminal, or as needed in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from council import text_width
from council.record import catalog
from council.terminal import screen
from council.terminal.markdown import SENSE, styled
from council.terminal.output import put
from council.text import one_line

if TYPE_CHECKING:
    from council.record.attempts import Attempt
    from council.record.session import Session
    from council.record.turn_file import Receipt

COLUMNS = ("SESSION", "STATE", "AGE", "COST", "OUTCOME", "TOPIC")
NARROW = ("SESSION", "AGE", "COST", "STATE", "TOPIC")  # a complete debate shows its outcome as its state
TINY = ("SESSION", "AGE", "STATE", "TOPIC")
RIGHT = ("AGE", "COST")
STATES = {"complete": "green", "running": "cyan", "damaged": "red"}
SCARCE = 74  # below this many columns there is no room for the cost
ROOMY = 110  # below this many columns there is no room for the outcome beside the state
LEAST = 8  # columns that an id, a state and an outcome keep
GAP = "  "


def show(rows: Sequence[Mapping[str, Any]], whole: bool = False) -> None:
    """Print the table, in colour where stdout has colours. With `whole`, no id is cut."""
    columns = screen.size(sys.stdout)[0] if sys.stdout.isatty() else 0
    for line in lines(rows, columns, screen.has_colour(sys.stdout), whole):
        put(line)


def lines(rows: Sequence[Mapping[str, Any]], columns: int, colour: bool, whole: bool = False) -> list[str]:
    """The header and one line per session; `columns` is 0 if the width is unlimited."""
    narrow = 0 < columns < ROOMY
    names = TINY if 0 < columns < SCARCE or (narrow and whole) else NARROW if narrow else COLUMNS
    header = {name: name for name in names}
    table = [header, *(facts(row, narrow, whole or not columns) for row in rows)]
    widths = {name: max(text_width.width(one[name]) for one in table) for name in names}
    topic = widths.pop(names[-1])
    room = columns - 1 - len(GAP) * len(widths)
    elastic = {"STATE", "OUTCOME", *(() if whole else ("SESSION",))} & {*widths}
    while columns and sum(widths.values()) + min(topic, columns // 2) > room:  # the topic has half of the width
        widest = max(elastic, key=lambda name: (widths[name], name))
        if widths[widest] <= LEAST:
            break
        widths[widest] -= 1
    rest = max(room - sum(widths.values()), 8) if columns else 0
    shown = []
    for one in table:
        padded = {
            name: text_width.pad(text_width.cut(one[name], width), width, name in RIGHT)
            for name, width in widths.items()
        }
        padded[names[-1]] = text_width.cut(one[names[-1]], rest) if rest else one[names[-1]]
        if colour:
            padded = {name: styled(text, style(name, one, one is header)) for name, text in padded.items()}
        shown.append(GAP.join(padded.values()).rstrip())
    return shown


def facts(row: Mapping[str, Any], narrow: bool, whole: bool) -> dict[str, str]:
    """One session by column; without a readable topic, the reason is shown instead. An id that council chose is cut to
    its end, which every command accepts.
    """
    id, state, outcome = str(row["session_id"]), row["state"], row["outcome"] or "-"
    why = str(row["why"]).rpartition(f"{id}/")[2]
    found = {
        "SESSION": id if whole else catalog.shorten(id),
        "STATE": outcome if narrow and state == "complete" else state,
        "AGE": row["age"],
        "COST": price(row["usd"], row.get("totals")),
        "OUTCOME": outcome,
        "TOPIC": row["topic"] or one_line(f"({why})", 100),
    }
    return {name: one_line(str(text), 200) for name, text in found.items()}


def price(usd: float | None, totals: Mapping[str, Any] | None = None) -> str:
    """The price in cents; a smaller amount is not shown as zero. If only a part is known, a plus sign follows it."""
    if usd is None:
        known = totals["usd_at_least"] if totals else 0.0
        return f"{price(known)}+" if known else "?"
    return "<$0.01" if 0 < usd < 0.005 else f"${usd:.2f}"


def style(column: str, one: Mapping[str, str], header: bool) -> str:
    """The style of a cell."""
    if header:
        return "bold"
    state = STATES.get(one["STATE"]) or SENSE.get(one["STATE"], "yellow")
    return {"STATE": state, "AGE": "dim", "COST": "dim", "OUTCOME": SENSE.get(one["OUTCOME"], "dim")}.get(column, "")


def receipts(session: Session, columns: int, colour: bool) -> list[str]:
    """What each turn cost, in columns that fit a normal window: the transcript's own table has more of them."""
    rows = [("TURN", "ANSWERED BY", "IN", "CACHED", "OUT", "USD")]
    for turn, one in sorted(session.receipts.items()):
        whose = [*("failed" for _ in one.attempts), "absent" if one.absent else one.answered or one.speaker]
        calls: tuple[Attempt | Receipt, ...] = (*one.attempts, one)
        for who, call in zip(whose, calls, strict=True):
            sent, read, received = (
                "?" if count is None else f"{count:,}" for count in (call.sent, call.cache_read, call.output)
            )
            usd = "?" if call.usd is None else f"{call.usd:.4f}"
            rows.append((turn, one_line(who, 40), sent, read, received, usd))
    widths = [max(map(text_width.width, column)) for column in zip(*rows, strict=True)]
    widths[0] = max(min(widths[0], columns - 1 - sum(widths[1:]) - len(GAP) * (len(widths) - 1)), 8)
    shown = []
    for row in rows:
        named, figures = [text_width.cut(text, widths[0]) for text in row[:1]] + [row[1]], row[2:]
        padded = [text_width.pad(text, width) for text, width in zip(named, widths[:2], strict=True)]
        padded += [text_width.pad(text, width, right=True) for text, width in zip(figures, widths[2:], strict=True)]
        line = GAP.join(padded)
        shown.append(styled(line, "bold") if colour and row is rows[0] else line)
    return shown
