"""Members that an assistant calls: its subagents. The prompt of each is a sentence that names its turn.

The sentence asks for `council brief SESSION TURN`. A hook puts the brief in its place, so the member needs no tools.
Its words are taken from its transcript, byte for byte, by a hook or by the next command.
"""

from __future__ import annotations

import re

from council.config import overlays
from council.config.models import Model
from council.config.settings import Config
from council.engine.planner import Due
from council.errors import Busy
from council.protocols.outcome import writes_synthesis
from council.record import files
from council.record.catalog import ID
from council.record.session import Session
from council.record.turn_file import TURN
from council.runner import manual
from council.speakers.assistant import handouts, transcripts

TARGET = re.compile(rf"(?P<session>{ID.pattern}) (?P<turn>{TURN.pattern})", re.ASCII)
# `council` may be a path, in quotes: a command names the program as it can be run.
SENTENCE = re.compile(
    rf"\s*Run `[^`\n]{{0,4096}}\bcouncil[\"']? brief {TARGET.pattern}` and do what it prints\.\s*", re.ASCII
)
AGENT = "council:council-"
ALIASES = ("opus", "sonnet", "haiku")  # what Claude Code calls the models that a member can be given


def agent_of(due: Due) -> str:
    """The agent without tools for this seat: `agents/` has one for the chair and one for all others."""
    known = overlays.kit_folder() / "agents" / f"council-{due.seat.name}.md"
    return f"{AGENT}{due.seat.name if known.is_file() else 'member'}"


def alias_of(model: Model) -> str | None:
    return next((word for word in ALIASES if word in model.name), None)


def find_in_flight(found: Session) -> set[str]:
    """The turns that a member is working on."""
    return transcripts.find_in_flight(found.folder, found.said)


def harvest(found: Session, settings: Config) -> None:
    """Record every answer that is in a transcript by now. The session must be locked."""
    for asked in transcripts.read_notes(found.folder):
        path = asked.find_file() if _is_due(found, asked.turn) else None
        answer = transcripts.read_answer(path) if path else None
        given = answer is not None and files.encode(answer.asked) == found.brief(asked.turn)
        refused = answer is not None and answer.spoken.absent and _writes(found, asked.turn)  # it is asked again
        if answer and given and not refused and answer.spoken.body.strip() != manual.NO_BRIEF:
            manual.record(found, settings, asked.turn, answer.spoken, answer.started, answer.seconds)
        if refused or asked.turn in found.said:
            transcripts.remove_note(found.folder, asked.turn)
    handouts.remove_notes(found.folder, [due.id for due in found.plan().due])


def _is_due(found: Session, turn: str) -> bool:
    return any(due.id == turn for due in found.plan().due)


def _writes(found: Session, turn: str) -> bool:
    """Whether the result of the debate is what this turn writes, so that nobody can do without it."""
    return any(due.id == turn and writes_synthesis(due, found.workflow) for due in found.plan().due)


def wait_for_assistant(found: Session) -> None:
    """Refuse to ask for a turn that is being answered: it would be paid for twice."""
    if flying := find_in_flight(found):
        pids = {one.pid for one in transcripts.read_notes(found.folder) if one.turn in flying}
        raise Busy(
            f"{', '.join(sorted(flying))}: an assistant that still runs (pid {', '.join(map(str, sorted(pids)))}) has "
            "asked for that; wait for the answer, or end the assistant"
        )
