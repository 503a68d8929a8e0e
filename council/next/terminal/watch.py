"""What a person sees while a debate runs: a line for each turn and, on a terminal, who speaks now and who waits."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Self

import click

from council.next.engine.planner import Due
from council.next.prompts.phrases import progress
from council.next.record.session import Session
from council.next.record.turn_file import Receipt
from council.next.runner.budget import Budget
from council.next.runner.loop import Listener
from council.next.terminal.output import columns, note
from council.next.text import cut, one_line, printable, width

PACE = 0.1  # seconds between two pictures
KEPT = 400  # characters of the newest words of a seat
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class Watch(Listener):
    """Follows one run, inside its event loop. While somebody is asked at this terminal, nothing else is written."""

    def __init__(self, session: Session, budget: Budget, asks: Callable[[Due], bool], quiet: bool = False) -> None:
        self.session, self.budget, self.asks, self.quiet = session, budget, asks, quiet
        self.live = not quiet and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self.speaking: dict[str, tuple[Due, float]] = {}
        self.newest: dict[str, str] = {}
        self.asked: set[str] = set()
        self.held_back: list[tuple[str, str, dict[str, Any]]] = []
        self.drawn: list[int] = []  # the widths of the rows on the screen
        self.told = len(session.plan.notes)
        self.place: tuple[str, int] | None = None
        self.began = time.monotonic()
        self.timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> Self:
        self.line(f"session {self.session.id}")
        if self.live:
            self.draw_on()
        return self

    def __exit__(self, *failure: object) -> None:
        if self.timer:
            self.timer.cancel()
            signal.signal(signal.SIGCONT, signal.SIG_DFL)
        self.asked.clear()
        self.line()

    # ---- what the run tells ----

    def due(self, dues: tuple[Due, ...]) -> None:
        notes = self.session.plan.notes[self.told :]
        self.told += len(notes)
        for line in filter(None, (progress(one, self.session.workflow) for one in notes)):
            self.line(line)
        phase = dues[0].phase
        if self.place != (phase.name, dues[0].round):
            self.place = phase.name, dues[0].round
            title = phase.title or phase.name.replace("-", " ").capitalize()
            repeats = self.session.workflow.span(phase)[1] > 1
            number = f"Round {phase.number}: " if phase.numbered and not phase.role else ""
            self.line(f"{number}{title}{f', round {dues[0].round}' if repeats else ''}", bold=True)
        self.asked = {id for id in self.asked if id not in self.session.said}  # somebody may answer from elsewhere
        self.asked |= {due.id for due in dues if self.asks(due)}
        self.speaking |= {due.id: (due, time.monotonic()) for due in dues if due.id not in self.asked}
        if self.asked:
            self.wipe()

    def words(self, due: Due, text: str) -> None:
        self.newest[due.id] = (self.newest.get(due.id, "") + text)[-KEPT:]

    def spoke(self, due: Due, receipt: Receipt, body: str) -> None:
        _, since = self.speaking.pop(due.id, (due, time.monotonic()))
        self.asked.discard(due.id)
        about = f"absent: {receipt.absent}" if receipt.absent else f"{time.monotonic() - since:.0f} s"
        words = f"{due.seat.label} ({about}{f', ${receipt.usd:.4f}' if receipt.usd else ''})"
        if not self.live:
            self.line(f"{due.id}: {words}")
            return
        mark, colour = ("- ", "yellow") if receipt.absent else ("✓ ", "green")
        self.line(cut(printable(f"{words}  {gist(body)}"), columns(sys.stderr) - 3), mark, fg=colour)

    def say(self, line: str) -> None:
        self.line(line)

    def unsaved(self, due: Due, body: str) -> None:
        """Said even if the user wants it quiet, and as it is: it is paid for, and is nowhere else."""
        self.wipe()
        note(f"the reply for {due.id} could not be stored. This is all of it:\n")
        with suppress(OSError, ValueError):
            click.echo(f"{printable(body)}\n", err=True)

    # ---- the screen ----

    def line(self, text: str = "", mark: str = "", **how: Any) -> None:
        """Write a line that stays, once nobody is being asked."""
        self.held_back += [(text, mark, how)] if text else []
        if self.asked or self.quiet:
            return
        self.wipe()
        for words, sign, look in self.held_back:
            note(words, sign, **look)
        self.held_back.clear()

    def draw_on(self) -> None:
        self.timer = asyncio.get_running_loop().call_later(PACE, self.draw_on)
        with suppress(OSError, ValueError):
            self.draw()

    def draw(self) -> None:
        """Who speaks, in place of the picture before."""
        in_front = os.tcgetpgrp(sys.stderr.fileno()) == os.getpgrp()
        if not self.speaking or self.asked or not in_front:
            return
        if not self.drawn:  # after the process was put aside, what is on the screen is not ours
            signal.signal(signal.SIGCONT, lambda *_: self.drawn.clear())
        now, wide = time.monotonic(), columns(sys.stderr)
        most = max(1, os.get_terminal_size(sys.stderr.fileno()).lines - 3)
        spin = SPINNER[int(now / PACE) % len(SPINNER)]
        rows, labels = [], max(width(due.seat.label) for due, _ in self.speaking.values())
        for due, since in [*self.speaking.values()][:most]:
            head = cut(printable(f"{spin} {due.seat.label:<{labels}} {now - since:3.0f} s  "), wide - 1)
            said = one_line(self.newest.get(due.id, ""), KEPT) or "waits for the first word"
            while width(said) > max(0, wide - 1 - width(head)):
                said = said[1:]  # the newest words are at the end
            rows.append(head + said)
        cost = f"{'at most ' * self.budget.unknown}${self.budget.spent:.4f} so far"
        more = len(self.speaking) - len(rows)
        rows.append(cut(f"  {f'and {more} more, ' * (more > 0)}{now - self.began:.0f} s, {cost}", wide - 1))
        self.wipe("\n".join(rows) + "\n")
        self.drawn = [width(row) for row in rows]

    def wipe(self, picture: str = "") -> None:
        """Replace the picture on the screen. A window that became narrower has wrapped its rows."""
        wide = columns(sys.stderr)
        rows = sum(max(1, -(-one // wide)) for one in self.drawn)
        self.drawn.clear()
        with suppress(OSError, ValueError):
            sys.stderr.write((f"\r\x1b[{rows}A\x1b[J" if rows else "") + picture)
            sys.stderr.flush()


def gist(body: str) -> str:
    """The first line of a reply that is no heading."""
    return next((line.strip() for line in body.splitlines() if line.strip() and line.strip()[0] not in "#>-*_`"), "")
