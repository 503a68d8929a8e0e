"""Sessions on a disk, and scenarios that write to them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from council.next.engine.planner import Due
from council.next.record.create import Birth, create
from council.next.record.session import Session
from council.next.record.turn_file import Receipt
from council.next.text import encode
from tests.next.protocols.held import KIT, Held, kit

ID = "20260101-120000-aaaaaaaa"
MEMBERS = ["architect", "engineer"]


def birth(name: str = "Debate", **more: Any) -> Birth:
    program = {"options": {}, "gates": [], "members": MEMBERS, "personas": {}, "templates": {"a.md.j2": "{{ topic }}"}}
    facts = {"members": MEMBERS, "output_mode": "deliberative", "rounds_planned": "adaptive", "workflow": name.lower()}
    text = more.pop("workflow", "") or (KIT / f"{name}.md").read_text("utf-8")
    given = {"attached": {"docs/spec.md": b"# Spec\r\n\r\n"}, "frozen": {"src/a.py": b"x = 1\n"}}
    program |= more.pop("program", {})
    return Birth(text, "Redis or not?\n", program, facts, **{**given, **more})


@contextmanager
def born(root: Path, id: str = ID, name: str = "Debate", **more: Any) -> Iterator[Session]:
    with create(root, birth(name, **more), id) as session:
        yield session


def receipt(due: Due, **more: Any) -> Receipt:
    return Receipt(turn=due.id, seat=due.seat.name, step=due.step.name, round=due.round, speaker="replay", **more)


def speak(session: Session, held: Held, due: Due) -> None:
    """What becomes of one due turn: its brief, the call, the reply."""
    sha = session.write_brief(due.id, f"shared of {due.step.name}\n", f"own of {due.seat.name}\n")
    attempt = session.begin_attempt(due.id, model="m")
    session.record(receipt(due, brief=sha, usd=0.01, input=3), encode(held.reply(due).body))
    session.end_attempt(attempt, usd=0.01)


def hold(session: Session, turns: int = 99) -> None:
    """Go on for so many turns, or to the end."""
    held = Held(kit("Debate"))
    with session.hold():
        while session.advance().due and turns:
            for due in session.plan.due[:turns]:
                held.plan = session.plan
                speak(session, held, due)
                turns -= 1
        session.advance()


def contents(folder: Path, but: tuple[str, ...] = (".lock", "runner.json")) -> dict[str, bytes]:
    """Every file of a folder, for comparison."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in but
    }


def rewrite(folder: Path, **facts: Any) -> Session:
    """The session, after somebody edited its program.json."""
    program = {**json.loads((folder / "program.json").read_text("utf-8")), **facts}
    (folder / "program.json").write_text(json.dumps(program), "utf-8")
    return Session(folder)
