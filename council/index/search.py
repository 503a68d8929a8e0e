"""`search`: where words are, in every session and in what other rooms keep."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from council import text_width
from council.cli.command import command
from council.cli.options import JSON, options
from council.errors import UsageError
from council.index.options import FILTERS, as_listed, build_filters, open_for_user, say_nothing, show_remarks, update
from council.record import catalog
from council.terminal import screen
from council.terminal.output import print_json, put
from council.text import one_line

if TYPE_CHECKING:
    from council.engine.contributions import FoundElsewhere
    from council.index.query import Filters
    from council.terminal.markdown import Paint

LESSONS = "lessons"
WIDEST = 120  # columns: longer lines are hard to read
PLACES = ("topics", "turns", "decisions", "findings", LESSONS)
BESIDE = 3  # results from elsewhere that are shown below the sessions
NARROW = 60  # columns below which the turn of a hit is on a line of its own


@command()
@click.argument("words", nargs=-1, required=True)
@click.option("--in", "place", type=click.Choice(PLACES), help="Search only there.")
@options(*FILTERS)
@JSON
@click.option(
    "-n", "most", type=click.IntRange(1, 1000), default=10, show_default=True, metavar="N", help="Number of sessions."
)
def search(words: tuple[str, ...], place: str | None, as_json: bool, most: int, **given: Any) -> None:
    """Search everything that was said: topics, turns, decisions, findings and lessons, the best first.

    All WORDS must be in the same turn. A star at the end of a word stands for any ending, and quotation marks keep a
    phrase together. Case and accents do not matter.
    """
    from council.config import places, settings

    config = settings.load()
    filters = build_filters(given, " ".join(words), None if place == LESSONS else place)
    if not filters.terms:
        raise UsageError("give at least one word to search for")
    rows: list[dict[str, Any]] = []
    if place != LESSONS:
        with open_for_user(places.list_roots(config)) as index:
            update(index)
            rows = [as_listed(row) for row in index.page(filters, limit=most).rows]
            show_remarks(index)
    asked = place == LESSONS or not (place or filters.narrowed)
    beside = list(search_elsewhere(config.home, filters, most if place == LESSONS else BESIDE)) if asked else []
    if as_json:
        print_json({"sessions": rows, "elsewhere": [asdict(one) for one in beside]})
    elif rows or beside:
        show(rows, beside, filters)
    else:
        say_nothing(filters, "nothing was found")


def search_elsewhere(home: Path, filters: Filters, most: int) -> Iterator[FoundElsewhere]:
    """What other rooms keep outside of sessions."""
    from council.engine.contributions import elsewhere

    asked = tuple(term.text for term in filters.terms)
    for function in elsewhere.known.values():
        yield from function(home, asked, most)


def show(rows: Sequence[dict[str, Any]], beside: Sequence[FoundElsewhere], filters: Filters) -> None:
    from council.index.words import cut_snippet
    from council.terminal.markdown import Paint

    wide = screen.size(sys.stdout)[0] if sys.stdout.isatty() else 0
    paint = Paint(wide, screen.has_colour(sys.stdout))
    blocks = [[*heading(row, paint), *(line for hit in row["hits"] for line in passage(hit, paint))] for row in rows]
    for one in beside:
        found = cut_snippet(one.text, filters.terms)
        hit = {"turn": one.command, "snippet": one_line(one.text, 240) if found is None else found.text}
        marks = [] if found is None else [list(mark) for mark in found.marks]
        title = f"{one.kind} {one_line(one.id)}, from {one_line(one.session)}"
        blocks.append([paint.style(title, "bold"), *passage(hit | {"marks": marks}, paint)])
    put("\n\n".join("\n".join(block) for block in blocks))


def heading(row: dict[str, Any], paint: Paint) -> Iterator[str]:
    """The session: its id, age, outcome and workflow, and its topic unless that is a hit itself."""
    from council.terminal.table import STATES

    id = str(row["session_id"])
    narrow = 0 < paint.columns < NARROW
    ended = one_line(str(row["outcome"] if row["state"] == "complete" and row["outcome"] else row["state"]), 40)
    style = STATES.get(row["state"], "yellow")
    facts = [row["age"], paint.style(ended, style), "" if narrow else one_line(str(row["workflow"] or ""), 40)]
    yield "  ".join([paint.style(catalog.shorten(id) if narrow else id, "bold"), *filter(None, facts)])
    if not any(hit["turn"] is None for hit in row["hits"]):
        yield "  " + text_width.cut(one_line(row["topic"], 200), paint.columns - 3 if paint.columns else 200)


def passage(hit: dict[str, Any], paint: Paint) -> list[str]:
    """One hit: its turn, and the passage with its words highlighted, as wide as the terminal."""
    where = "topic" if hit["turn"] is None else str(hit["turn"])
    text = highlight(hit["snippet"], hit["marks"], paint)
    if not paint.columns:
        return [f"  {where}: {text}"]
    width = min(paint.columns - 1, WIDEST)
    if paint.columns < NARROW:
        return [
            "  " + paint.style(text_width.tail(where, width - 2), "cyan"),
            *text_width.wrap(text, width, "    ", "    "),
        ]
    lead = f"  {paint.style(where, 'cyan')}  "
    return text_width.wrap(text, width, lead, "    ")


def highlight(text: str, marks: Sequence[Sequence[int]], paint: Paint) -> str:
    """The text with the marked ranges in colour, word by word, so that it can be wrapped."""
    parts, end = [], 0
    for start, stop in marks:
        words = text[start:stop].split(" ")
        parts += [text[end:start], " ".join(paint.style(word, "bold", "yellow") for word in words)]
        end = stop
    return "".join([*parts, text[end:]])
