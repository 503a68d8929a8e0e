"""What a person sees while a debate runs: a line for each turn and, on a terminal, who speaks now and who waits."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Self

from council.next.engine.planner import Due
from council.next.prompts.phrases import progress
from council.next.record.session import Session
from council.next.record.turn_file import Receipt
from council.next.runner.budget import Budget
from council.next.runner.loop import Listener
from council.next.terminal.output import columns, note
from council.next.text import cut, one_line, printable, width

PACE = 0.1  # seconds between two pictures
STOPPED = 1.0  # after so long without a picture, the process was put aside: what is on the screen is not ours
KEPT = 400  # characters of the newest words of a seat
LOOKS: dict[str, tuple[str, dict[str, Any]]] = {
    "": ("", {}),
    "bold": ("", {"bold": True}),
    "spoke": ("✓ ", {"fg": "green"}),
    "absent": ("- ", {"fg": "yellow"}),
}
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class Watch(Listener):
    """Follows one run. While somebody is asked at this terminal, nothing else is written to it."""

    def __init__(self, session: Session, budget: Budget, asks: Callable[[Due], bool], quiet: bool = False) -> None:
        self.session, self.budget, self.asks, self.quiet = session, budget, asks, quiet
        self.live = not quiet and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self.speaking: dict[str, tuple[Due, float]] = {}
        self.newest: dict[str, str] = {}
        self.asked: set[str] = set()
        self.held_back: list[tuple[str, str]] = []
        self.drawn: list[int] = []  # the widths of the rows on the screen
        self.drawn_at = 0.0
        self.told = len(session.plan.notes)
        self.place: tuple[str, int] | None = None
        self.began = time.monotonic()
        self.lock, self.over = threading.RLock(), threading.Event()
        self.thread = threading.Thread(target=self.draw_on, daemon=True)

    def __enter__(self) -> Self:
        self.line(f"session {self.session.id}")
        if self.live:
            self.thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self.over.set()
        with self.lock:
            self.asked.clear()
            self.line()

    # ---- what the run tells ----

    def due(self, dues: tuple[Due, ...]) -> None:
        phase = dues[0].phase
        title = phase.title or phase.name.replace("-", " ").capitalize()
        if phase.numbered and not phase.role:
            title = f"Round {phase.number}: {title}"
        repeats = self.session.workflow.span(phase)[1] > 1
        with self.lock:
            self.tell_progress()
            if self.place != (phase.name, dues[0].round):
                self.place = phase.name, dues[0].round
                self.line(f"{title}{f', round {dues[0].round}' if repeats else ''}", "bold")
            self.asked = {id for id in self.asked if id not in self.session.said}  # somebody may answer from elsewhere
            self.asked |= {due.id for due in dues if self.asks(due)}
            self.speaking |= {due.id: (due, time.monotonic()) for due in dues if due.id not in self.asked}
            if self.asked:
                self.wipe()

    def words(self, due: Due, text: str) -> None:
        self.newest[due.id] = (self.newest.get(due.id, "") + text)[-KEPT:]

    def spoke(self, due: Due, receipt: Receipt, body: str) -> None:
        with self.lock:
            _, since = self.speaking.pop(due.id, (due, time.monotonic()))
            self.asked.discard(due.id)
            about = [f"absent: {receipt.absent}"] if receipt.absent else [f"{time.monotonic() - since:.0f} s"]
            about += [f"${receipt.usd:.4f}"] if receipt.usd else []
            words = f"{due.seat.label} ({', '.join(about)})"
            if self.live:
                self.line(
                    cut(printable(f"{words}  {gist(body)}"), columns(sys.stderr) - 3),
                    "absent" if receipt.absent else "spoke",
                )
            else:
                self.line(f"{due.id}: {words}")

    def say(self, line: str) -> None:
        self.line(line)

    def unsaved(self, due: Due, body: str) -> None:
        """Said even if the user wants it quiet: it is paid for, and is nowhere else."""
        with self.lock:
            self.wipe()
            note(f"the reply for {due.id} could not be stored. This is all of it:\n\n{body}\n")

    # ---- the screen ----

    def tell_progress(self) -> None:
        notes = self.session.plan.notes[self.told :]
        self.told += len(notes)
        for one in notes:
            if line := progress(one, self.session.workflow):
                self.line(line)

    def line(self, text: str = "", look: str = "") -> None:
        """Write lines that stay, once nobody is being asked."""
        with self.lock:
            self.held_back += [(text, look)] if text else []
            if self.asked or self.quiet:
                return
            self.wipe()
            for words, way in self.held_back:
                mark, how = LOOKS[way] if self.live else ("", {})
                note(words, mark, **how)
            self.held_back.clear()

    def draw_on(self) -> None:
        while not self.over.wait(PACE):
            with self.lock, suppress(OSError, ValueError):
                self.draw()

    def draw(self) -> None:
        """Who speaks, in place of the picture before."""
        in_front = os.tcgetpgrp(sys.stderr.fileno()) == os.getpgrp()
        if not self.speaking or self.asked or self.over.is_set() or not in_front:
            return
        now, wide = time.monotonic(), columns(sys.stderr)
        if now - self.drawn_at > STOPPED:
            self.drawn.clear()
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
        picture = self.up() + "\n".join(rows) + "\n"
        self.drawn, self.drawn_at = [width(row) for row in rows], now
        sys.stderr.write(picture)
        sys.stderr.flush()

    def wipe(self) -> None:
        if self.drawn:
            sys.stderr.write(self.up())
            self.drawn.clear()

    def up(self) -> str:
        """Back to the first row of the picture. A window that became narrower has wrapped its rows."""
        wide = columns(sys.stderr)
        rows = sum(max(1, -(-one // wide)) for one in self.drawn)
        return f"\r\x1b[{rows}A\x1b[J" if rows else ""


def gist(body: str) -> str:
    """The first line of a reply that is no heading."""
    return next((line.strip() for line in body.splitlines() if line.strip() and line.strip()[0] not in "#>-*_`"), "")
