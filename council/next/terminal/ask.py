"""Asks a person the declared answers one by one. The debate goes on meanwhile, and an answer from elsewhere ends it.

The terminal edits the line, and the event loop reads it: so a question can be left at any time, by Ctrl-C, by Ctrl-D or
because somebody else answered, and no thread is left behind that waits for a key.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import termios
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import click

from council.next.errors import Waiting
from council.next.prompts.brief import Brief
from council.next.speakers.person import Question
from council.next.terminal.markdown import lines_of
from council.next.terminal.output import note
from council.next.text import join_words, one_line, printable

SHOWN = ("Question", "What blocks", "What each side recommends")  # sections that are on the screen already
MARK = "</said "  # how the words of members end
FORM = ("Give your answers below these headings", "End your reply with these headings")
LONGEST = 600  # characters of the question
LONG = ("text", "list", "code")  # what may have several lines
PASTE = 0.05  # seconds: lines that come as fast as this were pasted together
CUT = 4095  # bytes: a terminal keeps no more of a line, and says nothing
CUT_OFF = (
    f"The terminal cuts a line after {CUT} bytes, so nothing of this was taken. An editor takes longer lines: type e"
)
EDITOR, YES, NO = "e", ("", "y", "yes"), ("n", "no")


class Keyboard:
    """The person at this terminal, for one run."""

    def __init__(self) -> None:
        self.shown = ""
        self.rest = b""
        self.typed: dict[str, str] = {}

    async def ask(self, brief: Brief, question: Question) -> str:
        """What was typed. Raises Waiting at Ctrl-D."""
        if self.shown != brief.due.id:
            self.show(brief)
        if question.problem:
            note(question.problem, "! ", fg="red")
        note(f"\n{question.title}", bold=True)
        long = question.kind.type in LONG
        note(f"  {question.wanted}" + "; an empty line ends it, e opens your editor" * long)
        typed = await self.read(brief, long, question.typed)
        self.typed[question.title] = typed
        return typed

    async def agree(self, brief: Brief, body: str, problem: str) -> str | None:
        """What to record: this text, the one that was made of it in an editor, or None to be asked again."""
        note("\nThis is what will be recorded:\n", bold=True)
        click.echo(printable(body), err=True)
        if problem:
            note(problem, "! ", fg="red")
        while True:
            note("\nRecord this? [Y/n/e]" if not problem else "\nThat cannot be recorded. Edit it? [E/n]", bold=True)
            said = (await self.read(brief, False)).strip().casefold()
            if said == EDITOR or (problem and said in YES):
                return await edit(body)
            if said in NO:
                return None
            if said in YES:
                return body

    def show(self, brief: Brief) -> None:
        """What a person should know before the first question: the sides, the conditions and what blocks."""
        self.shown, self.rest, self.typed = brief.due.id, b"", {}
        with suppress(termios.error, ValueError):
            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)  # what was typed before is no answer to this
        due, session = brief.due, brief.session
        outcome = session.outcome
        sections = [f"# {due.seat.label}: this debate waits for you\n{one_line(session.topic, LONGEST)}"]
        for name, items in (
            ("Recommended", outcome.recommendations),
            ("Conditions", [term.item for term in outcome.conditions]),
            ("Blocking", outcome.blocking),
        ):
            if items:
                sections.append("\n".join([f"# {name}", *(describe(item, outcome.count.sides) for item in items)]))
        shown = lines_of(printable("\n\n".join([*sections, task_of(brief.text)])), sys.stderr)
        click.echo("\n" + "\n".join(shown), err=True, color=True)
        note(f"\nAll that was said: `council show {session.id}`. Ctrl-D leaves the question for later.")

    async def read(self, brief: Brief, long: bool, before: str = "") -> str:
        """A line, or several. Lines that were pasted belong together, empty ones too."""
        lines: list[str] = []
        try:
            while True:
                lines.append(await self.line(prompt))
                if long and lines == [EDITOR]:
                    return await edit(before)
                with suppress(TimeoutError):
                    while True:
                        lines.append(await asyncio.wait_for(self.line(lambda: None), PASTE))
                if any(len(line.encode()) >= CUT for line in lines):
                    note(CUT_OFF, "! ", fg="red")
                    lines.clear()
                elif not long or not lines[-1]:
                    return "\n".join(lines).rstrip("\n")
        except (EOFError, asyncio.CancelledError) as left:
            typed = {**self.typed, "": "\n".join(lines)}
            given = [f"{title}: {text}".removeprefix(": ") for title, text in typed.items() if text.strip()]
            note("\n".join(["", "Not recorded. You typed:", *given] if given else [""]))  # so that it can be copied
            if isinstance(left, asyncio.CancelledError):
                raise
            word, more = ("answer", "") if brief.due.seat.is_person else ("recover", " --speaker human")
            raise Waiting(f"{brief.due.id} waits for you: `council {word} {brief.session.id}{more}`") from None

    async def line(self, show: Callable[[], None]) -> str:
        """The next line, after a prompt that is shown again if the process was put aside. Raises EOFError at Ctrl-D."""
        loop, end = asyncio.get_running_loop(), asyncio.Event()
        stdin = sys.stdin.fileno()

        def arrived() -> None:
            piece = os.read(stdin, 65536)
            self.rest += piece
            if not piece or b"\n" in self.rest:
                end.set()

        if b"\n" not in self.rest:
            loop.add_reader(stdin, arrived)
            loop.add_signal_handler(signal.SIGCONT, show)
            show()
            try:
                await end.wait()
            finally:
                loop.remove_reader(stdin)
                loop.remove_signal_handler(signal.SIGCONT)
        if b"\n" not in self.rest:
            raise EOFError
        line, _, self.rest = self.rest.partition(b"\n")
        return line.decode("utf-8", "replace").rstrip("\r")


def describe(item: Any, sides: Mapping[str, tuple[str, ...]]) -> str:
    """An item in one line: whose it is, what it says, and who signs it."""
    signers = sides.get(item.id)
    signed = f" (signed by {join_words(signers)})" if signers else ""
    return f"- {item.id}, {item.by.label}: {' '.join(item.by.text.split())}{signed}"


def task_of(text: str) -> str:
    """What a brief asks for: its last sections, without the form below them. Here, each answer is asked for by itself.
    What members said ends with a mark that is ours, so their words are never taken for the task."""
    found: list[str] = []
    for part in reversed(text.split("\n# ")):
        if MARK in part or part.partition("\n")[0] in SHOWN:
            break
        kept = [one for one in part.partition("\n## ")[0].split("\n\n") if not one.startswith(FORM)]
        found.insert(0, "# " + "\n\n".join(kept).strip())
    return "\n\n".join(found)


def prompt() -> None:
    with suppress(OSError, ValueError):
        sys.stderr.write("> ")
        sys.stderr.flush()


async def edit(text: str) -> str:
    """The text as the user's editor leaves it; as it was if nothing was saved."""
    found = await asyncio.to_thread(click.edit, text, extension=".md")
    return text if found is None else str(found)
