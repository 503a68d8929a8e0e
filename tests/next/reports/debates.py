"""Sessions on a disk for the tests of reports: real debates, and debates of the kit held with given votes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from council.next.engine.planner import Due
from council.next.engine.scene import Recorded
from council.next.record import create as births
from council.next.record.session import Session
from council.next.text import encode
from tests.next.protocols.held import KIT, Held
from tests.next.record.sessions import ID, receipt

REAL = Path(__file__).parent.parent / "real"
NAMES = {
    "architect": ("🏛️", "Serena Blackwood"),
    "designer": ("🎨", "Aditi Sharma"),
    "engineer": ("⚙️", "Marcus Webb"),
    "researcher": ("🔍", "Ava Chen"),
    "security": ("🛡️", "Rook Blackburn"),
}
PERSONAS = {seat: {"title": seat.title(), "icon": icon, "name": name} for seat, (icon, name) in NAMES.items()}
REAL_MEMBERS = {
    "jobs": ["architect", "designer", "engineer", "researcher"],
    "logout": ["designer", "engineer", "security", "contrarian"],
}
Speak = Callable[[Due], Recorded]


def begin(
    root: Path, name: str, members: list[str], topic: str = "Redis or not?\n", id: str = ID, **program: Any
) -> Session:
    given = {"options": {}, "gates": [], "members": members, "personas": PERSONAS, "templates": {}, **program}
    facts = {"members": members, "output_mode": "deliberative", "rounds_planned": "adaptive", "workflow": name.lower()}
    text = (KIT / f"{name}.md").read_text("utf-8")
    with births.create(root, births.Birth(text, topic, given, facts), id):
        pass
    fix_time(root / id)
    return Session(root / id)


def fix_time(folder: Path) -> None:
    """The same start for every test, so that what is derived from it can be compared with a file."""
    import json

    path = folder / "metadata.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), "started_at": "2026-11-18T12:00:00Z"}), "utf-8")
    path = folder / "program.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), "seed": "5eed"}), "utf-8")


def hold(session: Session, speak: Speak, most: int = 999, **more: Any) -> Session:
    """Record what `speak` says for each due turn, up to so many turns."""
    with session.hold():
        while session.advance().due and most > 0:
            for number, due in enumerate(session.plan.due[:most]):
                said = speak(due)
                minutes = len(session.said) + number
                facts = {"started": f"2026-11-18T12:{minutes:02}:00Z", "usd": 0.0, "by": said.by or None, **more}
                session.record(replace(receipt(due), absent=said.absent, **facts), encode(said.body))
                most -= 1
        session.advance()
    return session


def held(session: Session, **votes: Any) -> Speak:
    """Speaks as `Held` does, for a session on the disk."""
    voice = Held(session.workflow, **votes)

    def speak(due: Due) -> Recorded:
        voice.plan = session.plan
        return voice.reply(due)

    return speak


def real(root: Path, name: str, id: str = ID, **program: Any) -> Session:
    """A debate that a real model held, with its own words."""
    folder = REAL / name
    members = REAL_MEMBERS[name]
    topic = (folder / "topic.md").read_text("utf-8")
    session = begin(root, "Debate", members, topic, id, **program)

    def speak(due: Due) -> Recorded:
        path = folder / "turns" / due.step.name / f"{due.seat.name}.md"
        return Recorded(path.read_text("utf-8") if path.exists() else "", absent=None if path.exists() else "no file")

    return hold(session, speak)


def contents(folder: Path) -> Mapping[str, bytes]:
    names = ("state.json", "convergence.json", "synthesis.md", "transcript.md")
    found = [folder / name for name in names] + sorted(folder.glob("round-*.md"))
    return {path.name: path.read_bytes() for path in found if path.exists()}
