"""`lessons`: what your earlier sessions learned."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import click

from council import text_width
from council.cli.command import command
from council.cli.options import JSON
from council.errors import Damaged, UsageError
from council.lessons.lesson import TITLES, Lesson
from council.lessons.store import Lessons, of_user
from council.terminal.output import echo, print_json
from council.text import harmless, one_line

GAP = "  "


@command()
@click.argument("action", type=click.Choice(["list", "show", "forget"]), default="list", metavar="[ACTION]")
@click.argument("words", nargs=-1, metavar="[ID|WORD]...")
@click.option("-n", "most", type=click.IntRange(1), default=30, show_default=True, metavar="N", help="Number to list.")
@click.option("--yes", is_flag=True, help="Forget without asking.")
@JSON
def lessons(action: str, words: tuple[str, ...], most: int, yes: bool, as_json: bool) -> None:
    """List what your sessions learned: the newest first, or those that are nearest to the WORDs.

    ACTION is `list`, `show` or `forget`: `show ID` prints a lesson and where it comes from, `forget ID` removes it
    permanently.
    """
    from council.config import settings

    store = of_user(settings.load())
    if yes and action != "forget":
        raise UsageError("--yes goes with `council lessons forget ID`")
    if action == "list":
        list_(store, " ".join(words), most, as_json)
    elif not words:
        raise UsageError(f"which lesson? council lessons {action} ID")
    elif action == "show":
        show(store, words, as_json)
    else:
        forget(store, words, yes, as_json)


def list_(store: Lessons, words: str, most: int, as_json: bool) -> None:
    """One line per lesson. What is no lesson is named on stderr."""
    from council.lessons.words import choose

    known = store.read_all(lambda wrong: click.echo(harmless(f"skipped: {wrong}"), err=True))
    found = (store.search(choose(words), most) if words else known)[:most]
    if as_json:
        print_json([as_document(one) for one in found])
    elif not found:
        why = f"none of your {len(known)} lessons is near these words" if known else "no lessons yet"
        click.echo(why, err=True)
    else:
        for line in as_table(found):
            echo(line)


def as_table(found: list[Lesson]) -> Iterator[str]:
    from council.terminal import screen

    rows = [("LESSON", "MADE", "HELPED", "WORDS")]
    for one in found:
        helped = f"{one.wins} of {one.uses}" + (", sunk" if one.sunk else "")
        rows.append((one.id, one_line(one.made, 80)[:10], helped, one_line(one.sentence, 2_000)))
    widths = [max(text_width.width(row[place]) for row in rows) for place in range(3)]
    columns = screen.size(sys.stdout)[0] if sys.stdout.isatty() else 0
    rest = max(columns - 1 - sum(widths) - 3 * len(GAP), 20)
    for *facts, words in rows:
        padded = [text_width.pad(text, width) for text, width in zip(facts, widths, strict=True)]
        yield GAP.join([*padded, text_width.cut(words, rest) if columns else words])


def show(store: Lessons, ids: tuple[str, ...], as_json: bool) -> None:
    found = [store.find(word) for word in ids]
    if as_json:
        print_json([as_document(one) for one in found])
        return
    echo("\n\n".join("\n".join(describe(one)) for one in found))


def describe(one: Lesson) -> Iterator[str]:
    """Its words, then where they come from and how often they helped."""
    yield f"lesson {one.id}\n"
    for name, title in TITLES.items():
        if text := getattr(one, name):
            yield f"{title}: {text}"
    yield f"\nfrom: {one_line(one.session)}, {one_line(one.turn)}, {one_line(one.made)}"
    about = ", ".join(filter(None, (one.language, one.bench)))
    yield f"tests: {one_line(one.before)}; then {one_line(one.after)}" + (f" ({one_line(about)})" if about else "")
    yield f"turns: {one_line(', '.join(one.episode), 400)}"
    yield f"shown in {one.uses} sessions, {one.wins} of them with green tests in the end"


def forget(store: Lessons, words: tuple[str, ...], yes: bool, as_json: bool) -> None:
    """Remove lessons, also damaged ones, once the user has said so."""
    from council.speakers.human import at_a_terminal

    ids = list(dict.fromkeys(map(store.locate, words)))
    if not yes:
        if not at_a_terminal():
            raise UsageError(f"nothing was forgotten: nobody is here to ask; add --yes to forget {', '.join(ids)}")
        for id in ids:
            click.echo(harmless(f"{id}{GAP}{summarize(store, id)}"), err=True)
        question = f"Forget {'this lesson' if len(ids) == 1 else f'these {len(ids)} lessons'} permanently?"
        if not click.confirm(question, default=False, err=True):
            raise UsageError("nothing was forgotten: you said no")
    store.forget(ids)
    if as_json:
        print_json(ids)
    else:
        echo(f"forgotten: {', '.join(ids)}")


def summarize(store: Lessons, id: str) -> str:
    try:
        return one_line(store.find(id).sentence, 200)
    except Damaged as wrong:
        return str(wrong)


def as_document(one: Lesson) -> dict[str, Any]:
    return {"id": one.id, **asdict(one), "sunk": one.sunk}
