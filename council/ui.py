"""What a person sees of a run: replies on stdout as they come, all else on stderr, and on a terminal one live line.

Nothing a model wrote reaches a terminal with an escape sequence in it.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import time
from collections.abc import Mapping
from typing import TextIO

from council import publish
from council.plan import Due, Note, Plan
from council.receipts import Receipt
from council.session import Session
from council.speakers.base import Model
from council.text import harmless, listing, one_line

CLEAR = "\r\x1b[K"
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
STYLES = {"bold": "1", "dim": "2", "green": "32", "yellow": "33", "red": "31"}


class Screen:
    """Two streams and one live line. A stream that breaks is given up; the debate goes on without it."""

    def __init__(self, quiet: bool = False, silent_out: bool = False) -> None:
        self.quiet = quiet
        self.silent_out = silent_out
        self.live = sys.stderr.isatty() and not quiet and os.environ.get("TERM") != "dumb"
        self.colour = self.live and "NO_COLOR" not in os.environ
        self.broken: set[int] = set()
        self.line = ""

    def out(self, text: str = "") -> None:
        """A result."""
        if not self.silent_out:
            self._above(sys.stdout, harmless(text))

    def say(self, text: str, style: str = "") -> None:
        """Anything else."""
        if not self.quiet:
            self._above(sys.stderr, self.styled(harmless(text), style))

    def styled(self, text: str, style: str) -> str:
        return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if self.colour and style else text

    def insist(self, text: str) -> None:
        """What must be seen even when nothing else is to be."""
        self.wipe()
        self._write(sys.stderr, harmless(text))

    def draw(self, line: str) -> None:
        """The live line; it stands below everything and is cut to the terminal's width."""
        if self.live:
            width = shutil.get_terminal_size().columns - 1
            self.line = one_line(line, width)
            self._write(sys.stderr, CLEAR + self.styled(self.line, "dim"))

    def wipe(self) -> None:
        if self.live and self.line:
            self._write(sys.stderr, CLEAR)
            self.line = ""

    def _above(self, stream: TextIO, text: str) -> None:
        line = self.line
        self.wipe()
        self._write(stream, text + "\n")
        if line:
            self.draw(line)

    def _write(self, stream: TextIO, text: str) -> None:
        if stream.fileno() in self.broken:
            return
        try:
            stream.write(text.encode(stream.encoding or "utf-8", "replace").decode(stream.encoding or "utf-8"))
            stream.flush()
        except (OSError, ValueError):
            self.broken.add(stream.fileno())
            _to_nowhere(stream)


def _to_nowhere(stream: TextIO) -> None:
    """What is still buffered must not raise again when the program ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class Watcher:
    """The events of a run, told as they happen."""

    def __init__(self, session: Session, screen: Screen) -> None:
        self.session = session
        self.screen = screen
        self.began = time.monotonic()
        self.speaking: dict[str, tuple[Due, int]] = {}
        self.heading = ""
        self.waiting = ""

    def due(self, batch: tuple[Due, ...], models: Mapping[str, Model]) -> None:
        self.speaking = {due.id: (due, 0) for due in batch}
        heading = heading_of(self.session, batch[0])
        if heading != self.heading:
            self.heading = heading
            self.screen.out(f"### {heading}\n")
        names = sorted({model.name for model in models.values()})
        again = " (asked once more)" if any(due.first for due in batch) else ""
        who = f"{listing(due.seat.label for due in batch)} {'speaks' if len(batch) == 1 else 'speak'}"
        self.screen.say(f"{who}{again}: {listing(names)}", "dim")

    def words(self, due: Due, piece: str) -> None:
        seat, count = self.speaking.get(due.id, (due, 0))
        self.speaking[due.id] = (seat, count + len(piece))
        self.waiting = ""

    def waits(self, due: Due, why: str, seconds: float) -> None:
        self.waiting = f"waiting {seconds:.1f} s"
        self.screen.say(f"{due.seat.label}: {why}; trying again in {seconds:.1f} s", "yellow")

    def spoke(self, due: Due, receipt: Receipt, body: str) -> None:
        self.speaking.pop(due.id, None)
        icon = str(due.seat.attributes.get("icon") or "")
        said = body.strip() if not receipt.absent else f"*absent: {receipt.absent}*"
        self.screen.out(f"**{(icon + ' ' + due.seat.label).strip()}:**\n{said}\n")
        if not publish.same_model(receipt.asked, receipt.answered):
            self.screen.say(f"{due.seat.label}: asked of {receipt.asked}, answered by {receipt.answered}", "yellow")
        if receipt.stop == "max_tokens":
            self.screen.say(f"{due.seat.label}: cut off, the model reached its limit of tokens", "yellow")

    def lost(self, due: Due, why: str) -> None:
        self.speaking.pop(due.id, None)
        self.screen.say(f"{due.seat.label} is not heard: {why}", "red")

    def decided(self, plan: Plan, note: Note) -> None:
        if text := publish.decision_text(plan, note):
            self.screen.out(text)
        if note.kind == "round" and note.phase != publish.SYNTHESIS:
            for turn in plan.scene.turns:
                if (turn.phase, turn.round) == (note.phase, note.round) and (
                    told := publish.length_remark(self.session, turn)
                ):
                    self.screen.say(f"{turn.seat.label}: {told}", "yellow")

    def unsaved(self, due: Due, body: str) -> None:
        """A reply that was paid for and could not be stored is at least shown, wherever there is a stream left."""
        self.screen.insist(unsaved_text(due.id, body))

    async def animate(self) -> None:
        """The live line, until cancelled."""
        frame = 0
        while self.screen.live:
            self.screen.draw(f"{SPINNER[frame % len(SPINNER)]} {self.progress()}")
            frame += 1
            await asyncio.sleep(0.1)

    def progress(self) -> str:
        facts = publish.totals(self.session)
        pieces = sum(count for _, count in self.speaking.values())
        names = ", ".join(due.seat.name for due, _ in self.speaking.values()) or "…"
        tokens = facts["input_tokens"] + facts["output_tokens"] + pieces // 4
        usd = "cost unknown" if facts["usd"] is None else f"${facts['usd']:.4f}"
        parts = [names, f"{tokens:,} tokens", f"{time.monotonic() - self.began:.0f} s", usd, self.waiting]
        return " · ".join(part for part in parts if part)


def unsaved_text(turn: str, body: str) -> str:
    return f"--- the reply of {turn}, which could not be stored ---\n{body}\n--- end of the reply ---\n"


def heading_of(session: Session, due: Due) -> str:
    """As the round will be headed in its file; several steps of one round stand under one heading."""
    if due.phase.name == publish.SYNTHESIS:
        return "Council Synthesis" + ("" if due.round == 1 else ", corrected")
    plan = session.plan()
    number = len([key for key in publish.rounds(plan) if key != (due.phase.name, due.round)]) + 1
    return f"Round {number}: {publish.heading(due.phase.name)}"
