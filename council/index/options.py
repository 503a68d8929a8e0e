"""The options that the commands of this room share, and the index that they ask."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from council.cli import completion
from council.errors import UsageError
from council.index.states import STATES
from council.terminal.output import advise
from council.text import harmless, nearest

if TYPE_CHECKING:
    from council.index.query import Filters, Index

SOME = 200  # sessions that are indexed in about a second
AGO = re.compile(r"(\d{1,5})([hdwmy])")
NO_MATCH = "no session matches; `council list` shows all of them"
HOURS = {"h": 1, "d": 24, "w": 7 * 24, "m": 30 * 24, "y": 365 * 24}
FILTERS = [
    click.option(
        "-w", "--workflow", metavar="NAME", shell_complete=completion.workflows, help="Only sessions of this workflow."
    ),
    click.option("--outcome", metavar="OUTCOME", help='Only sessions that ended like this, as in "agreed".'),
    click.option(
        "--since", metavar="DATE", help="Only sessions that began since then: 2026-11-01, or 12h, 30d, 8w, 6m, 1y ago."
    ),
]
LIST_FILTERS = [
    *FILTERS,
    click.option(
        "--state", type=click.Choice(STATES), metavar="STATE", help=f"Only sessions in this state: {', '.join(STATES)}."
    ),
]


def build_filters(given: Mapping[str, Any], q: str = "", place: str | None = None) -> Filters:
    from council.index.query import Filters

    since = read_moment(given["since"]) if given.get("since") else None
    return Filters(q, place, given.get("workflow"), given.get("outcome"), given.get("state"), since)


def say_nothing(filters: Filters, what: str) -> None:
    """Say that nothing was found, and which workflow was probably meant."""
    from council.config import overlays

    known, wanted = overlays.workflows(), filters.workflow or ""
    near = "" if not wanted or wanted in known else nearest(wanted, known)
    advise(f'{what.partition(";")[0]}; did you mean --workflow "{near}"?' if near else what, err=True)


def read_moment(text: str) -> datetime:
    """A date or a moment, in local time unless it says otherwise, or how long ago."""
    try:
        if ago := AGO.fullmatch(text):
            return datetime.now(UTC) - timedelta(hours=int(ago[1]) * HOURS[ago[2]])
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError):
        raise UsageError(
            f'--since: "{text[:40]}" is not a date; write 2026-11-01, or 30d for the last 30 days'
        ) from None


@contextmanager
def open_for_user(roots: Sequence[Path]) -> Iterator[Index]:
    from council.index.query import open_index

    index = open_index(roots)
    try:
        yield index
    finally:
        index.close()


def show_remarks(index: Index) -> None:
    """What the user should know of the index, on stderr."""
    for remark in index.remarks:
        click.echo(harmless(remark), err=True)
    index.remarks.clear()


def as_listed(row: dict[str, Any]) -> dict[str, Any]:
    """The row as `--json` prints it."""
    return {name: value for name, value in row.items() if name != "waiting"}


def update(index: Index, deep: bool = True) -> bool:
    """Read all that is new, and say so on a terminal if that takes a while. False if another process is reading it."""
    watched = sys.stderr.isatty()

    def progress(read: int, of: int) -> None:
        if watched and of > SOME:
            click.echo(f"\rindexing {read:,} of {of:,} sessions", nl=read == of, err=True)

    busy = index.refresh(deep, progress=progress).busy
    if busy:
        index.remarks.append("another process is reading new sessions; what it has not read yet is not found")
    return not busy
