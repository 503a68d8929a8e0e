"""Asks a person the declared answers one by one, on click's prompt and editor."""

from __future__ import annotations

import asyncio

import click

from council.next.speakers.person import Question, Situation
from council.next.text import printable

LONG = ("text", "list", "code")  # what is typed as lines, or in an editor
_shown: set[str] = set()


async def ask(situation: Situation, question: Question) -> str:
    """What was typed. The debate goes on meanwhile, so the terminal is read in a thread."""
    return await asyncio.to_thread(ask_now, situation, question)


def ask_now(situation: Situation, question: Question) -> str:
    turn = situation.brief.due.id
    if turn not in _shown:
        _shown.add(turn)
        show(situation)
    if question.problem:
        click.secho(f"  {printable(question.problem)}", fg="red", err=True)
    click.secho(f"\n{question.title}", bold=True, err=True)
    click.echo(f"  {question.wanted}", err=True)
    if question.kind.type in LONG:
        return read_lines(question.typed)
    return str(click.prompt("", prompt_suffix="> ", default="", show_default=False, err=True))


def show(situation: Situation) -> None:
    """What a person should know before the first question: the sides, the conditions and what blocks."""
    click.echo(printable(f"\n{situation.brief.own or situation.brief.text}"), err=True)
    for title, lines in (
        ("Recommended", situation.sides),
        ("Conditions", situation.conditions),
        ("Blocking", situation.blocking),
    ):
        if lines:
            click.secho(f"\n{title}", bold=True, err=True)
            for line in lines:
                click.echo(f"  {printable(line)}", err=True)


def read_lines(typed: str) -> str:
    """Several lines, to an empty one. `e` alone opens an editor, with what was typed before."""
    click.echo("  An empty line ends it; e opens your editor.", err=True)
    lines: list[str] = []
    while line := click.prompt("", prompt_suffix="> ", default="", show_default=False, err=True):
        if line == "e" and not lines:
            return click.edit(typed) or ""
        lines.append(line)
    return "\n".join(lines) or typed
