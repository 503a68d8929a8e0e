"""`metrics`: the sums of the index as OpenMetrics text, for a file that a scraper reads."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from council.cli.command import command
from council.errors import Busy
from council.index.options import open_for_user, show_remarks, update
from council.terminal.output import put
from council.text import one_line

MOST_VALUES = 20  # of a label: all others are counted together
PATIENCE, LOOK = 10.0, 0.1  # seconds: how long another process may take that reads new sessions, and between two looks
OTHER, UNKNOWN = "other", "unknown"
# Each family: its type, its unit, what it means, and the labels and sums that it has.
FAMILIES = (
    ("council_sessions", "gauge", "", "Sessions on this disk.", "workflow", {"": "sessions"}),
    ("council_finished_sessions", "gauge", "", "Sessions whose debate has ended.", "outcome", {"": "finished"}),
    ("council_turns", "counter", "", "Turns that were recorded.", "workflow", {"": "turns"}),
    ("council_calls", "counter", "", "Calls that gave a reply.", "model", {"": "calls"}),
    ("council_failed_calls", "counter", "", "Calls that gave none.", "model", {"": "failed_calls"}),
    (
        "council_tokens", "counter", "tokens", "Tokens that were sent and received, as far as they are known.", "model",
        {"input": "input_tokens", "output": "output_tokens"},
    ),
    ("council_cost_usd", "counter", "usd", "Money spent, as far as it is known.", "model", {"": "usd_at_least"}),
    ("council_speaking_seconds", "counter", "seconds", "Time that turns took.", "model", {"": "seconds"}),
)  # fmt: skip


@command()
def metrics() -> None:
    """Print how many sessions there are and what they used, as OpenMetrics text, for a scrape by text file.

    Counters go down when sessions are removed, which a scraper takes for a restart.
    """
    from council.config import places, settings
    from council.index.counts import count

    with open_for_user(places.list_roots(settings.load())) as index:
        until = time.monotonic() + PATIENCE
        while not update(index):  # sums of a part would look like a restart, and then count everything twice
            index.remarks.pop()
            if time.monotonic() > until:
                raise Busy("another process is reading new sessions; ask again once it has read them")
            time.sleep(LOOK)
        sums = {by: count(index, by) for by in ("workflow", "outcome", "model")}
        show_remarks(index)
    put("\n".join(render(sums)))


def render(sums: Mapping[str, Iterable[Mapping[str, Any]]]) -> Iterator[str]:
    """One family after the other, as the specification of OpenMetrics 1.0 has it."""
    for name, kind, unit, meaning, label, parts in FAMILIES:
        yield f"# TYPE {name} {kind}"
        if unit:
            yield f"# UNIT {name} {unit}"
        yield f"# HELP {name} {meaning}"
        for value, row in bound(sums[label], parts.values()).items():
            for part, total in zip(parts, row, strict=True):
                direction = f',direction="{part}"' if part else ""
                suffix = "_total" if kind == "counter" else ""
                yield f'{name}{suffix}{{{label}="{escape(value)}"{direction}}} {total:.10g}'
    yield "# EOF"


def bound(rows: Iterable[Mapping[str, Any]], names: Iterable[str]) -> dict[str, list[float]]:
    """The sums by the values of a label: of the most frequent values, and of all others together. A label
    with any number of values would fill the database of who scrapes them."""
    wanted, found = list(names), dict[str, list[float]]()
    for row in rows:
        value = one_line(str(row["name"]), 60) if row["name"] is not None else UNKNOWN
        if value not in found and len(found) >= MOST_VALUES:
            value = OTHER
        before = found.get(value, [0.0] * len(wanted))
        found[value] = [sum_ + (row[name] or 0) for sum_, name in zip(before, wanted, strict=True)]
    return found


def escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
