"""What a person sees of a run: replies on stdout as they arrive, progress and the live view on stderr."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from council import text_width
from council.checks import cost
from council.config.models import Model
from council.config.settings import Config
from council.engine.planner import Due, Note, Plan
from council.errors import UsageError
from council.protocols import outcome
from council.protocols.dissent import LEFT_OUT
from council.protocols.mind_changes import is_control
from council.protocols.stances import STANCE
from council.record.desk import TERMINAL
from council.record.session import Session
from council.record.turn_file import Receipt
from council.reports import transcript
from council.reports.totals import totals
from council.reports.words import contain
from council.runner import price
from council.speakers.base import Billing, SpeakerType
from council.speakers.registry import describe, machine_of
from council.speakers.select import speaker_of
from council.terminal.closing import announce
from council.terminal.markdown import SEATS
from council.terminal.remaining import Remaining
from council.terminal.screen import Screen
from council.text import join_words, one_line

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
KEPT = 600  # characters of what a seat is saying: more than any row shows
NARROW, SHORT = 56, 6  # below these, a single line is drawn
NAMES = 24
TONES = {"agree": "green", "disagree": "red", "mixed": "yellow"}
JOINER = "\u200d"  # at the end of a text, it would join the first character of the next row


@dataclass
class Speech:
    """What a seat is saying: whether its speaker was called yet, its last words, the number of characters so far, and
    until when it waits.
    """

    due: Due
    called: bool = False
    words: str = ""
    count: int = 0
    until: float = 0.0

    def more(self, piece: str) -> None:
        self.words, self.count, self.until = (self.words + piece)[-KEPT:], self.count + len(piece), 0.0
        self.called = True

    @property
    def waits(self) -> str:
        left = math.ceil(self.until - time.monotonic())
        return f"waiting {format_duration(left)}" if left > 0 else ""


class Watcher:
    """Shows the events of a run as they happen."""

    def __init__(self, session: Session, screen: Screen, watched: bool = False) -> None:
        self.session = session
        self.screen = screen
        self.watched = watched or screen.watched
        self.expected: cost.DebateCost | None = None
        self.remaining: Remaining | None = None
        self.began = self.round_began = time.monotonic()
        self.speaking: dict[str, Speech] = {}
        self.heading = ""
        self.heard: set[tuple[str, int]] = set()
        self.held: list[Callable[[], None]] = []
        self.told: dict[str, float] = {}  # until when a failure that was printed makes somebody wait

    def begins(self) -> None:
        announce(self.session, self.screen)
        if self.session.said:
            kept = "1 turn is" if len(self.session.said) == 1 else f"{len(self.session.said)} turns are"
            self.screen.say(f"going on: {kept} recorded already", "dim")
        elif self.expected and self.expected.usd is not None:
            self.screen.say(f"cost: {cost.format_bounds(self.expected)}", "dim")

    def due(self, plan: Plan, batch: tuple[Due, ...], models: Mapping[str, Model]) -> None:
        self.speaking = {due.id: Speech(due) for due in batch}
        heading = heading_of(self.session, plan, batch[0])
        if heading != self.heading:
            self.heading, self.round_began = heading, time.monotonic()
            self.screen.heading(heading, heavy=outcome.is_synthesis(batch[0].phase.name, batch[0].scene))
            if lost := [
                one_line(item, 200) for note in plan.notes[-1:] for item in note.verdict.tally.get(LEFT_OUT, ())
            ]:
                self.screen.say(f"Asked once more, because this was left out: {'; '.join(lost)}", "dim")
        if tried := [due for due in batch if self.speaker_of(due).machine]:
            self.screen.say(f"Running: {join_words(due.seat.label for due in tried)}", "dim")
        if called := [due for due in batch if self.speaker_of(due).is_called and not due.of_a_person]:
            replayed = describe(self.session.speaker).replays  # by whom it was said is in the receipts
            names = [] if replayed else sorted({models[due.id].name for due in called})
            again = " (asked once more)" if any(due.first for due in called) else ""
            who = join_words(due.seat.label for due in called)
            verb, by = ("Replayed", "") if replayed else ("Asking", f", {join_words(names)}")
            self.screen.say(f"{verb}: {who}{again}{by}" + "\n" * self.screen.watched, "dim")
        if self.typing():
            self.screen.wipe()

    def by_hand(self, due: Due) -> bool:
        """Whether a person types this turn at the terminal."""
        return self.speaker_of(due).is_person

    def speaker_of(self, due: Due) -> SpeakerType:
        return speaker_of(due.seat, self.session.speaker)

    def typing(self) -> bool:
        """Whether a person is asked at this terminal, where nothing else may move the cursor."""
        return any(self.by_hand(speech.due) for speech in self.speaking.values())

    def call_began(self, due: Due) -> None:
        self.speaking.setdefault(due.id, Speech(due)).called = True

    def call_ended(self, due: Due) -> None:
        """Before its reply is stored, the next one may begin in its place."""
        if not self.by_hand(due):
            self.speaking.pop(due.id, None)

    def words(self, due: Due, piece: str) -> None:
        self.speaking.setdefault(due.id, Speech(due)).more(piece)

    def waits(self, due: Due, why: str, seconds: float) -> None:
        """Report a failure once while its wait lasts, however many members it hits."""
        now = time.monotonic()
        self.speaking[due.id] = Speech(due, called=True, until=now + seconds)
        if not self.typing() and now >= self.told.get(why, 0.0):
            self.told[why] = now + seconds
            self.screen.say(f"{due.seat.label}: {why}; trying again in {seconds:.1f} s", "yellow")

    def spoke(self, due: Due, receipt: Receipt, body: str) -> None:
        """Show the reply at once, but not while a person types: it would be in the way, or be copied."""
        self.speaking.pop(due.id, None)
        self.heard.add((due.phase.name, due.round))
        self.held.append(partial(self.show, due, receipt, body))
        first = self.guess(due, receipt)
        if not self.typing():
            self.release()
            if first and not self.screen.live:
                self.screen.say(first, "dim")

    def guess(self, due: Due, receipt: Receipt) -> str:
        """Guess again how long the rest takes. The guess, if it is the first of this run."""
        if self.remaining is None:
            return ""
        first = not self.remaining.took
        self.remaining.answered(due, receipt, self.session.receipts.values(), len(self.speaking))
        return str(self.remaining) if first else ""

    def release(self) -> None:
        held, self.held = self.held, []
        for show in held:
            show()

    def show(self, due: Due, receipt: Receipt, body: str) -> None:
        if self.screen.paint and not self.screen.silent_out and receipt.via == TERMINAL:
            return  # it was typed here, just above
        icon = str(due.seat.attributes.get("icon") or "")
        label = f"{icon} {due.seat.label}{step_of(due)}".strip()
        said = body.strip() if not receipt.absent else f"*absent: {receipt.absent}*"
        if paint := self.screen.paint:
            self.screen.painted(paint.speech(label, self.colour(due), said, due.step.reply))
        else:
            self.screen.out(f"**{label}:**\n{contain(said)}\n")
        if receipt.trial is not None and (machine := machine_of(due.seat)):
            caption = machine.caption(receipt.trial)
            self.screen.say(f"{due.seat.label}: {caption.text}", TONES.get(caption.tone, ""))
        if not transcript.same_model(receipt.asked, receipt.answered):
            self.screen.say(f"{due.seat.label}: asked of {receipt.asked}, answered by {receipt.answered}", "yellow")
        if receipt.stop == "max_tokens":
            self.screen.say(f"{due.seat.label}: cut off, the model reached its limit of tokens", "yellow")

    def colour(self, due: Due) -> str:
        names = [seat.name for seat in self.session.workflow.table]
        return SEATS[names.index(due.seat.name) % len(SEATS)] if due.seat.name in names else ""

    def lost(self, due: Due, why: str) -> None:
        """Report a lost reply, unless the terminal shows the debate: there the turn or the pause says so."""
        self.speaking.pop(due.id, None)
        if self.screen.paint is None:
            self.screen.say(f"{due.seat.label} is not heard: {why}", "red")

    def decided(self, plan: Plan, note: Note) -> None:
        if note.kind == "round":
            self.lengths(plan, note)
            self.closed(plan, note)
        for decision in outcome.decisions(plan, note):
            self.screen.out(f"**{decision.title}:** {decision.text}\n")

    def lengths(self, plan: Plan, note: Note) -> None:
        """List the members who missed the length that the round asked for."""
        turns = [turn for turn in plan.scene.turns if (turn.phase, turn.round) == (note.phase, note.round)]
        for turn in turns if not outcome.is_synthesis(note.phase, plan.scene) else ():
            if turn.absent is None and (remark := transcript.length_remark(self.session, turn)):
                self.screen.say(f"{turn.seat.label}: {remark}", "dim")

    def closed(self, plan: Plan, note: Note) -> None:
        """On a terminal, summarize a round that ended in this run."""
        key = (note.phase, note.round)
        if not self.screen.watched or key not in self.heard or key not in (numbers := outcome.number_rounds(plan)):
            return
        turns = [turn for turn in plan.scene.turns if (turn.phase, turn.round) == key]
        absent = sum(turn.absent is not None for turn in turns)
        stances = [str(turn.answers[STANCE]) for turn in turns if STANCE in turn.answers]
        parts = [f"{len(turns) - absent} {'reply' if len(turns) - absent == 1 else 'replies'}"]
        parts += [f"{absent} absent"] if absent else []
        parts += [f"{stances.count(stance)} {stance}" for stance in dict.fromkeys(sorted(stances))]
        parts.append(format_duration(time.monotonic() - self.round_began))
        self.screen.say(f"Round {numbers[key]} closed: {' · '.join(parts)}\n", "dim")

    def unsaved(self, due: Due, body: str) -> None:
        """Show a reply that was paid for and could not be stored, on any stream that still works."""
        self.screen.insist(format_unsaved(due.id, body))

    async def animate(self) -> None:
        """Draw the live block until cancelled."""
        frame = 0
        while self.screen.live:
            if not self.typing():
                self.screen.draw(self.block(SPINNER[frame % len(SPINNER)]))
            frame += 1
            await asyncio.sleep(0.1)

    def block(self, spinner: str) -> list[str]:
        """A row for each seat that speaks and one for the totals; a single row if there is little room."""
        columns, rows = self.screen.room()
        speeches = [speech for speech in self.speaking.values() if speech.called]
        if columns < NARROW or rows < SHORT or not speeches:
            names = ", ".join(speech.due.seat.name for speech in speeches) or "…"
            waits = next((speech.waits for speech in speeches if speech.waits), "")
            line = " · ".join(filter(None, [self.progress(), waits, names]))
            return [self.screen.styled(text_width.cut(f"{spinner} {line}", columns), "dim")]
        shown = speeches[: rows - 1]
        longest = min(max(text_width.width(_label(speech)) for speech in shown), NAMES)
        more = f" · {len(speeches) - len(shown)} more" if len(speeches) > len(shown) else ""
        more += f" · {waiting} waiting" if (waiting := len(self.speaking) - len(speeches)) else ""
        facts = self.screen.styled(text_width.cut(f"  {self.progress()}{more}", columns), "dim")
        return [*(self.row(speech, spinner, longest, columns) for speech in shown), facts]

    def row(self, speech: Speech, spinner: str, longest: int, columns: int) -> str:
        name = text_width.pad(text_width.cut(_label(speech), longest), longest)
        said = one_line(speech.words, KEPT).replace(JOINER, "") or speech.waits or "…"
        words = text_width.tail(said, columns - longest - 4)
        style = "yellow" if speech.waits else "dim"
        screen = self.screen
        return f"{spinner} {screen.styled(name, self.colour(speech.due))}  {screen.styled(words, style)}"

    def progress(self) -> str:
        facts = totals(self.session)
        pieces = sum(speech.count for speech in self.speaking.values())
        tokens = (facts["input_tokens"] or 0) + (facts["output_tokens"] or 0) + pieces // 4
        usd = "cost unknown" if facts["usd"] is None else f"${facts['usd']:.4f}"
        known = f"{tokens:,} tokens · {format_duration(time.monotonic() - self.began)} · {usd}"
        left = str(self.remaining or "")
        return f"{known} · {left}" if left else known


def list_costs(session: Session, spent: cost.DebateCost, most: cost.DebateCost | None) -> dict[str, Any]:
    """Usage and bound for JSON, with the same names as the totals."""
    bound = most and {"calls": most.calls, "input_tokens": most.input, "output_tokens": most.output, "usd": most.usd}
    return {"totals": totals(session), "cache_read_tokens": spent.cached, "bound": bound}


def sum_usage(session: Session) -> cost.DebateCost:
    """What the session used so far; a person's turn is not a call, and no machine's."""
    called = [one for one in session.receipts.values() if describe(one.speaker).is_called]
    took = totals(session)
    cached = sum(one.cache_read for one in called)
    return cost.DebateCost(
        len(called), took["input_tokens"], took["output_tokens"], took["usd"], cached, took["failed_calls"],
        took["usd_at_least"],
    )  # fmt: skip


def bound_usage(session: Session, settings: Config, speaker: str | None = None) -> cost.DebateCost | None:
    """The upper bound that `council cost` gives for this session; None if Config.md has no prices for it, or for the
    speaker that is about to speak.
    """
    speakers = [who for one in session.receipts.values() if (who := describe(one.speaker)).is_called]
    speakers += [describe(speaker)] if speaker else []
    if not speakers or any(who.billing is not Billing.PRICES for who in speakers):
        return None
    try:
        return price.bound_session(session, settings, session.metadata.get("model"))
    except UsageError:  # an endpoint that is no longer configured
        return None


def bound_steps(session: Session, settings: Config) -> list[cost.Row] | None:
    """The bounds of each step; None if an endpoint of the session is no longer configured."""
    try:
        return price.bound_steps(session, settings, session.metadata.get("model"))
    except UsageError:
        return None


def _label(speech: Speech) -> str:
    return one_line(speech.due.seat.label, NAMES)


def format_duration(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole} s" if whole < 100 else f"{whole // 60} min {whole % 60:02} s"


def format_unsaved(turn: str, body: str) -> str:
    return f"--- the reply of {turn}, which could not be stored ---\n{body}\n--- end of the reply ---\n"


def step_of(due: Due) -> str:
    """` (Rebut)` where a seat speaks in several steps of a round; empty for a step that is usually the only one."""
    steps = due.phase.steps
    alone = due.step == steps[0] and all(step.when is not None for step in steps[1:])
    return "" if alone else f" ({outcome.heading(due.step.name)})"


def heading_of(session: Session, plan: Plan, due: Due) -> str:
    """The heading that the round will have in its file; all steps of a round share one heading."""
    if outcome.is_synthesis(due.phase.name, due.scene):
        return "Council Synthesis" + ("" if due.round == 1 else ", corrected")
    if is_control(due.phase.name, session.workflow):
        return "Beside the debate: one plain answer"
    return outcome.round_heading(outcome.number_of(plan, due.phase, due.round), due.phase, due.round)
