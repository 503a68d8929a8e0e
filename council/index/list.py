"""`list`: the sessions, newest first, with filters."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from council.cli.command import command
from council.cli.options import JSON, options
from council.index.options import (
    LIST_FILTERS,
    NO_MATCH,
    as_listed,
    build_filters,
    open_for_user,
    say_nothing,
    show_remarks,
    update,
)
from council.terminal.output import advise, echo, print_json

if TYPE_CHECKING:
    from council.index.query import Filters, Index

PAGE = 200  # sessions that are confirmed at a time


@command("list")
@JSON
@click.option(
    "-n", "most", type=click.IntRange(1), default=30, show_default=True, metavar="N", help="Number of sessions to list."
)
@click.option("--all", "everything", is_flag=True, help="List them all.")
@options(*LIST_FILTERS)
def list_(as_json: bool, most: int, everything: bool, **given: Any) -> None:
    """List your sessions, newest first, then those in the project's .council."""
    from council.config import settings

    config, filters = settings.load(), build_filters(given)
    most = sys.maxsize if everything else min(most, sys.maxsize)
    with open_for_user((config.sessions,)) as index:
        whole = update(index, deep=False)
        rows = list(list_rows(index, filters, most))
        in_project = list_in_project(index, filters, most)
        show_remarks(index)
    if as_json:
        print_json([*rows, *in_project])
    elif rows or in_project:
        show(rows, in_project)
    elif filters.empty and whole:
        advise('no sessions yet; start one with: council run "QUESTION"', err=True)
    elif whole:
        say_nothing(filters, NO_MATCH)


def list_rows(index: Index, filters: Filters, most: int) -> Iterator[dict[str, Any]]:
    """The rows that are wanted, a page at a time."""
    cursor = None
    while most > 0:
        page = index.page(filters, cursor, min(PAGE, most))
        yield from map(as_listed, page.rows)
        most -= len(page.rows)
        if not (cursor := page.next):
            return


def list_in_project(index: Index, filters: Filters, most: int) -> list[dict[str, Any]]:
    from council.config import places

    rows = index.rows_of(list(islice(places.list_in_project(), most)))
    return [as_listed(row) for row in rows if filters.fit(row)]


def show(rows: Sequence[dict[str, Any]], in_project: Sequence[dict[str, Any]]) -> None:
    from council.terminal import table

    if rows:
        table.show(rows)
    if in_project:
        echo(("\n" if rows else "") + "In this project; each is found by its whole id only:")
        table.show(in_project, whole=True)
